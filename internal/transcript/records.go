package transcript

import "bytes"

// A Span is a place in a line.
type Span struct{ Off, Len int }

const (
	// searchFactor bounds the bytes that a search for records behind torn
	// bytes may read in vain, in lengths of the line. Each level at which the
	// torn record was open costs one length; real ones are open less than 15
	// deep. What a hostile line hides behind more is archived and is no turn.
	searchFactor = 32
	// searchFloor is added, so that a short line is always searched whole.
	searchFloor = 64 << 10
)

// Trim returns line without the white space and NUL bytes around it, and
// where what is left begins. A file system that lost power leaves runs of NULs.
func Trim(line []byte) (trimmed []byte, off int) {
	end := len(line)
	for end > 0 && padding(line[end-1]) {
		end--
	}
	off = skipPadding(line[:end], 0)
	return line[off:end], off
}

func padding(c byte) bool { return c == 0 || blank(c) }

func skipPadding(b []byte, i int) int {
	for i < len(b) && padding(b[i]) {
		i++
	}
	return i
}

// Records finds the records in a line: the JSON objects that stand in it one
// after another, with nothing but white space and NULs between them. Usually
// that is one, the whole line.
//
// Where the line is damaged, whole objects before the damage count. One that
// begins behind it counts if the line's end or another opening brace follows
// it and accept says that it is a record: an object that is part of a torn
// record is followed by something else. accept sees whole objects only.
//
// The spans are in order and disjoint, and each holds one valid object. The
// work is linear in the length of the line.
func Records(line []byte, accept func(object []byte) bool) []Span {
	var spans []Span
	budget := searchFactor*len(line) + searchFloor
	torn := false
	for i := skipPadding(line, 0); i < len(line) && budget >= 0; {
		if line[i] != '{' {
			torn = true
			next := bytes.IndexByte(line[i:], '{')
			if next < 0 {
				break
			}
			i += next
		}
		end, ok := skipValue(line, i, 0)
		if !ok {
			torn = true
			budget -= end - i
			i++
			continue
		}
		next := skipPadding(line, end)
		clean := next == len(line) || line[next] == '{'
		if !torn || clean && accept(line[i:end]) {
			torn = false
			spans = append(spans, Span{i, end - i})
		}
		i = next
	}
	return spans
}
