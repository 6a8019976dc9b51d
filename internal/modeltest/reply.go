package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// A reply is a step on its way to the agent.
type reply struct {
	n    int // of the request; makes the ids
	req  *Request
	step Step
}

type object = map[string]any

// content is the step as blocks of a message.
func (p reply) content() []object {
	var list []object
	if p.step.Text != "" {
		list = append(list, object{"type": "text", "text": p.step.Text})
	}
	for i, c := range p.step.Calls {
		input := c.Input
		if input == nil {
			input = object{}
		}
		list = append(list, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%06d%02d", p.n, i), "name": c.Tool, "input": input})
	}
	return list
}

// outputTokens is what every answer claims to have cost.
const outputTokens = 25

func (p reply) message(content []object) (message, usage object, stop string) {
	tokens := p.step.InputTokens
	if tokens == 0 {
		tokens = p.req.tokens()
	}
	usage = object{"input_tokens": tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": outputTokens}
	if stop = "end_turn"; len(p.step.Calls) > 0 {
		stop = "tool_use"
	}
	return object{
		"id": fmt.Sprintf("msg_%06d", p.n), "type": "message", "role": "assistant", "model": p.req.Model,
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}, usage, stop
}

func (p reply) write(w http.ResponseWriter) {
	content := p.content()
	message, usage, stop := p.message(content)
	if !p.req.stream {
		writeJSON(w, message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	message["content"], message["stop_reason"] = []object{}, nil
	event(w, "message_start", object{"message": message})
	for i, block := range content {
		stream(w, i, block)
	}
	event(w, "message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	event(w, "message_stop", object{})
}

// stream sends a block as one that grows.
func stream(w io.Writer, i int, block object) {
	start, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": block["text"]}
	if block["type"] == "tool_use" {
		input, err := json.Marshal(block["input"])
		if err != nil {
			panic(err) // a script that is no JSON
		}
		start = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": string(input)}
	}
	event(w, "content_block_start", object{"index": i, "content_block": start})
	event(w, "content_block_delta", object{"index": i, "delta": delta})
	event(w, "content_block_stop", object{"index": i})
}

func event(w io.Writer, name string, data object) {
	data["type"] = name
	out, err := json.Marshal(data)
	if err != nil {
		panic(err) // a script that is no JSON
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, out)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

func fail(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object{"type": "error", "error": object{"type": "invalid_request_error", "message": message}})
}

func writeJSON(w http.ResponseWriter, doc any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(doc)
}
