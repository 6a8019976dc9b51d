// Bench measures what a budget speaks of, on whole processes of the real
// binary: a developers' command, run by `make bench`.
//
// For each measure it runs the binary some times and takes the medians of wall
// time and of CPU time (user and system). It prints a Markdown table, with the
// ratio of each CPU time to the one in baseline.json: on a machine that does
// other things as well, CPU time and ratios are what can be trusted.
package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/corpus"
)

//go:embed baseline.json
var baselineJSON []byte

type options struct {
	binary   string
	corpus   string
	large    bool
	only     string
	runs     int
	doc      string
	baseline string

	hooks    bool
	store    string
	name     string
	hookRuns int
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "", "the program to measure")
	flag.StringVar(&o.corpus, "corpus", "", "a corpus of size M, made by internal/corpus/gen; it is only read")
	flag.BoolVar(&o.large, "large", false, "measure 2.5 GB as well")
	flag.StringVar(&o.only, "only", "", "measure only these corpora: letters of S, M, L, and Many")
	flag.IntVar(&o.runs, "runs", 15, "runs of whatever takes less than a second; of the rest a fifth")
	flag.StringVar(&o.doc, "doc", "", "put the table into this file, between its marks")
	flag.StringVar(&o.baseline, "write-baseline", "", "write the figures to this file")
	flag.BoolVar(&o.hooks, "hooks", false, "measure the hooks, and nothing else, over the store of -corpus, whatever its size")
	flag.StringVar(&o.store, "store", "", "with -hooks: a data directory whose store was made of -corpus; it is copied, not changed. Else one is made")
	flag.StringVar(&o.name, "name", "M", "with -hooks: what the corpus is called")
	flag.IntVar(&o.hookRuns, "hook-runs", 300, "with -hooks: runs of each process in each situation")
	flag.Parse()
	if o.binary == "" || flag.NArg() > 0 || o.runs < 1 || o.hookRuns < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A figure is the medians of one measure. Times are milliseconds.
type figure struct {
	Name  string  `json:"name"`
	Wall  float64 `json:"wall_ms"`
	CPU   float64 `json:"cpu_ms"`
	RSS   float64 `json:"rss_mb"`
	Bytes int64   `json:"-"` // that were taken in, for a rate
	Runs  int     `json:"runs"`
	Note  string  `json:"note,omitempty"` // in place of times
}

func run(o options) error {
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "terminus-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if o.hooks {
		return hooks(o, binary, work)
	}

	var all []figure
	for _, size := range []string{"S", "M", "L", "Many"} {
		if !o.wants(size) {
			continue
		}
		root := o.corpus
		if size != "M" {
			root = filepath.Join(work, "corpus-"+size)
			if _, err := corpus.Generate(root, corpus.Sizes[size]); err != nil {
				return err
			}
		}
		b := &bench{o: o, size: size, binary: binary, root: root, home: filepath.Join(work, size)}
		if err := b.run(); err != nil {
			return fmt.Errorf("corpus %s: %w", size, err)
		}
		all = append(all, b.figures...)
		_ = os.RemoveAll(b.home)
	}
	table, err := render(all)
	if err != nil {
		return err
	}
	fmt.Print(table)
	if o.baseline != "" {
		text, err := json.MarshalIndent(all, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.baseline, append(text, '\n'), 0o600); err != nil {
			return err
		}
	}
	if o.doc == "" {
		return nil
	}
	return insert(o.doc, table)
}

func (o options) wants(size string) bool {
	switch {
	case size == "M" && o.corpus == "":
		return false
	case o.only != "":
		for _, s := range strings.Split(o.only, ",") {
			if s == size {
				return true
			}
		}
		return false
	default:
		return size != "L" || o.large
	}
}

// render makes the table, with ratios to the baseline.
func render(all []figure) (string, error) {
	var old []figure
	if err := json.Unmarshal(baselineJSON, &old); err != nil {
		return "", fmt.Errorf("baseline.json: %w", err)
	}
	before := map[string]figure{}
	for _, f := range old {
		before[f.Name] = f
	}
	var t strings.Builder
	t.WriteString("| measure | wall ms | CPU ms | CPU to baseline | peak MB | rate, remark |\n| --- | ---: | ---: | ---: | ---: | --- |\n")
	for _, f := range all {
		if f.Note != "" {
			fmt.Fprintf(&t, "| %s | | | | | %s |\n", f.Name, f.Note)
			continue
		}
		ratio, rate, rss := "", "", ""
		if f.RSS > 0 {
			rss = fmt.Sprintf("%.0f", f.RSS)
		}
		if b := before[f.Name]; b.CPU > 0 {
			ratio = fmt.Sprintf("%.2f", f.CPU/b.CPU)
		}
		if f.Bytes > 0 {
			rate = fmt.Sprintf("%.0f MB/s, %.0f MB per CPU second", float64(f.Bytes)/1e3/f.Wall, float64(f.Bytes)/1e3/f.CPU)
		}
		fmt.Fprintf(&t, "| %s | %s | %s | %s | %s | %s |\n", f.Name, short(f.Wall), short(f.CPU), ratio, rss, rate)
	}
	return t.String(), nil
}

func short(ms float64) string {
	if ms >= 100 {
		return fmt.Sprintf("%.0f", ms)
	}
	return fmt.Sprintf("%.1f", ms)
}

// The table stands between these lines of the document.
const (
	tableBegins = "<!-- table: make bench -->\n"
	tableEnds   = "<!-- end of table -->\n"
)

func insert(doc, table string) error { return insertBetween(doc, tableBegins, table) }

// insertBetween puts a table behind the line that begins it.
func insertBetween(doc, begins, table string) error {
	text, err := os.ReadFile(doc)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(text), begins)
	_, tail, also := strings.Cut(rest, tableEnds)
	if !ok || !also {
		return fmt.Errorf("%s has no place for the table: a line %q and behind it %q", doc, begins, tableEnds)
	}
	return os.WriteFile(doc, []byte(head+begins+table+tableEnds+tail), 0o600)
}
