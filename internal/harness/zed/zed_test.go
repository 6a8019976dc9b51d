package zed_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/terminus-archive/terminus/internal/harness/harnesstest"
	"github.com/terminus-archive/terminus/internal/harness/zed"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// pack compresses the threads of the made-up store, as the program does; one it leaves.
func pack(t *testing.T, home string) {
	t.Helper()
	update(t, home, func(db *sql.DB) error {
		var data []byte
		if err := db.QueryRow(`SELECT data FROM threads WHERE id = 'z-1'`).Scan(&data); err != nil {
			return err
		}
		e, err := zstd.NewWriter(nil)
		if err == nil {
			_, err = db.Exec(`UPDATE threads SET data_type = 'zstd', data = ? WHERE id = 'z-1'`, e.EncodeAll(data, nil))
		}
		return err
	})
}

func update(t *testing.T, home string, do func(db *sql.DB) error) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(home, ".local", "share", "zed", "threads", "threads.db"))
	if err == nil {
		err = do(db)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestZedHasThePropertiesOfAHarness(t *testing.T) {
	harnesstest.Run(t, zed.Harness{}, harnesstest.Options{Prepare: pack, Absent: []string{"moonfig", "whaleglue"}})
}

func TestAThreadOfAnUnknownFormIsNoEmptyOne(t *testing.T) {
	home := harnesstest.Open(t, zed.Harness{}, harnesstest.Options{Prepare: pack})
	for _, c := range []struct{ set, says string }{
		{"data_type = 'brotli'", "is not known"},
		{"data_type = 'zstd', data = x'28b52ffd00'", "z-2"},
		{"data_type = 'json', data = '[]'", "whole JSON"},
	} {
		update(t, home.Dir, func(db *sql.DB) error {
			_, err := db.Exec(`UPDATE threads SET updated_at = updated_at || 'x', ` + c.set + ` WHERE id = 'z-2'`)
			return err
		})
		res := home.Pass()
		if len(res.Failures) != 1 || !strings.Contains(res.Failures[0].String(), c.says) {
			t.Errorf("%s: failures %v, want one that says %q", c.set, res.Failures, c.says)
		}
	}
	if home.Finds("cometclock") != 1 {
		t.Error("the other threads are not found")
	}
}

func FuzzTurns(f *testing.F) {
	f.Add([]byte(`{"id":"message/u","row":{"User":{"id":"u","content":[{"Text":"a"},{"Mention":{"uri":{"File":{"abs_path":"/b"}},"content":"c"}}]}}}` + "\n"))
	f.Add([]byte(`{"id":"message/u/1","row":{"Agent":{"content":[{"ToolUse":{"name":"terminal","raw_input":"{\"command\":\"d\"}"}}],"tool_results":{"t":{"is_error":true,"content":{"Text":"e"}}}}}}` + "\n"))
	f.Add([]byte(`{"id":"message/1","row":{"id":1,"role":"assistant","segments":[{"type":"text","text":"f"}],"tool_uses":[{"name":"grep","input":{"regex":"g"}}]}}` + "\n"))
	f.Add([]byte(`{"id":"thread","row":{"id":"t","summary":"s","updated_at":"2026-01-01T00:00:00Z","parent_id":"p","folder_paths":"/a\n/b"}}` + "\n"))
	f.Fuzz(func(t *testing.T, record []byte) {
		harnesstest.Check(t, zed.Harness{}, record, transcript.State{Key: "zed:t", Own: "2026-01-01T00:00:00.000Z"})
	})
}
