package ingest

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/claude"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// packedHarness keeps each session as a file of lines or as one of zstd frames, whose names
// tell the same key.
type packedHarness struct {
	claude.Harness
	dir string
}

func (packedHarness) ID() string                       { return "packed" }
func (h packedHarness) Roots(harness.Machine) []string { return []string{h.dir} }
func (packedHarness) KeyAt(path string) string         { return path }
func (h packedHarness) Discover(context.Context, harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		entries, err := os.ReadDir(h.dir)
		if err != nil {
			yield(harness.Transcript{}, &harness.Problem{Path: h.dir, Err: err})
			return
		}
		for _, e := range entries {
			path := filepath.Join(h.dir, e.Name())
			info, err := os.Stat(path)
			if err != nil {
				continue
			}
			name, _, _ := strings.Cut(e.Name(), ".")
			t := harness.Transcript{
				Key: "packed:" + name, Source: path, Path: path, Kind: harness.Lines,
				Stat: fsx.StatOf(info), Zstd: strings.HasSuffix(path, ".zst"),
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return e.EncodeAll([]byte(text), nil)
}

func TestACompressedTranscriptIsTheSameTranscript(t *testing.T) {
	f := newFixture(t)
	dir := filepath.Join(f.home, "packed")
	f.harnesses = []harness.Harness{packedHarness{dir: dir}}
	write := func(name string, data []byte) {
		t.Helper()
		err := os.MkdirAll(dir, 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	one, two := userLine("u1", "kestrel"), userLine("u2", "merganser")
	write("a.jsonl", []byte(one))
	if res := f.pass(); res.TurnsAdded != 1 {
		t.Fatalf("%+v", res)
	}
	// It goes on, and is compressed before the next pass.
	if err := os.Remove(filepath.Join(dir, "a.jsonl")); err != nil {
		t.Fatal(err)
	}
	write("a.jsonl.zst", packed(t, one+two))
	if res := f.pass(); res.TurnsAdded != 1 || len(res.Failures) > 0 {
		t.Fatalf("%+v", res)
	}
	if f.find("kestrel") != 1 || f.find("merganser") != 1 || f.count(`SELECT count(*) FROM sessions`) != 1 {
		t.Error("the session is there twice, or not whole")
	}
	if res := f.pass(); res.BytesRead != 0 || res.FilesCommitted != 0 {
		t.Errorf("a second pass reads it again: %+v", res)
	}
	// Frames are appended; the last one is torn.
	three := userLine("u3", "plover")
	frames := append(packed(t, one+two), packed(t, three)...)
	write("a.jsonl.zst", append(frames, packed(t, strings.Repeat("torn", 5000))[:20]...))
	if res := f.pass(); res.TurnsAdded != 1 || len(res.Failures) > 0 || len(res.Remarks) != 1 {
		t.Errorf("%+v", res)
	}
	// A file system that lost power leaves NULs behind the last frame.
	write("a.jsonl.zst", append(packed(t, one+two+three), make([]byte, 4096)...))
	if res := f.pass(); res.TurnsAdded != 0 || len(res.Failures) > 0 || len(res.Remarks) != 1 {
		t.Errorf("%+v", res)
	}
	write("a.jsonl.zst", []byte("no frame at all"))
	if res := f.pass(); len(res.Failures) != 1 || !strings.Contains(res.Failures[0].String(), "a.jsonl.zst: it cannot be unpacked") {
		t.Errorf("%+v", res)
	}
	if f.find("plover") != 1 {
		t.Error("what was archived is gone")
	}
	left, err := filepath.Glob(filepath.Join(f.cfg.DataDir, fsx.TempPattern))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func userLine(uuid, text string) string {
	return `{"type":"user","uuid":"` + uuid + `","timestamp":"2026-01-01T00:00:00Z","sessionId":"s","cwd":"/home/dev/x","message":{"role":"user","content":"` + text + "\"}}\n"
}

// silentHarness answers with one transcript and then with nothing any more: while it looks for
// transcripts, or while it reads one.
type silentHarness struct {
	rowHarness
	looking bool
	until   chan struct{}
	ended   chan error // why what was given up has ended
}

func (silentHarness) ID() string                     { return "silent" }
func (silentHarness) Roots(harness.Machine) []string { return []string{"/mnt/silent"} }
func (h silentHarness) wait(ctx context.Context) {
	select {
	case <-h.until:
	case <-ctx.Done():
	}
	h.ended <- ctx.Err()
}

func (h silentHarness) Discover(ctx context.Context, _ harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		yield(harness.Transcript{Key: "silent:a", Source: "/mnt/silent#a", Path: "/mnt/silent", Kind: harness.Rows}, nil)
		if h.looking {
			h.wait(ctx)
		}
	}
}

func (h silentHarness) Tail(ctx context.Context, _ harness.Transcript) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		yield(transcript.Record{ID: "1", Bytes: transcript.Wrap("1", []byte(`{"role":"user","text":"kestrel"}`))}, nil)
		if !h.looking {
			h.wait(ctx)
		}
	}
}

func TestAStoreThatStopsAnsweringIsLeftAlone(t *testing.T) {
	for name, looking := range map[string]bool{"while it is looked at": true, "while it is read": false} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			until := make(chan struct{})
			defer close(until)
			ended := make(chan error, 1)
			f.harnesses = []harness.Harness{silentHarness{looking: looking, until: until, ended: ended}, claude.Harness{}}
			f.write("0618013f-a64a-4680-abde-a212bbdd08ff.jsonl", userLine("u1", "merganser"))
			o := f.options()
			o.Patience = 50 * time.Millisecond
			res, err := Run(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			problems := append(res.Unreadable, res.Failures...)
			if len(problems) != 1 || !strings.Contains(problems[0].String(), "/mnt/silent: it does not answer: no byte in 50ms") {
				t.Errorf("%v", problems)
			}
			if f.find("merganser") != 1 {
				t.Error("the other agent's session is not archived")
			}
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("what was given up ended with %v", err)
			}
		})
	}
}

