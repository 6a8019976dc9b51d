package pi

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/transcript"
)

const (
	// clawDatabase is where newer versions of OpenClaw keep the sessions of an agent. It holds
	// secrets as well: no other table of it is read.
	clawDatabase = "openclaw-agent.sqlite"
	clawEvents   = "transcript_events"

	// clawIndex names the sessions of an agent by what they are for.
	clawIndex = "sessions.json"
	// maxIndex bounds it; one entry may hold a prompt of 20 kB.
	maxIndex = 64 << 20
)

// clawFile takes the file of a session, and what is left of it when it was reset or deleted:
// `<id>.jsonl.reset.<time>`, `<id>.jsonl.deleted.<time>`, either compressed or not. Beside it
// stand copies of it and logs, which it does not take.
func clawFile(name string) (stem string, ok bool) {
	stem, rest, ok := strings.Cut(strings.TrimSuffix(name, zstdSuffix), lineSuffix)
	if !ok || stem == "" || rest != "" && !strings.HasPrefix(rest, ".reset.") && !strings.HasPrefix(rest, ".deleted.") {
		return "", false
	}
	if strings.Contains(stem, ".checkpoint.") || strings.HasSuffix(stem, ".trajectory") {
		return "", false
	}
	return stem, true
}

// parents are the sessions of which other sessions are subagents, as the indexes beside the
// files tell: by the name of the session that spawned one. Without a readable index nothing
// is known.
func (h Harness) parents(found []files.File) map[string]string {
	if h.database == "" {
		return nil
	}
	out, read := map[string]string{}, map[string]bool{}
	for _, f := range found {
		if dir := filepath.Dir(f.Path); !read[dir] {
			read[dir] = true
			h.spawned(out, filepath.Join(dir, clawIndex))
		}
	}
	return out
}

func (h Harness) spawned(out map[string]string, index string) {
	data, err := files.Read(index, maxIndex)
	if err != nil {
		return
	}
	doc, ok := transcript.ParseValue(data)
	if !ok {
		return
	}
	ids, by := map[string]string{}, map[string]string{}
	for name, session := range doc.Members() {
		id := session.Get("sessionId").String()
		ids[string(name)] = id
		if from := session.Get("spawnedBy").String(); from != "" && id != "" {
			by[id] = from
		}
	}
	for id, from := range by {
		if parent := ids[from]; parent != "" && parent != id {
			out[h.id+":"+id] = h.id + ":" + parent
		}
	}
}

// clawSessions lists the sessions of a database. Its events are only added: a stamp is made of
// how many there are, of their size, and of the last.
func clawSessions(ctx context.Context, f files.File, parents map[string]string, yield func(harness.Transcript, error) bool) bool {
	var found []harness.Transcript
	err := clawOpen(ctx, f.Path, func(db *rows.DB) error {
		return db.Each(ctx, func(r rows.Row) bool {
			id := r.Text("session_id")
			key := "openclaw:" + id
			found = append(found, harness.Transcript{
				Key: key, Source: f.Path + "#" + id, Path: f.Path, Kind: harness.Rows, Parent: parents[key], Stamp: r.Text("stamp"),
			})
			return true
		}, `SELECT session_id, count(*) || '.' || max(seq) || '.' || max(created_at) || '.' || sum(octet_length(event_json)) AS stamp
			FROM `+clawEvents+` WHERE session_id <> '' GROUP BY session_id ORDER BY session_id`)
	})
	if err != nil {
		return yield(harness.Transcript{}, err)
	}
	for _, t := range found {
		if !yield(t, nil) {
			return false
		}
	}
	return true
}

// clawOpen opens a database for the length of use.
func clawOpen(ctx context.Context, path string, use func(db *rows.DB) error) (err error) {
	db, err := rows.Open(ctx, path)
	if err != nil || db == nil {
		return err
	}
	defer func() {
		if closed := db.Close(); err == nil {
			err = closed
		}
	}()
	switch ok, err := db.Has(ctx, clawEvents, "session_id", "seq", "event_json", "created_at"); {
	case err != nil:
		return err
	case !ok:
		return db.Changed("table " + clawEvents + " with the columns session_id, seq, event_json, created_at")
	}
	return use(db)
}

// clawTail yields the events of a session. Each is named by its entry's id, as is the entry
// where it stands in a file of older versions; by its number where it has none.
func clawTail(ctx context.Context, t harness.Transcript, yield func(transcript.Record, error) bool) {
	_, id, _ := strings.Cut(t.Source, clawDatabase+"#")
	stopped := false
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxEvent))
	if err != nil {
		yield(transcript.Record{}, err)
		return
	}
	defer d.Close()
	err = clawOpen(ctx, t.Path, func(db *rows.DB) error {
		seen := map[string]bool{}
		return db.Each(ctx, func(r rows.Row) bool {
			event := clawEvent(r.Bytes("event_json"), d)
			name := "#" + r.Text("seq")
			if own := event.Get("id").String(); own != "" && !seen[own] && string(event.Get("type")) != `"session"` {
				name = own
			}
			seen[name] = true
			stopped = !yield(rows.Record(name, event), nil)
			return !stopped
		}, `SELECT seq, event_json FROM `+clawEvents+` WHERE session_id = ? ORDER BY seq`, id)
	})
	if err != nil && !stopped {
		yield(transcript.Record{}, err)
	}
}

// maxEvent bounds what a compressed event may grow to.
const maxEvent = 64 << 20

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// clawEvent is an event as JSON: what is no JSON as the text that it is, and what cannot be
// decompressed as its bytes.
func clawEvent(data []byte, d *zstd.Decoder) transcript.Value {
	if bytes.HasPrefix(data, zstdMagic) {
		plain, err := d.DecodeAll(data, nil)
		if err != nil {
			return rows.Text(data)
		}
		data = plain
	}
	if v, ok := transcript.ParseValue(data); ok {
		return v
	}
	return rows.Text(data)
}
