package cli

import "strings"

// A yield says whether a cell may be shortened where a row is too wide.
type yield uint8

const (
	never  yield = iota
	last         // only after the others have given what they can
	gladly       // a path or a file name: both of its ends say most
)

// A cell is one column of a row; without text there is none.
type cell struct {
	text   string
	yields yield
}

// How much of a shortened cell stays: enough of a key to name its session nearly
// always; and, on a terminal of a few words, what can still be seen to be cut.
const (
	roomyCell = 12
	tightCell = 3
)

// row puts cells on one line. On a terminal that is too narrow for it, names are
// cut in their middle, so that what stands behind them stays: the branch, and
// the marks. before is how many columns of the line are taken. Only where all
// that is not enough is the line cut at its end.
func (s screen) row(before int, cells ...cell) string {
	var parts []string
	var yields []yield
	total := before
	for _, c := range cells {
		if c.text == "" {
			continue
		}
		if len(parts) > 0 {
			total += len(gap)
		}
		total += width(c.text)
		parts, yields = append(parts, c.text), append(yields, c.yields)
	}
	if !s.terminal() {
		return strings.Join(parts, gap)
	}
	for _, room := range []int{roomyCell, tightCell} {
		for _, y := range []yield{gladly, last} {
			total -= shorten(parts, yields, y, room, total-s.width)
		}
	}
	return fit(strings.Join(parts, gap), max(s.width-before, 1))
}

// gap parts two cells.
const gap = "  "

// shorten takes up to excess columns from the parts that yield y, always from
// the widest, and leaves each of them room. It returns how many it took.
func shorten(parts []string, yields []yield, y yield, room, excess int) int {
	limits := make([]int, len(parts))
	for i, p := range parts {
		limits[i] = width(p)
	}
	taken := 0
	for ; taken < excess; taken++ {
		widest := -1
		for i, l := range limits {
			if yields[i] == y && l > room && (widest < 0 || l > limits[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		limits[widest]--
	}
	for i, p := range parts {
		if yields[i] == y {
			parts[i] = middle(p, limits[i])
		}
	}
	return taken
}

// mark is the cell of a mark that stands at the end of a row, if it is set.
func mark(set bool, text string) cell {
	if !set {
		return cell{}
	}
	return cell{text, never}
}
