package registry

import "testing"

func TestEveryHarnessIsFoundByItsOwnIDAndIDsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, h := range All() {
		id := h.ID()
		if id == "" || seen[id] {
			t.Errorf("id %q is empty or stands twice", id)
		}
		seen[id] = true
		if got, ok := ByID(id); !ok || got.ID() != id {
			t.Errorf("ByID(%q) = %v, %v", id, got, ok)
		}
	}
	if !seen["claude"] {
		t.Error("claude is not registered")
	}
}

func TestAnUnknownIDHasNoHarness(t *testing.T) {
	for _, id := range []string{"", "Claude", "nobody"} {
		if h, ok := ByID(id); ok || h != nil {
			t.Errorf("ByID(%q) = %v, %v", id, h, ok)
		}
	}
}
