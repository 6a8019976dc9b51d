package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestAValueIsReadByItsKeys(t *testing.T) {
	v, ok := ParseValue([]byte(` {"a":{"b":[1,"two",{"c":null}],"b2":true},"t":"x\ny","a2":"7","n":-1.5e3,"args":"{\"cmd\":\"ls\"}"} `))
	if !ok {
		t.Fatal("not taken")
	}
	tests := []struct {
		name string
		got  any
		want any
	}{
		{"a text", v.Get("t").String(), "x\ny"},
		{"a text that is none", v.Get("a").String(), ""},
		{"a member of a member", v.Get("a", "b2").Bool(), true},
		{"a member that is not there", v.Get("a", "none", "deeper").Kind(), byte(0)},
		{"a member of a text", v.Get("t", "x").Kind(), byte(0)},
		{"a value nested as text", v.Get("args").Nested().Get("cmd").String(), "ls"},
		{"what is nested already", string(v.Get("a", "b2").Nested()), "true"},
		{"a text that nests nothing", v.Get("t").Nested().Kind(), byte(0)},
		{"the kind of a number", v.Get("n").Kind(), byte('0')},
		{"as it stands", string(v.Get("n")), "-1.5e3"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	if n, ok := v.Get("n").Number(); !ok || n != -1500 {
		t.Errorf("number %v %t", n, ok)
	}
	if n, ok := v.Get("a2").Number(); !ok || n != 7 {
		t.Errorf("number as text %v %t", n, ok)
	}
	for _, key := range []string{"t", "a", "none"} {
		if n, ok := v.Get(key).Number(); ok {
			t.Errorf("%s is the number %v", key, n)
		}
	}
	var kinds []byte
	for e := range v.Get("a", "b").Elements() {
		kinds = append(kinds, e.Kind())
	}
	if string(kinds) != `0"{` {
		t.Errorf("elements %q", kinds)
	}
	for range v.Get("t").Elements() {
		t.Error("a text has elements")
	}
}

func TestTheLastOfEqualKeysCounts(t *testing.T) {
	v, _ := ParseValue([]byte(`{"a":1,"b":2,"\u0061":3}`))
	if got := string(v.Get("a")); got != "3" {
		t.Errorf("%s", got)
	}
}

func TestOnlyOneWholeValueIsTaken(t *testing.T) {
	for _, in := range []string{"", " ", "{", `{"a":}`, "1 2", `"a`, "nul", strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), "\x00{}"} {
		if v, ok := ParseValue([]byte(in)); ok || v != nil {
			t.Errorf("%.20q is taken as %.20q", in, v)
		}
	}
}

func TestTimesOfEveryForm(t *testing.T) {
	tests := []struct{ in, want string }{
		{`"2026-03-01T10:00:00Z"`, "2026-03-01T10:00:00Z"},
		{`"2026-03-01T10:00:00.123456Z"`, "2026-03-01T10:00:00.123456Z"},
		{`"2026-03-01T10:00:00+00:00"`, "2026-03-01T10:00:00.000Z"},
		{`"2026-03-01T12:00:00.5+02:00"`, "2026-03-01T10:00:00.500Z"},
		{`"2026-03-01 10:00:00"`, "2026-03-01T10:00:00.000Z"},
		{`"2026-03-01T10:00:00"`, "2026-03-01T10:00:00.000Z"},
		{`"2026-03-01 12:00:00 +0200"`, "2026-03-01T10:00:00.000Z"},
		{`"2026-03-01"`, "2026-03-01T00:00:00.000Z"},
		{`1772359200`, "2026-03-01T10:00:00.000Z"},
		{`1772359200.25`, "2026-03-01T10:00:00.250Z"},
		{`1772359200123`, "2026-03-01T10:00:00.123Z"},
		{`1772359200123456`, "2026-03-01T10:00:00.123Z"},
		{`1772359200123456789`, "2026-03-01T10:00:00.123Z"},
		{`"1772359200123"`, "2026-03-01T10:00:00.123Z"},
		{`0`, ""},
		{`1e300`, ""},
		{`"soon"`, ""},
		{`{}`, ""},
		{`null`, ""},
		{`"` + strings.Repeat("2", 500) + `"`, ""},
	}
	for _, tt := range tests {
		v, ok := ParseValue([]byte(tt.in))
		if !ok {
			t.Fatal(tt.in)
		}
		if got := Time(v); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// FuzzValue compares with the standard library what it reads of any bytes.
func FuzzValue(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\u00e9\n"}],"c":null}`))
	f.Add([]byte(`["x",-0.5e-3,true]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, ok := ParseValue(data)
		if !ok {
			return
		}
		var want any
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber() // one that no float64 holds is JSON, too
		if err := d.Decode(&want); err != nil {
			t.Fatalf("%q is no JSON: %v", data, err)
		}
		compareValue(t, v, want)
		_ = Time(v)
	})
}

func compareValue(t *testing.T, v Value, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		seen := map[string]bool{}
		for k := range v.Members() {
			seen[string(k)] = true
		}
		for k, w := range want {
			if !seen[k] {
				t.Fatalf("member %q is not shown", k)
			}
			compareValue(t, v.Get(k), w)
		}
	case []any:
		i := 0
		for e := range v.Elements() {
			compareValue(t, e, want[i])
			i++
		}
		if i != len(want) {
			t.Fatalf("%d elements, want %d", i, len(want))
		}
	case string:
		if len(want) < MaxText && v.String() != want {
			t.Fatalf("text %q, want %q", v.String(), want)
		}
	case bool:
		if v.Bool() != want {
			t.Fatalf("%s", v.Get())
		}
	case json.Number:
		if string(v) != want.String() {
			t.Fatalf("number %s, want %s", v.Get(), want)
		}
	case nil:
		if v.Kind() != 'n' {
			t.Fatalf("null is %q", v.Kind())
		}
	}
}

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
