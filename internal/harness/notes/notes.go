// Package notes reads what Terminus was asked to remember: `notes.jsonl` in its data directory,
// one note a line. They are no agent's, and are archived, found and shown like any session.
package notes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/harness/turn"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// File is the name of the file of notes in the data directory.
const File = "notes.jsonl"

// id is the harness's, and begins every key.
const id = "notes"

// Harness is the notes. It holds no state and may be used by several goroutines.
type Harness struct{}

var _ harness.Harness = Harness{}

// ID is "notes".
func (Harness) ID() string { return id }

// Name is "Terminus notes".
func (Harness) Name() string { return "Terminus notes" }

// Seen is "": what is read here is Terminus' own.
func (Harness) Seen() string { return "" }

// Roots is the file in the data directory.
func (Harness) Roots(m harness.Machine) []string {
	if m.Data == "" {
		return nil
	}
	return []string{filepath.Join(m.Data, File)}
}

// A session is the notes of one day and project, or those on one session.
type session struct {
	key   string
	lines [][]byte
	sum   []byte
	at    parts
}

// add takes a note and where its line stands in the file.
func (s *session) add(line []byte, from, to int64) {
	s.lines = append(s.lines, line)
	sum := sha256.Sum256(append(s.sum, line...))
	s.sum = sum[:]
	s.at = s.at.and(from, to)
}

// stamp says what a session holds, and where, so that Tail need not read the whole file again for
// each session.
func (s *session) stamp() string {
	return strconv.Itoa(len(s.lines)) + "." + hex.EncodeToString(s.sum[:8]) + s.at.String()
}

