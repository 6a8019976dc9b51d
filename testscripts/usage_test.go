package testscripts

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/terminus-archive/terminus/internal/corpus"
)

// Both tables of usage add up, to the byte, whatever state the store is in; and what
// they add up to is what the database says of itself.
func TestUsageAddsUp(t *testing.T) {
	h := newMachine(t)
	h.ingest()
	h.addsUp("nothing archived")
	if _, err := corpus.Generate(filepath.Join(h.dir, ".claude"), corpus.Options{Seed: 3, Bytes: 3 << 20, Projects: 5}); err != nil {
		t.Fatal(err)
	}
	h.ingest()
	if u := h.addsUp("a corpus"); len(u.ByProject) < 4 || len(u.ByMonth) == 0 || u.ArchiveBytes < 1<<19 {
		t.Errorf("%+v", u)
	}
	h.write(h.config(), "exclude = [\"/nowhere\"]\n")
	h.addsUp("an exclusion of nothing")

	// From here on everything stands in the log: somebody reads, and nothing comes home.
	db, err := sql.Open("sqlite", h.db()+"?_pragma=wal_autocheckpoint(0)")
	h.check(err)
	defer db.Close()
	for _, statement := range []string{
		`DELETE FROM turns_fts_data WHERE id % 2 = 0`,
		`DELETE FROM turns WHERE id % 3 = 0`,
		`UPDATE session_meta SET project = NULL WHERE turns % 2 = 0`,
		`UPDATE session_meta SET first_turn_at = NULL WHERE turns % 3 = 0`,
		`DELETE FROM session_meta WHERE turns % 5 = 0`,
		`DELETE FROM blocks WHERE session_no % 4 = 0`,
		`DROP TABLE line_index`,
	} {
		_, err := db.Exec(statement)
		h.check(err)
		if info, err := os.Stat(h.db() + "-wal"); err != nil || info.Size() == 0 {
			t.Errorf("nothing in the log: %v", err)
		}
		h.addsUp(statement)
	}
	_, err = db.Exec(`VACUUM`)
	h.check(err)
	h.addsUp("VACUUM")
}

type usageData struct {
	Sessions     int64
	ArchiveBytes int64         `json:"archive_bytes"`
	ByProject    []usageBucket `json:"by_project"`
	ByMonth      []usageBucket `json:"by_month"`
	FileBytes    int64         `json:"file_bytes"`
	Footprint    []struct {
		Name  string
		Bytes int64
	}
}

type usageBucket struct {
	Project, Month  *string
	Sessions, Bytes int64
}

func (h *machine) addsUp(state string) usageData {
	h.t.Helper()
	out, errs, code := h.run("usage", "--json")
	if code != 0 || errs != "" {
		h.t.Fatalf("%s: %d %s", state, code, errs)
	}
	var u usageData
	h.check(json.Unmarshal(decode(h.t, out).Data, &u))
	for name, buckets := range map[string][]usageBucket{"by project": u.ByProject, "by month": u.ByMonth} {
		var sessions, bytes int64
		for i, b := range buckets {
			sessions += b.Sessions
			bytes += b.Bytes
			if unnamed := b.Project == nil && b.Month == nil; unnamed != (i == len(buckets)-1 && unnamed) ||
				i > 0 && !unnamed && b.Bytes > buckets[i-1].Bytes {
				h.t.Errorf("%s: %s is out of order at %d", state, name, i)
			}
		}
		if sessions != u.Sessions || bytes != u.ArchiveBytes {
			h.t.Errorf("%s: %s adds up to %d sessions and %d bytes of %d and %d", state, name, sessions, bytes, u.Sessions, u.ArchiveBytes)
		}
	}
	left := u.FileBytes
	for _, p := range u.Footprint {
		left -= p.Bytes
	}
	db, err := sql.Open("sqlite", h.db()+"?mode=ro")
	h.check(err)
	defer db.Close()
	var file, blocks, sessions int64
	h.check(db.QueryRow(`SELECT (SELECT * FROM pragma_page_count) * (SELECT * FROM pragma_page_size),
		(SELECT coalesce(sum(length(bytes)), 0) FROM blocks), (SELECT count(*) FROM sessions)`).Scan(&file, &blocks, &sessions))
	if left != 0 || u.FileBytes != file || u.ArchiveBytes != blocks || u.Sessions != sessions {
		h.t.Errorf("%s: %d bytes of the file are in no part; %d of %d bytes, blocks %d of %d, sessions %d of %d",
			state, left, u.FileBytes, file, u.ArchiveBytes, blocks, u.Sessions, sessions)
	}
	return u
}
