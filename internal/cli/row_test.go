package cli

import "testing"

func TestARowGivesUpTheMiddleOfNamesAndKeepsItsMarks(t *testing.T) {
	const file, path = "0618013f-a64a-4680-abde-a212bbdd08ff.jsonl", "/home/sam/src/tidepool"
	cells := func(branch string, marks ...string) []cell {
		all := []cell{{"2026-03-30", never}, {file, gladly}, {"30 turns", never}, {path, gladly}, {branch, last}}
		for _, m := range marks {
			all = append(all, cell{m, never})
		}
		return all
	}
	for _, c := range []struct {
		width, before int
		cells         []cell
		want          string
	}{
		{0, 0, cells("main", "", "(evicted)"), "2026-03-30  " + file + "  30 turns  " + path + "  main  (evicted)"},
		{94, 0, cells("main"), "2026-03-30  " + file + "  30 turns  " + path + "  main"},
		{93, 0, cells("main"), "2026-03-30  0618013f-a64a-4680-a…e-a212bbdd08ff.jsonl  30 turns  " + path + "  main"},
		{80, 0, cells("main"), "2026-03-30  0618013f-a64a-…bdd08ff.jsonl  30 turns  " + path + "  main"},
		{80, 0, cells("main", "(subagent)", "(evicted)"), "2026-03-30  061801….jsonl  30 turns  /home/s…depool  main  (subagent)  (evicted)"},
		{80, 10, cells("main"), "2026-03-30  0618013f-a…8ff.jsonl  30 turns  /home/sam/…/tidepool  main"},
		{74, 0, cells("a-branch-of-a-very-long-name", "(subagent)"), "2026-03-30  061801…jsonl  30 turns  /home/…epool  a-bran…-name  (subagent)"},
		{48, 0, cells("main", "(subagent)"), "2026-03-30  0…l  30 turns  /…l  main  (subagent)"},
		{20, 0, cells("main", "(subagent)"), "2026-03-30  0…l  30…"},
	} {
		if got := (screen{width: c.width}).row(c.before, c.cells...); got != c.want || c.width > 0 && width(got)+c.before > c.width {
			t.Errorf("width %d, %d taken:\ngot  %s (%d)\nwant %s", c.width, c.before, got, width(got), c.want)
		}
	}
}

func TestMiddleKeepsBothEndsAndNeverCutsACharacter(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"abcdefg", 7, "abcdefg"},
		{"abcdefg", 6, "abc…fg"},
		{"abcdefg", 5, "ab…fg"},
		{"abcdefg", 2, "a…"},
		{"abcdefg", 1, "…"},
		{"日本語日本語", 8, "日本…語"},
		{"日本語日本語", 7, "日…本語"},
		{"e\u0301e\u0301e\u0301e\u0301", 3, "e\u0301…e\u0301"},
	} {
		if got := middle(c.in, c.limit); got != c.want || width(got) > c.limit {
			t.Errorf("middle(%q, %d) = %q (%d columns), want %q", c.in, c.limit, got, width(got), c.want)
		}
	}
}
