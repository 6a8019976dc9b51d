package harness_test

import (
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/harness"
)

func TestAnIDThatCannotBeShownNamesNoSession(t *testing.T) {
	for id, want := range map[string]bool{
		"ses_1": true, "a/b": true, "ü": true, "": false, "a\nb": false, "a\x1b[2J": false, "\u202e": false,
		strings.Repeat("x", 200): true, strings.Repeat("x", 201): false,
	} {
		if got := harness.NamesSession(id); got != want {
			t.Errorf("%.20q: %t", id, got)
		}
	}
}

func TestUUIDsOfEitherCase(t *testing.T) {
	const id = "0618013f-a64a-4680-abde-a212bbdd08ff"
	for s, want := range map[string]bool{
		id: true, strings.ToUpper(id): true, id[1:]: false, id + "0": false, "": false,
		strings.Replace(id, "-", "0", 1): false, strings.Replace(id, "0", "g", 1): false,
	} {
		if got := harness.IsUUID(s); got != want {
			t.Errorf("%q: %t", s, got)
		}
	}
}

func TestATranscriptOfLinesHasNoTail(t *testing.T) {
	n := 0
	for _, err := range harness.NoTail(harness.Transcript{Path: "/a"}) {
		if n++; err == nil || err.Error() != "/a: it is read as a file of lines" {
			t.Errorf("error %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d values", n)
	}
}
