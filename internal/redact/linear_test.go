package redact

import (
	"bytes"
	"encoding/json"
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

// inLinearTime compares the least times that a text and one of sixteen times its
// length take. What reads its text again and again takes 256 times as long; a
// busy machine is asked again until both times are what they can be.
func inLinearTime(t *testing.T, name string, text func(n int) []byte, f func([]byte)) {
	t.Helper()
	const small, large, bound, tries, least = 16 << 10, 256 << 10, 64, 40, 200 * time.Microsecond
	a, b := text(small), text(large)
	few, many := time.Hour, time.Hour
	for range tries {
		few, many = min(few, spent(a, f)), min(many, spent(b, f))
		if many <= bound*max(few, least) {
			return
		}
	}
	t.Errorf("%q: %v, and %v for 16 times as much", name, few, many)
}

func spent(text []byte, f func([]byte)) time.Duration {
	start := time.Now()
	f(text)
	return time.Since(start)
}
