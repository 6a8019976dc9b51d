package document

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestForeignJSONComesBackAsItIsSpelledWithItsKeysInOrder(t *testing.T) {
	for text, want := range map[string]string{
		`{"b": 1.50, "a": [1e3, -0, 12345678901234567890], "c": {"z": null, "y": true}}`: `{"a":[1e3,-0,12345678901234567890],"b":1.50,"c":{"y":true,"z":null}}`,
		`"text"`:           `"text"`,
		` 7 `:              `7`,
		`null`:             `null`,
		`{"a":1,"a":2}`:    `{"a":2}`,
		`{"<&>":"\u2028"}`: "{\"<&>\":\"\u2028\"}",
	} {
		v, ok := Parse(text)
		if !ok {
			t.Errorf("%s is not read", text)
			continue
		}
		if got, err := Encode(v); err != nil || string(got) != want {
			t.Errorf("%s comes back as %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "{", `{"a":1,`, "{} {}", "nul", "{'a':1}", `"` + "\x00" + `"`} {
		if v, ok := Parse(text); ok {
			t.Errorf("%q is taken for %v", text, v)
		}
	}
}

func TestEachTextChangesStringsAtEveryDepthAndNoKeys(t *testing.T) {
	v, _ := Parse(`{"a":"a","b":["b",{"c":"c","n":1}],"d":null}`)
	got, err := Encode(EachText(v, strings.ToUpper))
	if want := `{"a":"A","b":["B",{"c":"C","n":1}],"d":null}`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

// What is parsed is written as JSON that says the same, and is not changed by another round.
func FuzzParse(f *testing.F) {
	f.Add(`{"a":[1.0,"\ud800",{}],"":null}`)
	f.Add(`[1,2`)
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := Parse(text)
		if ok != json.Valid([]byte(text)) {
			t.Fatalf("read: %v, valid: %v", ok, !ok)
		}
		if !ok {
			return
		}
		once, err := Encode(v)
		if err != nil || !json.Valid(once) {
			t.Fatalf("%s: %v", once, err)
		}
		again, _ := Parse(string(once))
		if twice, err := Encode(again); err != nil || string(twice) != string(once) {
			t.Fatalf("%s becomes %s, %v", once, twice, err)
		}
	})
}
