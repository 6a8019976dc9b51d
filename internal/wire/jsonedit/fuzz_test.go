package jsonedit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// seeds are texts in many styles.
var seeds = []string{
	"", " ", bom, "{}", "[]", "null", "// c", "{\n}\n", `{"a":1}`, `{"a":{},"b":[]}`, `[1,[2,[]],{"a":{"b":null}}]`,
	"{\n  \"a\": 1, // one\n  /* two */ \"b\": [ 1, 2, ], \n}\n", "{\r\n\t\"a\": {\r\n\t\t\"b\": []\r\n\t}\r\n}",
	`{ "\u0061\ud83d": "\ud83d\udc4d", "n": -1.50e+09 , "big": 12345678901234567890 }`, "[1 // c\r\n,2]", "[// c\n]", "[1,// c\n/* d */]",
	"{\"a\":1,\"a\":2}", "[1 2]", "{\"a\":\"\\x\"}", "[\xff]", "/* *//**/[/**/]//",
}

// tree is a value as the standard library makes it, but that members have an order.
func tree(d *Document, n *node) any {
	if n == nil {
		return map[string]any{}
	}
	text := d.text[n.start:n.end]
	switch n.kind {
	case Object:
		all := [][2]any{}
		for i, k := range n.keys {
			all = append(all, [2]any{k.name, tree(d, n.children[i])})
		}
		return all
	case Array:
		all := []any{}
		for _, c := range n.children {
			all = append(all, tree(d, c))
		}
		return all
	case String:
		return unquote(text)
	default:
		return json.RawMessage(text)
	}
}

// Text without comments and trailing commas is read exactly where the standard
// library reads it, and to the same value, but for what is refused for a reason.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text)
		if err != nil {
			known := []string{"twice", "nested more", "UTF-8"}
			for _, k := range known {
				if strings.Contains(err.Error(), k) {
					return
				}
			}
			if json.Valid(text) {
				t.Fatalf("%q is JSON: %v", text, err)
			}
			return
		}
		if d.Blank() || !json.Valid(text) {
			return // JSONC, or a mark in front
		}
		var want any
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if got := plain(d, d.root); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q reads as %#v, want %#v", text, got, want)
		}
	})
}

// plain is a value as encoding/json makes it.
func plain(d *Document, n *node) any {
	switch n.kind {
	case Object:
		m := map[string]any{}
		for i, k := range n.keys {
			m[strings.ToValidUTF8(k.name, "\ufffd")] = plain(d, n.children[i])
		}
		return m
	case Array:
		a := []any{}
		for _, c := range n.children {
			a = append(a, plain(d, c))
		}
		return a
	case String:
		var s string
		_ = json.Unmarshal(d.text[n.start:n.end], &s)
		return s
	case Number:
		return json.Number(d.text[n.start:n.end])
	case Bool:
		return d.text[n.start] == 't'
	default:
		return nil
	}
}

// places are the paths of all objects and arrays.
func places(n Node) []Path {
	var all []Path
	switch n.Kind() {
	case Object:
		all = append(all, n.Path())
		for _, k := range n.Keys() {
			all = append(all, places(n.Get(k))...)
		}
	case Array:
		all = append(all, n.Path())
		for _, item := range n.Items() {
			all = append(all, places(item)...)
		}
	}
	return all
}

