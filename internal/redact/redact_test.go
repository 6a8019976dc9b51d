package redact

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/derive"
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
			if !utf8.ValidString(in) || strings.Contains(in, "\x00") {
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

// An excerpt is cut from the filtered text, wherever the cut falls.
func TestNoPartOfASecretIsLeftAtACut(t *testing.T) {
	const room, least = 240, 4
	for _, e := range positives {
		var parts []string
		for _, secret := range e.secrets() {
			for i := 0; i+least <= len(secret); i++ {
				if part := secret[i : i+least]; strings.Contains(part, "EXAM") {
					parts = append(parts, part)
				}
			}
		}
		for n := max(0, room-len(e.in())-len("needle ")-4); n < room; n++ {
			text := "needle " + strings.Repeat("x", n) + "\n" + e.in() + strings.Repeat("\ntail", 60)
			got := derive.Excerpt([]byte(on.Text(text)), []string{"needle"})
			for _, part := range parts {
				if strings.Contains(got, part) {
					t.Fatalf("%q\n left %q", text, got)
				}
			}
		}
	}
}

func TestWithoutSecretsTheSameBytesComeBack(t *testing.T) {
	for _, in := range negatives {
		record := []byte(in)
		if got := on.Record(record); len(in) > 0 && &got[0] != &record[0] {
			t.Errorf("%q was copied", in)
		}
	}
	if got := None.Text("password=EXAMPLE"); got != "password=EXAMPLE" || !None.Off() || on.Off() {
		t.Errorf("no filter gave %q", got)
	}
}

// A record's own structure says what text alone does not.
func TestARecordIsReadAsItIsBuilt(t *testing.T) {
	for in, want := range map[string]string{
		`{"input":{"password":"plain words","user":"me"}}`:                                                `{"input":{"password":"[redacted]","user":"me"}}`,
		`{"list":[{"name":"API_KEY","value":"words"}]}`:                                                   `{"list":[{"name":"API_KEY","value":"[redacted]"}]}`,
		`{"argv":["cli","--password","words","x"]}`:                                                       `{"argv":["cli","--password","[redacted:a-command-line-flag-value]","x"]}`,
		`{"argv":["mysql","-u","me","-pwords"]}`:                                                          `{"argv":["mysql","-u","me","-p[redacted:a-command-line-flag-value]"]}`,
		`{"lines":["+-----BEGIN PRIVATE KEY-----","+RVhBTVBMRQ==","+-----END PRIVATE KEY-----","after"]}`: `{"lines":["+[redacted: a PEM private key block]","","","after"]}`,
		`{"a":"it's KEY='open","b":"y's"}`:                                                                `{"a":"it's KEY=[redacted]","b":"y's"}`,
		`{"a":"password:","b":"words"}`:                                                                   `{"a":"password:","b":"words"}`,
		`{"a":"x \u0070assword=EXAMPLE1"}`:                                                                `{"a":"x \u0070assword=[redacted]"}`,
		`{"a":"https:\/\/me:pw@host\/"}`:                                                                  `{"a":"https:\/\/[redacted:connection-url-userinfo]@host\/"}`,
		`{"a":"?token=EXAMPLE\u0026b=c d"}`:                                                               `{"a":"?token=[redacted] d"}`,
		`{"token":12,"key":null,"secret":[]}`:                                                             `{"token":12,"key":null,"secret":[]}`,
		`{"password":"a\"b\\"} {"key":"b"}`:                                                               `{"password":"[redacted]"} {"key":"[redacted]"}`,
		`{"torn":"password=EXAMPLE`:                                                                       `{"torn":"password=[redacted]`,
		"\x00\x00{\"secret\":\"x\"}\x00":                                                                  "\x00\x00{\"secret\":\"[redacted]\"}\x00",
		`{"content":"aB3xK9pQ7zR2mW5tY8uL4nV6cD1eF0gHjSkT"}`:                                              `{"content":"[redacted:a-high-entropy-value]"}`,
		`{"request_id":"aB3xK9pQ7zR2mW5tY8uL4nV6cD1eF0gHjSkT"}`:                                           `{"request_id":"aB3xK9pQ7zR2mW5tY8uL4nV6cD1eF0gHjSkT"}`,
	} {
		if got := string(on.Record([]byte(in))); got != want {
			t.Errorf("%s\n gave %s\n want %s", in, got, want)
		}
	}
}

// Text that a terminal sets aside, a title or the target of a link, is read as
// well, and parts nothing.
func TestOperatingSystemCommandsAreReadAside(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b]0;password=EXAMPLE1\x07 x":                        "\x1b]0;password=[redacted]\x07 x",
		"\x1b]8;;https://me:EXAMPLE@h/\x1b\\link\x1b]8;;\x1b\\": "\x1b]8;;https://[redacted:connection-url-userinfo]@h/\x1b\\link\x1b]8;;\x1b\\",
		"pass\x1b]0;title\x07word=EXAMPLE":                      "pass\x1b]0;title\x07word=[redacted]",
		`printf "\x1b[1mpassword=\033[0mEXAMPLE"`:               `printf "\x1b[1mpassword=\033[0m[redacted]"`,
	} {
		if got := on.Text(in); got != want {
			t.Errorf("%q\n gave %q\n want %q", in, got, want)
		}
	}
}

// What never settles is withheld: filtering twice is filtering once, always.
func TestATextThatDoesNotSettleIsWithheld(t *testing.T) {
	grow := func(src []byte) *view {
		v := textView(src)
		v.fixed = []edit{{0, 0, "x", ruleProse}}
		return v
	}
	if got := string(filter([]byte("a"), grow)); got != withheld {
		t.Errorf("got %q", got)
	}
	if got := on.Text(withheld); got != withheld {
		t.Errorf("got %q", got)
	}
}
