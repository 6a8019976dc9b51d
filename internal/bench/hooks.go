package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/corpus"
	"github.com/terminus-archive/terminus/internal/document"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/store"
)

const (
	// newBytes is the size of the transcripts that a pass takes in while hooks
	// are measured: some seconds of work.
	newBytes = 96 << 20
	// killedWAL is how much a backfill has written when it is killed.
	killedWAL = 4 << 20
	// promptPaths is how many different paths the prompts name, from the most
	// common to the rarest.
	promptPaths = 24
	// restPatience is how long a pass that a hook started is waited for.
	restPatience = time.Minute
)

// hookEvents are the events, with the one that is no event beside them.
var hookEvents = []string{"SessionStart", "UserPromptSubmit", "SessionEnd", "PostCompact", versionRun}

const versionRun = "`--version`"

// A hookBench measures the process that an agent waits for.
type hookBench struct {
	*bench
	cwd     string   // a project of the store
	prompts []string // that name what it holds
	n       int      // sessions so far: each run is one of its own
	rows    []hookRow
}

// A hookRow is what one event took in one situation. Times are milliseconds.
type hookRow struct {
	situation, event   string
	runs               int
	p50, p95, p99, max float64
	answered, late     int // runs with a text, and runs that were too late for one
}

// hooks measures the hooks over the store of the corpus, or over a copy of the
// one that is given.
func hooks(o options, binary, work string) error {
	root, err := filepath.Abs(o.corpus)
	if err != nil || o.corpus == "" {
		return errors.Join(err, errors.New("-hooks needs -corpus: the transcripts that the store was made of"))
	}
	b := &hookBench{bench: &bench{o: o, size: o.name, binary: filepath.Join(work, "terminus"), root: root, home: filepath.Join(work, "home")}}
	// A copy of the binary: its processes can be told from all others.
	if err := copyFile(b.binary, binary, 0o700); err != nil {
		return err
	}
	if err := b.prepare(); err != nil {
		return err
	}
	for _, measure := range []func() error{b.atRest, b.whileIngesting, b.afterKill} {
		if err := measure(); err != nil {
			return err
		}
	}
	table := b.table()
	fmt.Print(table)
	if o.doc == "" {
		return nil
	}
	return insertBetween(o.doc, fmt.Sprintf(hooksBegin, o.name), table)
}

// hooksBegin stands before the table of the hooks over one corpus.
const hooksBegin = "<!-- table: hooks over %s -->\n"

func copyFile(to, from string, perm os.FileMode) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, perm)
}

// prepare makes the store and the prompts.
func (b *hookBench) prepare() error {
	if err := os.MkdirAll(filepath.Join(b.live(), "projects"), 0o700); err != nil {
		return err
	}
	toml := fmt.Sprintf("roots = [%q, %q]\n", b.root, b.live())
	if err := os.WriteFile(filepath.Join(b.home, "terminus.toml"), []byte(toml), 0o600); err != nil {
		return err
	}
	if b.o.store != "" {
		if err := fsx.MkdirOwner(b.data()); err != nil {
			return err
		}
		if err := copyFile(store.Path(b.data()), store.Path(b.o.store), 0o600); err != nil {
			return err
		}
	}
	if _, err := b.shoot("ingest"); err != nil {
		return err
	}
	err := b.ask(`SELECT project FROM session_meta WHERE project IS NOT NULL GROUP BY project ORDER BY sum(stream_len) DESC LIMIT 1`, &b.cwd)
	if err != nil {
		return err
	}
	// Of the paths that the project's turns name, ordered by how many do, every
	// so manieth.
	var list string
	err = b.ask(`SELECT json_group_array(path) FROM (
		SELECT v.value AS path FROM session_meta m JOIN sessions s USING (session_key)
		CROSS JOIN entities e ON e.turn BETWEEN s.session_no << 24 AND s.session_no << 24 | 0xffffff
		CROSS JOIN entity_values v ON v.id = e.value
		WHERE v.kind = 'path' AND m.project = `+quoteSQL(b.cwd)+` GROUP BY v.value ORDER BY count(*) DESC, v.value)`, &list)
	if err != nil {
		return err
	}
	var paths []string
	if err := json.Unmarshal([]byte(list), &paths); err != nil {
		return err
	}
	for i := range promptPaths {
		path := paths[len(paths)*i/promptPaths]
		b.prompts = append(b.prompts, fmt.Sprintf("why does %s fail here? see retryBudget and %s", path, filepath.Base(path)))
	}
	return nil
}

