package gemini

import (
	"bytes"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// A part is one part of a message: a text, a call, or what a call returned.
type part struct {
	text           []byte
	call, response transcript.Value
}

// maxParts bounds the parts of one message, many times what any message has.
const maxParts = 4 << 10

// partsOf reads a message's content: a text, a part, or a list of texts and parts. What the
// model only thought is left out.
func partsOf(content transcript.Value) []part {
	var all []part
	add := func(v transcript.Value) {
		var p part
		thought := false
		if v.Kind() == '"' {
			p.text = v.Text()
		}
		for key, m := range v.Members() {
			switch string(key) {
			case "text":
				p.text = m.Text()
			case "thought":
				thought = m.Bool()
			case "functionCall":
				p.call = m
			case "functionResponse":
				p.response = m
			}
		}
		if !thought && len(all) < maxParts && (len(p.text) > 0 || p.call != nil || p.response != nil) {
			all = append(all, p)
		}
	}
	if content.Kind() != '[' {
		add(content)
		return all
	}
	for e := range content.Elements() {
		add(e)
	}
	return all
}

// viaTool is the tool through which Qwen Code calls those that it does not show its model.
const viaTool = "tool_call"

// addCall adds a call by its name and arguments.
func addCall(b *turn.Builder, name []byte, args transcript.Value) {
	if string(name) == viaTool {
		if inner := args.Get("name").Text(); len(inner) > 0 {
			name, args = inner, args.Get("arguments").Nested()
		}
	}
	b.Call(name, args, tools)
}

// An output is what a call returned.
type output struct {
	id     []byte // of the call
	failed bool
	texts  [][]byte
}

// outputOf reads a functionResponse.
func outputOf(response transcript.Value) output {
	o := output{id: response.Get("id").Text()}
	body := response.Get("response")
	for _, key := range []string{"output", "error"} {
		v := body.Get(key)
		if v == nil || v.Kind() == 'n' {
			continue
		}
		o.failed = o.failed || key == "error"
		if text := v.Text(); text != nil {
			o.texts = append(o.texts, unwrapped(text))
			continue
		}
		for _, leaf := range v.Leaves() {
			o.texts = append(o.texts, leaf.Text)
		}
	}
	if o.texts == nil {
		for _, leaf := range body.Leaves() {
			o.texts = append(o.texts, leaf.Text)
		}
	}
	if response.Get("name").String() == shell {
		for _, text := range o.texts {
			o.failed = o.failed || exited(text)
		}
	}
	return o
}

// unwrapped is a tool's output without the tags around it, and of an answer that stands in it
// twice, as structure and as text, the first.
func unwrapped(text []byte) []byte {
	const open, end = "<untrusted_context>\n", "\n</untrusted_context>"
	if inner, ok := bytes.CutPrefix(text, []byte(open)); ok {
		if inner, ok = bytes.CutSuffix(inner, []byte(end)); ok {
			text = inner
		}
	}
	if len(text) == 0 || text[0] != '{' {
		return text
	}
	var s transcript.Scanner
	s.Reset(text)
	first := s.Skip()
	if first != nil && transcript.RecallAnswer(first) && transcript.RecallAnswer(text[len(first):]) {
		return first
	}
	return text
}

// exited reports whether the output of a shell says that the command failed.
func exited(text []byte) bool {
	const mark = "\nExit Code: "
	i := bytes.LastIndex(text, []byte(mark))
	if i < 0 {
		return false
	}
	code, _, _ := strings.Cut(string(text[i+len(mark):min(len(text), i+len(mark)+16)]), "\n")
	return code != "" && code != "0" && strings.Trim(code, "-0123456789") == ""
}

// cutTagged takes the blocks between a tag's opening and closing out of the ends of a text.
func cutTagged(text []byte, tag string) []byte {
	open, end := []byte("<"+tag+">"), []byte("</"+tag+">")
	for {
		text = bytes.TrimSpace(text)
		switch {
		case bytes.HasPrefix(text, open):
			i := bytes.Index(text, end)
			if i < 0 {
				return text
			}
			text = text[i+len(end):]
		case bytes.HasSuffix(text, end):
			i := bytes.LastIndex(text, open)
			if i < 0 {
				return text
			}
			text = text[:i]
		default:
			return text
		}
	}
}
