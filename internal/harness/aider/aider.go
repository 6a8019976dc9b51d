// Package aider reads the chat history that aider writes into the directory in which it runs:
// one Markdown file, to which every session is appended behind a heading with its time.
package aider

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/markdown"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// history is the name that aider gives to the file.
const history = ".aider.chat.history.md"

// Harness is aider. It holds no state and may be used by several goroutines.
type Harness struct {
	// Zone is that of the times in the files, nil for the machine's: aider writes local times
	// without an offset, so that nothing else tells when a session began. Keys hold none of it.
	Zone *time.Location
}

var _ harness.Harness = Harness{}

// ID is "aider".
func (Harness) ID() string { return "aider" }

// Name is "aider".
func (Harness) Name() string { return "aider" }

// Seen is "": it is read as documents describe it.
func (Harness) Seen() string { return "" }

// Roots are two files: the history of sessions in the home directory, and the one that
// AIDER_CHAT_HISTORY_FILE names. Projects are found where the configuration says.
func (Harness) Roots(m harness.Machine) []string {
	return harness.Places(m.Variable("AIDER_CHAT_HISTORY_FILE", ""), m.Below(history))
}

// Discover lists the sessions in the histories. A root is such a file, whatever its name, or a
// directory, in which and up to two levels below which they are looked for.
func (h Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		w := files.Walk{
			Depth: 2,
			Enter: func(rel string) bool {
				name := files.Base(rel, "")
				return !strings.HasPrefix(name, ".") && name != "node_modules"
			},
			Match: func(rel string) bool { return files.Base(rel, "") == history },
		}
		visit := func(f files.File, err error) bool {
			if err != nil {
				return yield(harness.Transcript{}, err)
			}
			return file(f.Path, env, yield)
		}
		for _, root := range env.Roots {
			f, err := files.At(root)
			switch {
			case err == nil:
				if !visit(f, nil) {
					return
				}
			case errors.Is(err, fs.ErrNotExist):
			case !errors.Is(err, fsx.ErrNotRegular):
				if !yield(harness.Transcript{}, err) {
					return
				}
			case !w.Each(ctx, root, visit):
				return
			}
		}
	}
}

// file yields the sessions of one history.
func file(path string, env harness.Env, yield func(harness.Transcript, error) bool) bool {
	if env.PathExcluded != nil && env.PathExcluded(filepath.Dir(path)) {
		return true
	}
	data, err := files.Read(path, rows.MaxDocument)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true
	case err != nil:
		return yield(harness.Transcript{}, problem(path, err))
	}
	for _, s := range sessions(path, data) {
		t := harness.Transcript{
			Key: "aider:" + s.id, Source: path + "#" + s.id, Path: path, Kind: harness.Rows,
			Stamp: s.stamp(),
		}
		if !yield(t, nil) {
			return false
		}
	}
	return true
}

func problem(path string, err error) error {
	var p *harness.Problem
	if errors.As(err, &p) {
		return err
	}
	return &harness.Problem{Path: path, Err: err}
}

// A session is the part of a history behind one heading.
type session struct {
	id      string
	started string // as the heading says it, "" for what stands before the first
	text    []byte // the heading is its first line
	off     int    // of text in the history
}

// stamp says what a session holds, and where, so that Tail need not read the whole history again
// for each session.
func (s session) stamp() string {
	sum := sha256.Sum256(s.text)
	return fmt.Sprintf("%d-%d.%s", s.off, s.off+len(s.text), hex.EncodeToString(sum[:8]))
}

const (
	heading     = "# aider chat started at "
	headingForm = "2006-01-02 15:04:05"
)

// start is the time in a heading.
func start(line []byte) (string, bool) {
	at, ok := strings.CutPrefix(string(line[:min(len(line), len(heading)+len(headingForm)+1)]), heading)
	if !ok || len(at) != len(headingForm) {
		return "", false
	}
	_, err := time.Parse(headingForm, at)
	return at, err == nil
}

// sessions are the parts of a history. Their ids are made of its path and their times, so that
// one that loses its beginning keeps the others'.
func sessions(path string, data []byte) []session {
	sum := sha256.Sum256([]byte(path))
	prefix := hex.EncodeToString(sum[:6])
	var all []session
	seen := map[string]int{}
	begin, started := 0, ""
	end := func(off int) {
		text := data[begin:off]
		if started == "" && len(bytes.TrimSpace(text)) == 0 {
			return
		}
		id := prefix + "-" + strings.NewReplacer("-", "", ":", "", " ", "T").Replace(started)
		if started == "" {
			id = prefix + "-0"
		}
		if seen[id]++; seen[id] > 1 {
			id += "." + strconv.Itoa(seen[id])
		}
		all = append(all, session{id, started, text, begin})
	}
	for l := range markdown.Lines(data, isHeading) {
		at, ok := start(l.Bare())
		if l.Fenced || !ok {
			continue
		}
		end(l.Off)
		begin, started = l.Off, at
	}
	end(len(data))
	return all
}

func isHeading(line []byte) bool {
	_, ok := start(line)
	return ok
}

// Tail yields what the file tells of the session, then its blocks: of what a person typed, of
// what aider printed, of what the model answered, each as it stands.
func (h Harness) Tail(_ context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		s, err := find(t)
		if err != nil {
			yield(transcript.Record{}, problem(t.Path, err))
			return
		}
		if s.text == nil || !yield(rows.Record(rows.Head, h.head(t.Path, s)), nil) {
			return
		}
		seen := map[string]int{}
		for _, block := range blocks(s) {
			id := rows.Print(block)
			if seen[id]++; seen[id] > 1 {
				id += "." + strconv.Itoa(seen[id])
			}
			if !yield(rows.Record(id, rows.Text(block)), nil) {
				return
			}
		}
	}
}

// find reads a session: the part of the history that its stamp names, or, where that is another
// meanwhile, all of it. Its text is nil where it has gone.
func find(t harness.Transcript) (session, error) {
	id := strings.TrimPrefix(t.Key, "aider:")
	var from, to int64
	if n, err := fmt.Sscanf(t.Stamp, "%d-%d.", &from, &to); err == nil && n == 2 {
		if text, err := files.Part(t.Path, from, to, rows.MaxDocument); err == nil {
			s := session{id: id, text: text, off: int(from)}
			first, _, _ := bytes.Cut(text, []byte("\n"))
			s.started, _ = start(bytes.TrimRight(first, "\r"))
			if s.stamp() == t.Stamp {
				return s, nil
			}
		}
	}
	data, err := files.Read(t.Path, rows.MaxDocument)
	if err != nil {
		return session{}, err
	}
	for _, s := range sessions(t.Path, data) {
		if s.id == id {
			return s, nil
		}
	}
	return session{}, nil
}

// head is what the file tells of a session.
func (h Harness) head(path string, s session) []byte {
	zone := h.Zone
	if zone == nil {
		zone = time.Local
	}
	at := ""
	if t, err := time.ParseInLocation(headingForm, s.started, zone); err == nil {
		at = t.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return fmt.Appendf(nil, `{"path":%s,"directory":%s,"started":%s,"at":%s}`,
		rows.Text([]byte(path)), rows.Text([]byte(filepath.Dir(path))), rows.Text([]byte(s.started)), rows.Text([]byte(at)))
}
