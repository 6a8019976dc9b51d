package modeltest

import (
	"encoding/json"
	"strings"
	"time"
)

// A Request is one request as it came.
type Request struct {
	At     time.Time
	Method string
	// Path is the path below the server, or host and path where the client took
	// it for a proxy.
	Path string
	// Kind is one of the kinds above.
	Kind string
	// Model, System, Messages and Tools are empty where the request has none.
	Model    string
	System   []Block
	Messages []Message
	Tools    []string // names

	stream bool
	schema map[string]any // of the answer, where one is asked for
	size   int
}

// A Message is one message of a request.
type Message struct {
	Role    string
	Content []Block
}

// A Block is one block of a message. A string in place of blocks is one of type
// text.
type Block struct {
	Type string
	// Text is the text of a text block, or of a tool's result with the texts of
	// its blocks in lines of their own.
	Text string
	// Tool and Input are those of a call.
	Tool  string
	Input map[string]any
	// IsError is that of a tool's result.
	IsError bool
}

// UnmarshalJSON reads a block, or a string as a block of text.
func (b *Block) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		b.Type = "text"
		return json.Unmarshal(data, &b.Text)
	}
	var raw struct {
		Type, Text, Name string
		Input            map[string]any
		IsError          bool `json:"is_error"`
		Content          json.RawMessage
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*b = Block{Type: raw.Type, Text: raw.Text, Tool: raw.Name, Input: raw.Input, IsError: raw.IsError}
	if raw.Type != "tool_result" || len(raw.Content) == 0 {
		return nil
	}
	parts, err := blocks(raw.Content)
	b.Text = joined(parts)
	return err
}

// blocks reads a content: a string, or a list of blocks.
func blocks(data json.RawMessage) ([]Block, error) {
	if len(data) == 0 || string(data) == "null" {
		return nil, nil
	}
	if data[0] != '[' {
		data = append(append([]byte{'['}, data...), ']')
	}
	var list []Block
	err := json.Unmarshal(data, &list)
	return list, err
}

func joined(list []Block) string {
	var texts []string
	for _, b := range list {
		if b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// parse reads the body of a request; an empty one is none.
func (r *Request) parse(data []byte) error {
	if r.size = len(data); r.size == 0 {
		return nil
	}
	type format struct{ Schema map[string]any }
	var body struct {
		Model    string
		Stream   bool
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools        []struct{ Name string }
		OutputFormat format `json:"output_format"`
		OutputConfig struct {
			Format format
		} `json:"output_config"`
	}
	err := json.Unmarshal(data, &body)
	if err != nil {
		return err
	}
	r.Model, r.stream = body.Model, body.Stream
	if r.schema = body.OutputConfig.Format.Schema; r.schema == nil {
		r.schema = body.OutputFormat.Schema
	}
	if r.System, err = blocks(body.System); err != nil {
		return err
	}
	for _, m := range body.Messages {
		content, err := blocks(m.Content)
		if err != nil {
			return err
		}
		r.Messages = append(r.Messages, Message{m.Role, content})
	}
	for _, t := range body.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	return nil
}

// Text is everything that the model is told, a block a line.
func (r *Request) Text() string {
	all := []string{joined(r.System)}
	for _, m := range r.Messages {
		all = append(all, joined(m.Content))
	}
	return strings.Join(all, "\n")
}

// Results are the tools' results that came with the newest message that has any.
func (r *Request) Results() []Block {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		var results []Block
		for _, b := range r.Messages[i].Content {
			if b.Type == "tool_result" {
				results = append(results, b)
			}
		}
		if results != nil {
			return results
		}
	}
	return nil
}

// reminderOpen begins a text that the agent adds to what was typed. Past prompts
// may be quoted in it.
const reminderOpen = "<system-reminder>"

// typed are the texts of a message that the user sent.
func (m *Message) typed() []string {
	if m.Role != "user" {
		return nil
	}
	var texts []string
	for _, b := range m.Content {
		if b.Type == "text" && !strings.HasPrefix(strings.TrimSpace(b.Text), reminderOpen) {
			texts = append(texts, b.Text)
		}
	}
	return texts
}

// lastTyped are the texts of the newest message that has any.
func (r *Request) lastTyped() []string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if texts := r.Messages[i].typed(); len(texts) > 0 {
			return texts
		}
	}
	return nil
}

// played finds the script that the conversation plays, and how many answers it
// has given since. An answer in several messages is one.
func (r *Request) played() (name string, done int) {
	answering := false
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Role == "assistant" {
			if !answering {
				done++
			}
			answering = true
			continue
		}
		answering = answering && m.Role != "user"
		for _, text := range m.typed() {
			if found := playWord.FindAllStringSubmatch(text, -1); found != nil {
				name, done = found[len(found)-1][1], 0
			}
		}
	}
	return name, done
}

// shaped is a text in the shape that the request asks for: an object of the
// schema's required strings, or the text as it is.
func (r *Request) shaped(text string) string {
	if r.schema == nil {
		return text
	}
	properties, _ := r.schema["properties"].(map[string]any)
	doc := map[string]any{}
	for name, p := range properties {
		if p, ok := p.(map[string]any); ok && p["type"] == "string" {
			doc[name] = text
		}
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return text
	}
	return string(out)
}

// bytesPerToken is the usual rule of thumb.
const bytesPerToken = 4

func (r *Request) tokens() int { return 1 + r.size/bytesPerToken }
