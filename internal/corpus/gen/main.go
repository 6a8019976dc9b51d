// Gen writes a made-up corpus of transcripts: a client's configuration directory
// with nothing but its projects folder, or, with -agent, the store of another agent
// in a home directory.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/terminus-archive/terminus/internal/corpus"
)

func main() {
	size := flag.String("size", "S", "S (20 MiB), M (500 MiB), L (2.5 GiB) or Many (5,000 small sessions)")
	out := flag.String("out", "", "directory to write; must have no projects folder yet")
	seed := flag.Uint64("seed", 1, "which of many corpora of that size")
	style := flag.String("style", "", "mixed, 197 or 332: the client to imitate (default: that of the size)")
	agent := flag.String("agent", "", "the store of another agent, of that size, in the home directory -out: one of "+strings.Join(corpus.Agents, ", "))
	sessions := flag.Int("sessions", 0, "how many sessions, in place of as many as the size has")
	flag.Parse()

	o, ok := corpus.Sizes[*size]
	styles := map[string]corpus.Style{"": o.Style, "mixed": corpus.Mixed, "197": corpus.Claude197, "332": corpus.Claude332}
	chosen, known := styles[*style]
	if !ok || !known || *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	o.Seed, o.Style = *seed, chosen
	if *sessions > 0 {
		o.Sessions = *sessions
	}
	begin := time.Now()
	generate := corpus.Generate
	if *agent != "" {
		generate = func(home string, o corpus.Options) (corpus.Stats, error) {
			return corpus.GenerateAgent(home, *agent, o)
		}
	}
	stats, err := generate(*out, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d sessions and %d subagents in %d projects, %d companions\n",
		stats.Sessions, stats.Subagents, stats.Projects, stats.Companions)
	fmt.Printf("%d bytes in %d records, the longest of %d bytes; companions %d bytes\n",
		stats.Bytes, stats.Records, stats.LongestLine, stats.CompanionBytes)
	fmt.Printf("%.1f s, %.0f MB/s\n", time.Since(begin).Seconds(), float64(stats.Bytes)/1e6/time.Since(begin).Seconds())
}
