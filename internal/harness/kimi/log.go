package kimi

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// maxLine bounds a line of a log: a longer one cannot be held as a record.
const maxLine = rows.MaxDocument

// longStart is how much of a longer one is looked at.
const longStart = 4 << 10

// read yields the records of a log. A line without its end is being written, and is left for
// a later pass.
func read(ctx context.Context, path string, yield func(transcript.Record, error) bool) {
	fail := func(err error) { yield(transcript.Record{}, &harness.Problem{Path: path, Err: err}) }
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		fail(err)
		return
	}
	defer f.Close()
	l := log{yield: yield, seen: map[string]int{}}
	in := bufio.NewReaderSize(f, 1<<16)
	for {
		line, long, err := next(in)
		if errors.Is(err, io.EOF) {
			l.close()
			return
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			fail(err)
			return
		}
		if long {
			// The record is no object, and so counts as damaged. It is told from others by how it begins.
			if !l.close() || !l.record(line, rows.Text(fmt.Appendf(nil, "a line of more than %d bytes", maxLine))) {
				return
			}
			continue
		}
		if !l.add(bytes.TrimSpace(line)) {
			return
		}
	}
}

// next reads a line as far as its end. Of a line of more than maxLine bytes it gives the
// beginning, and holds no more: long is true then. A line without its end is an io.EOF.
func next(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if !long {
			line = append(line, piece...)
		}
		if len(line) > maxLine {
			line, long = bytes.Clone(line[:longStart]), true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// A log makes records of lines: one of the lines of a step, but for what tools returned in
// it, and one of every other line. A record is named by what its first line says, so that a step
// that grows is the same record, and what was written twice, or written anew elsewhere, is not.
type log struct {
	yield func(transcript.Record, error) bool
	seen  map[string]int
	step  [][]byte // the lines of the step that is open, nil where none is
	held  [][]byte // what came in it and follows it
	bytes int      // of step

	waiting int // bytes of held
}

// maxStep bounds the bytes of one step's record, and of what is held behind it. A step of more is
// several.
const maxStep = 16 << 20

// add takes a line and reports whether to go on.
func (l *log) add(line []byte) bool {
	if len(line) == 0 {
		return true
	}
	v, ok := transcript.ParseValue(line)
	if !ok {
		line = rows.Text(line)
		return l.close() && l.record(line, line)
	}
	switch kind := eventKind(v); kind {
	case "step.begin", "content.part", "tool.call", "step.end":
		if kind == "step.begin" || l.bytes+len(line) > maxStep {
			if !l.close() {
				return false
			}
		}
		l.step = append(l.step, line)
		l.bytes += len(line)
		return kind != "step.end" || l.close()
	case "tool.result":
		if l.step != nil && l.waiting+len(line) <= maxStep {
			l.held = append(l.held, line)
			l.waiting += len(line)
			return true
		}
	}
	return l.close() && l.record(line, line)
}

// close ends the step that is open.
func (l *log) close() bool {
	step, held := l.step, l.held
	l.step, l.held, l.bytes, l.waiting = nil, nil, 0, 0
	if step != nil {
		row := append([]byte{'['}, bytes.Join(step, []byte(","))...)
		if !l.record(step[0], append(row, ']')) {
			return false
		}
	}
	for _, line := range held {
		if !l.record(line, line) {
			return false
		}
	}
	return true
}

func (l *log) record(first, row []byte) bool {
	hash := sha256.Sum256(first)
	name := hex.EncodeToString(hash[:8])
	l.seen[name]++
	if n := l.seen[name]; n > 1 {
		name += "." + strconv.Itoa(n)
	}
	return l.yield(rows.Record(name, row), nil)
}

const loopEvent = "context.append_loop_event"

// eventKind is the type of the event that a line tells of, "" for other lines.
func eventKind(line transcript.Value) string {
	if line.Get("type").String() != loopEvent {
		return ""
	}
	return line.Get("event", "type").String()
}
