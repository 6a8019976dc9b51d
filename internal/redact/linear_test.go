package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// unkind are texts whose repetition makes a careless rule read what it has read
// before.
var unkind = []string{
	"key", "key=", "key:", "key ", "key=\"", "key:'", `"key":"`, `\"key\":\"`, "key=\\\"", "key: bearer ", "token is ", "password \"",
	"-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "://", "://a", "://a@", "eyJ", "x-eyJ", "ghp_", "SG.", "xoxb-", "xoxb-=", "key-",
	"curl -u ", "mysql ", "curl -u a ", "docker login ", "machine ", "machine a login b password ", "cookie: ", "Cookie: a=\"",
	"\x1b[", "\x1b]", "\x1b]0;", "\\", "\\\"", "\"", "'", "\\u001b[", "\\x1b]", "\x00", "{", "[\"", "[\"key\",", "{\"key\":\"a\",", "<key>", "<key>a",
	"aB3x", "aB3x/", "a=aB3xK9pQ7zR2mW5tY8uL4nV6cD1eF0gHjSkT ", "aB3xK9pQ7zR2mW5tY8uL4nV6cD1eF0gHjSkT\n", "a ", " ", "\n", ":AA", "0123456789:AA",
	"[redacted", "[redacted]", "--token ", "--token \"", "key\\nkey\\\\n", "basic ", "basic a", "bearer ", "пароль", "пароль:", "\xff", "hooks.slack.com/services/",
	"api.telegram.org/bot", "pass:", "key = ", "key := \"", "key => ", "\"key\"", "\"key\",", "key\"", "key\t", "=", "==", "key]=",
}

func TestTimeIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures time")
	}
	for _, unit := range unkind {
		text := func(n int) []byte { return bytes.Repeat([]byte(unit), n/len(unit)) }
		line := func(n int) []byte {
			out, err := json.Marshal(map[string]string{"a": string(text(n))})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		inLinearTime(t, unit, text, func(b []byte) { filter(b, textView) })
		inLinearTime(t, unit+" in a record", line, func(b []byte) { filter(b, recordView) })
		if got := on.Text(string(text(1 << 10))); strings.Contains(got, "cannot be filtered") {
			t.Errorf("%q does not settle", unit)
		}
	}
}

// inLinearTime doubles a text four times. Time may grow by 2.5 each time: what
// reads its text again and again takes 4. A busy machine gets three tries.
func inLinearTime(t *testing.T, name string, text func(n int) []byte, f func([]byte)) {
	t.Helper()
	const small, large, bound, tries, least = 16 << 10, 256 << 10, 2.5 * 2.5 * 2.5 * 2.5, 3, 200 * time.Microsecond
	a, b := text(small), text(large)
	var last string
	for range tries {
		few, many := spent(a, f), spent(b, f)
		if few = max(few, least); float64(many) <= bound*float64(few) {
			return
		}
		last = fmt.Sprintf("%v, and %v for 16 times as much", few, many)
	}
	t.Errorf("%q: %s", name, last)
}

// spent is the least time of a few runs.
func spent(text []byte, f func([]byte)) time.Duration {
	best := time.Hour
	for range 3 {
		start := time.Now()
		f(text)
		best = min(best, time.Since(start))
	}
	return best
}
