package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/fsx"
)

var noon = time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)

func take(t *testing.T, dataDir string, now time.Time, keep int) bool {
	t.Helper()
	made, err := TakeSnapshot(context.Background(), SnapshotOptions{DataDir: dataDir, Now: now, Every: time.Hour, Keep: keep})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func snapshotNames(t *testing.T, dataDir string) []string {
	t.Helper()
	all, err := Snapshots(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// newStore makes a store that holds a row.
func newStore(t *testing.T) (dataDir string, db *DB) {
	t.Helper()
	dataDir = t.TempDir()
	db, err := OpenWriter(context.Background(), dataDir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	exec(t, db.DB, `INSERT INTO meta VALUES ('mark', 'platypus')`)
	return dataDir, db
}

func TestASnapshotIsAStoreOfItsOwn(t *testing.T) {
	dataDir, db := newStore(t)
	writing, err := db.Writer(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := writing.Begin(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := writing.ExecContext(context.Background(), `INSERT INTO meta VALUES ('late', 'x')`); err != nil {
		t.Fatal(err)
	}
	// Another process is in the middle of a transaction: the copy is made, and only
	// noting it has to wait.
	time.AfterFunc(200*time.Millisecond, func() { writing.Rollback(); _ = writing.Close() })
	if !take(t, dataDir, noon, 3) {
		t.Fatal("none was made")
	}
	all, err := Snapshots(dataDir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v %v", all, err)
	}
	s := all[0]
	if s.Name != "terminus-20260820T120000.000Z.db" || !s.Taken.Equal(noon) || s.Bytes == 0 {
		t.Errorf("%+v", s)
	}
	if info, err := os.Stat(s.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	copied, err := OpenCopy(context.Background(), s.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	var n int
	if err := copied.QueryRow(`SELECT count(*) FROM meta WHERE key IN ('mark', 'late', 'last_snapshot_at')`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d of the rows, %v", n, err)
	}
	entries, err := os.ReadDir(filepath.Dir(s.Path))
	if err != nil || len(entries) != 2 { // its lock is the other one
		t.Errorf("%v %v", entries, err)
	}
}

func TestASnapshotHoldsNothingThatWasDeleted(t *testing.T) {
	dataDir, db := newStore(t)
	exec(t, db.DB, `INSERT INTO turns_fts(rowid, body) VALUES (1, 'wombat')`)
	exec(t, db.DB, `DELETE FROM meta WHERE key = 'mark'`)
	take(t, dataDir, noon, 3)
	all, err := Snapshots(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(all[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte("wombat")) || bytes.Contains(data, []byte("platypus")) {
		t.Error("the copy holds what was deleted, or not what was kept")
	}
}

func TestWhenASnapshotIsDue(t *testing.T) {
	dataDir, db := newStore(t)
	for i, step := range []struct {
		name string
		at   time.Time
		made bool
	}{
		{"the first", noon, true},
		{"too early", noon.Add(time.Hour - time.Second), false},
		{"in time", noon.Add(time.Hour), true},
		{"by a clock that was set back", noon.Add(-24 * time.Hour), true},
		{"after that", noon.Add(-24*time.Hour + time.Minute), false},
	} {
		var before, after string
		_ = db.QueryRow(`SELECT value FROM meta WHERE key = 'last_snapshot_at'`).Scan(&before)
		if made := take(t, dataDir, step.at, 9); made != step.made {
			t.Errorf("%d %s: made %v", i, step.name, made)
		}
		_ = db.QueryRow(`SELECT value FROM meta WHERE key = 'last_snapshot_at'`).Scan(&after)
		if (before == after) == step.made {
			t.Errorf("%d %s: noted %s after %s", i, step.name, after, before)
		}
	}
	exec(t, db.DB, `UPDATE meta SET value = 'nonsense' WHERE key = 'last_snapshot_at'`)
	if due, err := SnapshotDue(context.Background(), db, noon, time.Hour); !due || err != nil {
		t.Errorf("%v %v", due, err)
	}
}

func TestOldSnapshotsGoByTheirNames(t *testing.T) {
	dataDir, _ := newStore(t)
	dir := filepath.Join(dataDir, "snapshots")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	foreign := []string{
		"terminus-20260101T000000.000Z.db.bak", "terminus-20260101T000000Z.db", "mine.db", "terminus-20261301T000000.000Z.db", "terminus-.db",
		"terminus-20260101T000000.000Z.db-wal",
	}
	for i, name := range append(foreign, "terminus-20260102T000000.000Z.db", "terminus-20260103T000000.000Z.db", "terminus-20990101T000000.000Z.db") {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := noon.Add(-time.Duration(i) * time.Hour) // the times of the files say the contrary
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, suffix := range []string{"", "-journal"} {
		if err := os.WriteFile(filepath.Join(dir, ".terminus-20260101T000000.000Z.db.1.terminus-tmp"+suffix), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	take(t, dataDir, noon, 3)
	want := []string{"terminus-20990101T000000.000Z.db", "terminus-20260820T120000.000Z.db", "terminus-20260103T000000.000Z.db"}
	if got := snapshotNames(t, dataDir); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	// The greatest name is one from the future: the new one stays all the same.
	take(t, dataDir, noon.Add(time.Hour), 1)
	want = []string{"terminus-20990101T000000.000Z.db", "terminus-20260820T130000.000Z.db"}
	if got := snapshotNames(t, dataDir); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	for _, name := range foreign {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.Contains(e.Name(), ".terminus-tmp") {
			t.Errorf("%s is still there", e.Name())
		}
	}
}

func TestOneSnapshotAtATime(t *testing.T) {
	dataDir, _ := newStore(t)
	var wg sync.WaitGroup
	made := make([]bool, 8)
	for i := range made {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var err error
			made[i], err = TakeSnapshot(context.Background(), SnapshotOptions{
				DataDir: dataDir, Now: noon.Add(time.Duration(i) * time.Millisecond), Every: time.Hour, Keep: 9,
			})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	if n := len(slices.DeleteFunc(made, func(m bool) bool { return !m })); n != 1 || len(snapshotNames(t, dataDir)) != 1 {
		t.Errorf("%d were made", n)
	}
	lock, err := LockSnapshots(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	if err := NoSnapshotRuns(dataDir); !errors.Is(err, fsx.ErrLocked) {
		t.Errorf("%v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := NoSnapshotRuns(dataDir); err != nil {
		t.Error(err)
	}
	if err := NoSnapshotRuns(filepath.Join(dataDir, "nowhere")); err != nil {
		t.Error(err)
	}
}

func TestAFailedSnapshotLeavesNothing(t *testing.T) {
	dataDir, db := newStore(t)
	take(t, dataDir, noon, 3)
	exec(t, db.DB, `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
		INSERT INTO meta SELECT 'k' || i, hex(zeroblob(2000)) FROM n`)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	made, err := TakeSnapshot(ctx, SnapshotOptions{DataDir: dataDir, Now: noon.Add(2 * time.Hour), Every: time.Hour, Keep: 1})
	if made || !errors.Is(err, context.Canceled) {
		t.Errorf("%v %v", made, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(db.Path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(data) / 4; i < len(data)/2; i++ {
		data[i] = 0xa5
	}
	if err := os.WriteFile(db.Path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	made, err = TakeSnapshot(context.Background(), SnapshotOptions{DataDir: dataDir, Now: noon.Add(2 * time.Hour), Every: time.Hour, Keep: 1})
	if made || !IsKind(err, Damaged) {
		t.Errorf("%v %v", made, err)
	}
	if got := snapshotNames(t, dataDir); len(got) != 1 || got[0] != "terminus-20260820T120000.000Z.db" {
		t.Errorf("%v", got)
	}
	if entries, _ := os.ReadDir(filepath.Join(dataDir, "snapshots")); len(entries) != 2 {
		t.Errorf("%v", entries)
	}
}

func TestUntilWhenSnapshotsHoldWhatIsDeleted(t *testing.T) {
	dataDir, _ := newStore(t)
	if _, any, err := SnapshotsUntil(dataDir, time.Hour, 3); any || err != nil {
		t.Errorf("%v %v", any, err)
	}
	take(t, dataDir, noon, 3)
	until, any, err := SnapshotsUntil(dataDir, time.Hour, 3)
	if !any || err != nil || !until.Equal(noon.Add(3*time.Hour)) {
		t.Errorf("%v %v %v", until, any, err)
	}
	for h := 1; h <= 3; h++ {
		if held := slices.Contains(snapshotNames(t, dataDir), "terminus-20260820T120000.000Z.db"); !held {
			t.Errorf("gone before hour %d", h)
		}
		take(t, dataDir, noon.Add(time.Duration(h)*time.Hour), 3)
	}
	if slices.Contains(snapshotNames(t, dataDir), "terminus-20260820T120000.000Z.db") {
		t.Error("still there")
	}
}
