package jsonedit

import (
	"bytes"
	"fmt"
	"strings"
)

// A Value is what an edit puts in: a string, bool, int, nil, Members or Elements.
type Value any

// Members is an object to put in.
type Members []Member

// Elements is an array to put in.
type Elements []Value

// A Member is one member of an object to put in.
type Member struct {
	Key   string
	Value Value
}

// Set gives the member that p ends in a value. One that is there keeps its place,
// and its text where that says the same already; a new one comes last. What p leads
// through must be objects that are there; only the root may be blank.
func (d *Document) Set(p Path, v Value) (*Document, error) {
	name, ok := p[len(p)-1].(string)
	if !ok {
		return nil, fmt.Errorf("%s names no member", p)
	}
	parent := d.At(p[:len(p)-1])
	if len(p) == 1 && d.Blank() {
		return d.plant(Members{{name, v}})
	}
	if err := parent.Want(Object); err != nil {
		return nil, err
	}
	at := d.style(parent.n)
	if old := parent.Get(name); old.n != nil {
		text := at.render(v)
		if alone, err := Parse([]byte(text)); err == nil && old.Same(alone.Root()) {
			return d, nil
		}
		return d.splice(splice{old.n.start, old.n.end, text})
	}
	return d.append(parent.n, at, quote(name)+":"+at.colon+at.render(v))
}

// Append puts a value behind the last element of the array that p leads to.
func (d *Document) Append(p Path, v Value) (*Document, error) {
	parent := d.At(p)
	if err := parent.Want(Array); err != nil {
		return nil, err
	}
	at := d.style(parent.n)
	return d.append(parent.n, at, at.render(v))
}

// plant writes an object into a blank text, below its comments.
func (d *Document) plant(v Members) (*Document, error) {
	st := d.style(nil)
	kept := ""
	switch n := len(d.comments); {
	case n > 0:
		kept = string(d.text[:d.comments[n-1][1]]) + st.newline
	case bytes.HasPrefix(d.text, []byte(bom)):
		kept = bom
	}
	return Parse([]byte(kept + st.render(v) + st.newline))
}

// append puts an item, which is rendered, behind the last child of n.
func (d *Document) append(n *node, at style, item string) (*Document, error) {
	last := len(n.children) - 1
	if last < 0 {
		return d.fill(n, at, item)
	}
	comma := n.commas[last]
	end := n.children[last].end
	if comma >= 0 {
		end = comma + 1
	}
	place, broken := d.remark(end)
	between := at.between
	if broken && !at.lines {
		between = at.newline + at.indent
	}
	if comma >= 0 { // the last one has a comma: so will the new one
		return d.splice(splice{place, place, between + item + ","})
	}
	return d.splice(splice{end, end, ","}, splice{place, place, between + item})
}

// fill puts an item into an object or array that holds none.
func (d *Document) fill(n *node, at style, item string) (*Document, error) {
	inside := string(d.text[n.start+1 : n.end-1])
	text := item
	if at.lines {
		text = at.newline + at.indent + item
	}
	if strings.Trim(inside, " \t\r\n") != "" { // comments
		place := n.start
		for _, c := range d.comments {
			if c[1] < n.end {
				place = max(place, c[1])
			}
		}
		return d.splice(splice{place, place, at.newline + at.indent + item})
	}
	if at.lines {
		text += at.newline + at.outdent
	}
	return d.splice(splice{n.start + 1, n.end - 1, text})
}

// remark passes over the comments that stand on the line of at, and reports
// whether what follows has to begin on a line of its own.
func (d *Document) remark(at int) (place int, broken bool) {
	place = at
	for _, c := range d.comments {
		if c[0] < place {
			continue
		}
		if len(bytes.Trim(d.text[place:c[0]], " \t")) > 0 {
			break
		}
		place, broken = c[1], d.text[c[0]+1] == '/'
	}
	return place, broken
}

// Remove takes out the member or element that p leads to, with its comma. Comments
// around it stay. An object or array that then holds nothing but white space is
// closed up.
func (d *Document) Remove(p Path) (*Document, error) {
	gone := d.At(p)
	if len(p) == 0 || gone.n == nil {
		return nil, fmt.Errorf("%s is not there", p)
	}
	n := d.At(p[:len(p)-1]).n
	i := 0
	for n.children[i] != gone.n {
		i++
	}
	start, end := n.first(i), n.children[i].end
	if comma := n.commas[i]; comma >= 0 {
		end = comma + 1
	}
	if i < len(n.children)-1 {
		// What comes next takes the place.
		for isSpace(d.text[end]) {
			end++
		}
		return d.splice(splice{start, end, ""})
	}
	start = d.back(start, end)
	switch {
	case i == 0 && start == n.start+1:
		for isSpace(d.text[end]) {
			end++
		}
	case i > 0 && n.commas[i] < 0:
		// The one before becomes the last, and has no comma either.
		return d.splice(splice{n.commas[i-1], n.commas[i-1] + 1, ""}, splice{start, end, ""})
	}
	return d.splice(splice{start, end, ""})
}

// back is where the white space before start begins that goes when the bytes
// from start to end do. A line comment keeps the end of its line.
func (d *Document) back(start, end int) int {
	for isSpace(d.text[start-1]) {
		start--
	}
	for _, c := range d.comments {
		inLine := d.text[c[0]+1] == '/'
		if start > c[0] && start <= c[1] {
			start = c[1] // white space at the end of a comment is the comment's
			if inLine && d.text[end] != '\n' && d.text[end] != '\r' {
				start += bytes.IndexByte(d.text[start:], '\n') + 1
			}
		}
	}
	return start
}

// A splice puts text in the place of the bytes from start to end.
type splice struct {
	start, end int
	text       string
}

// splice makes the document of the text with the splices, which come in order.
func (d *Document) splice(splices ...splice) (*Document, error) {
	var b bytes.Buffer
	at := 0
	for _, s := range splices {
		b.Write(d.text[at:s.start])
		b.WriteString(s.text)
		at = s.end
	}
	b.Write(d.text[at:])
	edited, err := Parse(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("the edit does not read back: %w", err)
	}
	return edited, nil
}
