package transcript

import (
	"strings"
	"testing"
)

func TestADecodedTextTakesNoMoreRoomThanItNeeds(t *testing.T) {
	v := Value(`"a\n` + strings.Repeat("b", 4000) + `"`)
	if got := v.String(); got != "a\n"+strings.Repeat("b", 4000) {
		t.Fatalf("text %q", got)
	}
	const times = 100
	taken := allocated(func() {
		for range times {
			v.Text()
		}
	})
	if limit := uint64(times * 3 * len(v)); taken > limit {
		t.Errorf("%d texts of %d bytes took %d bytes, more than %d", times, len(v), taken, limit)
	}
}
