package document

import (
	"encoding/json"
	"io"
	"strings"
)

// Parse reads JSON that somebody else wrote into a value that Encode takes, with
// numbers as they are spelled; of equal keys the last counts. ok is false for a text
// that is not one JSON value.
func Parse(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, false
	}
	return raw(v), true
}

// raw replaces the numbers in v.
func raw(v any) any {
	switch x := v.(type) {
	case json.Number:
		return Raw(x)
	case []any:
		for i := range x {
			x[i] = raw(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = raw(x[k])
		}
	}
	return v
}

// EachText replaces every string in a value of Parse by what change makes of it.
// Keys stay.
func EachText(v any, change func(string) string) any {
	switch x := v.(type) {
	case string:
		return change(x)
	case []any:
		for i := range x {
			x[i] = EachText(x[i], change)
		}
	case map[string]any:
		for k := range x {
			x[k] = EachText(x[k], change)
		}
	}
	return v
}
