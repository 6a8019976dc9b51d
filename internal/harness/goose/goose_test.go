package goose_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness/goose"
	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/transcript"
)

func TestGooseHasThePropertiesOfAHarness(t *testing.T) {
	harnesstest.Run(t, goose.Harness{}, harnesstest.Options{Absent: []string{"griststone"}})
}

// Goose writes every row of a conversation anew when it compacts it, and makes rows of a file
// when it is updated: neither is history twice.
func TestWhatIsWrittenAnewIsNotTwiceThere(t *testing.T) {
	home := harnesstest.Open(t, goose.Harness{}, harnesstest.Options{})
	dir := filepath.Join(home.Dir, ".local", "share", "goose", "sessions")
	database := filepath.Join(dir, "sessions.db")
	aside := filepath.Join(home.Dir, "aside.db")
	if err := os.Rename(database, aside); err != nil {
		t.Fatal(err)
	}
	home.Pass() // the files alone
	if err := os.Rename(aside, database); err != nil {
		t.Fatal(err)
	}
	home.Pass()
	if n := home.Finds("rowboat"); n != 1 {
		t.Errorf("a session that was a file and is rows now is found %d times", n)
	}
	before := home.Rows(`SELECT id, record_type FROM turns ORDER BY id`)
	harnesstest.Database(t, database, `
		CREATE TABLE kept AS SELECT * FROM messages;
		DELETE FROM messages;
		INSERT INTO messages(message_id, session_id, role, content_json, created_timestamp, timestamp, metadata_json)
			SELECT message_id, session_id, role, content_json, created_timestamp, timestamp, metadata_json FROM kept ORDER BY id;
		DROP TABLE kept`)
	home.Pass()
	if after := home.Rows(`SELECT id, record_type FROM turns ORDER BY id`); !slices.Equal(before, after) {
		t.Errorf("turns before\n%v\nand after\n%v", before, after)
	}
	home.Verify()
}

func FuzzTurns(f *testing.F) {
	f.Add([]byte(`{"id":"m","row":{"table":"messages","role":"user","content_json":[{"type":"toolResponse","toolResult":{"status":"error","error":"a"}}],"created_timestamp":1,"metadata_json":{"userVisible":false,"agentVisible":true}}}` + "\n"))
	f.Add([]byte(`{"role":"assistant","created":1,"content":[{"type":"toolRequest","toolCall":{"value":{"name":"shell","arguments":{"command":"b"}}}}]}` + "\n"))
	f.Add([]byte(`{"id":"session","row":{"table":"sessions","id":"s","session_type":"sub_agent","parent_session_id":"q","working_dir":"/d","name":"t"}}` + "\n"))
	f.Fuzz(func(t *testing.T, record []byte) {
		harnesstest.Check(t, goose.Harness{}, record, transcript.State{Key: "goose:s"})
	})
}
