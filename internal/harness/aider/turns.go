package aider

import (
	"bytes"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness/markdown"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// A kind is whose words a line is.
type kind uint8

const (
	blank kind = iota
	typed
	printed
	answered
)

var (
	typedMark   = []byte("####")
	printedMark = []byte(">")
)

// kindOf tells whose words a line outside of fences is.
func kindOf(line []byte) kind {
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		return blank
	case bytes.Equal(line, typedMark), bytes.HasPrefix(line, []byte("#### ")):
		return typed
	case bytes.Equal(line, printedMark), bytes.HasPrefix(line, []byte("> ")):
		return printed
	}
	return answered
}

func isTyped(line []byte) bool { return kindOf(line) == typed }

// blocks are the parts of a session behind its heading, in which one kind of words stands, each
// with the blank lines behind it. Two prompts have a blank line between them.
func blocks(s session) [][]byte {
	text := s.text
	if s.started != "" {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	var all [][]byte
	begin, last, gap := 0, blank, false
	cut := func(off int) {
		if last != blank {
			all = append(all, text[begin:off])
		}
		begin = off
	}
	for l := range markdown.Lines(text, isTyped) {
		k := kindOf(l.Bare())
		if l.Fenced {
			k = answered
		}
		switch {
		case k == blank:
			gap = true
			continue
		case k != last || k == typed && gap:
			cut(l.Off)
		}
		last, gap = k, false
	}
	cut(len(text))
	return all
}

// Turns reads the head of a session or one of its blocks.
func (Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	id, row := rows.Read(record)
	if id == rows.Head && row.Kind() == '{' {
		s.SeeSession([]byte(ownID(s.Key)))
		s.SeeDirectory(row.Get("directory").Text())
		if at := row.Get("at").String(); s.Own == "" && len(at) < 64 {
			s.Own = at
		}
		return nil
	}
	text := rows.Said(row)
	if text == nil {
		s.Damaged++
		return nil
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	var b *turn.Builder
	switch kindOf(bytes.TrimRight(first, "\r")) {
	case typed:
		b = turn.New(transcript.User, record)
		prompt := without(text, typedMark)
		b.Say(prompt)
		if s.Title == "" {
			line, _, _ := bytes.Cut(prompt, []byte("\n"))
			s.SeeTitle(line, transcript.TitleTaken)
		}
		if line, ok := bytes.CutPrefix(prompt, []byte("/run ")); ok {
			b.Ran(line)
		}
	case printed:
		b = turn.New(transcript.User, record)
		output := without(text, printedMark)
		b.Output(false, output)
		names(b, output)
	default:
		b = turn.New(transcript.Assistant, record)
		b.Say(bytes.TrimSpace(text))
	}
	if b.Empty() {
		return nil
	}
	b.IDs(id, "", "")
	return []transcript.Turn{b.Done(turn.Next(s, s.Own), s)}
}

func ownID(key string) string {
	_, id, _ := strings.Cut(key, ":")
	return id
}

// without is a text without the mark that begins each of its lines.
func without(text, mark []byte) []byte {
	out := make([]byte, 0, len(text))
	for line := range bytes.Lines(text) {
		line = bytes.TrimPrefix(line, mark)
		line = bytes.TrimRight(bytes.TrimPrefix(line, []byte(" ")), " \r\n")
		out = append(append(out, line...), '\n')
	}
	return bytes.TrimSpace(out)
}

// names notes the files that aider says it changed, and the commands that it says it ran.
func names(b *turn.Builder, output []byte) {
	for line := range bytes.Lines(output) {
		line = bytes.TrimSpace(line)
		if path, ok := bytes.CutPrefix(line, []byte("Applied edit to ")); ok {
			b.Names(path)
		}
		if command, ok := bytes.CutPrefix(line, []byte("Running ")); ok {
			b.Ran(command)
		}
	}
}
