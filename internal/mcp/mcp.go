// Package mcp is the server that agents ask over stdio, by the Model Context
// Protocol: JSON-RPC 2.0, one message a line, and three tools that read the
// archive (recall_search, recall_context, recall_get).
//
// It promises one answer to every request, in the order of the requests, and
// that no line ends the loop, whatever stands in it; nothing but answers on
// stdout, each one line of JSON; and that it never writes: a machine without a
// store is answered, and nothing is created.
//
// The store is opened for each call and closed after it, and so is the
// configuration read: what was archived, excluded or switched a moment ago
// counts. One request is worked on at a time. Memory is bounded by the largest
// answer: a line longer than MaxLine is not held.
package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/document"
)

// Options is what a Server works with.
type Options struct {
	// Version is that of the program, and the version which the server names.
	Version string
	// WorkDir is the directory whose project is meant where a call names none,
	// "" where the system does not tell.
	WorkDir string
	// Config reads the configuration.
	Config func() (*config.Config, error)
	// Quiet is a server that offers no tool, for a client that has another one of ours.
	Quiet bool
	// Warn is told, once, what is wrong with a store that still answers.
	Warn func(text string)
}

// A Server answers one client.
type Server struct {
	Options
	negotiated string // the version that initialize settled on
	warned     bool
}

// New makes a Server.
func New(o Options) *Server { return &Server{Options: o} }

// Serve answers the requests that in holds, until it ends. What is asked before
// the end is answered, a last line without a newline included. An error is a
// failure to read or to write; a write that fails ends the loop.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := newLineReader(in)
	w := &writer{buf: bufio.NewWriter(out)}
	for {
		l, err := lines.next()
		if !l.blank() {
			s.line(ctx, l, w)
			if err := w.flush(); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// line answers one line.
func (s *Server) line(ctx context.Context, l line, w *writer) {
	switch {
	case l.notification:
		// Nobody waits for an answer.
	case l.long:
		w.line(reply{id: l.id, err: &rpcError{Code: codeInvalidRequest, Message: tooLong}})
	case s.negotiated == versionWithBatches && isArray(l.text):
		s.batch(ctx, l.text, w)
	default:
		if r, ok := s.message(ctx, l.text); ok {
			w.line(r)
		}
	}
}

// batch answers the messages of an array, in one array. Each answer is written
// before the next is made.
func (s *Server) batch(ctx context.Context, text []byte, w *writer) {
	var messages []json.RawMessage
	if err := json.Unmarshal(text, &messages); err != nil {
		w.line(reply{err: notJSON()})
		return
	}
	if len(messages) == 0 {
		w.line(reply{err: &rpcError{Code: codeInvalidRequest, Message: "the batch is empty"}})
		return
	}
	before := "["
	for _, m := range messages {
		if r, ok := s.message(ctx, m); ok {
			w.text(before)
			w.value(r)
			before = ","
		}
	}
	if before == "," {
		w.text("]\n")
	}
}

// A writer writes answers, and keeps its first error.
type writer struct {
	buf *bufio.Writer
	err error
}

func (w *writer) line(r reply) {
	w.value(r)
	w.text("\n")
}

func (w *writer) value(r reply) {
	text, err := document.Encode(r.document())
	if err != nil {
		r = reply{id: r.id, err: internalError(err)}
		if text, err = document.Encode(r.document()); err != nil && w.err == nil {
			w.err = err
		}
	}
	w.text(string(text))
}

func (w *writer) text(text string) {
	if w.err == nil {
		_, w.err = w.buf.WriteString(text)
	}
}

func (w *writer) flush() error {
	if w.err == nil {
		w.err = w.buf.Flush()
	}
	return w.err
}