func TestAReadThatIsGivenUpTouchesNothing(t *testing.T) {
	until := make(chan struct{})
	undone := make(chan int, 1)
	_, err := within(time.Millisecond, func() (int, error) { <-until; return 7, nil }, func(n int) { undone <- n })
	if !errors.Is(err, errSilent) {
		t.Fatalf("error %v", err)
	}
	close(until)
	if n := <-undone; n != 7 {
		t.Errorf("undone with %d", n)
	}
}

func TestAPanicOfASequenceReachesTheOneWhoReadsIt(t *testing.T) {
	broken := func(yield func(int, error) bool) { yield(1, nil); panic("broken") }
	for name, read := range map[string]func(){
		"one at a time": func() {
			for range patiently(time.Minute, broken) {
				continue
			}
		},
		"all": func() { _ = gather(time.Minute, broken, func(int, error) {}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if r := recover(); r != "broken" {
					t.Errorf("recovered %v", r)
				}
			}()
			read()
		})
	}
}

func TestWhatASequenceSaysAfterItWasGivenUpIsDropped(t *testing.T) {
	until, over := make(chan struct{}), make(chan bool)
	var kept []int
	err := gather(8*time.Millisecond, func(yield func(int, error) bool) {
		yield(1, nil)
		<-until
		over <- yield(2, nil)
	}, func(n int, _ error) { kept = append(kept, n) })
	close(until)
	if goOn := <-over; goOn || !errors.Is(err, errSilent) || len(kept) != 1 {
		t.Errorf("it goes on: %v, error %v, kept %v", goOn, err, kept)
	}
}

func TestASequenceThatSaysSomethingNowAndThenIsWaitedFor(t *testing.T) {
	const patience, times = 200 * time.Millisecond, 6
	kept := 0
	err := gather(patience, func(yield func(int, error) bool) {
		for n := range times {
			time.Sleep(patience / 4)
			yield(n, nil)
		}
	}, func(int, error) { kept++ })
	if err != nil || kept != times {
		t.Errorf("error %v, kept %d", err, kept)
	}
}

// BenchmarkPatience is what it costs to hear 5,000 values of a sequence that may fall silent.
func BenchmarkPatience(b *testing.B) {
	seq := func(yield func(harness.Transcript, error) bool) {
		for range 5000 {
			if !yield(harness.Transcript{Key: "a"}, nil) {
				return
			}
		}
	}
	b.Run("one at a time", func(b *testing.B) {
		for b.Loop() {
			for range patiently(time.Minute, seq) {
				continue
			}
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			if err := gather(time.Minute, seq, func(harness.Transcript, error) {}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkReadAFile is what patience costs where a file is read as the pass reads it.
func BenchmarkReadAFile(b *testing.B) {
	const size, chunk = 8 << 20, 256 << 10
	path := filepath.Join(b.TempDir(), "f")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, chunk)
	for name, r := range map[string]io.ReaderAt{"as it is": f, "with patience": &patientReader{f: f, patience: time.Minute, buf: new([]byte)}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				for off := int64(0); off < size; off += chunk {
					if _, err := r.ReadAt(buf, off); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
