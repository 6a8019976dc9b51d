package testscripts

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/corpus"
)

// livePasses is how many passes run while files change under them.
const livePasses = 30

// Transcripts that are appended to in pieces, cut, replaced, renamed and removed
// while passes read them: every pass ends well, and once they are still, what
// they hold is archived byte for byte.
func TestFilesThatChangeUnderAPassAreArchivedInTheEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be replaced there")
	}
	root := filepath.Join(t.TempDir(), "claude")
	dir := filepath.Join(root, "projects", "-work-app")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h := home(t, root)
	stop, changing := make(chan struct{}), sync.WaitGroup{}
	var paths []string
	for i := range 3 {
		path := filepath.Join(dir, fmt.Sprintf("%08d-0000-4000-8000-000000000000.jsonl", i))
		paths = append(paths, path)
		changing.Add(1)
		go func() {
			defer changing.Done()
			if err := change(path, uint64(i), stop); err != nil {
				t.Error(err)
			}
		}()
	}
	for range livePasses {
		mustRun(t, h, "ingest")
	}
	close(stop)
	changing.Wait()
	mustRun(t, h, "ingest")
	db := openStore(t, h)
	states := 0
	for _, path := range paths {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		back, ok, err := restore(db, resolved(path))
		if err != nil || !ok {
			t.Errorf("%s: archived %v, %v", path, ok, err)
			continue
		}
		states += len(back.states)
		if got := back.states[len(back.states)-1]; !bytes.Equal(got, whole(want)) {
			t.Errorf("%s comes back as %d bytes, it has %d", path, len(got), len(whole(want)))
		}
	}
	mustRun(t, h, "verify")
	mustRun(t, h, "ingest")
	if run := lastRun(t, h); run.FilesCommitted != 0 || run.BytesRead != 0 || run.Error != nil {
		t.Errorf("a pass over still files: %v", run)
	}
	t.Logf("%d states of %d files are archived", states, len(paths))
}

// change does to a transcript whatever a client, a person or a crash does to it,
// until stop. It leaves a file behind that ends with a whole line.
func change(path string, seed uint64, stop <-chan struct{}) error {
	r := rand.New(rand.NewPCG(seed, 1))
	n := 0
	record := func() string {
		n++
		return fmt.Sprintf(recordForm, n, fmt.Sprintf("word%d of file %d %s", n, seed, strings.Repeat("x", r.IntN(3000))))
	}
	for {
		select {
		case <-stop:
			return appendTo(path, "\n"+record())
		default:
		}
		var err error
		switch k := r.IntN(20); {
		case k < 14: // in two pieces, as a writer that is interrupted does it
			line := record()
			cut := r.IntN(len(line))
			if err = appendTo(path, line[:cut]); err == nil {
				time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
				err = appendTo(path, line[cut:])
			}
		case k < 16:
			if info, statErr := os.Stat(path); statErr == nil && info.Size() > 0 {
				err = os.Truncate(path, r.Int64N(info.Size()))
			}
		case k < 17:
			err = os.WriteFile(path, []byte(record()+record()), 0o600)
		case k < 18:
			if err = os.WriteFile(path+".new", []byte(record()), 0o600); err == nil {
				err = os.Rename(path+".new", path)
			}
		case k < 19:
			if err = os.Remove(path); os.IsNotExist(err) {
				err = nil
			}
		default: // the same length, other bytes
			if data, readErr := os.ReadFile(path); readErr == nil {
				data = bytes.ReplaceAll(data, []byte("word1"), []byte("WORD2"))
				err = os.WriteFile(path, data, 0o600)
			}
		}
		if err != nil {
			return err
		}
		time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond)
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// A disk that fills up in the middle of a pass costs one clear line and exit 1;
// what was archived is whole, and with room again the next pass ends with the
// store of an undisturbed one.
func TestADiskThatFillsUpLosesNothing(t *testing.T) {
	if !canMount() {
		t.Skip("no file system of a chosen size can be mounted here")
	}
	root := filepath.Join(t.TempDir(), "claude")
	if _, err := corpus.Generate(root, corpus.Options{Seed: 5, Bytes: 24 << 20, Projects: 3}); err != nil {
		t.Fatal(err)
	}
	calm := home(t, root)
	mustRun(t, calm, "ingest")

	h := home(t, root)
	data := dataDir(h)
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := mountTmpfs(data, "160m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unmount(data) })
	store, filler := filepath.Join(data, "terminus.db"), filepath.Join(data, "filler")
	const started = 1 << 20 // bytes of WAL after which a pass is in the middle of its work
	var stderr strings.Builder
	c := command(h, "ingest")
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stopWhen(t, c.Process, func() bool {
		info, err := os.Stat(store + "-wal")
		return err == nil && info.Size() > started
	})
	if err := fillup(filler); err != nil {
		t.Fatal(err)
	}
	resume(t, c.Process)
	err := c.Wait()
	if c.ProcessState.ExitCode() != 1 {
		t.Errorf("the pass ends with %v\n%s", err, &stderr)
	}
	if line := stderr.String(); strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "terminus: ") || !strings.Contains(line, "full") {
		t.Errorf("stderr: %q", line)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	mustRun(t, h, "verify")
	mustRun(t, h, "ingest")
	mustRun(t, h, "verify")
	differ(t, "a pass after the disk was full", dump(t, store), dump(t, filepath.Join(dataDir(calm), "terminus.db")))
}
