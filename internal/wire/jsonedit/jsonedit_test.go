package jsonedit

import (
	"strings"
	"testing"
)

func parse(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return d
}

func TestAMemberIsSetInTheStyleOfItsPlace(t *testing.T) {
	nested := Members{{"x", Elements{"y", 1}}}
	for name, tt := range map[string]struct {
		text string
		path Path
		v    Value
		want string
	}{
		"nothing":            {"", Path{"b"}, 1, "{\n  \"b\": 1\n}\n"},
		"white space":        {" \n\n", Path{"b"}, 1, "{\n  \"b\": 1\n}\n"},
		"only a mark":        {bom, Path{"b"}, 1, bom + "{\n  \"b\": 1\n}\n"},
		"only a comment":     {"// c\r\n", Path{"b"}, 1, "// c\r\n{\r\n  \"b\": 1\r\n}\r\n"},
		"empty":              {"{}", Path{"b"}, nested, "{\n  \"b\": {\n    \"x\": [\n      \"y\",\n      1\n    ]\n  }\n}"},
		"empty on two lines": {"{\n}\n", Path{"b"}, 1, "{\n  \"b\": 1\n}\n"},
		"two spaces":         {"{\n  \"a\": 0\n}\n", Path{"b"}, nested, "{\n  \"a\": 0,\n  \"b\": {\n    \"x\": [\n      \"y\",\n      1\n    ]\n  }\n}\n"},
		"four spaces":        {"{\n    \"a\": 0\n}", Path{"b"}, Members{{"x", 1}}, "{\n    \"a\": 0,\n    \"b\": {\n        \"x\": 1\n    }\n}"},
		"tabs":               {"{\n\t\"a\": {}\n}", Path{"a", "b"}, 1, "{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}"},
		"carriage returns":   {"{\r\n  \"a\": 0\r\n}\r\n", Path{"b"}, 1, "{\r\n  \"a\": 0,\r\n  \"b\": 1\r\n}\r\n"},
		"minified":           {`{"a":0}`, Path{"b"}, nested, `{"a":0,"b":{"x":["y",1]}}`},
		"minified, empty":    {`{"a":{}}`, Path{"a", "b"}, 1, `{"a":{"b":1}}`},
		"one line":           {`{"a": 0, "c": 2}`, Path{"b"}, nested, `{"a": 0, "c": 2, "b": {"x": ["y", 1]}}`},
		"no indentation":     {"{\n\"a\": 0\n}", Path{"b"}, Members{{"x", 1}}, "{\n\"a\": 0,\n\"b\": {\n\"x\": 1\n}\n}"},
		"a trailing comma":   {"{\n  \"a\": 0,\n}", Path{"b"}, 1, "{\n  \"a\": 0,\n  \"b\": 1,\n}"},
		"a remark behind":    {"{\n  \"a\": 0 // c\n}", Path{"b"}, 1, "{\n  \"a\": 0, // c\n  \"b\": 1\n}"},
		"a remark, one line": {"{\"a\": 0 // c\n}", Path{"b"}, 1, "{\"a\": 0, // c\n\"b\": 1\n}"},
		"a remark inside":    {"{\n  // \"a\": 0  \n}", Path{"b"}, 1, "{\n  // \"a\": 0  \n  \"b\": 1\n}"},
		"a block remark":     {"{\"a\": 0 /* c */}", Path{"b"}, 1, "{\"a\": 0, /* c */ \"b\": 1}"},
		"in place":           {`{"a" : 1.0 , "c":2}`, Path{"a"}, "é\"\\\n\x01<&>", `{"a" : "é\"\\\n\u0001<&>" , "c":2}`},
		"the same":           {`{"a" : "\u00e9"}`, Path{"a"}, "é", `{"a" : "\u00e9"}`},
		"an escaped key":     {`{"\u0061": 1}`, Path{"a"}, 2, `{"\u0061": 2}`},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := parse(t, tt.text).Set(tt.path, tt.v)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(d.Text()); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestAnElementIsAppended(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":[]}`:                            `{"a":["x"]}`,
		`{"a": [1]}`:                          `{"a": [1, "x"]}`,
		"{\n  \"a\": []\n}":                   "{\n  \"a\": [\n    \"x\"\n  ]\n}",
		"{\n  \"a\": [1,2]\n}":                "{\n  \"a\": [1,2,\"x\"]\n}",
		"{\n  \"a\": [ 1, ]\n}":               "{\n  \"a\": [ 1, \"x\", ]\n}",
		"{\n  \"a\": [\n   1 /* c */\n  ]\n}": "{\n  \"a\": [\n   1, /* c */\n   \"x\"\n  ]\n}",
	} {
		d, err := parse(t, text).Append(Path{"a"}, "x")
		if err != nil || string(d.Text()) != want {
			t.Errorf("%s: got %v, %v\nwant %s", text, d, err, want)
		}
	}
}

func TestARemovedOneLeavesNoTrace(t *testing.T) {
	for _, tt := range []struct {
		text string
		path Path
		want string
	}{
		{`{"a":1,"b":2,"c":3}`, Path{"a"}, `{"b":2,"c":3}`},
		{`{"a":1,"b":2,"c":3}`, Path{"b"}, `{"a":1,"c":3}`},
		{`{"a":1,"b":2,"c":3}`, Path{"c"}, `{"a":1,"b":2}`},
		{"{\n  \"a\": 1,\n  \"b\": 2\n}", Path{"a"}, "{\n  \"b\": 2\n}"},
		{"{\n  \"a\": 1,\n  \"b\": 2\n}", Path{"b"}, "{\n  \"a\": 1\n}"},
		{"{\n  \"a\": 1\n}\n", Path{"a"}, "{}\n"},
		{"{\n  \"a\": 1,\n}\n", Path{"a"}, "{}\n"},
		{"[1, // one\n 2 // two\n]", Path{0}, "[// one\n 2 // two\n]"},
		{"[1, // one\n 2 // two\n]", Path{1}, "[1 // one\n // two\n]"},
		{"[1, // one\n 2]", Path{1}, "[1 // one\n]"},
		{"[1, // one\r\n 2]", Path{1}, "[1 // one\r\n]"},
		{"[ // none\n 2]", Path{0}, "[ // none\n]"},
		{"[ /* none */ 2 ]", Path{0}, "[ /* none */ ]"},
	} {
		d, err := parse(t, tt.text).Remove(tt.path)
		if err != nil || string(d.Text()) != tt.want {
			t.Errorf("%s without %s: %v\ngot  %q\nwant %q", tt.text, tt.path, err, d.Text(), tt.want)
		}
	}
	if _, err := parse(t, `{"a":1}`).Remove(Path{"b"}); err == nil || err.Error() != ".b is not there" {
		t.Errorf("removing nothing: %v", err)
	}
}

// What cannot be read for certain is refused, with the place.
func TestWhatIsNotJSONIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\": \xff}":                        "not UTF-8 text",
		"\xff\xfe{\x00}\x00":                   "not UTF-8 text",
		`{"a":`:                                "line 1, column 6, in .a: the end of the text where a value has to be",
		`{"a":1`:                               `line 1, column 7, in .: the text ends before '}'`,
		"{\n \"a\": [1 2]}":                    "line 2, column 10, in .a: '2' where a comma or ']' has to be",
		`{"a":1}}`:                             "line 1, column 8, in .: nothing may follow the value",
		`{,}`:                                  "line 1, column 2, in .: ',' where a key in double quotes has to be",
		`{a:1}`:                                "line 1, column 2, in .: 'a' where a key in double quotes has to be",
		`{"a" 1}`:                              "line 1, column 6, in .a: '1' where a colon has to be",
		`{"a":01}`:                             "line 1, column 6, in .a: a number is not spelled as JSON spells one",
		`{"a":+1}`:                             "line 1, column 6, in .a: '+' where a value has to be",
		`{"a":1.}`:                             "line 1, column 6, in .a: a number is not spelled as JSON spells one",
		`{"a":NaN}`:                            "line 1, column 6, in .a: 'N' where a value has to be",
		"{\"a\":\"\t\"}":                       "line 1, column 7, in .a: a control character in a string",
		`{"a":"\x"}`:                           "line 1, column 7, in .a: an escape that JSON does not have",
		`{"a":"`:                               "line 1, column 6, in .a: a string does not end on its line",
		`{} /* `:                               "line 1, column 4, in .: a comment does not end",
		`{"hooks":{"S":[{"m":1,"\u006d":2}]}}`: `line 1, column 23, in .hooks.S[0]: .hooks.S[0].m is there twice`,
		`{"a b":1,"c":{"a b":1,"a b":2}}`:      `line 1, column 23, in .c: .c["a b"] is there twice`,
		strings.Repeat("[", 600):               "line 1, column 514, in .: nested more than 512 deep",
		`{"a":"\ud83d"}` + "\n" + `{"b": "\udc4d"`: "line 2, column 1, in .: nothing may follow the value",
	} {
		if _, err := Parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.60q: %v\nwant %s", text, err, want)
		}
	}
}

