package wire

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestAProgramIsKnownByItsMarkWhereverItStands(t *testing.T) {
	filler := func(n int) string { return strings.Repeat("x", n) }
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"empty":                  {"", false},
		"alone":                  {mark, true},
		"at the end":             {filler(100) + mark, true},
		"across two chunks":      {filler(markChunk-len(mark)/2) + mark + filler(10), true},
		"just before a border":   {filler(markChunk-len(mark)) + mark, true},
		"just behind a border":   {filler(markChunk) + mark, true},
		"deep":                   {filler(5*markChunk+7) + mark + filler(3*markChunk), true},
		"cut":                    {filler(markChunk-10) + mark[:len(mark)-1], false},
		"another program's mark": {"terminus-stable-binary:8f3d1a6c", false},
	} {
		for _, how := range []string{"whole", "in halves"} {
			r := iotest.DataErrReader(strings.NewReader(tt.text))
			if how == "in halves" {
				r = iotest.HalfReader(strings.NewReader(tt.text))
			}
			if got, err := Marked(r); err != nil || got != tt.want {
				t.Errorf("%s, %s: %v, %v", name, how, got, err)
			}
		}
	}
	if _, err := Marked(iotest.ErrReader(os.ErrPermission)); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a program that cannot be read: %v", err)
	}
}

// The mark is found wherever it is put into other bytes.
func FuzzMarked(f *testing.F) {
	f.Add([]byte("x"), uint(0), uint(markChunk))
	f.Fuzz(func(t *testing.T, b []byte, at, padding uint) {
		if bytes.Contains(b, []byte(mark)) {
			return
		}
		text := append(bytes.Repeat([]byte{0}, int(padding%(3*markChunk))), b...)
		if got, err := Marked(bytes.NewReader(text)); err != nil || got {
			t.Fatalf("found without being there: %v", err)
		}
		i := int(at % uint(len(text)+1))
		marked := slices.Concat(text[:i], []byte(mark), text[i:])
		if got, err := Marked(bytes.NewReader(marked)); err != nil || !got {
			t.Fatalf("not found at %d: %v", i, err)
		}
	})
}

// What is read of a receipt is written the same way, and is read as the same again.
func FuzzReceipt(f *testing.F) {
	f.Add([]byte(`{"format":1,"binaries":["/a"],"files":[{"path":"/f","created":true,"backups":["/b"]}],"timer":[],"directories":["/d"]}`))
	f.Add([]byte(`{"format":1,"files":null,"binaries":[""]}`))
	f.Add([]byte(`{"format":2}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parseReceipt(text)
		if err != nil {
			return
		}
		once, err := r.clone().encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseReceipt(once)
		if err != nil {
			t.Fatalf("%q does not read back: %v", once, err)
		}
		twice, err := again.encode()
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q became %q, %v", once, twice, err)
		}
	})
}

func TestEarlierStablePathsAreOurs(t *testing.T) {
	r := Receipt{Binaries: []string{"/new/terminus", "/old/terminus"}}
	own := r.Own("/newest/terminus")
	for path, want := range map[string]bool{
		"/newest/terminus": true, "/new/terminus": true, "/old/terminus": true,
		"/other/terminus": false, "terminus": false, "": false,
	} {
		if own.Has(path) != want {
			t.Errorf("%q: %v", path, !want)
		}
	}
	if got := r.Own("/old/terminus").Recorded; !reflect.DeepEqual(got, []string{"/new/terminus"}) {
		t.Errorf("recorded are %q", got)
	}
}

func TestADirectoryIsJudgedBeforeItIsMade(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x")
	if got := missing(filepath.Join(dir, "a", "b")); !slices.Equal(got, []string{filepath.Join(dir, "a"), filepath.Join(dir, "a", "b")}) {
		t.Errorf("missing are %q", got)
	}
	if got := missing(dir); got != nil {
		t.Errorf("missing are %q", got)
	}
	if err := checkDir(filepath.Join(dir, "a", "b")); err != nil {
		t.Error(err)
	}
	if err := checkDir(filepath.Join(dir, "file", "b")); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file in the way: %v", err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if err := checkDir(filepath.Join(dir, "link", "b")); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("a link in the way: %v", err)
	}
}

func TestADiffShowsOnlyWhatChanges(t *testing.T) {
	long := `{"a":"` + strings.Repeat("secret", 50) + `é"}`
	for name, tt := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing":        {"a\nb\n", "a\nb\n", nil},
		"a new file":     {"", "a\nb\n", []string{"@@ line 1", "+ a", "+ b"}},
		"in the middle":  {"a\nd\n", "a\nb\nc\nd\n", []string{"@@ line 2", "+ b", "+ c"}},
		"twice":          {"a\nb\nc\n", "a\n1\nb\n2\nc\n", []string{"@@ line 2", "+ 1", "@@ line 4", "+ 2"}},
		"a comma":        {"{\n \"a\": 1\n}", "{\n \"a\": 1,\n \"b\": 2\n}", []string{"@@ line 3", "+  \"b\": 2"}},
		"with CR":        {"{\r\n \"a\": 1\r\n}", "{\r\n \"a\": 1,\r\n \"b\": 2\r\n}", []string{"@@ line 3", "+  \"b\": 2"}},
		"another value":  {"a\nold\nc\n", "a\nnew\nc\n", []string{"@@ line 2", "- old", "+ new"}},
		"gone":           {"a\nb\nc\n", "a\nc\n", []string{"@@ line 2", "- b"}},
		"one long line":  {long, strings.Replace(long, `é"`, `é","b":2`, 1), []string{"@@ line 1", `+ ...,"b":2...`}},
		"one short line": {`{"k":"secret"}`, `{"k":"secret","b":2}`, []string{"@@ line 1", `+ ...,"b":2...`}},
	} {
		if got := Diff([]byte(tt.before), []byte(tt.after)); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestAHugeDiffIsCounted(t *testing.T) {
	got := Diff([]byte(strings.Repeat("a\n", maxDiffLines+1)), []byte("b\n"))
	want := []string{"@@ line 1", "- 2001 lines, too many to show", "+ 1 lines, too many to show"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
