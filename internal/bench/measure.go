package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/corpus"
	"github.com/terminus-archive/terminus/internal/store"
)

// A bench measures one corpus.
type bench struct {
	o       options
	size    string
	binary  string
	root    string // the corpus
	home    string // all that is written lies below
	figures []figure
}

// A shot is one run of the binary.
type shot struct {
	wall, cpu time.Duration
	rss       int64
}

func (b *bench) data() string { return filepath.Join(b.home, "data") }

// live is a second directory of the agent, to which the benchmark adds.
func (b *bench) live() string { return filepath.Join(b.home, "live") }

func (b *bench) environ() []string {
	return []string{"HOME=" + b.home, "USERPROFILE=" + b.home, "TERMINUS_DATA_DIR=" + b.data(), "TERMINUS_CONFIG_DIR=" + b.home}
}

func (b *bench) shoot(args ...string) (shot, error) {
	cmd := exec.Command(b.binary, args...)
	cmd.Dir = b.home
	cmd.Env = b.environ()
	var problem strings.Builder
	cmd.Stderr = &problem
	start := time.Now()
	err := cmd.Run()
	s := shot{wall: time.Since(start)}
	if err != nil {
		return s, fmt.Errorf("terminus %s: %w: %s", strings.Join(args, " "), err, problem.String())
	}
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s.rss = peak(cmd.ProcessState)
	return s, nil
}

// measure runs the binary n times, each after before, and keeps the medians.
func (b *bench) measure(name string, n int, bytes int64, before func() error, args ...string) error {
	var shots []shot
	for range n {
		if before != nil {
			if err := before(); err != nil {
				return err
			}
		}
		s, err := b.shoot(args...)
		if err != nil {
			return err
		}
		shots = append(shots, s)
	}
	f := figure{Name: b.size + " " + name, Bytes: bytes, Runs: n}
	f.Wall = median(shots, func(s shot) float64 { return float64(s.wall) / 1e6 })
	f.CPU = median(shots, func(s shot) float64 { return float64(s.cpu) / 1e6 })
	f.RSS = median(shots, func(s shot) float64 { return float64(s.rss) / 1e6 })
	b.figures = append(b.figures, f)
	fmt.Fprintf(os.Stderr, "%-40s %9s ms %9s CPU ms %5.0f MB\n", f.Name, short(f.Wall), short(f.CPU), f.RSS)
	return nil
}