func quoteSQL(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// payload is what the agent says of the n-th run.
func (b *hookBench) payload(event string) ([]byte, error) {
	b.n++
	session := corpus.UUID(fmt.Sprint("hooks ", b.n))
	fields := map[string]string{
		"session_id": session, "cwd": b.cwd, "hook_event_name": event, "permission_mode": "default",
		"transcript_path": filepath.Join(b.live(), "projects", "-bench", session+".jsonl"),
	}
	switch event {
	case "SessionStart":
		fields["source"] = "startup"
	case "UserPromptSubmit":
		fields["prompt"] = b.prompts[b.n%len(b.prompts)]
	}
	line, err := document.Encode(fields)
	return append(line, '\n'), err
}

// A hookShot is one run.
type hookShot struct {
	took           time.Duration
	answered, late bool
}

func (b *hookBench) one(event string) (hookShot, error) {
	args := []string{"hook", event}
	if event == versionRun {
		args = []string{"--version"}
	}
	cmd := exec.Command(b.binary, args...)
	cmd.Dir = b.home
	cmd.Env = b.environ()
	payload, err := b.payload(event)
	if err != nil {
		return hookShot{}, err
	}
	var stdout, stderr strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(string(payload)), &stdout, &stderr
	start := time.Now()
	err = cmd.Run()
	s := hookShot{took: time.Since(start), answered: stdout.Len() > 0, late: strings.Contains(stderr.String(), "it took longer")}
	if err == nil && stderr.Len() > 0 && !s.late {
		err = errors.New(stderr.String())
	}
	return s, err
}

// rest waits until no process of the binary runs any more. It looks twice: the
// one that hands over may end while it is looked for, and what it started began
// after the look.
func (b *hookBench) rest() {
	quiet := 0
	const step, unknown = time.Millisecond, 150 * time.Millisecond
	for end := time.Now().Add(restPatience); time.Now().Before(end); time.Sleep(step) {
		all, err := filepath.Glob("/proc/[0-9]*/exe")
		if err != nil || len(all) == 0 {
			time.Sleep(unknown) // longer than a pass with nothing new takes
			return
		}
		quiet++
		if slices.ContainsFunc(all, func(link string) bool {
			exe, err := os.Readlink(link)
			return err == nil && exe == b.binary
		}) {
			quiet = 0
		}
		if quiet == 2 {
			return
		}
	}
}

// oneByOne runs the processes in turn, each when the pass of the one before is over.
func (b *hookBench) oneByOne() (map[string][]hookShot, error) {
	shots := map[string][]hookShot{}
	for range b.o.hookRuns {
		for _, event := range hookEvents {
			s, err := b.one(event)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", event, err)
			}
			shots[event] = append(shots[event], s)
			b.rest()
		}
	}
	return shots, nil
}

// atRest measures hooks one by one, each when the pass of the one before is over.
func (b *hookBench) atRest() error {
	shots, err := b.oneByOne()
	if err != nil {
		return err
	}
	b.add("at rest", shots)
	return nil
}

