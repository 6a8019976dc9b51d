package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// maxFile bounds terminus.toml. It holds some thousands of exclusions; the
// parser's time grows with the square of the nesting, so it gets no more.
const maxFile = 256 << 10

// A document is terminus.toml while it is read. The first error is kept, and
// every reading after it yields defaults.
type document struct {
	file string
	md   toml.MetaData
	err  error
}

// A table is one table of the document. Keys are told apart by case, as TOML
// does and the decoder into structs does not.
type table struct {
	doc  *document
	path toml.Key // its own key in full, nil for the root
	name string   // the last part of path
	keys map[string]toml.Primitive
}

func parseDocument(file string, data []byte) (*document, table) {
	doc := &document{file: file}
	root := table{doc: doc, keys: map[string]toml.Primitive{}}
	md, err := toml.Decode(string(data), &root.keys)
	if err != nil {
		doc.fail(syntaxError(err, string(data)))
		root.keys = nil
	}
	doc.md = md
	return doc, root
}

// fail keeps the first error, with the file and, where the parser knows it,
// the line in front.
func (d *document) fail(err error) {
	if d.err != nil {
		return
	}
	var at toml.ParseError
	if errors.As(err, &at) {
		if at.Position.Line > 0 {
			d.err = fmt.Errorf("%s:%d: %s", d.file, at.Position.Line, at.Message)
			return
		}
		err = errors.New(at.Message)
	}
	d.err = fmt.Errorf("%s: %w", d.file, err)
}

// syntaxError withholds the parser's message, which may quote a value, where
// the value may be a key to something.
func syntaxError(err error, data string) error {
	const secret = "api_key"
	var at toml.ParseError
	if !errors.As(err, &at) {
		return err
	}
	line := ""
	if lines := strings.Split(data, "\n"); at.Position.Line > 0 && at.Position.Line <= len(lines) {
		line = lines[at.Position.Line-1]
	}
	for _, s := range []string{at.Message, at.LastKey, line} {
		if strings.Contains(strings.ToLower(s), secret) {
			at.Message = "not valid TOML"
			return at
		}
	}
	return err
}

// A leaf makes the parser report a refused value with its position.
type leaf func(value any) error

// UnmarshalTOML implements toml.Unmarshaler.
func (l leaf) UnmarshalTOML(value any) error { return l(value) }

// read hands the value of key to take, which refuses it by an error. It
// reports whether there is a value and it was taken.
func (t table) read(key string, take leaf) bool {
	p, ok := t.keys[key]
	if !ok || t.doc.err != nil {
		return false
	}
	if err := t.doc.md.PrimitiveDecode(p, &take); err != nil {
		t.doc.fail(err)
		return false
	}
	return true
}

// refuse is the error for a value of a type that key cannot have.
func (t table) refuse(key, want string, value any) error {
	return fmt.Errorf("%s: want %s, found %s", t.full(key), want, typeName(value))
}

func (t table) full(key string) string {
	return append(slices.Clone(t.path), key).String()
}

func (t table) has(key string) bool {
	_, ok := t.keys[key]
	return ok
}

// table returns the table at key, an empty one if there is none.
func (t table) table(key string) table {
	sub := table{doc: t.doc, path: append(slices.Clone(t.path), key), name: key}
	ok := t.read(key, func(value any) error {
		if _, ok := value.(map[string]any); !ok {
			return t.refuse(key, "a table", value)
		}
		return nil
	})
	if !ok {
		return sub
	}
	sub.keys = map[string]toml.Primitive{}
	if err := t.doc.md.PrimitiveDecode(t.keys[key], &sub.keys); err != nil {
		t.doc.fail(err)
	}
	return sub
}

// tables returns the tables in t, sorted by key; anything else in it is refused.
func (t table) tables() []table {
	names := make([]string, 0, len(t.keys))
	for name := range t.keys {
		names = append(names, name)
	}
	slices.Sort(names)
	all := make([]table, len(names))
	for i, name := range names {
		all[i] = t.table(name)
	}
	return all
}

// strings returns the strings at key without the empty ones.
func (t table) strings(key string) []string {
	const want = "a list of strings"
	var list []string
	t.read(key, func(value any) error {
		items, ok := value.([]any)
		if !ok {
			return t.refuse(key, want, value)
		}
		for _, item := range items {
			s, ok := item.(string)
			if !ok {
				return t.refuse(key, want, item)
			}
			if s != "" {
				list = append(list, s)
			}
		}
		return nil
	})
	return list
}

// text returns the string at key, "" if there is none.
func (t table) text(key string) string {
	var s string
	t.read(key, func(value any) (err error) {
		var ok bool
		if s, ok = value.(string); !ok {
			err = t.refuse(key, "a string", value)
		}
		return err
	})
	return s
}

// boolean returns the boolean at key, unset if there is none.
func (t table) boolean(key string, unset bool) bool {
	b := unset
	t.read(key, func(value any) (err error) {
		var ok bool
		if b, ok = value.(bool); !ok {
			err = t.refuse(key, "true or false", value)
		}
		return err
	})
	return b
}

// integer returns the integer at key, unset if there is none.
func (t table) integer(key string, unset int64) int64 {
	n := unset
	t.read(key, func(value any) (err error) {
		var ok bool
		if n, ok = value.(int64); !ok {
			err = t.refuse(key, "a whole number", value)
		}
		return err
	})
	return n
}

// count is integer for what cannot be negative.
func (t table) count(key string, unset int64) int64 {
	n := unset
	t.read(key, func(value any) (err error) {
		var ok bool
		if n, ok = value.(int64); !ok || n < 0 {
			err = t.refuse(key, "a whole number of 0 or more", value)
		}
		return err
	})
	return n
}

// typeName names the type of a value for a message. The value itself is shown
// only where it is a number.
func typeName(value any) string {
	switch v := value.(type) {
	case int64:
		return fmt.Sprint(v)
	case float64:
		return "a number with a fraction"
	case string:
		return "a string"
	case bool:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "a list of tables"
	}
	return "a date or time"
}
