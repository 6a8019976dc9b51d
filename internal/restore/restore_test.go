package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/store"
)

// roleRestore is the first argument of the test binary that stands in for a process
// which restores, and is ended at a point.
const roleRestore = "restore-and-die"

func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == roleRestore {
		restoreAndDie(os.Args[2], os.Args[3], point(os.Args[4]))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func restoreAndDie(dataDir, name string, at point) {
	o := Options{DataDir: dataDir, Name: name, Now: noon, at: func(p point) {
		if p == at {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				_ = self.Kill()
			}
			select {} // until the system has ended it
		}
	}}
	plan, err := Look(context.Background(), o)
	if err == nil {
		_, err = plan.Run(context.Background())
	}
	fmt.Println("not killed:", err)
}

var noon = time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)

// A place is a machine with transcripts and an archive of them.
type place struct {
	t    *testing.T
	root string
	cfg  *config.Config
	name string // of the snapshot that newPlace makes, of one session
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	cfg, err := config.LoadWith(config.Environ{Home: dir}, config.Directories{Data: filepath.Join(dir, "data"), Config: filepath.Join(dir, "conf")})
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, root: filepath.Join(dir, ".claude", "projects"), cfg: cfg}
	p.say("1", "the first")
	p.pass()
	all, err := store.Snapshots(cfg.DataDir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v %v", all, err)
	}
	p.name = all[0].Name
	cfg.Snapshot.Enabled = false
	p.say("2", "the second")
	p.pass()
	return p
}

func (p *place) transcript(digit string) string {
	id := strings.ReplaceAll("11111111-1111-4111-8111-111111111111", "1", digit)
	return filepath.Join(p.root, "-work-app", id+".jsonl")
}

func (p *place) say(digit, text string) {
	p.t.Helper()
	path := p.transcript(digit)
	line := fmt.Sprintf(`{"type":"user","uuid":"%s","sessionId":"%[1]s","timestamp":"2026-08-12T20:59:00.000Z","cwd":"/work/app","message":{"role":"user","content":%q}}`+"\n", digit, text)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) pass() {
	p.t.Helper()
	r, err := ingest.Run(context.Background(), ingest.Options{Config: p.cfg, Now: time.Now})
	if err != nil || r.Busy || len(r.Failures) > 0 || r.NoSnapshot != "" {
		p.t.Fatalf("%+v %v", r, err)
	}
}

func (p *place) db() string { return store.Path(p.cfg.DataDir) }

func (p *place) options() Options {
	return Options{DataDir: p.cfg.DataDir, Name: p.name, Now: noon.Add(time.Hour)}
}

func (p *place) restore() (kept string, err error) {
	p.t.Helper()
	plan, err := Look(context.Background(), p.options())
	if err != nil {
		p.t.Fatal(err)
	}
	return plan.Run(context.Background())
}

// sessions verifies the archive at path, and counts its sessions.
func sessions(path string) (int64, error) {
	db, err := store.OpenReader(context.Background(), path)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	r, err := ingest.VerifyStore(context.Background(), db, nil)
	if err == nil && len(r.Failures) > 0 {
		err = fmt.Errorf("%v", r.Failures)
	}
	return int64(r.Checked), err
}

func (p *place) holds(path string, want int64) {
	p.t.Helper()
	if n, err := sessions(path); n != want || err != nil {
		p.t.Errorf("%s holds %d sessions, %v", filepath.Base(path), n, err)
	}
}

