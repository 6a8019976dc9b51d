package opencode_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/harness/opencode"
)

const (
	main  = ".local/share/opencode/opencode.db"
	kilos = ".local/share/kilo/kilo.db"
)

// What changes in a store changes the stamp of its session and of no other, though the
// session's own row stays as it is.
func TestWhateverIsWrittenChangesTheStampOfItsSession(t *testing.T) {
	const ended = `UPDATE part SET data = '{"type":"text","text":"late"}', time_updated = 1779999999999 WHERE id = `
	for _, c := range []struct {
		name            string
		h               harness.Harness
		db, before, run string
		key             string
	}{
		{
			"a part that ends, where events are counted",
			opencode.Harness{},
			main, ``,
			ended + `'prt_a27'; UPDATE event_sequence SET seq = seq + 1 WHERE aggregate_id = 'ses_1main'`, "opencode:ses_1main",
		},
		{"a part that ends, where none are", opencode.Harness{}, main, `DROP TABLE event_sequence`, ended + `'prt_a27'`, "opencode:ses_1main"},
		{"a part that ends, in the oldest form", opencode.Kilo(), kilos, ``, ended + `'prt_k2'`, "kilocode:ses_k1"},
		{
			"a part that no event tells of",
			opencode.Harness{},
			main, ``,
			`INSERT INTO part VALUES ('prt_zz', 'msg_b2', 'ses_2child', 1, 1, '{"type":"text","text":"late"}')`, "opencode:ses_2child",
		},
		{
			"a message of 2.0",
			opencode.Harness{},
			main, ``,
			`INSERT INTO session_message VALUES ('evt_d9', 'ses_4next', 'user', 9, 1, 1, '{"text":"late"}')`, "opencode:ses_4next",
		},
		{
			"a message of 2.0 that grows, where no events are counted",
			opencode.Harness{},
			main, `DROP TABLE event_sequence`,
			`UPDATE session_message SET data = replace(data, 'beeswax', 'beeswax and more') WHERE id = 'evt_d3'`, "opencode:ses_4next",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := harnesstest.Open(t, c.h, harnesstest.Options{})
			db := filepath.Join(home.Dir, filepath.FromSlash(c.db))
			harnesstest.Database(t, db, c.before)
			stamps := map[string]string{}
			for _, tr := range home.Found() {
				stamps[tr.Key] = tr.Stamp
			}
			harnesstest.Database(t, db, c.run)
			var changed []string
			for _, tr := range home.Found() {
				if tr.Stamp != stamps[tr.Key] {
					changed = append(changed, tr.Key)
				}
			}
			if !slices.Equal(changed, []string{c.key}) {
				t.Errorf("the stamps of %v changed, want that of %s", changed, c.key)
			}
		})
	}
}

func TestAToolThatEndsKeepsItsTurn(t *testing.T) {
	home := harnesstest.Open(t, opencode.Harness{}, harnesstest.Options{})
	home.Pass()
	before := home.Rows(`SELECT id FROM turns ORDER BY id`)
	harnesstest.Database(t, filepath.Join(home.Dir, filepath.FromSlash(main)), `
		UPDATE part SET time_updated = 1770000095000, data = json_set(data, '$.state.status', 'completed', '$.state.output', 'eleven damselflies')
			WHERE id = 'prt_a27';
		UPDATE event_sequence SET seq = seq + 1 WHERE aggregate_id = 'ses_1main'`)
	if res := home.Pass(); res.TurnsAdded != 1 {
		t.Errorf("%d turns were added, want the one of what the tool returned", res.TurnsAdded)
	}
	after := home.Rows(`SELECT id FROM turns ORDER BY id`)
	for _, id := range before {
		if !slices.Contains(after, id) {
			t.Errorf("the turn %s has gone", id)
		}
	}
	if n := home.Finds("damselflies"); n != 1 {
		t.Errorf("what the tool returned is found %d times", n)
	}
	home.Verify()
}

func TestAStoreOfAnotherFormIsNoEmptyOne(t *testing.T) {
	for _, script := range []string{
		`ALTER TABLE session RENAME TO talks`,
		`ALTER TABLE session RENAME COLUMN directory TO place`,
		`DROP TABLE part; DROP TABLE session_message`,
	} {
		home := harnesstest.Open(t, opencode.Harness{}, harnesstest.Options{})
		harnesstest.Database(t, filepath.Join(home.Dir, filepath.FromSlash(main)), script)
		res := home.Pass()
		if len(res.Unreadable) != 1 || !strings.Contains(res.Unreadable[0].String(), "its form is not known") {
			t.Errorf("%s: unreadable %v", script, res.Unreadable)
		}
	}
}

func TestAMessageThatIsDeletedMeanwhileCostsNoOther(t *testing.T) {
	home := harnesstest.Open(t, opencode.Kilo(), harnesstest.Options{})
	db := filepath.Join(home.Dir, filepath.FromSlash(kilos))
	// The agent has it open: then it can be written to while it is read.
	agent, err := sql.Open("sqlite", "file:"+filepath.ToSlash(db)+"?_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	run := func(script string) {
		t.Helper()
		if _, err := agent.Exec(script); err != nil {
			t.Fatal(err)
		}
	}
	run(`
		INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES
			('msg_x1', 'ses_k1', 8000000000001, 1, '{"role":"user"}'), ('msg_x2', 'ses_k1', 8000000000002, 1, '{"role":"user"}')`)
	for _, tr := range home.Found() {
		if tr.Key != "kilocode:ses_k1" {
			continue
		}
		deleted, last := false, ""
		n := 0
		for r, err := range opencode.Kilo().Tail(context.Background(), tr) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			last = r.ID
			if strings.HasPrefix(r.ID, "msg_") && !deleted {
				deleted = true
				run(`DELETE FROM message WHERE id = 'msg_x1'`)
			}
		}
		if !deleted || last != "msg_x2" {
			t.Errorf("of %d records the last is %q, want that of the message behind the deleted one", n, last)
		}
	}
}

func TestATimeOfAnyTypeIsOneByWhichCopiesAreKnown(t *testing.T) {
	home := harnesstest.Open(t, opencode.Harness{}, harnesstest.Options{})
	harnesstest.Database(t, filepath.Join(home.Dir, filepath.FromSlash(main)),
		`
		UPDATE message SET time_created = CAST(time_created AS BLOB); UPDATE session SET time_created = CAST(time_created AS BLOB)`)
	n := 0
	for _, tr := range home.Found() {
		for _, err := range (opencode.Harness{}).Tail(context.Background(), tr) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	if n == 0 {
		t.Error("nothing is read")
	}
}
