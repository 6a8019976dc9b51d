package redact

import (
	"bytes"
	"encoding/json"
	"testing"
)

func seed(f *testing.F) {
	for _, e := range positives {
		f.Add([]byte(e.in()))
	}
	for _, in := range negatives {
		f.Add([]byte(in))
	}
	for _, unit := range unkind {
		f.Add([]byte(unit + unit + unit))
	}
}

// A text that was filtered is not changed by filtering it again.
func FuzzText(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		once := on.Text(string(in))
		if twice := on.Text(once); twice != once {
			t.Errorf("%q\n gave %q\n and then %q", in, once, twice)
		}
	})
}

// A record stays one: JSON stays JSON, with the same names and the same shape,
// and nothing but strings changes.
func FuzzRecord(f *testing.F) {
	seed(f)
	for _, e := range positives {
		line, err := json.Marshal(map[string]any{"a": e.in(), "list": []any{e.in(), 1, map[string]any{"password": e.in()}}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		kept := bytes.Clone(in)
		once := on.Record(in)
		if !bytes.Equal(in, kept) {
			t.Fatal("the record was changed in place")
		}
		if twice := on.Record(once); !bytes.Equal(twice, once) {
			t.Errorf("%q\n gave %q\n and then %q", in, once, twice)
		}
		var before, after any
		if in = bytes.TrimSpace(in); len(in) == 0 || in[0] != '{' || json.Unmarshal(in, &before) != nil {
			return
		}
		if err := json.Unmarshal(once, &after); err != nil {
			t.Fatalf("%q\n gave %q: %v", in, once, err)
		}
		alike(t, before, after)
	})
}

// alike compares all but what strings say.
func alike(t *testing.T, a, b any) {
	t.Helper()
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			t.Fatalf("%v became %v", a, b)
		}
		for k := range a {
			if _, ok := b[k]; !ok {
				t.Fatalf("%q is gone", k)
			}
			alike(t, a[k], b[k])
		}
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			t.Fatalf("%v became %v", a, b)
		}
		for i := range a {
			alike(t, a[i], b[i])
		}
	case string:
		if _, ok := b.(string); !ok {
			t.Fatalf("%v became %v", a, b)
		}
	default:
		if a != b {
			t.Fatalf("%v became %v", a, b)
		}
	}
}
