// Package document writes the JSON that Terminus answers with, whoever asks: the
// command line's documents, a hook's object, a tool's result. There is this one
// encoder, so that one value looks the same to every reader. It knows none of
// the documents.
package document

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"
)

// Raw is a value that is JSON already, on one line of UTF-8: it is written as it
// stands, an empty one as null. It is for what has to come back as it was spelled.
type Raw string

// Encode renders v as JSON on one line, without a closing newline.
//
// The members of every object stand in the order of their names' bytes, at
// every depth. A string is written as it is, but for the quote, the backslash
// and the control characters, which are escaped; a byte that is not UTF-8
// becomes U+FFFD. A float has a point or an exponent (2.0, 1.83, 1e-7), an
// integer has neither. A nil slice or map is an empty one, a nil pointer is null.
//
// v is made of structs whose exported fields all carry a json tag that is
// just a name (embedded structs are merged into their parent), of maps with
// string keys, slices, pointers, interfaces, strings, Raw, booleans and numbers.
// Anything else, and a float that is not finite, is an error: a document is
// whole or is not written.
func Encode(v any) ([]byte, error) {
	e := encoder{}
	if err := e.value(reflect.ValueOf(v)); err != nil {
		return nil, err
	}
	return e.buf.Bytes(), nil
}

type encoder struct{ buf bytes.Buffer }

var rawType = reflect.TypeFor[Raw]()

func (e *encoder) value(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Invalid:
		e.buf.WriteString("null")
	case reflect.Bool:
		e.buf.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.buf.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.buf.WriteString(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		return e.float(v.Float(), v.Type().Bits())
	case reflect.String:
		switch {
		case v.Type() != rawType:
			e.string(v.String())
		case v.Len() == 0:
			e.buf.WriteString("null")
		default:
			e.buf.WriteString(v.String())
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			e.buf.WriteString("null")
			return nil
		}
		return e.value(v.Elem())
	case reflect.Slice, reflect.Array:
		return e.array(v)
	case reflect.Map:
		return e.mapping(v)
	case reflect.Struct:
		return e.structure(v)
	default:
		return fmt.Errorf("encode JSON: a %s has no JSON form", v.Type())
	}
	return nil
}

func (e *encoder) array(v reflect.Value) error {
	e.buf.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			e.buf.WriteByte(',')
		}
		if err := e.value(v.Index(i)); err != nil {
			return err
		}
	}
	e.buf.WriteByte(']')
	return nil
}

func (e *encoder) mapping(v reflect.Value) error {
	if v.Type().Key().Kind() != reflect.String {
		return fmt.Errorf("encode JSON: a %s has no JSON form", v.Type())
	}
	keys := make([]string, 0, v.Len())
	values := make(map[string]reflect.Value, v.Len())
	for it := v.MapRange(); it.Next(); {
		keys = append(keys, it.Key().String())
		values[it.Key().String()] = it.Value()
	}
	slices.Sort(keys)
	e.buf.WriteByte('{')
	for i, k := range keys {
		if err := e.member(i, k, values[k]); err != nil {
			return err
		}
	}
	e.buf.WriteByte('}')
	return nil
}

func (e *encoder) structure(v reflect.Value) error {
	fields, err := fieldsOf(v.Type())
	if err != nil {
		return err
	}
	e.buf.WriteByte('{')
	for i, f := range fields {
		if err := e.member(i, f.name, v.FieldByIndex(f.index)); err != nil {
			return err
		}
	}
	e.buf.WriteByte('}')
	return nil
}

func (e *encoder) member(i int, name string, v reflect.Value) error {
	if i > 0 {
		e.buf.WriteByte(',')
	}
	e.string(name)
	e.buf.WriteByte(':')
	return e.value(v)
}

const hexDigits = "0123456789abcdef"