// whileIngesting measures hooks while a pass takes in new transcripts: one pass
// after another, each over transcripts of its own, and none of a run that a
// pass did not outlast.
func (b *hookBench) whileIngesting() error {
	shots := map[string][]hookShot{}
	for seed := uint64(100); len(shots[versionRun]) < b.o.hookRuns; seed++ {
		pass, err := b.start(seed, "ingest")
		if err != nil {
			return err
		}
		for running := true; running && len(shots[versionRun]) < b.o.hookRuns; {
			for _, event := range hookEvents {
				s, err := b.one(event)
				if err != nil {
					return fmt.Errorf("%s: %w", event, err)
				}
				if running = pass.running(); !running {
					break
				}
				shots[event] = append(shots[event], s)
			}
		}
		if err := pass.wait(); err != nil {
			return err
		}
		b.rest()
	}
	b.add("while an ingest takes in new transcripts", shots)
	return nil
}

// afterKill measures hooks over the store that a killed backfill leaves. No pass
// mends it meanwhile: the lock is held.
func (b *hookBench) afterKill() error {
	pass, err := b.start(99, "backfill", "--work")
	if err != nil {
		return err
	}
	for pass.running() {
		if info, err := os.Stat(store.Path(b.data()) + "-wal"); err == nil && info.Size() > killedWAL {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if !pass.running() {
		return errors.New("the backfill was over before it was killed")
	}
	pass.kill()
	lock, err := fsx.Acquire(filepath.Join(b.data(), "LOCK"))
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	shots, err := b.oneByOne()
	if err != nil {
		return err
	}
	info, err := os.Stat(store.Path(b.data()) + "-wal")
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("after a killed backfill (%d MB of WAL)", info.Size()>>20), shots)
	return nil
}

// A running pass.
type running struct {
	cmd  *exec.Cmd
	over chan error
	err  error
	done bool
}

// start begins a pass over new transcripts.
func (b *hookBench) start(seed uint64, args ...string) (*running, error) {
	root := b.live()
	if err := os.RemoveAll(root); err != nil {
		return nil, err
	}
	if _, err := corpus.Generate(root, corpus.Options{Seed: seed, Bytes: newBytes}); err != nil {
		return nil, err
	}
	p := &running{cmd: exec.Command(b.binary, args...), over: make(chan error, 1)}
	p.cmd.Dir, p.cmd.Env = b.home, b.environ()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.over <- p.cmd.Wait() }()
	wal := store.Path(b.data()) + "-wal"
	for p.running() { // until it is at work
		if info, err := os.Stat(wal); err == nil && info.Size() > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return p, nil
}

func (p *running) running() bool {
	if !p.done {
		select {
		case p.err = <-p.over:
			p.done = true
		default:
		}
	}
	return !p.done
}

func (p *running) wait() error {
	if !p.done {
		p.err, p.done = <-p.over, true
	}
	return p.err
}

func (p *running) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.wait()
}

func (b *hookBench) add(situation string, shots map[string][]hookShot) {
	for _, event := range hookEvents {
		r := hookRow{situation: situation, event: event, runs: len(shots[event])}
		var all []float64
		for _, s := range shots[event] {
			all = append(all, float64(s.took)/1e6)
			if s.answered && event != versionRun {
				r.answered++
			}
			if s.late {
				r.late++
			}
		}
		slices.Sort(all)
		at := func(p int) float64 { return all[min(len(all)*p/100, len(all)-1)] }
		r.p50, r.p95, r.p99, r.max = at(50), at(95), at(99), all[len(all)-1]
		b.rows = append(b.rows, r)
		fmt.Fprintf(os.Stderr, "%-44s %-18s %6.1f %6.1f %6.1f ms\n", situation, event, r.p50, r.p95, r.p99)
	}
}

func (b *hookBench) table() string {
	var t strings.Builder
	t.WriteString("| situation | process | runs | p50 ms | p95 ms | p99 ms | most ms | with a text | too late |\n" +
		"| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, r := range b.rows {
		fmt.Fprintf(&t, "| %s | %s | %d | %.1f | %.1f | %.1f | %.1f | %d | %d |\n",
			r.situation, r.event, r.runs, r.p50, r.p95, r.p99, r.max, r.answered, r.late)
	}
	return t.String()
}
