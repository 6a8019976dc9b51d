package document

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEncodeWritesTheContractsForm(t *testing.T) {
	type inner struct {
		B int     `json:"b"`
		A float64 `json:"a"`
	}
	type base struct {
		Zed bool `json:"zed"`
	}
	type outer struct {
		base
		List  []inner        `json:"list"`
		None  []string       `json:"none"`
		Ptr   *string        `json:"ptr"`
		Any   any            `json:"any"`
		Map   map[string]int `json:"map"`
		Upper string         `json:"Upper"`
		Skip  string         `json:"-"`
	}
	for name, c := range map[string]struct {
		in   any
		want string
	}{
		"sorted at all depths": {outer{base: base{true}, List: []inner{{1, 2}}, Map: map[string]int{"b": 1, "a": 2}}, `{"Upper":"","any":null,"list":[{"a":2.0,"b":1}],"map":{"a":2,"b":1},"none":[],"ptr":null,"zed":true}`},
		"markup raw":           {"a <b> & c", `"a <b> & c"`},
		"raw":                  {[]any{Raw(`"\ud83d"`), Raw("1e2"), Raw("")}, `["\ud83d",1e2,null]`},
		"nil map":              {map[string]int(nil), `{}`},
		"nil":                  {nil, `null`},
		"whole float":          {0.0, `0.0`},
		"float":                {1.83, `1.83`},
		"negative":             {-1.5, `-1.5`},
		"negative zero":        {math.Copysign(0, -1), `-0.0`},
		"ten":                  {10.0, `10.0`},
		"small":                {0.0001, `0.0001`},
		"smaller":              {0.00001, `0.00001`},
		"smallest plain":       {0.000012, `0.000012`},
		"first exponent":       {0.000001, `1e-6`},
		"largest plain":        {1e15, `1000000000000000.0`},
		"large":                {1e16, `1e16`},
		"large with digits":    {1.25e300, `1.25e300`},
		"integer":              {int64(math.MinInt64), `-9223372036854775808`},
		"unsigned":             {uint64(math.MaxUint64), `18446744073709551615`},
		"quote and backslash":  {`a"b\c`, `"a\"b\\c"`},
		"controls":             {"\x00\b\f\n\r\t\x1b\x1f\x7f", `"\u0000\b\f\n\r\t\u001b\u001f` + "\x7f\""},
		"separators raw":       {"a\u2028b\u2029c", "\"a\u2028b\u2029c\""},
		"not UTF-8":            {"a\xffb\xed\xa0\xbd", "\"a\ufffdb\ufffd\ufffd\ufffd\""},
		"non-ASCII":            {"日本 é 🙂", `"日本 é 🙂"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Encode(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if !json.Valid(got) {
				t.Errorf("not JSON: %s", got)
			}
		})
	}
}

func TestEncodeRefusesWhatHasNoForm(t *testing.T) {
	for name, v := range map[string]any{
		"nan":          math.NaN(),
		"infinity":     []float64{math.Inf(-1)},
		"channel":      make(chan int),
		"function":     map[string]any{"f": func() {}},
		"integer keys": map[int]int{1: 1},
		"untagged":     struct{ A int }{},
		"option in tag": struct {
			A int `json:"a,omitempty"`
		}{},
		"one name twice": reflect.New(reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"a"`},
			{Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"a"`},
		})).Elem().Interface(),
	} {
		if got, err := Encode(v); err == nil {
			t.Errorf("%s: written as %s", name, got)
		}
	}
}

// FuzzEncode holds the encoder to: what is written is one line that decodes to
// the same value, with every object's keys in byte order.
func FuzzEncode(f *testing.F) {
	f.Add(`{"b":[1.5,null,true,{"z":"\u2028","a":"<&>"}],"a":1e300}`)
	f.Add(`["\u0000",{"":0.1,"\ud800":-0.0}]`)
	f.Fuzz(func(t *testing.T, src string) {
		var v any
		if json.Unmarshal([]byte(src), &v) != nil {
			v = src
		}
		got, err := Encode(v)
		if err != nil {
			t.Fatalf("encode %q: %v", src, err)
		}
		if bytes.ContainsAny(got, "\n\r") || !utf8.Valid(got) {
			t.Fatalf("not one line of UTF-8: %q", got)
		}
		var back any
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("decode %s: %v", got, err)
		}
		if s, ok := v.(string); ok {
			v = string([]rune(s))
		}
		if !reflect.DeepEqual(v, back) {
			t.Fatalf("wrote %#v as %s", v, got)
		}
		checkSorted(t, json.NewDecoder(bytes.NewReader(got)))
	})
}

func checkSorted(t *testing.T, d *json.Decoder) {
	t.Helper()
	type frame struct {
		object, value bool
		last          *string
	}
	var stack []frame
	for {
		tok, err := d.Token()
		if err != nil {
			return
		}
		top := len(stack) - 1
		if top >= 0 && stack[top].object && !stack[top].value {
			if name, ok := tok.(string); ok {
				if last := stack[top].last; last != nil && strings.Compare(*last, name) >= 0 {
					t.Fatalf("%q stands before %q", *last, name)
				}
				stack[top].last, stack[top].value = &name, true
				continue
			}
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			if top >= 0 {
				stack[top].value = false
			}
			stack = append(stack, frame{object: tok == json.Delim('{')})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
		default:
			if top >= 0 {
				stack[top].value = false
			}
		}
	}
}
