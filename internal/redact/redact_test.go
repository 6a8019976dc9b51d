package redact

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

var on = New(true)

func TestSecretsAreTakenOut(t *testing.T) {
	if len(positives) < 120 {
		t.Errorf("%d examples", len(positives))
	}
	for _, e := range positives {
		if got := on.Text(e.in()); got != e.want() {
			t.Errorf("%q\n gave %q\n want %q", e.in(), got, e.want())
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	if len(negatives) < 120 {
		t.Errorf("%d examples", len(negatives))
	}
	for _, in := range negatives {
		if got := on.Text(in); got != in {
			t.Errorf("%q\n gave %q", in, got)
		}
	}
}

// quote puts a text into a JSON document, and that as a string into another, n
// times in all.
func quote(t *testing.T, text string, n int) string {
	t.Helper()
	for range n {
		b, err := json.Marshal(map[string]string{"note": text})
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
	}
	return text
}

func unquote(t *testing.T, text string, n int) string {
	t.Helper()
	for range n {
		var doc map[string]string
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		text = doc["note"]
	}
	return text
}

func TestQuotingHidesNothingAndStaysWhole(t *testing.T) {
	for depth := 1; depth <= 4; depth++ {
		for _, e := range positives {
			line := quote(t, e.in(), depth)
			if got := unquote(t, string(on.Record([]byte(line))), depth); got != e.want() {
				t.Errorf("%d times quoted: %q\n gave %q\n want %q", depth, e.in(), got, e.want())
			}
		}
		for _, in := range negatives {
			if strings.ContainsAny(in, "\xff\x00") {
				continue
			}
			line := quote(t, in, depth)
			if got := string(on.Record([]byte(line))); got != line {
				t.Errorf("%d times quoted: %q\n gave %q", depth, in, got)
			}
		}
	}
}

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func TestTerminalEscapesHideNothing(t *testing.T) {
	for _, e := range positives {
		in := e.in()
		for i := range in {
			split := in[:i] + "\x1b[1;31m" + in[i:]
			if got := sgr.ReplaceAllString(on.Text(split), ""); got != e.want() {
				t.Errorf("%q\n gave %q\n want %q", split, got, e.want())
				break
			}
			line := quote(t, split, 2)
			if got := sgr.ReplaceAllString(unquote(t, string(on.Record([]byte(line))), 2), ""); got != e.want() {
				t.Errorf("quoted twice: %q\n gave %q\n want %q", split, got, e.want())
				break
			}
		}
	}
}

func TestFilteringTwiceIsFilteringOnce(t *testing.T) {
	for _, e := range positives {
		once := on.Text(e.in())
		if twice := on.Text(once); twice != once {
			t.Errorf("%q\n gave %q\n and then %q", e.in(), once, twice)
		}
	}
}
