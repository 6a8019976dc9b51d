package codex

import (
	"bytes"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// output is what a call returned: a text, a list of parts, or, in older versions, an object
// with the content and whether the call succeeded.
func (r *reader) output(it item) {
	failed := r.o.hasFailed(it.call)
	content := it.output
	if content.Kind() == '{' {
		failed = failed || content.Get("success").Kind() == 'f'
		content = content.Get("content")
	}
	var texts [][]byte
	for p := range parts(content) {
		exit, body := unframed(p.text)
		if exit != nil {
			failed = true
			texts = append(texts, exit)
		}
		texts = append(texts, body)
	}
	r.make(transcript.User, it).Machine().Output(failed, texts...)
}

// frameStarts begin the lines that Codex puts before what a command or a server returned.
var frameStarts = []string{"Chunk ID: ", "Wall time: ", "Exit code: ", "Process ", "Original token count: ", "Total output lines: "}

// exitStarts begin that of them that tells how a command ended.
var exitStarts = []string{"Process exited with code ", "Exit code: "}

// unframed takes the frame off an output. exit is the line that tells how a command ended, nil
// unless it failed. What has no frame is body as it is.
func unframed(text []byte) (exit, body []byte) {
	if exit, body, ok := metadataFrame(text); ok {
		return exit, body
	}
	rest := text
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		if string(line) == "Output:" {
			return exit, after
		}
		if !hasPrefix(line, frameStarts) {
			return nil, text
		}
		for _, start := range exitStarts {
			if code, ok := bytes.CutPrefix(line, []byte(start)); ok && string(bytes.TrimSpace(code)) != "0" {
				exit = line
			}
		}
		rest = after
	}
	return nil, text
}

// metadataFrame reads an output of older versions: {"output":…,"metadata":{"exit_code":…}}.
func metadataFrame(text []byte) (exit, body []byte, ok bool) {
	if !bytes.HasPrefix(text, []byte(`{"output":`)) {
		return nil, nil, false
	}
	v, whole := transcript.ParseValue(text)
	code := v.Get("metadata", "exit_code")
	if !whole || code == nil {
		return nil, nil, false
	}
	if n, number := code.Number(); number && n != 0 {
		exit = append([]byte(exitStarts[1]), code...)
	}
	return exit, v.Get("output").Text(), true
}
