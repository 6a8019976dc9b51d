package harness

import (
	"fmt"
	"iter"
	"strings"
	"unicode"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// NoTail is the Tail of a transcript that is a file of lines, which the caller reads itself: it
// yields one error, which names the path.
func NoTail(t Transcript) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		yield(transcript.Record{}, fmt.Errorf("%s: it is read as a file of lines", t.Path))
	}
}

// longestID bounds an id that an agent's own records give a session, in bytes: several times the
// longest that any agent was seen to give.
const longestID = 200

// NamesSession reports whether a text that stands in foreign bytes is fit to name a session: it is
// not empty, not too long, and can be printed.
func NamesSession(id string) bool {
	return id != "" && len(id) <= longestID && strings.IndexFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// UUIDLength is how many bytes a UUID takes as text.
const UUIDLength = 36

// IsUUID takes hexadecimal groups of 8-4-4-4-12 in either case, of any version.
func IsUUID(s string) bool {
	if len(s) != UUIDLength {
		return false
	}
	for i := range UUIDLength {
		c := s[i]
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case '0' <= c && c <= '9', 'a' <= c|0x20 && c|0x20 <= 'f':
		default:
			return false
		}
	}
	return true
}