func TestASnapshotTakesThePlaceOfTheArchive(t *testing.T) {
	p := newPlace(t)
	if err := os.Remove(p.transcript("2")); err != nil {
		t.Fatal(err)
	}
	p.say("3", "the third")
	p.pass()
	plan, err := Look(context.Background(), p.options())
	if err != nil {
		t.Fatal(err)
	}
	if plan.Sessions != 1 || plan.Turns != 1 || plan.Damaged != 0 || plan.Loss == nil || *plan.Loss != (Loss{Newer: 2, Gone: 1}) {
		t.Errorf("%+v %+v", plan, plan.Loss)
	}
	// Somebody reads the old one all the while.
	reader, err := store.OpenReader(context.Background(), p.db())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := ingest.VerifyStore(context.Background(), reader, nil); err != nil {
		t.Fatal(err)
	}
	kept, err := plan.Run(context.Background())
	if err != nil || kept != p.db()+"-replaced-20260820T130000.000Z" {
		t.Fatalf("%q %v", kept, err)
	}
	p.holds(p.db(), 1)
	p.pass()
	p.holds(p.db(), 2) // the third came back
	if r, err := ingest.VerifyStore(context.Background(), reader, nil); err != nil || r.Checked != 3 || len(r.Failures) > 0 {
		t.Errorf("who reads the old one: %+v %v", r, err)
	}
	p.holds(kept, 3)
	if list, err := List(context.Background(), p.cfg.DataDir); err != nil || len(list) != 1 || list[0].Sessions != 1 || list[0].Problem != "" {
		t.Errorf("%+v %v", list, err)
	}
}

