package codex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"iter"
	"strings"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// maxHistory bounds history.jsonl, which is read whole: Codex itself can bound it, and a
// hundred thousand prompts are a fifth of this.
const maxHistory = 128 << 20

// A prompt is one line of history.jsonl.
type prompt struct {
	session string
	second  int64
	line    []byte
}

// parsePrompt reads a line of history.jsonl. ok is false for what is none, as the line that is
// just being written.
func parsePrompt(line []byte) (p prompt, ok bool) {
	v, whole := transcript.ParseValue(line)
	if !whole {
		return p, false
	}
	second, _ := v.Get("ts").Number()
	p = prompt{session: v.Get("session_id").String(), second: int64(second), line: bytes.TrimSpace(line)}
	return p, p.session != "" && !strings.ContainsAny(p.session, "#/\\") && v.Get("text").Kind() == '"'
}

// A stretch is where the prompts of one session stand in history.jsonl.
type stretch struct {
	from, to int64
	count    int
	sum      uint64
}

// stamp says the stretch, so that Tail need not read the whole file again for each session, and
// what it holds. The file may be cut at its beginning; then the stamp is another.
func (s stretch) stamp() string { return fmt.Sprintf("%d-%d %d %x", s.from, s.to, s.count, s.sum) }

// history yields a transcript for each session of a history.jsonl that has no rollout. It
// reports whether to go on.
func history(ctx context.Context, path string, listed, known map[string]bool, yield func(harness.Transcript, error) bool) bool {
	if err := ctx.Err(); err != nil {
		return yield(harness.Transcript{}, err)
	}
	f, err := files.At(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	var data []byte
	if err == nil {
		data, err = files.Read(f.Path, maxHistory)
	}
	if err != nil {
		return yield(harness.Transcript{}, err)
	}
	var order []string
	found := map[string]*stretch{}
	at := int64(0)
	for line := range bytes.Lines(data) {
		from := at
		at += int64(len(line))
		p, ok := parsePrompt(line)
		if !ok || known[keyStart+p.session] {
			continue
		}
		s := found[p.session]
		if s == nil {
			s = &stretch{from: from}
			found[p.session] = s
			order = append(order, p.session)
		}
		h := fnv.New64a()
		fmt.Fprintf(h, "%x %s", s.sum, p.line)
		s.to, s.count, s.sum = at, s.count+1, h.Sum64()
	}
	for _, id := range order {
		t := harness.Transcript{
			Key: keyStart + id, Source: f.Path + "#" + id, Path: f.Path, Kind: harness.Rows, Stamp: found[id].stamp(),
		}
		if listed[t.Source] {
			continue
		}
		listed[t.Source] = true
		if !yield(t, nil) {
			return false
		}
	}
	return true
}

// isPrompts reports whether a transcript stands in history.jsonl.
func isPrompts(t harness.Transcript) bool { return strings.HasPrefix(t.Source, t.Path+"#") }

// prompts yields the prompts of one session. Their ids are made of their time, which stays when
// the file is cut.
func prompts(ctx context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		data, err := readStretch(t)
		if err != nil {
			yield(transcript.Record{}, err)
			return
		}
		same := map[int64]int{}
		for line := range bytes.Lines(data) {
			if err := ctx.Err(); err != nil {
				yield(transcript.Record{}, err)
				return
			}
			p, ok := parsePrompt(line)
			if !ok || t.Key != keyStart+p.session {
				continue
			}
			id := fmt.Sprintf("%s%d/%d", promptStart, p.second, same[p.second])
			same[p.second]++
			if !yield(rows.Record(id, p.line), nil) {
				return
			}
		}
	}
}

// promptStart begins the id of the record of a prompt.
const promptStart = "prompt/"

// readStretch reads the part of history.jsonl that a transcript's stamp names.
func readStretch(t harness.Transcript) ([]byte, error) {
	var s stretch
	if _, err := fmt.Sscanf(t.Stamp, "%d-%d", &s.from, &s.to); err != nil || s.to-s.from > maxHistory {
		return files.Read(t.Path, maxHistory)
	}
	f, _, err := fsx.OpenRegular(t.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, s.from, s.to-s.from))
}
