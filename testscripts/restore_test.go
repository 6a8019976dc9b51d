package testscripts

import (
	"bytes"
	"context"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/store"
)

// A restored file is what the archive gives back of one file on disk.
type restored struct {
	// key is the session key of a transcript, "" for a companion.
	key string
	// states are the contents that passes found in it, oldest first. Plain
	// growth is no new state.
	states [][]byte
}

// restore puts every archived state of the file at a canonical path together.
// ok is false where the archive does not know the file.
func restore(db *store.DB, path string) (r restored, ok bool, err error) {
	ctx := context.Background()
	if err := db.QueryRow(`SELECT s.session_key FROM watermarks w JOIN sessions s USING (session_no) WHERE w.source = ?`, path).
		Scan(&r.key); err == nil {
		r.states, err = restoreAll(ctx, db, `SELECT id FROM revisions WHERE source = ? ORDER BY n`, path, restoreRevision)
		return r, true, err
	}
	r.states, err = restoreAll(ctx, db, `SELECT c.id FROM companion_marks m
		JOIN companions n ON n.id = m.companion JOIN companions c ON c.session_no = n.session_no AND c.name = n.name
		WHERE m.source = ? ORDER BY c.id = m.companion, c.version`, path, restoreCompanion)
	return r, len(r.states) > 0, err
}

func restoreAll(ctx context.Context, db *store.DB, query, path string,
	one func(context.Context, *store.DB, int64, *bytes.Buffer) error,
) ([][]byte, error) {
	rows, err := db.QueryContext(ctx, query, path)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	var states [][]byte
	for _, id := range ids {
		var out bytes.Buffer
		if err := one(ctx, db, id, &out); err != nil {
			return nil, err
		}
		states = append(states, out.Bytes())
	}
	return states, nil
}

func restoreRevision(ctx context.Context, db *store.DB, id int64, out *bytes.Buffer) error {
	rev, err := archive.LoadRevision(ctx, db, id)
	if err != nil {
		return err
	}
	return archive.WriteRevision(ctx, db, rev, out)
}

func restoreCompanion(ctx context.Context, db *store.DB, id int64, out *bytes.Buffer) error {
	c := archive.Companion{ID: id}
	err := db.QueryRowContext(ctx, `SELECT session_no, name, version, byte_len, hash FROM companions WHERE id = ?`, id).
		Scan(&c.No, &c.Name, &c.Version, &c.Len, &c.Hash)
	if err != nil {
		return err
	}
	return archive.WriteCompanion(ctx, db, c, out)
}

// whole is a transcript up to its last newline: a torn last line waits in the
// file until it is complete.
func whole(transcript []byte) []byte {
	return transcript[:bytes.LastIndexByte(transcript, '\n')+1]
}
