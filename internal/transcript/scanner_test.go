package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// whole reports whether data is one value to the scanner, by each of its two
// ways through a value.
func whole(t testing.TB, data []byte) bool {
	t.Helper()
	var s Scanner
	s.Reset(data)
	s.Skip()
	skipped := s.Done()
	s.Reset(data)
	visit(&s)
	if visited := s.Done(); visited != skipped {
		t.Fatalf("%q: skipped %v, visited %v", data, skipped, visited)
	}
	return skipped
}

// visit goes through a value member by member.
func visit(s *Scanner) {
	switch {
	case s.Kind() == '"':
		s.Text()
	case s.EnterObject():
		for {
			if _, ok := s.NextMember(); !ok {
				return
			}
			visit(s)
		}
	case s.EnterArray():
		for s.NextElement() {
			visit(s)
		}
	default:
		s.Skip()
	}
}

// tooDeep reports whether data opens more containers than the scanner allows,
// counted roughly: brackets in strings count as well.
func tooDeep(data []byte) bool {
	return bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > MaxDepth
}

var values = []string{
	`{}`, `[]`, `{"a":1}`, ` { "a" : [ 1 , -0.5e+10 , true , false , null , "x" ] } `, `"x"`, `0`, `-0`, `1E9`,
	`[[],{}]`, `{"a":{"b":[{"c":[]}]}}`, `{"":""}`, `"\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\"`, "\"\xff\xed\xa0\xbd\"", `"\ud83d"`, `"\udc00\ud83d"`,
	`{"k":"a long text without any escape, longer than a word of eight bytes"}`, `1e999999`, `123456789012345678901234567890`,
	"[1,\n2,\t3,\r4]",
	``, ` `, `{`, `}`, `[`, `]`, `{]`, `[}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[,1]`, `{,}`, `{1:2}`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`,
	`tru`, `truex`, `nul`, `True`, `"`, `"\`, `"\x"`, `"\u12"`, `"\u12G4"`, "\"\n\"", "\"\x00\"", "\"abcdefgh\x1f\"", `'a'`, `{}{}`, `1 2`, `{"a":1 "b":2}`, `{"a" 1}`,
	"[1,\v2]", "\ufeff{}", "{\"a\":\x00}", `{"a":"\ud83d\u00"}`, `[1}`, `{"a":[}`,
}

func TestValidityIsThatOfEncodingJSON(t *testing.T) {
	for _, v := range values {
		for _, pad := range []string{"", strings.Repeat(" ", 7)} {
			data := []byte(v + pad)
			if got, want := whole(t, data), json.Valid(data); got != want {
				t.Errorf("%q: valid %v, want %v", data, got, want)
			}
		}
	}
}

func TestTextIsThatOfEncodingJSON(t *testing.T) {
	long := strings.Repeat("plain ", 30)
	tests := []string{
		"", "x", long, long + `\n` + long, `\n\n\n`, "\\\"", `\u0041\u00e9\u20ac\ud83d\ude00`, `\ud83d`, `\ud83d\n`, `\ud83d\u0041`, `\ud83d\ud83d\ude00`, `\udead`,
		"\xff", "a\xc3", "\xc3\\u00a9", "\xed\xa0\xbd", long + "\xff" + long, long + `\t` + "\xf0\x9f" + long, "é€😀", long + "é" + `\\` + "é", strings.Repeat(`\"`, 999),
		strings.Repeat("\xff", 300), strings.Repeat(`\u00e9`, 30000),
	}
	var s Scanner
	for _, inner := range tests {
		data := []byte(`"` + inner + `"`)
		var want string
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%q: %v", inner, err)
		}
		s.Reset(data)
		if got := s.Text(); string(got) != want || !s.Done() {
			t.Errorf("%.40q: %.60q, want %.60q", inner, got, want)
		}
	}
}

func TestTextAliasesWhatNeedsNoDecoding(t *testing.T) {
	data := []byte(`"plain"`)
	var s Scanner
	s.Reset(data)
	text := s.Text()
	data[1] = 'P'
	if string(text) != "Plain" {
		t.Errorf("text %q is a copy", text)
	}
	if cap(text) != len(text) {
		t.Error("appending to a text would write into the record")
	}
}

