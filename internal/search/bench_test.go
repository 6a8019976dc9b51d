package search_test

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/search"
	"github.com/terminus-archive/terminus/internal/search/searchtest"
)

// BenchmarkRank ranks over 30,000 turns of 300 sessions in three projects, on
// both ways. Word w<n> stands in about one turn in n/20.
func BenchmarkRank(b *testing.B) {
	const sessions, turns, words, vocabulary = 300, 100, 60, 20_000
	s := searchtest.New(b)
	db, err := sql.Open("sqlite", "file:"+s.Path()+"?_pragma=busy_timeout(5000)&_pragma=synchronous(0)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	rnd := rand.New(rand.NewPCG(5, 6))
	for i := range sessions {
		h := s.Session(searchtest.Session{Key: fmt.Sprintf("%d.jsonl", i), Project: "/p" + strconv.Itoa(i%3)})
		rows := make([]index.Row, turns)
		for at := range rows {
			var body strings.Builder
			for range 1 + rnd.IntN(2*words) {
				fmt.Fprintf(&body, "w%d ", int(math.Exp(rnd.Float64()*math.Log(vocabulary))))
			}
			rows[at] = index.Row{Type: "user", Body: []byte(body.String())}
		}
		if _, _, err := index.Write(b.Context(), db, index.Target{No: h.No, Slot: h.Slot}, rows); err != nil {
			b.Fatal(err)
		}
	}
	s.Exec(`INSERT INTO turns_fts(turns_fts) VALUES ('optimize')`)
	r := s.Reader()
	for _, words := range []string{"w1", "w30", "w9000", "w1 w2 w3", "absent"} {
		for _, project := range []string{search.AllProjects, "/p1"} {
			for _, plain := range []bool{false, true} {
				name := fmt.Sprintf("%s/%s/%s", strings.ReplaceAll(words, " ", "+"), map[bool]string{true: "everything", false: "project"}[project == "*"],
					map[bool]string{true: "plain", false: "direct"}[plain])
				q := search.Query{Words: words, Scope: search.Scope{Project: project}}
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						if _, err := r.Rank(b.Context(), q, plain); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