func TestWhatLeadsToAnEditMustBeOfItsKind(t *testing.T) {
	d := parse(t, `{"hooks": null, "list": {}, "deep": {"er": []}}`)
	for _, tt := range []struct {
		edit func() (*Document, error)
		want string
	}{
		{func() (*Document, error) { return d.Set(Path{"hooks", "a"}, 1) }, ".hooks is null, not an object"},
		{func() (*Document, error) { return d.Set(Path{"deep", "er", "a"}, 1) }, ".deep.er is an array, not an object"},
		{func() (*Document, error) { return d.Set(Path{"no", "a"}, 1) }, ".no is not there"},
		{func() (*Document, error) { return d.Append(Path{"list"}, 1) }, ".list is an object, not an array"},
		{func() (*Document, error) { return d.Append(Path{"deep", "no"}, 1) }, ".deep.no is not there"},
		{func() (*Document, error) { return parse(t, "[]").Set(Path{"a"}, 1) }, ". is an array, not an object"},
		{func() (*Document, error) { return parse(t, "null").Set(Path{"a"}, 1) }, ". is null, not an object"},
	} {
		if _, err := tt.edit(); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

func TestSameIsAboutValues(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"", "{ }", true},
		{"// c\n", "{}", true},
		{"", "[]", false},
		{`{"a":1,"b":[true,null]}`, "{\n \"a\": 1.0, // c\n \"b\": [true, null,],\n}", true},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, false},
		{`{"a":"\u00e9\/"}`, `{"\u0061":"é/"}`, true},
		{`["\ud83d"]`, `["\ud83c"]`, false},
		{`["\ud83d\udc4d"]`, `["👍"]`, true},
		{`[12345678901234567890]`, `[12345678901234567000]`, true},
		{`[1]`, `[2]`, false},
		{`[1]`, `[1,2]`, false},
	} {
		if got := parse(t, tt.a).Root().Same(parse(t, tt.b).Root()); got != tt.want {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
}
