package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/transcript"
)

const (
	// payloadLimit bounds the line that is read. Nobody types so much, and who
	// pastes it is answered by nothing.
	payloadLimit = 1 << 20
	// readStep is what a pipe holds on Linux.
	readStep = 64 << 10
)

var (
	errInternal = errors.New("internal error")
	errStuck    = fmt.Errorf("stdin: no whole line came within %v", payloadWait)
	errLongLine = fmt.Errorf("stdin: the line is longer than %d bytes", payloadLimit)
)

// readPayload reads one line of r, or a JSON object that nothing follows yet: an
// agent need neither end the line nor close the stream. It reads at most a step
// past payloadLimit and returns after wait at the latest; the reader is then left
// to the end of the process.
func readPayload(r io.Reader, wait time.Duration) ([]byte, error) {
	type reading struct {
		line []byte
		err  error
	}
	done := make(chan reading, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- reading{err: fmt.Errorf("%w: %v", errInternal, p)}
			}
		}()
		line, err := readLine(r)
		done <- reading{line, err}
	}()
	select {
	case got := <-done:
		return got.line, got.err
	case <-time.After(wait):
		return nil, errStuck
	}
}

func readLine(r io.Reader) ([]byte, error) {
	var line []byte
	step := make([]byte, readStep)
	for {
		n, err := r.Read(step)
		seen := len(line)
		line = append(line, step[:n]...)
		if end := bytes.IndexByte(line[seen:], '\n'); end >= 0 {
			line = line[:seen+end]
			err = io.EOF
		}
		switch {
		case len(line) > payloadLimit:
			return nil, errLongLine
		case errors.Is(err, io.EOF), n > 0 && isObject(line):
			return line, nil
		case err != nil:
			return nil, fmt.Errorf("stdin: %w", err)
		}
	}
}

// isObject reports whether data is one whole JSON object.
func isObject(data []byte) bool {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' || data[len(data)-1] != '}' {
		return false
	}
	var s transcript.Scanner
	s.Reset(data)
	return s.Skip() != nil && s.Done()
}

// A payload is what is used of what an agent says about an event. A field that
// is absent, or no string, is "".
type payload struct {
	session, transcript, cwd, source string
	// prompt is nil where there is none.
	prompt *string
}

// parsePayload reads a payload. Data that is no JSON object says nothing; of
// equal keys the last counts.
func parsePayload(data []byte) payload {
	var s transcript.Scanner
	s.Reset(data)
	if !s.EnterObject() {
		return payload{}
	}
	var p payload
	for {
		key, ok := s.NextMember()
		if !ok {
			break
		}
		var field *string
		switch string(key) {
		case "session_id":
			field = &p.session
		case "transcript_path":
			field = &p.transcript
		case "cwd":
			field = &p.cwd
		case "source":
			field = &p.source
		case "prompt":
			p.prompt = new(string)
			field = p.prompt
		default:
			s.Skip()
			continue
		}
		text, isText := s.TryText()
		*field = string(text)
		if !isText && field == p.prompt {
			p.prompt = nil
		}
	}
	if !s.Done() {
		return payload{}
	}
	return p
}

// notificationTag begins a prompt that nobody typed: a background task reports
// its end.
const notificationTag = "<task-notification>"

// isNotification reports whether a prompt carries a notification.
func isNotification(prompt string) bool {
	return strings.HasPrefix(strings.TrimSpace(prompt), notificationTag)
}