func TestWhateverIsInItsPlaceIsReplacedAndKept(t *testing.T) {
	for _, c := range []struct {
		name  string
		ruin  func(p *place)
		kept  bool
		still int64 // sessions in what is kept, -1 where it cannot be opened
	}{
		{"no database", func(p *place) { p.write("", strings.Repeat("no database", 1000)) }, true, -1},
		{"no database, with a log", func(p *place) {
			p.write("-wal", p.log())
			p.write("", strings.Repeat("no database", 1000))
			p.write("-shm", "memory")
		}, true, -1},
		{"an empty file", func(p *place) { p.write("", "") }, true, -1},
		{"nothing", func(p *place) { p.check(os.Remove(p.db())) }, false, 0},
		{"a log alone", func(p *place) { p.write("-wal", p.log()); p.check(os.Remove(p.db())) }, false, 0},
		{"a journal", func(p *place) { p.write("-journal", strings.Repeat("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 200)) }, true, 2},
		{"a log that is not home", func(p *place) { p.write("-wal", p.log()) }, true, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.t = t
			c.ruin(p)
			kept, err := p.restore()
			if err != nil || (kept != "") != c.kept {
				t.Fatalf("%q %v", kept, err)
			}
			p.holds(p.db(), 1)
			for _, suffix := range []string{"-wal", "-shm", "-journal"} {
				if info, err := os.Stat(p.db() + suffix); err == nil && info.Size() > 0 && suffix != "-shm" {
					t.Errorf("%s has %d bytes", suffix, info.Size())
				}
			}
			if n, err := sessions(kept); c.kept && c.still >= 0 && (n != c.still || err != nil) {
				t.Errorf("what is kept holds %d sessions, %v", n, err)
			}
			p.pass()
			p.holds(p.db(), int64(p.transcripts()))
		})
	}
}

func (p *place) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) transcripts() int {
	all, err := filepath.Glob(filepath.Join(p.root, "*", "*.jsonl"))
	p.check(err)
	return len(all)
}

func (p *place) write(suffix, text string) {
	p.t.Helper()
	p.check(os.WriteFile(p.db()+suffix, []byte(text), 0o600))
}

// log archives a third session, and gives back the log of that: a valid one, that
// belongs to the database as it is now.
func (p *place) log() string {
	p.t.Helper()
	before, err := os.ReadFile(p.db())
	p.check(err)
	reader, err := store.OpenReader(context.Background(), p.db())
	p.check(err)
	tx, err := reader.Begin()
	p.check(err)
	var n int
	p.check(tx.QueryRow(`SELECT count(*) FROM sessions`).Scan(&n)) // keeps the log from going home
	p.say("3", "the third")
	p.pass()
	log, err := os.ReadFile(p.db() + "-wal")
	p.check(err)
	if len(log) == 0 {
		p.t.Fatal("there is no log")
	}
	p.check(tx.Rollback())
	p.check(reader.Close())
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(p.db() + suffix)
	}
	p.write("", string(before))
	return string(log)
}

func TestARestoreThatIsEndedAnywhereLeavesOneArchive(t *testing.T) {
	for _, broken := range []bool{false, true} {
		for _, at := range []point{copied, kept, cleared, swapped, settled} {
			t.Run(fmt.Sprintf("%s, broken %v", at, broken), func(t *testing.T) {
				p := newPlace(t)
				old := int64(2)
				if broken {
					p.write("-wal", p.log())
					p.write("", strings.Repeat("no database", 1000))
					old = -1
				}
				out, err := exec.Command(os.Args[0], roleRestore, p.cfg.DataDir, p.name, string(at)).CombinedOutput()
				if err == nil || len(out) > 0 {
					t.Fatalf("%v %s", err, out)
				}
				n, err := sessions(p.db())
				switch done := at == swapped || at == settled; {
				case done && (n != 1 || err != nil):
					t.Errorf("the new archive holds %d sessions, %v", n, err)
				case !done && old < 0 && !store.IsKind(err, store.Damaged):
					t.Errorf("the broken archive: %v", err)
				case !done && old >= 0 && (n != old || err != nil):
					t.Errorf("the old archive holds %d sessions, %v", n, err)
				}
				// Again, and whatever is left of the first run is in nobody's way.
				if _, err := p.restore(); err != nil {
					t.Fatal(err)
				}
				p.holds(p.db(), 1)
				p.pass()
				p.holds(p.db(), int64(p.transcripts()))
				entries, err := os.ReadDir(p.cfg.DataDir)
				p.check(err)
				for _, e := range entries {
					if temp, _ := filepath.Match(fsx.TempPattern, e.Name()); temp {
						t.Errorf("%s is left", e.Name())
					}
				}
				if broken { // its log is kept, whatever happened
					logs, err := filepath.Glob(p.db() + "-replaced-*-wal")
					if err != nil || len(logs) == 0 {
						t.Errorf("%v %v", logs, err)
					}
				}
			})
		}
	}
}

func TestWhatCannotBeRestoredIsRefusedAndNothingChanges(t *testing.T) {
	damage := func(from, to float64) func(*place, string) {
		return func(p *place, path string) {
			data, err := os.ReadFile(path)
			p.check(err)
			for i := int(from * float64(len(data))); i < int(to*float64(len(data))); i++ {
				data[i] = 0xa5
			}
			p.check(os.WriteFile(path, data, 0o600))
		}
	}
	for _, c := range []struct {
		name string
		ruin func(p *place, path string)
		want string
	}{
		{"cut", func(p *place, path string) { p.check(os.Truncate(path, 9000)) }, "cannot be restored"},
		{"empty", func(p *place, path string) { p.check(os.Truncate(path, 0)) }, "is empty"},
		{"no database", damage(0, 1), "cannot be restored"},
		{"a damaged page", damage(0.3, 0.8), "cannot be restored"},
		{"gone", func(p *place, path string) { p.check(os.Remove(path)) }, ErrUnknown.Error()},
		{"a directory", func(p *place, path string) {
			p.check(os.Remove(path))
			p.check(os.Mkdir(path, 0o700))
		}, ErrUnknown.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			c.ruin(p, filepath.Join(p.cfg.DataDir, "snapshots", p.name))
			if _, err := Look(context.Background(), p.options()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			p.holds(p.db(), 2)
		})
	}
	for _, name := range []string{"", "..", "../terminus.db", "LOCK", "snapshots/x"} {
		p := newPlace(t)
		p.name = name
		if _, err := Look(context.Background(), p.options()); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestARestoreThatMustNotBegin(t *testing.T) {
	p := newPlace(t)
	plan, err := Look(context.Background(), p.options())
	p.check(err)
	refused := func(name, want string) {
		t.Helper()
		if kept, err := plan.Run(context.Background()); kept != "" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q %v", name, kept, err)
		}
		p.holds(p.db(), 2)
		if left, _ := filepath.Glob(p.db() + "-replaced-*"); len(left) > 0 {
			t.Errorf("%s: %v", name, left)
		}
	}
	lock, err := fsx.Acquire(filepath.Join(p.cfg.DataDir, ingest.LockName))
	p.check(err)
	refused("a pass is at work", "holds the ingest lock")
	p.check(lock.Unlock())
	lock, err = store.LockSnapshots(p.cfg.DataDir)
	p.check(err)
	refused("a snapshot is being made", "a snapshot is being made")
	p.check(lock.Unlock())
	p.check(os.Chtimes(plan.Snapshot.Path, noon, noon))
	refused("the snapshot is another", "has changed")
}
