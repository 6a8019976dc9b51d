package wire

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// holds is what a file holds, "(none)" if there is none.
func holds(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return "(none)"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func noKeep(target) error { return nil }

// C103: between our reading and our renaming somebody else writes the file.
func TestAFileThatChangesMeanwhileIsReadAnew(t *testing.T) {
	for name, tt := range map[string]struct {
		before, meanwhile, want string // "" is no file
	}{
		"written":  {"a", "b", "b+"},
		"same":     {"a", "a", "a+"},
		"appeared": {"", "b", "b+"},
		"vanished": {"a", "", "+"},
		"emptied":  {"a", "{}", "{}+"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			set := func(text string) {
				if text == "" {
					_ = os.Remove(path)
					return
				}
				write(t, path, text)
			}
			set(tt.before)
			calls := 0
			err := replace(path, func(x target) ([]byte, error) {
				if calls++; calls == 1 {
					set(tt.meanwhile)
				}
				return append(x.text[:len(x.text):len(x.text)], '+'), nil
			}, noKeep)
			if err != nil {
				t.Fatal(err)
			}
			if got := holds(t, path); got != tt.want {
				t.Errorf("it holds %q, want %q", got, tt.want)
			}
			if left := names(t, dir); left != "f" {
				t.Errorf("the directory holds %s", left)
			}
		})
	}
}

func TestAFileThatChangesAllTheTimeIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "0")
	n := 0
	err := replace(path, func(target) ([]byte, error) {
		n++
		write(t, path, fmt.Sprint(n))
		return []byte("mine"), nil
	}, noKeep)
	if err == nil || !strings.HasSuffix(err.Error(), "f: changes faster than it can be edited") {
		t.Errorf("error %v", err)
	}
	if got := holds(t, path); got != fmt.Sprint(n) || n != maxAttempts {
		t.Errorf("after %d attempts it holds %q", n, got)
	}
	if left := names(t, dir); left != "f" {
		t.Errorf("the directory holds %s", left)
	}
}

// A file that turns into another one, by its link, is not the one that was read.
func TestALinkThatIsTurnedMeanwhileIsFollowedAnew(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "a")
	write(t, filepath.Join(dir, "b"), "a")
	path := filepath.Join(dir, "link")
	if err := os.Symlink("a", path); err != nil {
		t.Skip(err)
	}
	calls := 0
	err := replace(path, func(x target) ([]byte, error) {
		if calls++; calls == 1 {
			_ = os.Remove(path)
			if err := os.Symlink("b", path); err != nil {
				t.Fatal(err)
			}
		}
		return append(x.text[:len(x.text):len(x.text)], '+'), nil
	}, noKeep)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := holds(t, filepath.Join(dir, "a")), holds(t, filepath.Join(dir, "b")); a != "a" || b != "a+" {
		t.Errorf("a holds %q and b %q", a, b)
	}
}

func TestAFileThatIsNotChangedIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "x")
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	err = replace(path, func(x target) ([]byte, error) { return x.text, nil }, func(target) error {
		t.Error("something was kept of it")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(was, now) {
		t.Errorf("it is another file: %v", err)
	}
}

// The copy is of the state that was edited, also where the file changed after the
// first copy.
func TestTheCopyIsOfWhatWasEdited(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agent", "f")
	write(t, path, "first")
	p := &Plan{now: Receipt{Format: receiptFormat}}
	p.o.Places.Receipt = filepath.Join(dir, "own")
	calls := 0
	f := PlannedFile{Edit: Edit{Path: path, Add: func(text []byte) (Outcome, error) {
		// The second look is after the first copy: the file has changed since.
		if calls++; calls == 1 {
			defer write(t, path, "second")
		}
		return Outcome{Text: append(text[:len(text):len(text)], '+'), Changed: []string{"x"}}, nil
	}}}
	if err := p.edit(&f); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := holds(t, path); got != "second+" {
		t.Errorf("it holds %q", got)
	}
	if f.Backup != real+backupSuffix || holds(t, f.Backup) != "second" {
		t.Errorf("the copy %s holds %q", f.Backup, holds(t, f.Backup))
	}
	if got := names(t, filepath.Dir(path)); got != "f f.terminus-backup" {
		t.Errorf("the directory holds %s", got)
	}
	r, err := ReadReceipt(p.o.Places.Receipt)
	if err != nil || len(r.Files) != 1 || len(r.Files[0].Backups) != 1 || r.Files[0].Backups[0] != f.Backup {
		t.Errorf("the receipt says %+v, %v", r, err)
	}
}
