package corpus

import "testing"

func TestStoresOfOtherAgentsAreTheSameEveryTime(t *testing.T) {
	for _, agent := range Agents {
		o := Options{Seed: 3, Bytes: 1 << 20, Sessions: 12}
		first, second := t.TempDir(), t.TempDir()
		stats, err := GenerateAgent(first, agent, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := GenerateAgent(second, agent, o); err != nil {
			t.Fatal(err)
		}
		a, b := tree(t, first), tree(t, second)
		if len(a) < o.Sessions || len(a) != len(b) {
			t.Errorf("%s: %d files, then %d", agent, len(a), len(b))
		}
		for name := range a {
			if a[name] != b[name] {
				t.Errorf("%s: %s: %s, then %s", agent, name, a[name], b[name])
			}
		}
		if stats.Bytes < o.Bytes || stats.Bytes > 2*o.Bytes {
			t.Errorf("%s: %d bytes", agent, stats.Bytes)
		}
		if _, err := GenerateAgent(first, agent, o); err == nil {
			t.Errorf("%s: a store is written over", agent)
		}
	}
	if _, err := GenerateAgent(t.TempDir(), "none", Options{}); err == nil {
		t.Error("an agent that nobody knows has a store")
	}
}