// within reports whether part comes of whole by leaving bytes out.
func within(part, whole []byte) bool {
	for _, c := range whole {
		if len(part) > 0 && part[0] == c {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// What is put in is there, last; everything else is as it was, in value and in
// bytes; and taking it out gives the bytes back. Only white space between the
// brackets of one that was empty is not given back.
func FuzzAddAndRemove(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), uint(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, which uint) {
		d, err := Parse(text)
		if err != nil || d.Blank() {
			return
		}
		all := places(d.Root())
		if len(all) == 0 {
			return
		}
		place := all[which%uint(len(all))]
		n := d.At(place)
		var added *Document
		var item Path
		v := Members{{"k", Elements{"v", true, nil}}}
		if n.Kind() == Object {
			if n.Get("new key").n != nil {
				return
			}
			item = place.with("new key")
			added, err = d.Set(item, v)
		} else {
			item = place.with(len(n.Items()))
			added, err = d.Append(place, v)
		}
		if err != nil {
			if strings.Contains(err.Error(), "nested more") {
				return
			}
			t.Fatal(err)
		}
		back, err := added.Remove(item)
		if err != nil {
			t.Fatalf("%q: %v", added.Text(), err)
		}

		inside := bytes.Trim(d.text[n.n.start+1:n.n.end-1], " \t\r\n")
		if n.Empty() && len(inside) == 0 {
			closed := append(append(bytes.Clone(d.text[:n.n.start+1]), d.text[n.n.end-1]), d.text[n.n.end:]...)
			if !bytes.Equal(back.Text(), closed) {
				t.Fatalf("%q came back as %q, by %q", text, back.Text(), added.Text())
			}
		} else if !bytes.Equal(back.Text(), text) {
			t.Fatalf("%q came back as %q, by %q", text, back.Text(), added.Text())
		}
		if !within(back.Text(), added.Text()) {
			t.Fatalf("%q changed in %q", text, added.Text())
		}
		want := parse(t, `{"k":["v",true,null]}`)
		if !added.At(item).Same(want.Root()) {
			t.Fatalf("%q: %s is %q", added.Text(), item, added.At(item).Text())
		}
		if !reflect.DeepEqual(tree(back, back.root), tree(d, d.root)) {
			t.Fatalf("%q: another value came back: %q", text, back.Text())
		}
		if len(added.comments) != len(d.comments) {
			t.Fatalf("%q: comments changed in %q", text, added.Text())
		}
	})
}

// Removing a child leaves the value without it, and takes bytes out without
// putting any in.
func FuzzRemove(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), uint(i), uint(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, which, child uint) {
		d, err := Parse(text)
		if err != nil || d.Blank() {
			return
		}
		all := places(d.Root())
		if len(all) == 0 {
			return
		}
		n := d.At(all[which%uint(len(all))])
		if n.Empty() {
			return
		}
		i := int(child % uint(len(n.n.children)))
		gone := n.Path().with(i)
		if n.Kind() == Object {
			gone = n.Path().with(n.n.keys[i].name)
		}
		left, err := d.Remove(gone)
		if err != nil {
			t.Fatalf("%q without %s: %v", text, gone, err)
		}
		if !within(left.Text(), text) {
			t.Fatalf("%q became %q", text, left.Text())
		}
		n.n.children = append(n.n.children[:i:i], n.n.children[i+1:]...)
		if n.Kind() == Object {
			n.n.keys = append(n.n.keys[:i:i], n.n.keys[i+1:]...)
		}
		if !reflect.DeepEqual(tree(left, left.root), tree(d, d.root)) {
			t.Fatalf("%q without %s: %q", text, gone, left.Text())
		}
	})
}

// A value that is replaced is the only thing that changes.
func FuzzReplace(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), uint(i), "text \"\u2028\x00")
	}
	f.Fuzz(func(t *testing.T, text []byte, which uint, v string) {
		d, err := Parse(text)
		v = strings.ToValidUTF8(v, "")
		if err != nil || d.Root().Kind() != Object || d.Root().Empty() {
			return
		}
		i := int(which % uint(len(d.root.keys)))
		old := d.root.children[i]
		set, err := d.Set(Path{d.root.keys[i].name}, v)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := set.Root().Get(d.root.keys[i].name).Str(); !ok || got != v {
			t.Fatalf("%q reads as %q in %q", v, got, set.Text())
		}
		if !bytes.HasPrefix(set.Text(), text[:old.start]) || !bytes.HasSuffix(set.Text(), text[old.end:]) {
			t.Fatalf("%q became %q", text, set.Text())
		}
	})
}