// Discover reads each root, a file, and lists the sessions that its notes make. Lines that
// are no notes are a *harness.Problem, and cost no other line.
func (h Harness) Discover(_ context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		for _, root := range env.Roots {
			f, err := files.At(root)
			if errors.Is(err, fsx.ErrNotRegular) { // a directory, as the configuration may name one
				f, err = files.At(filepath.Join(root, File))
			}
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				if !yield(harness.Transcript{}, err) {
					return
				}
				continue
			}
			all, err := h.read(f.Path, env.PathExcluded)
			if err != nil && !yield(harness.Transcript{}, err) {
				return
			}
			for _, s := range all {
				t := harness.Transcript{
					Key: s.key, Source: f.Path + "#" + strings.TrimPrefix(s.key, id+":"), Path: f.Path, Kind: harness.Rows,
					Stamp: s.stamp(),
				}
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// read gives the sessions of a file in the order of their first notes. What it gives beside an
// error is what could be read.
func (h Harness) read(path string, excluded func(string) bool) ([]*session, error) {
	data, err := files.Read(path, rows.MaxDocument)
	if err != nil {
		var p *harness.Problem
		if errors.As(err, &p) {
			return nil, err
		}
		return nil, &harness.Problem{Path: path, Err: err}
	}
	var all []*session
	byKey := map[string]*session{}
	bad, first, n := 0, 0, 0
	to := int64(0)
	for line := range bytes.Lines(data) {
		n++
		from := to
		to += int64(len(line))
		whole := bytes.HasSuffix(line, []byte("\n"))
		line = trim(line)
		note, ok := transcript.ParseValue(line)
		switch {
		case len(line) == 0, !ok && !whole: // which is just being written
			continue
		case !ok || !isNote(note):
			if bad++; bad == 1 {
				first = n
			}
			continue
		}
		project := note.Get("project").String()
		if excluded != nil && filepath.IsAbs(project) && excluded(project) {
			continue
		}
		key := keyOf(note)
		s := byKey[key]
		if s == nil {
			s = &session{key: key}
			all, byKey[key] = append(all, s), s
		}
		s.add(line, from, to)
	}
	if bad > 0 {
		return all, &harness.Problem{Path: path, Err: fmt.Errorf("line %d is no note, and so are %d lines in all; the others are read. Mend it by hand, or take it out", first, bad)}
	}
	return all, nil
}

// isNote reports whether an object has what every note has.
func isNote(note transcript.Value) bool {
	return transcript.Time(note.Get("ts")) != "" && len(bytes.TrimSpace(note.Get("text").Text())) > 0
}

// promoted is the kind of a note on a session.
const promoted = "promoted"

// keyOf is the key of the session that a note belongs to: `notes:` and the key of the session that
// it is on; else the day, the project's name, and a few digits that tell apart projects of one
// name.
func keyOf(note transcript.Value) string {
	if on := note.Get("session").Text(); note.Get("kind").String() == promoted && len(on) > 0 {
		return id + ":" + string(transcript.CutBytes(on, transcript.StateLimit/2))
	}
	key := id + ":" + day(note.Get("ts"))
	project := note.Get("project").String()
	if project == "" {
		return key
	}
	name := path.Base(strings.ReplaceAll(project, `\`, "/"))
	sum := sha256.Sum256([]byte(project))
	const longest = 64
	return key + "-" + string(transcript.CutBytes([]byte(name), longest)) + "-" + hex.EncodeToString(sum[:4])
}

// day is the day on which a note was made, where it was made if it tells the offset, else in UTC:
// in the machine's zone it would be another one, and the key with it, wherever that changes.
func day(ts transcript.Value) string {
	text := ts.String()
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil && !strings.HasSuffix(text, "Z") {
		return t.Format(time.DateOnly)
	}
	t, err := time.Parse(time.RFC3339Nano, transcript.Time(ts))
	if err != nil {
		return time.DateOnly // cannot happen: isNote asked for a time
	}
	return t.UTC().Format(time.DateOnly)
}

// Tail yields the notes of a session, each as it stands in the file.
func (h Harness) Tail(_ context.Context, t harness.Transcript) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		lines, err := h.lines(t)
		if lines == nil && err != nil {
			yield(transcript.Record{}, err)
			return
		}
		seen := map[string]int{}
		for _, line := range lines {
			note, _ := transcript.ParseValue(line)
			print := rows.Print(note.Get("ts"), note.Get("state").Text(), note.Get("text").Text())
			if seen[print]++; seen[print] > 1 {
				print += "." + strconv.Itoa(seen[print])
			}
			if !yield(rows.Record(print, note), nil) {
				return
			}
		}
	}
}

// lines are the notes of a session: those in the parts of the file that its stamp names, or, where
// they are others meanwhile, those in all of it.
func (h Harness) lines(t harness.Transcript) ([][]byte, error) {
	s := session{key: t.Key}
	for _, p := range parseParts(t.Stamp) {
		data, err := files.Part(t.Path, p.from, p.to, rows.MaxDocument)
		if err != nil {
			break
		}
		to := p.from
		for line := range bytes.Lines(data) {
			from := to
			to += int64(len(line))
			line = trim(line)
			if note, ok := transcript.ParseValue(line); ok && isNote(note) && keyOf(note) == t.Key {
				s.add(line, from, to)
			}
		}
	}
	if len(s.lines) > 0 && s.stamp() == t.Stamp {
		return s.lines, nil
	}
	all, err := h.read(t.Path, nil)
	for _, s := range all {
		if s.key == t.Key {
			return s.lines, err
		}
	}
	return nil, err
}

// trim takes from a line what may stand around a note.
func trim(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
}

// Turns reads one note: what somebody typed, its tags, and what became of it.
func (Harness) Turns(record []byte, s *transcript.State) []transcript.Turn {
	native, note := rows.Read(record)
	text := note.Get("text").Text()
	if note.Kind() != '{' || len(text) == 0 {
		s.Damaged++
		return nil
	}
	_, own, _ := strings.Cut(s.Key, ":")
	s.SeeSession([]byte(own))
	if project := note.Get("project").Text(); strings.ContainsAny(string(project), `/\`) {
		s.SeeDirectory(project)
	}
	s.SeeTitle(note.Get("title").Text(), transcript.TitleGiven)
	b := turn.New(transcript.User, record).IDs(native, "", "")
	b.Note(note.Get("title").Text())
	b.Say(text)
	for tag := range note.Get("tags").Elements() {
		b.Note(tag.Text())
	}
	b.Note(note.Get("state").Text())
	at := transcript.Time(note.Get("src_ts"))
	if at == "" {
		at = transcript.Time(note.Get("ts"))
	}
	return []transcript.Turn{b.Done(at, s)}
}
