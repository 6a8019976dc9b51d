package fsx

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

func TestMkdirOwnerTakesAnExistingDirectoryAndRefusesAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "data")
	for range 2 {
		if err := MkdirOwner(path); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "file")
	write(t, file, "x", 0o600)
	for _, path := range []string{file, filepath.Join(file, "below")} {
		if err := MkdirOwner(path); err == nil {
			t.Errorf("%s: a file in the way is no error", path)
		}
	}
}

func TestCreateOwnerRefusesWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := CreateOwner(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("kept"); err != nil {
		t.Error(err)
	}
	f.Close()
	if _, err := CreateOwner(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second creation: %v", err)
	}
	if got := read(t, path); got != "kept" {
		t.Errorf("content is %q", got)
	}
}

func TestWriteAtomicReplacesAndLeavesNothingBeside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, content := range []string{"first", "", "second, and longer"} {
		if err := WriteAtomic(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != content {
			t.Errorf("content is %q, want %q", got, content)
		}
	}
	if names := list(t, dir); len(names) != 1 {
		t.Errorf("directory holds %q", names)
	}
}

func TestWriteAtomicFailureKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteAtomic(path, []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if err := WriteAtomic(filepath.Join(dir, "none", "f"), []byte("x"), 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
	if names := list(t, dir); len(names) != 1 {
		t.Errorf("directory holds %q", names)
	}
}

func TestTheTemporaryFileMatchesItsPatternAndIsSwept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "terminus.db")
	name, err := WriteTemp(path, []byte("x"), OwnerFile)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := filepath.Match(TempPattern, filepath.Base(name)); !ok || err != nil {
		t.Errorf("%s does not match", name)
	}
	other, err := WriteTemp(path+"-wal", []byte("x"), OwnerFile)
	if err != nil {
		t.Fatal(err)
	}
	Sweep(path)
	if names := list(t, dir); len(names) != 1 || names[0] != filepath.Base(other) {
		t.Errorf("directory holds %q", names)
	}
}

func TestFreeSpaceOfADirectoryThatIsNotThereYet(t *testing.T) {
	dir := t.TempDir()
	here, err := FreeSpace(dir)
	if err != nil || here == 0 {
		t.Fatalf("%d, %v", here, err)
	}
	if below, err := FreeSpace(filepath.Join(dir, "not", "yet")); err != nil || below == 0 {
		t.Errorf("%d, %v", below, err)
	}
	if relative, err := FreeSpace("not-yet"); err != nil || relative == 0 {
		t.Errorf("%d, %v", relative, err)
	}
}

func TestOpenRegularReadsAFileAndRefusesADirectory(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "content", 0o600)
	f, stat, err := OpenRegular(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := io.ReadAll(f)
	if err != nil || string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := StatOf(info); stat != want || stat.Size != 7 {
		t.Errorf("stat is %+v, want %+v", stat, want)
	}
	if FileID(f) == 0 {
		t.Error("an open file has no id")
	}
	if _, _, err := OpenRegular(dir); !errors.Is(err, ErrNotRegular) {
		t.Errorf("directory: %v", err)
	}
	if _, _, err := OpenRegular(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestStatOfAForeignFileInfoHasNoSystemPart(t *testing.T) {
	info, err := fs.Stat(fstest.MapFS{"f": {Data: []byte("x")}}, "f")
	if err != nil {
		t.Fatal(err)
	}
	if s := StatOf(info); s.Size != 1 || s.Ctime != 0 || s.Inode != 0 {
		t.Errorf("%+v", s)
	}
}

func TestLockExcludesAnotherProcessUntilItDies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "LOCK")
	write(t, path, "kept", 0o600)
	holder := startHolder(t, path)
	if l, held, err := TryLock(path); l != nil || !held || err != nil {
		t.Fatalf("held elsewhere: %v %v %v", l, held, err)
	}
	if _, err := Acquire(path); !errors.Is(err, ErrLocked) {
		t.Errorf("held elsewhere: %v", err)
	}
	_ = holder.Process.Kill()
	_ = holder.Wait()
	l, held, err := TryLock(path)
	if l == nil || held || err != nil {
		t.Fatalf("after the holder's death: %v %v %v", l, held, err)
	}
	if err := l.Unlock(); err != nil {
		t.Error(err)
	}
	if got := read(t, path); got != "kept" {
		t.Errorf("lock file holds %q", got)
	}
}

func TestLockExcludesASecondHandleInThisProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "LOCK")
	l, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, held, err := TryLock(path); !held || err != nil {
		t.Errorf("second handle: %v %v", held, err)
	}
	for range 2 {
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	}
	if l, err = Acquire(path); err != nil {
		t.Errorf("after unlocking: %v", err)
	} else {
		_ = l.Unlock()
	}
}

func TestLockErrorIsNotTakenForAHeldLock(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none", "LOCK")} {
		if l, held, err := TryLock(path); l != nil || held || err == nil {
			t.Errorf("%s: %v %v %v", path, l, held, err)
		}
		if _, err := Acquire(path); err == nil || errors.Is(err, ErrLocked) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func write(t *testing.T, path, content string, perm fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), perm); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
