package notes

import (
	"fmt"
	"strings"
)

// maxParts bounds the parts of one session: notes on a session may stand anywhere in the file, and
// the last part then spans what lies between them.
const maxParts = 64

// A part is a stretch of the file.
type part struct{ from, to int64 }

// parts are where the notes of one session stand, in the order of the file.
type parts []part

// and is the parts and one line behind them.
func (p parts) and(from, to int64) parts {
	if n := len(p); n > 0 && (p[n-1].to == from || n == maxParts) {
		p[n-1].to = to
		return p
	}
	return append(p, part{from, to})
}

// String is the parts as they stand at the end of a stamp, each behind a blank.
func (p parts) String() string {
	var b strings.Builder
	for _, one := range p {
		fmt.Fprintf(&b, " %d-%d", one.from, one.to)
	}
	return b.String()
}

// parseParts reads the parts in a stamp; nil where one of them is none.
func parseParts(stamp string) parts {
	words := strings.Fields(stamp)
	var p parts
	for i, word := range words {
		if i == 0 {
			continue
		}
		var one part
		if n, err := fmt.Sscanf(word, "%d-%d", &one.from, &one.to); n != 2 || err != nil {
			return nil
		}
		p = append(p, one)
	}
	return p
}
