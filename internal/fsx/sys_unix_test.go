//go:build linux || darwin

package fsx

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// setUmask gives the tests of modes the umask that most users have.
func setUmask() { syscall.Umask(0o022) }

func TestWhatIsCreatedIsTheOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "parent", "data")
	if err := MkdirOwner(data + "/"); err != nil {
		t.Fatal(err)
	}
	f, err := CreateOwner(filepath.Join(data, "file"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	l, err := Acquire(filepath.Join(data, "LOCK"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	for path, want := range map[string]fs.FileMode{
		filepath.Join(data, "LOCK"): 0o600, filepath.Join(data, "file"): 0o600,
		data: 0o700, filepath.Join(dir, "parent"): 0o755,
	} {
		if got := mode(t, path); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
}

func TestMkdirOwnerKeepsTheModeOfADirectoryThatIsThere(t *testing.T) {
	dir := t.TempDir()
	dirPath, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.Mkdir(dirPath, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dirPath, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dirPath, link} {
		if err := MkdirOwner(path); err != nil {
			t.Error(err)
		}
	}
	if got := mode(t, dirPath); got != 0o755 {
		t.Errorf("mode is %o", got)
	}
	if err := os.Symlink(filepath.Join(dir, "none"), filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	if err := MkdirOwner(filepath.Join(dir, "dangling")); err == nil {
		t.Error("a dangling link was taken for a directory")
	}
	if _, err := CreateOwner(filepath.Join(dir, "dangling")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("creation through a dangling link: %v", err)
	}
}

func TestNarrowTouchesOnlyWhatIsTooWide(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, m := range map[string]fs.FileMode{"wide": 0o644, "exec": 0o755, "narrow": 0o600, "readonly": 0o400, "target": 0o644} {
		write(t, at(name), "x", m)
	}
	if err := os.Mkdir(at("dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("target"), at("link")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(at("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	all := []string{at("wide"), at("exec"), at("narrow"), at("readonly"), at("dir"), at("link"), at("pipe"), at("none")}
	Narrow(all...)
	want := map[string]fs.FileMode{
		"wide": 0o600, "exec": 0o600, "narrow": 0o600, "readonly": 0o400, "dir": 0o700, "target": 0o644, "pipe": 0o644,
	}
	before := map[string]int64{}
	for name, m := range want {
		if got := mode(t, at(name)); got != m {
			t.Errorf("%s has mode %o, want %o", name, got, m)
		}
		before[name] = ctime(t, at(name))
	}
	time.Sleep(20 * time.Millisecond) // longer than a tick of the file system's clock
	Narrow(all...)
	for name := range want {
		if ctime(t, at(name)) != before[name] {
			t.Errorf("%s was touched a second time", name)
		}
	}
}

func TestWriteAtomicGivesTheModeExactlyAndReplacesALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	write(t, target, "kept", 0o600)
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteAtomic(link, []byte("new"), 0o664); err != nil {
		t.Fatal(err)
	}
	if got := mode(t, link); got != 0o664 {
		t.Errorf("mode is %o", got)
	}
	if read(t, target) != "kept" || read(t, link) != "new" {
		t.Error("the link was followed")
	}
}

// replaceLimited replaces a file while the system allows no file beyond a few
// bytes: the write fails half-way, as on a full disk.
func replaceLimited(path string) int {
	const limit = 8
	signal.Ignore(syscall.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return 2
	}
	if err := WriteAtomic(path, make([]byte, 10*limit), 0o600); !errors.Is(err, unix.EFBIG) {
		return 1
	}
	return 0
}

func TestWriteAtomicThatRunsOutOfSpaceKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "the old file", 0o600)
	if out, err := exec.Command(os.Args[0], "replace-limited", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := read(t, path); got != "the old file" {
		t.Errorf("content is %q", got)
	}
	if names := list(t, dir); len(names) != 1 {
		t.Errorf("directory holds %q", names)
	}
}

func TestOpenRegularNeverWaits(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link, "/dev/tty", "/dev/zero"} {
		if _, _, err := OpenRegular(path); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
	if _, held, err := TryLock(pipe); held || !errors.Is(err, ErrNotRegular) {
		t.Errorf("lock on a pipe: %v %v", held, err)
	}
	// A name that turns into a pipe between the look and the opening.
	f, err := openNonblock(pipe)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestOpenRegularFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "x", 0o600)
	if err := os.Symlink("f", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	f, stat, err := OpenRegular(filepath.Join(dir, "link"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if stat.Size != 1 || stat.Inode != FileID(f) || stat.Ctime == 0 {
		t.Errorf("%+v", stat)
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func ctime(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return StatOf(info).Ctime
}

// Whoever waits for a lock may have opened the file that its holder removes: the lock
// that it gets then is on a file without a name, and excludes nobody.
func TestALockWhoseFileIsRemovedExcludesAllTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "LOCK")
	const holders, turns = 8, 50
	var inside atomic.Int32
	var wg sync.WaitGroup
	for range holders {
		wg.Go(func() {
			for range turns {
				l, held, err := TryLock(path)
				for held {
					runtime.Gosched()
					l, held, err = TryLock(path)
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				runtime.Gosched()
				inside.Add(-1)
				if err := l.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := list(t, filepath.Dir(path)); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}