func median(shots []shot, of func(shot) float64) float64 {
	var all []float64
	for _, s := range shots {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func (b *bench) note(name, format string, args ...any) {
	f := figure{Name: b.size + " " + name, Note: fmt.Sprintf(format, args...)}
	b.figures = append(b.figures, f)
	fmt.Fprintf(os.Stderr, "%-40s %s\n", f.Name, f.Note)
}

func (b *bench) run() error {
	if err := os.MkdirAll(filepath.Join(b.live(), "projects"), 0o700); err != nil {
		return err
	}
	toml := fmt.Sprintf("roots = [%q, %q]\n", b.root, b.live())
	if err := os.WriteFile(filepath.Join(b.home, "terminus.toml"), []byte(toml), 0o600); err != nil {
		return err
	}
	bytes, transcripts, err := sizeOf(b.root)
	if err != nil {
		return err
	}
	b.note("corpus", "%.1f MB in %d transcripts", float64(bytes)/1e6, transcripts)
	if b.size == "Many" {
		return b.many()
	}
	slow := max(b.o.runs/5, 1)
	for _, step := range []func() error{
		func() error { return b.measure("first pass", slow, bytes, b.fresh, "ingest") },
		func() error { return b.measure("backfill", slow, bytes, b.fresh, "backfill", "--work") },
		b.disk,
		func() error { return b.measure("nothing new", b.o.runs, 0, nil, "ingest") },
		b.additions,
		func() error { return b.measure("reindex", slow, bytes, nil, "reindex") },
		b.searches,
		func() error { return b.measure("`--version`", b.o.runs, 0, nil, "--version") },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// many looks at five thousand transcripts and finds nothing.
func (b *bench) many() error {
	if _, err := b.shoot("ingest"); err != nil {
		return err
	}
	if err := b.measure("nothing new", b.o.runs, 0, nil, "ingest"); err != nil {
		return err
	}
	return b.additions()
}

// fresh begins with no store and nothing in the page cache's way.
func (b *bench) fresh() error { return os.RemoveAll(b.data()) }

// additions measures what a hook's pass costs: one more record, one more
// session of a megabyte.
func (b *bench) additions() error {
	dir := filepath.Join(b.live(), "projects", "-bench-live")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	n := 0
	record := func() string {
		n++
		id := corpus.UUID(fmt.Sprint("bench", n))
		return corpus.Lines(corpus.User(fmt.Sprint("one more record of the benchmark, number ", n), corpus.ID(id), corpus.CWD("/bench/live")))
	}
	grow := func() error {
		f, err := os.OpenFile(filepath.Join(dir, corpus.UUID("grown")+".jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString(record())
		return err
	}
	for range 2 { // the session exists, and is a live one
		if err := grow(); err != nil {
			return err
		}
		if _, err := b.shoot("ingest"); err != nil {
			return err
		}
	}
	if err := b.measure("one record", 2*b.o.runs, 0, grow, "ingest"); err != nil {
		return err
	}
	sample, err := b.sample(1 << 20)
	if err != nil {
		return err
	}
	session := func() error {
		n++
		return os.WriteFile(filepath.Join(dir, corpus.UUID(fmt.Sprint("session", n))+".jsonl"), sample, 0o600)
	}
	if err := b.measure("one session of 1 MB", b.o.runs, 0, session, "ingest"); err != nil {
		return err
	}
	segments, err := b.segments()
	b.note("segments of the index after that", "%d", segments)
	return err
}

// sample is whole lines of about n bytes, out of the corpus's largest session.
func (b *bench) sample(n int) ([]byte, error) {
	var largest string
	var size int64
	err := walk(b.root, func(path string, info fs.FileInfo) {
		if info.Size() > size {
			largest, size = path, info.Size()
		}
	})
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(largest)
	if err != nil {
		return nil, err
	}
	var out []byte
	for line := range strings.Lines(string(text)) {
		if len(out)+len(line) > n {
			break
		}
		out = append(out, line...)
	}
	return out, nil
}

func walk(root string, each func(path string, info fs.FileInfo)) error {
	return filepath.WalkDir(filepath.Join(root, "projects"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			each(path, info)
		}
		return err
	})
}

func sizeOf(root string) (bytes int64, transcripts int, err error) {
	err = walk(root, func(_ string, info fs.FileInfo) {
		bytes += info.Size()
		transcripts++
	})
	return bytes, transcripts, err
}

// ask runs a query on the store that was made.
func (b *bench) ask(query string, into ...any) error {
	db, err := store.OpenReader(context.Background(), store.Path(b.data()))
	if err != nil {
		return err
	}
	defer db.Close()
	return db.QueryRow(query).Scan(into...)
}

// searches measures the process that a person starts.
func (b *bench) searches() error {
	var project, path string
	err := b.ask(`SELECT project FROM session_meta WHERE project IS NOT NULL GROUP BY project ORDER BY sum(stream_len) DESC LIMIT 1`, &project)
	if err == nil {
		err = b.ask(`SELECT path FROM paths GROUP BY path ORDER BY count(*) DESC, path LIMIT 1`, &path)
	}
	if err != nil {
		return err
	}
	for _, q := range []struct{ name, words string }{
		{"a rare word", corpus.Rare},
		{"three words", "because expected panic"},      // 4 % of all turns hold each
		{"three common words", "retry config handler"}, // 20 % hold each, 8 % all three
		{"a path", path},
		{"a very common word", "error"},
		{"the most common word", "the"},
		{"a miss", "zzzyzzyva"},
	} {
		for _, scope := range []struct{ name, flag string }{{"everything", "*"}, {"one project", project}} {
			args := append([]string{"search", "--json", "--project", scope.flag, "--"}, strings.Fields(q.words)...)
			if err := b.measure("search "+q.name+", "+scope.name, b.o.runs, 0, nil, args...); err != nil {
				return err
			}
		}
	}
	return nil
}
