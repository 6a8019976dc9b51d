package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// named accepts objects that say so.
func named(object []byte) bool { return bytes.Contains(object, []byte(`"type":"user"`)) }

func texts(line string, spans []Span) string {
	var out []string
	for _, s := range spans {
		out = append(out, line[s.Off:s.Off+s.Len])
	}
	return strings.Join(out, " ; ")
}

func TestRecordsOfALine(t *testing.T) {
	const (
		a = `{"type":"user","t":"a"}`
		b = `{"type":"user","t":"b"}`
		m = `{"type":"mode"}`
	)
	nul := strings.Repeat("\x00", 400)
	torn := `{"type":"user","message":{"content":[{"type":"text","text":"never fin`
	tests := []struct{ name, line, want string }{
		{"one", a + "\n", a},
		{"one, with white space around", " \t" + a + " \r\n", a},
		{"none", "\n", ""},
		{"empty", "", ""},
		{"NULs alone", nul + "\n", ""},
		{"NULs around", nul + a + nul + "\n", a},
		{"two", a + b + "\n", a + " ; " + b},
		{"two with NULs between", a + nul + b, a + " ; " + b},
		{"records that are no turns, in good order", m + m + a, m + " ; " + m + " ; " + a},
		{"torn", torn + "\n", ""},
		{"no JSON", "hello world\n", ""},
		{"an array", "[" + a + "," + b + "]", ""},
		{"one before a torn one", a + torn, a},
		{"one before rubbish", a + "xyz", a},
		{"one behind a torn one", torn + a, a},
		{"one behind NULs behind a torn one", torn + nul + a, a},
		{"one behind one torn between members", `{"type":"user","uuid":` + a, a},
		{"one behind one torn in an escape", `{"type":"user","text":"x\` + a, a},
		{"one between two torn ones", torn + a + torn, a},
		{"both of two torn apart", torn + a + torn + b, a + " ; " + b},
		{"two behind a torn one", torn + a + m + b, a + " ; " + m + " ; " + b},
		{"what is no record behind a torn one", torn + m, ""},
		{"a record inside a torn one", `{"type":"progress","data":{"inner":` + a + `,"x":"torn`, ""},
		{"a record inside a list in a torn one", `{"list":[` + a + `,` + b + `],"x":"torn`, ""},
		{"a record quoted in a torn one", `{"text":"` + strings.ReplaceAll(a, `"`, `\"`) + `","x":"torn`, ""},
		{"a record behind one torn inside another", `{"x":{"inner":` + a + `,"y":` + b, b},
		{"a byte order mark", "\ufeff" + a, a},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := texts(tt.line, Records([]byte(tt.line), named)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestSearchForRecordsIsLinear(t *testing.T) {
	const size = 1 << 20
	for _, unit := range []string{`{"a":`, `{`, `{"`, `{}x`, `[{`, `{"a":1`, `{"a":{},`} {
		line := []byte(strings.Repeat(unit, size/len(unit)))
		calls := 0
		Records(line, func(o []byte) bool { calls += len(o); return false })
		if calls > 2*size {
			t.Errorf("%q: accept saw %d bytes", unit, calls)
		}
	}
}

// everyRecord is Records without bounds: it tries each brace by itself.
func everyRecord(line []byte) (spans []Span) {
	torn := false
	for i := skipPadding(line, 0); i < len(line); {
		end, ok := skipValue(line, i, 0)
		if line[i] != '{' || !ok {
			torn = true
			i++
			continue
		}
		next := skipPadding(line, end)
		if !torn || (next == len(line) || line[next] == '{') && named(line[i:end]) {
			torn = false
			spans = append(spans, Span{i, end - i})
		}
		i = next
	}
	return spans
}

func TestRecordsBehindDeepDamageAreFound(t *testing.T) {
	record := `{"type":"user","t":1}`
	for _, line := range []string{
		strings.Repeat(`{"a":[`, 200) + `"text ` + record,
		strings.Repeat(`{"a":{},"b":`, 200) + record + "," + record + `{"x` + record,
	} {
		line := []byte(line)
		if got, want := Records(line, named), everyRecord(line); !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%.40q: %v, want %v", line, got, want)
		}
	}
}

func TestRecordsOfALineAreBounded(t *testing.T) {
	line := []byte(strings.Repeat("{}", 4*maxRecords))
	if n := len(Records(line, named)); n != maxRecords {
		t.Errorf("%d records", n)
	}
}

func TestTrim(t *testing.T) {
	for _, line := range []string{"", "\n", "x", "\x00 x y\x00\r\n", "\x00\x00"} {
		got, off := Trim([]byte(line))
		if want := strings.Trim(line, "\x00 \t\r\n"); string(got) != want || line[off:off+len(got)] != want {
			t.Errorf("%q: %q at %d", line, got, off)
		}
	}
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"type":"user"}{"type":"user"}`), 3)
	f.Add([]byte(`{"type":"user","a":"x{"type":"user"}`), 20)
	f.Add([]byte("\x00\x00{}\x00{\"a\":"), 5)
	f.Fuzz(func(t *testing.T, line []byte, cut int) {
		check := func(line []byte) {
			end := 0
			for _, s := range Records(line, named) {
				if s.Off < end || s.Len < 2 || s.Off+s.Len > len(line) {
					t.Fatalf("span %v after %d in %d bytes", s, end, len(line))
				}
				end = s.Off + s.Len
				if object := line[s.Off:end]; object[0] != '{' || !json.Valid(object) {
					t.Fatalf("no object: %q", object)
				}
			}
		}
		if want := everyRecord(line); len(line) < searchFloor/8 && !slices.Equal(Records(line, named), want) {
			t.Fatalf("%v, want %v", Records(line, named), want)
		}
		check(line)
		cut = max(cut, 0) % (len(line) + 1)
		check(line[cut:])
		check(line[:cut])
		// A whole record between any two texts is found if the first is one as well.
		record := []byte(`{"type":"user","t":1}`)
		if json.Valid(line) && len(line) > 0 && bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) && !tooDeep(line) {
			if n := len(Records(append(bytes.Clone(line), record...), named)); n != 2 {
				t.Fatalf("%d records in two", n)
			}
		}
	})
}
