package relocate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/fsx"
)

// roleMove is the first argument of the test binary that stands in for a process
// which moves, and is ended at a point.
const roleMove = "move-and-die"

func TestMain(m *testing.M) {
	if len(os.Args) == 6 && os.Args[1] == roleMove {
		os.Exit(moveAndDie(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func moveAndDie(args []string) int {
	o := Options{Dirs: config.Directories{Data: args[0], Config: args[1]}, To: args[2]}
	o.at = func(p point) {
		if string(p) == args[3] {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				_ = self.Kill()
			}
			select {} // until the system has ended it
		}
	}
	plan, err := Look(o)
	if err == nil {
		err = plan.Run(context.Background())
	}
	fmt.Println("not killed:", err)
	return 0
}

// A place is a directory with a data directory, a configuration directory, and
// where the data directory is to go.
type place struct {
	t              *testing.T
	data, conf, to string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{t: t, data: filepath.Join(dir, "old"), conf: filepath.Join(dir, "conf"), to: filepath.Join(dir, "big", "new")}
	for name, content := range archived {
		p.write(filepath.Join(p.data, name), content)
	}
	return p
}

// archived is what stands in the data directory. Nothing of it is opened.
var archived = map[string]string{
	"terminus.db":           strings.Repeat("database ", 5000),
	"terminus.db-wal":       "log",
	"decisions/a.json":      "{}",
	"injection/b.json":      "{}",
	"snapshots/one/copy.db": "copy",
	"empty":                 "",
}

func (p *place) write(path, content string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// options are those of a move from where the pointer says that the data is.
func (p *place) options() Options {
	p.t.Helper()
	data, err := config.ReadPointer(filepath.Join(p.conf, config.PointerName))
	if err != nil {
		p.t.Fatal(err)
	}
	if data == "" {
		data = p.data
	}
	return Options{Dirs: config.Directories{Data: data, Config: p.conf}, To: p.to}
}

func (p *place) move() error {
	plan, err := Look(p.options())
	if err != nil {
		return err
	}
	return plan.Run(context.Background())
}

// content is what a data directory holds, without its lock.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := walk(dir, func(e entry) error {
		if !e.mode.IsRegular() || filepath.Base(e.name) == "LOCK" {
			return nil
		}
		data, err := os.ReadFile(filepath.Join(dir, e.name))
		found[filepath.ToSlash(e.name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// arrived asks that the move is done, and nothing is left of it.
func (p *place) arrived() {
	p.t.Helper()
	if got := content(p.t, p.to); !maps.Equal(got, archived) {
		p.t.Errorf("the new place holds %v", slices.Sorted(maps.Keys(got)))
	}
	if _, err := os.Lstat(p.data); !errors.Is(err, fs.ErrNotExist) {
		p.t.Errorf("the old place is there: %v", err)
	}
	if named, err := config.ReadPointer(filepath.Join(p.conf, config.PointerName)); named != p.to || err != nil {
		p.t.Errorf("the pointer names %q, %v", named, err)
	}
	if _, err := os.Stat(filepath.Join(p.to, "LOCK")); err != nil {
		p.t.Error(err)
	}
	_ = filepath.WalkDir(p.to, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			p.t.Error(err)
			return nil
		}
		info, err := d.Info()
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			p.t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
}

func TestMoveCopiesEverythingNarrowAndRemovesTheSource(t *testing.T) {
	p := newPlace(t)
	var last, total int64
	o := p.options()
	o.Progress = func(done, all int64) { last, total = done, all }
	plan, err := Look(o)
	if err != nil {
		t.Fatal(err)
	}
	var bytes int64
	for _, c := range archived {
		bytes += int64(len(c))
	}
	if plan.Files != len(archived) || plan.Bytes != bytes {
		t.Errorf("%d files, %d bytes", plan.Files, plan.Bytes)
	}
	if err := plan.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	p.arrived()
	if last != bytes || total != bytes {
		t.Errorf("progress ended at %d of %d", last, total)
	}
}

func TestMoveIntoAnEmptyDirectoryThatOthersMayRead(t *testing.T) {
	p := newPlace(t)
	if err := os.MkdirAll(p.to, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := p.move(); err != nil {
		t.Fatal(err)
	}
	p.arrived()
}

func TestMoveBeforeThereIsAnything(t *testing.T) {
	p := newPlace(t)
	if err := os.RemoveAll(p.data); err != nil {
		t.Fatal(err)
	}
	if err := p.move(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, p.to); len(got) > 0 {
		t.Errorf("%v", got)
	}
	if _, err := os.Lstat(p.data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestAMoveThatIsEndedAnywhereLosesNothingAndIsFinishedByTheNext(t *testing.T) {
	for _, at := range []point{marked, copying, copied, switched, removing, removed} {
		t.Run(string(at), func(t *testing.T) {
			p := newPlace(t)
			out, err := exec.Command(os.Args[0], roleMove, p.data, p.conf, p.to, string(at)).CombinedOutput()
			if err == nil || len(out) > 0 {
				t.Fatalf("%v %s", err, out)
			}
			// Whatever the pointer names is the whole archive.
			got := content(t, p.options().Dirs.Data)
			delete(got, MarkerName)
			if !maps.Equal(got, archived) {
				t.Errorf("the archive holds %v", slices.Sorted(maps.Keys(got)))
			}
			if err := p.move(); err != nil {
				t.Fatal(err)
			}
			p.arrived()
		})
	}
}

func TestAMoveElsewhereAfterOneThatLeftItsSource(t *testing.T) {
	p := newPlace(t)
	if out, err := exec.Command(os.Args[0], roleMove, p.data, p.conf, p.to, string(removing)).CombinedOutput(); err == nil {
		t.Fatalf("%s", out)
	}
	if from, unfinished := Unfinished(p.to); !unfinished || from != p.data {
		t.Errorf("%q, %v", from, unfinished)
	}
	first := p.to
	p.to += "er"
	if err := p.move(); err != nil {
		t.Fatal(err)
	}
	p.arrived()
	if _, err := os.Lstat(first); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestASourceThatWasWrittenToIsNotRemoved(t *testing.T) {
	p := newPlace(t)
	if out, err := exec.Command(os.Args[0], roleMove, p.data, p.conf, p.to, string(switched)).CombinedOutput(); err == nil {
		t.Fatalf("%s", out)
	}
	p.write(filepath.Join(p.data, "terminus.db"), "more")
	var done *DoneError
	if err := p.move(); !errors.As(err, &done) || !strings.Contains(err.Error(), "terminus.db was written to after it was copied") {
		t.Fatalf("%v", err)
	}
	if got := content(t, p.data); got["terminus.db"] != "more" {
		t.Errorf("%v", got)
	}
}

func TestACopyThatIsInUseIsNotThrownAway(t *testing.T) {
	p := newPlace(t)
	if out, err := exec.Command(os.Args[0], roleMove, p.data, p.conf, p.to, string(copied)).CombinedOutput(); err == nil {
		t.Fatalf("%s", out)
	}
	p.write(filepath.Join(p.to, "terminus.db"), "somebody's")
	if err := p.move(); err == nil || !strings.Contains(err.Error(), "was written to since") {
		t.Fatalf("%v", err)
	}
	if got := content(t, p.to); got["terminus.db"] != "somebody's" {
		t.Errorf("%v", got)
	}
}

func TestAnUnfinishedCopyIsNoArchive(t *testing.T) {
	p := newPlace(t)
	if out, err := exec.Command(os.Args[0], roleMove, p.data, p.conf, p.to, string(copying)).CombinedOutput(); err == nil {
		t.Fatalf("%s", out)
	}
	_, err := Look(Options{Dirs: config.Directories{Data: p.to, Config: p.conf, Variable: "TERMINUS_DATA_DIR"}, To: p.to + "er"})
	if err == nil || !strings.Contains(err.Error(), "never finished") {
		t.Errorf("%v", err)
	}
}

func TestFilesOfHooksThatAppearMeanwhileAreTakenAlong(t *testing.T) {
	p := newPlace(t)
	o := p.options()
	o.at = func(at point) {
		if at == switched {
			p.write(filepath.Join(p.data, "decisions", "late.json"), "late")
			p.write(filepath.Join(p.data, "injection", "b.json"), "newer than the copy")
			p.write(filepath.Join(p.to, "decisions", "a.json"), "newer there")
			p.write(filepath.Join(p.data, "decisions", "a.json"), "newer, but only here")
		}
	}
	plan, err := Look(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := content(t, p.to)
	for name, want := range map[string]string{
		"decisions/late.json": "late", "injection/b.json": "newer than the copy", "decisions/a.json": "newer there",
	} {
		if got[name] != want {
			t.Errorf("%s holds %q", name, got[name])
		}
	}
}

func TestADatabaseThatChangesMeanwhileEndsTheMove(t *testing.T) {
	p := newPlace(t)
	o := p.options()
	o.at = func(at point) {
		if at == copying {
			p.write(filepath.Join(p.data, "terminus.db-wal"), "a log without a lock")
		}
	}
	plan, err := Look(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "was written to while it was copied") {
		t.Fatalf("%v", err)
	}
	p.nothingMoved()
}

// nothingMoved asks that all is as it was.
func (p *place) nothingMoved() {
	p.t.Helper()
	if _, err := os.Lstat(p.to); !errors.Is(err, fs.ErrNotExist) {
		p.t.Errorf("the new place is there: %v", err)
	}
	if got := content(p.t, p.data); len(got) != len(archived) {
		p.t.Errorf("the old place holds %v", slices.Sorted(maps.Keys(got)))
	}
	if _, err := os.Lstat(filepath.Join(p.conf, config.PointerName)); !errors.Is(err, fs.ErrNotExist) {
		p.t.Errorf("there is a pointer: %v", err)
	}
}

func TestAnInterruptedCopyIsTakenAway(t *testing.T) {
	p := newPlace(t)
	ctx, cancel := context.WithCancel(context.Background())
	o := p.options()
	o.at = func(at point) {
		if at == copying {
			cancel()
		}
	}
	plan, err := Look(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	p.nothingMoved()
}

func TestAPointerThatCannotBeWrittenMovesNothing(t *testing.T) {
	p := newPlace(t)
	p.write(p.conf, "a file in the way")
	o := Options{Dirs: config.Directories{Data: p.data, Config: p.conf}, To: p.to}
	plan, err := Look(o)
	if err != nil {
		t.Skip(err) // some systems see it before
	}
	if err := plan.Run(context.Background()); err == nil {
		t.Fatal("moved")
	}
	if got := content(t, p.data); !maps.Equal(got, archived) {
		t.Errorf("%v", got)
	}
}

func TestAHeldLockIsAFailure(t *testing.T) {
	p := newPlace(t)
	lock, err := fsx.Acquire(filepath.Join(p.data, "LOCK"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.move(); !errors.Is(err, fsx.ErrLocked) {
		t.Errorf("%v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := p.move(); err != nil {
		t.Fatal(err)
	}
	p.arrived()
}

func TestLinksAroundTheMove(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	p := newPlace(t)
	// The data directory is a link, and so is the pointer's file.
	real := p.data + "-real"
	for _, err := range []error{
		os.Rename(p.data, real), os.Symlink(real, p.data), os.MkdirAll(p.conf, 0o700),
		os.Symlink(p.conf+"-kept", filepath.Join(p.conf, config.PointerName)), os.WriteFile(p.conf+"-kept", nil, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := p.move(); err != nil {
		t.Fatal(err)
	}
	p.arrived()
	if _, err := os.Lstat(real); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(p.conf + "-kept"); string(text) != p.to+"\n" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		prepare func(p *place, o *Options)
		why     string
	}{
		"the same place":       {func(p *place, o *Options) { o.To = p.data + "/." }, "is at "},
		"inside":               {func(p *place, o *Options) { o.To = filepath.Join(p.data, "deep", "er") }, "lies inside the data directory"},
		"not empty":            {func(p *place, _ *Options) { p.write(filepath.Join(p.to, "x"), "") }, "is not empty"},
		"above":                {func(p *place, o *Options) { o.To = filepath.Dir(p.data) }, "holds the configuration directory"},
		"a file":               {func(p *place, _ *Options) { p.write(p.to, "") }, "is not a directory"},
		"a line break":         {func(_ *place, o *Options) { o.To += "\nx" }, "cannot hold the path"},
		"a space at the end":   {func(_ *place, o *Options) { o.To += " " }, "cannot hold the path"},
		"no configuration":     {func(_ *place, o *Options) { o.Dirs.Config = "" }, "no configuration directory"},
		"configuration inside": {func(p *place, o *Options) { o.Dirs.Config = filepath.Join(p.data, "conf") }, "lies inside the data directory"},
		"configuration above":  {func(_ *place, o *Options) { o.To = o.Dirs.Config }, "holds the configuration directory"},
		"home":                 {func(p *place, o *Options) { o.Home = filepath.Join(p.data, "home") }, "holds the home directory"},
		"the source is a file": {func(p *place, o *Options) { o.Dirs.Data = filepath.Join(p.data, "empty") }, "is not a directory"},
		"a broken marker":      {func(p *place, _ *Options) { p.write(filepath.Join(p.data, MarkerName), "x") }, MarkerName},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			o := p.options()
			tc.prepare(p, &o)
			if _, err := Look(o); err == nil || !strings.Contains(err.Error(), tc.why) {
				t.Errorf("%v", err)
			}
			got := content(t, p.data)
			delete(got, MarkerName)
			if !maps.Equal(got, archived) {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestRefusalOfLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	p := newPlace(t)
	if err := os.Symlink(p.conf, filepath.Join(p.data, "snapshots", "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := Look(p.options()); err == nil || !strings.Contains(err.Error(), "neither a file nor a directory") {
		t.Errorf("%v", err)
	}
	p = newPlace(t)
	if err := errors.Join(os.MkdirAll(filepath.Dir(p.to), 0o700), os.Symlink(p.to+"-nowhere", p.to)); err != nil {
		t.Fatal(err)
	}
	if _, err := Look(p.options()); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("%v", err)
	}
}

// What a marker says is read back; anything else is refused, and nothing that is
// refused names a source.
func FuzzMarker(f *testing.F) {
	f.Add("copied \"/old\"\n9 1 terminus.db\n")
	f.Add("copying \"/o\\xffld\"\n")
	f.Add("copied \"relative\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMarker(text)
		if err != nil {
			return
		}
		if !filepath.IsAbs(m.source) {
			t.Fatalf("%q names %q", text, m.source)
		}
		dir := t.TempDir()
		if err := m.write(dir); err != nil {
			t.Fatal(err)
		}
		back, found, err := readMarker(dir)
		if err != nil || !found || back.source != m.source || back.whole != m.whole {
			t.Fatalf("%q comes back as %+v, %v, %v", text, back, found, err)
		}
	})
}