func TestDecodedTextsStayWhenTheScannerGoesOn(t *testing.T) {
	var s Scanner
	var texts [][]byte
	var want []string
	for i := range 5000 {
		s.Reset(fmt.Appendf(nil, `"%d\n%s"`, i, strings.Repeat("x", i%97)))
		texts = append(texts, s.Text())
		want = append(want, fmt.Sprintf("%d\n%s", i, strings.Repeat("x", i%97)))
	}
	for i := range texts {
		if string(texts[i]) != want[i] {
			t.Fatalf("text %d is %q", i, texts[i])
		}
	}
}

func TestTextIsBounded(t *testing.T) {
	for _, inner := range []string{strings.Repeat("é", MaxText), `\n` + strings.Repeat("é", MaxText), strings.Repeat(`\u00e9`, MaxText), strings.Repeat("é", MaxText) + `\n`, strings.Repeat(`\"`, MaxText) + strings.Repeat("é", MaxText)} {
		var s Scanner
		s.Reset([]byte(`["` + inner + `","next"]`))
		s.EnterArray()
		s.NextElement()
		if n := len(s.Text()); n > MaxText || n < MaxText-utf8.UTFMax {
			t.Errorf("%.10q: %d bytes", inner, n)
		}
		if s.NextElement(); string(s.Text()) != "next" {
			t.Errorf("%.10q: what follows is lost", inner)
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(strings.Repeat(`[{"a":`, n/2) + "1" + strings.Repeat("}]", n/2))
	}
	if !whole(t, nested(MaxDepth)) {
		t.Errorf("%d levels are refused", MaxDepth)
	}
	if whole(t, nested(MaxDepth+2)) {
		t.Errorf("%d levels are read", MaxDepth+2)
	}
	whole(t, bytes.Repeat([]byte("["), 100_000))
}

func TestKeysAreComparedUnescaped(t *testing.T) {
	var s Scanner
	s.Reset([]byte(`{"\u0074ype":"user","Type":1}`))
	s.EnterObject()
	if key, ok := s.NextMember(); !ok || string(key) != "type" {
		t.Errorf("key %q", key)
	}
	s.Skip()
	if key, ok := s.NextMember(); !ok || string(key) != "Type" {
		t.Errorf("key %q", key)
	}
}

// A text that is clipped before it is repaired reads as if it were not.
func TestTextOfALongDamagedStringIsThatOfItsRepair(t *testing.T) {
	units := []string{"x", "\xff", "é", "€", "😀", "\xf0\x9f\x98", "\x80", "\xc3"}
	for _, unit := range units {
		for _, tail := range []string{"x", "é", "\x80"} {
			for pad := range 2 {
				head := strings.Repeat("x", MaxText-12+pad)
				text := head + strings.Repeat(unit, 12) + strings.Repeat(tail, 12)
				want := string(CutBytes([]byte(string([]rune(text))), MaxText))
				var s Scanner
				s.Reset([]byte(`"` + text + `"`))
				if got := s.Text(); string(got) != want || len(got) != cap(got) {
					t.Fatalf("%q and %q behind %d bytes: ends in %q, want %q", unit, tail, len(head), got[len(got)-16:], want[len(want)-16:])
				}
			}
		}
	}
}

// C27: a string of any size is copied once at most, and no further than it is kept.
func TestALongStringIsCopiedNoFurtherThanItIsKept(t *testing.T) {
	const size = 16 << 20
	for _, unit := range []string{"plain text ", `text\n`, `\u00e9`, "\xff", "é", "text\xff"} {
		data := []byte(`"` + strings.Repeat(unit, size/len(unit)) + `"`)
		var s Scanner
		s.Reset(data)
		if used := allocated(func() { s.Text() }); used > 6*MaxText || !s.Done() {
			t.Errorf("%q: %d bytes allocated", unit, used)
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, v := range values {
		f.Add([]byte(v))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, want := whole(t, data), json.Valid(data)
		if got != want && !(want && tooDeep(data)) {
			t.Fatalf("valid %v, want %v", got, want)
		}
		var s Scanner
		s.Reset(data)
		s.Leaves(nil, false)
		if s.Done() != got {
			t.Fatalf("leaves read %v, want %v", s.Done(), got)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, v := range values {
		f.Add([]byte(v))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		quoted := append(append([]byte{'"'}, data...), '"')
		var want string
		err := json.Unmarshal(quoted, &want)
		var s Scanner
		s.Reset(quoted)
		got := s.Text()
		if done := s.Done(); done != (err == nil) {
			t.Fatalf("done %v, want %v", done, err)
		} else if done && string(got) != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}
