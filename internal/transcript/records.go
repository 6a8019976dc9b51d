package transcript

import "bytes"

// A Span is a place in a line.
type Span struct{ Off, Len int }

const (
	// searchFactor bounds the bytes that a search for records behind torn
	// bytes may read in vain, in lengths of the line. A torn record costs one,
	// however deep it is open, and one for each other way to read its quotes.
	// What a hostile line hides behind more is archived and is no turn.
	searchFactor = 8
	// searchFloor is added, so that a short line is always searched whole.
	searchFloor = 64 << 10

	// maxRecords bounds the records of one line. A transcript that lost its
	// line ends holds a few thousand in the longest line that is read at once;
	// what a line of empty objects holds behind them is archived and is no turn.
	maxRecords = 1 << 16
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
// The spans are in order and disjoint, each holds one valid object, and there
// are at most 65,536. The work is linear in the length of the line.
func Records(line []byte, accept func(object []byte) bool) []Span {
	var spans []Span
	budget := searchFactor*len(line) + searchFloor
	torn := false
	var stack, lost []int // lost are objects, in order, that are known to be torn
	for i := skipPadding(line, 0); i < len(line) && budget >= 0 && len(spans) < maxRecords; {
		if line[i] != '{' {
			torn = true
			next := bytes.IndexByte(line[i:], '{')
			if next < 0 {
				break
			}
			i += next
		}
		for len(lost) > 0 && lost[0] < i {
			lost = lost[1:]
		}
		if len(lost) > 0 && lost[0] == i {
			i++
			continue
		}
		end, ok := skipValue(line, i, 0)
		if !ok {
			torn = true
			budget -= end - i
			stack = openContainers(stack[:0], line[:end], i)
			lost = stack
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

// openContainers appends to dst where the containers begin that are open at
// the end of b, the outermost at i, in order. If the value at i failed there,
// each of them does as well, unless it failed by its depth, which theirs need
// not: then it appends none.
func openContainers(dst []int, b []byte, i int) []int {
	for i < len(b) {
		switch b[i] {
		case '"':
			i, _ = skipString(b, i+1)
			continue
		case '{', '[':
			dst = append(dst, i)
		case '}', ']':
			dst = dst[:len(dst)-1]
		}
		i++
	}
	if len(dst) >= MaxDepth {
		return dst[:0]
	}
	return dst
}
