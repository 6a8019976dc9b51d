package tasks

import (
	"bytes"
	"encoding/json"

	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// maxCalls bounds the calls that are looked for in one text.
const maxCalls = 1 << 10

// speak reads a text of the model, in which calls stand as tags where the model was not given
// tools of its own:
//
//	<read_file>
//	<path>src/main.go</path>
//	</read_file>
func speak(b *turn.Builder, text []byte) {
	open := map[string]bool{} // tags that nothing ends any more
	for range maxCalls {
		at, name, inner, rest := call(text, open)
		if name == "" {
			break
		}
		b.Say(bytes.TrimSpace(text[:at]))
		b.Call([]byte(name), arguments(inner), Tools)
		for _, path := range paths(inner) {
			b.Names(path)
		}
		text = rest
	}
	b.Say(bytes.TrimSpace(text))
}

// call finds the first call in a text: a tag with a tool's name that begins a line, and its end.
func call(text []byte, open map[string]bool) (at int, name string, inner, rest []byte) {
	for from := 0; from < len(text); {
		i := bytes.IndexByte(text[from:], '<')
		if i < 0 {
			break
		}
		at = from + i
		from = at + 1
		if at > 0 && text[at-1] != '\n' {
			continue
		}
		tag := tagAt(text[at:])
		if _, known := Tools[tag]; tag == "" || !known || open[tag] {
			continue
		}
		begin, end := at+len(tag)+2, []byte("</"+tag+">")
		if n := bytes.Index(text[begin:], end); n >= 0 {
			return at, tag, text[begin : begin+n], text[begin+n+len(end):]
		}
		open[tag] = true
	}
	return 0, "", nil, nil
}

// tagAt is the name of the tag with which a text begins, "" where there is none.
func tagAt(text []byte) string {
	const longest = 40
	for i := 1; i < min(len(text), longest); i++ {
		switch c := text[i]; {
		case c == '>':
			return string(text[1:i])
		case (c < 'a' || c > 'z') && c != '_':
			return ""
		}
	}
	return ""
}

// maxArguments bounds the arguments of one call.
const maxArguments = 64

// arguments are the arguments of a call, each a tag, as an object of texts.
func arguments(inner []byte) transcript.Value {
	out := []byte{'{'}
	for range maxArguments {
		at := bytes.IndexByte(inner, '<')
		if at < 0 {
			break
		}
		name := tagAt(inner[at:])
		if name == "" {
			inner = inner[at+1:]
			continue
		}
		inner = inner[at+len(name)+2:]
		end := []byte("</" + name + ">")
		n := bytes.Index(inner, end)
		if whole[name] {
			n = bytes.LastIndex(inner, end)
		}
		if n < 0 {
			break
		}
		out = member(out, name, bytes.Trim(inner[:n], "\r\n"))
		inner = inner[n+len(end):]
	}
	return append(out, '}')
}

// whole are arguments that hold code, in which their own end may stand.
var whole = map[string]bool{"content": true, "diff": true, "args": true}

func member(out []byte, name string, text []byte) []byte {
	value, err := json.Marshal(string(text))
	if err != nil {
		return out // cannot happen: any string can be marshalled
	}
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(out, '"')
	out = append(out, name...)
	return append(append(out, `":`...), value...)
}

// paths are those that stand in the arguments of several files at once.
func paths(inner []byte) [][]byte {
	_, inner, nested := bytes.Cut(inner, []byte("<args>"))
	if !nested {
		return nil
	}
	var out [][]byte
	for len(out) < maxArguments {
		_, rest, ok := bytes.Cut(inner, []byte("<path>"))
		if !ok {
			break
		}
		path, rest, _ := bytes.Cut(rest, []byte("</path>"))
		out = append(out, bytes.TrimSpace(path))
		inner = rest
	}
	return out
}
