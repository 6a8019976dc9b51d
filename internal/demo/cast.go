package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// What the terminal is sent beside the output of commands.
const (
	clearScreen = "\x1b[H\x1b[2J\x1b[3J"
	prompt      = "\x1b[34m$\x1b[0m "
	remarkOn    = "\x1b[32m# "
	remarkOff   = "\x1b[0m\r\n"
)

// asciicast writes a take in version 2 of the format that asciinema plays: a header, then one
// event per line, as [seconds, "o", text]. It carries no date.
func asciicast(t take) []byte {
	var b bytes.Buffer
	line := func(v any) {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			panic(err) // strings and numbers alone
		}
	}
	line(struct {
		Version int               `json:"version"`
		Width   int               `json:"width"`
		Height  int               `json:"height"`
		Title   string            `json:"title"`
		Env     map[string]string `json:"env"`
	}{2, columns, rows, "Terminus", map[string]string{"SHELL": "/bin/sh", "TERM": "xterm-256color"}})
	event := func(at time.Duration, text string) {
		if text != "" {
			line([]any{json.Number(fmt.Sprintf("%.3f", at.Seconds())), "o", text})
		}
	}
	for _, s := range t.shots {
		switch s.kind {
		case remark:
			event(s.at, remarkOn+s.text+remarkOff)
		case cleared:
			event(s.at, clearScreen)
		case command, asked:
			event(s.at, prompt)
			at := s.typed
			for _, key := range s.text {
				event(at, string(key))
				at += perKey
			}
			event(at, "\r\n")
			event(s.entered, s.output)
		}
	}
	event(t.end, prompt)
	return b.Bytes()
}
