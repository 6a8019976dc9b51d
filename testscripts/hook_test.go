package testscripts

import (
	"bytes"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/fsx"
)

const (
	// hookSlack is what a hook may take beyond its own limits on a machine that
	// has other things to do.
	hookSlack = 10 * time.Second
	// stdinWait is how long a hook waits for its payload.
	stdinWait = 500 * time.Millisecond
	// stdinLimit is how much of an endless line is taken at most: a MiB, a step of
	// reading, and what pipes hold, generously.
	stdinLimit = 2 << 20
)

// hookRun is one run of a hook whose stdin is written by a function and never
// closed by it.
type hookRun struct {
	stdout, stderr string
	code           int
	took           time.Duration
}

func (h *machine) hook(event string, write func(w io.Writer)) hookRun {
	h.t.Helper()
	r, w, err := os.Pipe()
	h.check(err)
	defer w.Close()
	var out, errs bytes.Buffer
	cmd := h.command("hook", event)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r, &out, &errs
	start := time.Now()
	h.check(cmd.Start())
	r.Close()
	go write(w)
	err = cmd.Wait()
	took := time.Since(start)
	if cmd.ProcessState == nil {
		h.t.Fatal(err)
	}
	passesEnd(h.dir)
	return hookRun{out.String(), errs.String(), cmd.ProcessState.ExitCode(), took}
}

// C84, C194: whoever holds stdin, the hook ends, with 0, one line on stderr and
// nothing on stdout.
func TestAHookWaitsForNoWriter(t *testing.T) {
	t.Parallel()
	var taken atomic.Int64
	for _, tc := range []struct {
		name   string
		write  func(w io.Writer)
		stderr string
	}{
		{"nothing comes", func(io.Writer) {}, "stdin: no whole line came within 500ms"},
		{"half a line comes", func(w io.Writer) { _, _ = io.WriteString(w, `{"session_id":"5e0a94cf`) }, "stdin: no whole line came within 500ms"},
		{"the line never ends", func(w io.Writer) {
			for {
				n, err := io.WriteString(w, strings.Repeat("x", 4096))
				if taken.Add(int64(n)); err != nil {
					return
				}
			}
		}, "stdin: the line is longer than 1048576 bytes"},
		{"five million characters come", func(w io.Writer) {
			_, _ = io.WriteString(w, `{"cwd":"/work/app","prompt":"`+strings.Repeat("a/b.go ", 5_000_000/7)+`"}`+"\n")
		}, "stdin: the line is longer than 1048576 bytes"},
	} {
		for _, event := range []string{"SessionStart", "UserPromptSubmit", "SessionEnd", "PostCompact"} {
			t.Run(tc.name+", "+event, func(t *testing.T) {
				taken.Store(0)
				h := newMachine(t)
				run := h.hook(event, tc.write)
				want := "terminus: hook " + event + ": " + tc.stderr + "\n"
				if run.code != 0 || run.stdout != "" || run.stderr != want {
					t.Errorf("exit code %d, stdout %q, stderr %q, want %q", run.code, run.stdout, run.stderr, want)
				}
				if run.took > stdinWait+hookSlack {
					t.Errorf("it took %v", run.took)
				}
				if n := taken.Load(); n > stdinLimit {
					t.Errorf("%d bytes were taken", n)
				}
				// The pass was started all the same.
				if _, err := os.Stat(h.db()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A store that another process keeps for itself costs the text, and not the time.
func TestAHookWaitsForNoStore(t *testing.T) {
	t.Parallel()
	h := newMachine(t)
	h.write(h.dir+"/.claude/projects/-work-app/11111111-1111-4111-8111-111111111111.jsonl",
		`{"type":"user","uuid":"1","timestamp":"2026-08-12T21:00:00.000Z","cwd":"/work/app","message":{"role":"user","content":"x"}}`+"\n")
	h.ingest()
	db, err := sql.Open("sqlite", h.db())
	h.check(err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	lock, err := fsx.Acquire(filepath.Join(h.data(), "LOCK")) // a pass would wait for the store
	h.check(err)
	defer func() { _ = lock.Unlock() }()
	for _, statement := range []string{"PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE"} {
		_, err := db.Exec(statement)
		h.check(err)
	}
	for event, payload := range map[string]string{
		"SessionStart":     `{"session_id":"22222222-2222-4222-8222-222222222222","cwd":"/work/app","source":"startup"}`,
		"UserPromptSubmit": `{"session_id":"22222222-2222-4222-8222-222222222222","cwd":"/work/app","prompt":"what of src/a.go?"}`,
	} {
		run := h.hook(event, func(w io.Writer) { _, _ = io.WriteString(w, payload+"\n") })
		want := "terminus: hook " + event + ": nothing is handed over: it took longer than 50ms\n"
		if run.code != 0 || run.stdout != "" || run.stderr != want || run.took > hookSlack {
			t.Errorf("%s: exit code %d after %v, stdout %q, stderr %q", event, run.code, run.took, run.stdout, run.stderr)
		}
	}
	h.check(db.Close())
	out, errs, code := h.run("log", "--json")
	if code != 0 || strings.Count(out, `"session_id":`) != 1 || !strings.Contains(out, `"reason":"it took longer than the 50 ms that a hook has"`) {
		t.Errorf("the log: %d, %s%s", code, out, errs)
	}
}

// A stdout that nobody reads, and one that is closed, change nothing.
func TestAHookNeedsNoReader(t *testing.T) {
	t.Parallel()
	h := newMachine(t)
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "SessionEnd", "PostCompact"} {
		if errs, code := h.runClosed("hook", event); code != 0 || errs != "" {
			t.Errorf("%s: exit code %d, stderr %q", event, code, errs)
		}
	}
	passesEnd(h.dir)
}