func (e *encoder) string(s string) {
	e.buf.WriteByte('"')
	start := 0 // of the bytes that are written as they are
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				e.buf.WriteString(s[start:i])
				e.buf.WriteRune(utf8.RuneError)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		e.buf.WriteString(s[start:i])
		e.escape(c)
		i++
		start = i
	}
	e.buf.WriteString(s[start:])
	e.buf.WriteByte('"')
}

func (e *encoder) escape(c byte) {
	e.buf.WriteByte('\\')
	switch c {
	case '"', '\\':
		e.buf.WriteByte(c)
	case '\b':
		e.buf.WriteByte('b')
	case '\f':
		e.buf.WriteByte('f')
	case '\n':
		e.buf.WriteByte('n')
	case '\r':
		e.buf.WriteByte('r')
	case '\t':
		e.buf.WriteByte('t')
	default:
		e.buf.WriteString("u00")
		e.buf.WriteByte(hexDigits[c>>4])
		e.buf.WriteByte(hexDigits[c&0xf])
	}
}

// The decimal exponents between which a float is written without an exponent:
// 0.00001 is 1e-5, 1e15 is 1000000000000000.0, 1e16 is 1e16.
const (
	minPlainExp = -5
	maxPlainExp = 16
)

// float writes the shortest digits that read back as f. The value is
// 0.DIGITS times ten to the power of point.
func (e *encoder) float(f float64, bits int) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("encode JSON: %v is not a number that JSON has", f)
	}
	s := strconv.FormatFloat(f, 'e', -1, bits)
	if s[0] == '-' {
		e.buf.WriteByte('-')
		s = s[1:]
	}
	mant, exp, _ := bytes.Cut([]byte(s), []byte("e"))
	digits := bytes.ReplaceAll(mant, []byte("."), nil)
	power, err := strconv.Atoi(string(exp))
	if err != nil {
		return fmt.Errorf("encode JSON: read the exponent of %s: %w", s, err)
	}
	point := power + 1
	switch {
	case point > 0 && point <= maxPlainExp && len(digits) <= point:
		e.buf.Write(digits)
		e.buf.Write(bytes.Repeat([]byte("0"), point-len(digits)))
		e.buf.WriteString(".0")
	case point > 0 && point <= maxPlainExp:
		e.buf.Write(digits[:point])
		e.buf.WriteByte('.')
		e.buf.Write(digits[point:])
	case point <= 0 && point > minPlainExp:
		e.buf.WriteString("0.")
		e.buf.Write(bytes.Repeat([]byte("0"), -point))
		e.buf.Write(digits)
	default:
		e.buf.WriteByte(digits[0])
		if len(digits) > 1 {
			e.buf.WriteByte('.')
			e.buf.Write(digits[1:])
		}
		e.buf.WriteByte('e')
		e.buf.WriteString(strconv.Itoa(power))
	}
	return nil
}

// A field is one member of a struct's object.
type field struct {
	name  string
	index []int
}

// fieldCache holds the sorted members of each struct type that was written.
var fieldCache sync.Map // reflect.Type -> []field

func fieldsOf(t reflect.Type) ([]field, error) {
	if f, ok := fieldCache.Load(t); ok {
		return f.([]field), nil
	}
	fields, err := collect(t, nil)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(fields, func(a, b field) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	for i := 1; i < len(fields); i++ {
		if fields[i].name == fields[i-1].name {
			return nil, fmt.Errorf("encode JSON: %s has two members %q", t, fields[i].name)
		}
	}
	fieldCache.Store(t, fields)
	return fields, nil
}

func collect(t reflect.Type, path []int) ([]field, error) {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(path), i)
		name := f.Tag.Get("json")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			inner, err := collect(f.Type, index)
			if err != nil {
				return nil, err
			}
			fields = append(fields, inner...)
		case !f.IsExported() || name == "-":
		case name == "" || bytes.ContainsRune([]byte(name), ','):
			return nil, fmt.Errorf("encode JSON: field %s of %s names no member", f.Name, t)
		default:
			fields = append(fields, field{name, index})
		}
	}
	return fields, nil
}
