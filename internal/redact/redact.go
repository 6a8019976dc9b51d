// Package redact owns the egress filter: what is shaped like a secret in a text
// is replaced by a marker before the text is handed out.
//
// It promises that filtering is a pure function of the text, in time linear in
// its length; that filtering twice is filtering once; that a text without
// secrets comes back as the same bytes; and that a JSON record stays one, with
// the same keys. It finds shapes, not secrets: what looks like prose passes,
// and a word that only looks like a secret does not.
//
// A text is read as it is meant. Backslash escapes are read through at any
// depth (a JSON document quoted in a string of another), and terminal escape
// sequences are read over, so that neither hides a name or parts a value.
//
// Filter before you cut: what stands outside an excerpt may be what says that
// a value inside it is secret.
package redact

import "bytes"

// A Filter is the egress filter as a configuration sets it. The zero value
// filters.
type Filter struct{ off bool }

// None passes everything as it is: the filter of a request that asked for the
// raw text, and of a configuration without [privacy] redact_recall.
var None = Filter{off: true}

// New is the filter of a configuration: redact is [privacy] redact_recall.
func New(redact bool) Filter { return Filter{off: !redact} }

// Off reports that f passes everything as it is.
func (f Filter) Off() bool { return f.off }

const (
	// MarkerWord is the word that every marker has.
	MarkerWord = "redacted"
	// Marker stands for a secret of which nothing else is told.
	Marker = markPlain
)

// Marked reports whether text has a marker. One that stood in the text from the
// beginning counts.
func Marked(text []byte) bool {
	for {
		k := bytes.Index(text, []byte("["+MarkerWord))
		if k < 0 {
			return false
		}
		if text = text[k:]; marker(text) > 0 {
			return true
		}
		text = text[1:]
	}
}

// Text filters a text. Bytes that are not UTF-8 stay as they are.
func (f Filter) Text(s string) string {
	if f.off {
		return s
	}
	b := []byte(s)
	if out := filter(b, textView); !bytes.Equal(out, b) {
		return string(out)
	}
	return s
}

// Record filters an archived record, a JSON object on one line, newline
// excluded. Each of its strings is a text of its own, so that nothing outside
// of strings changes and what was JSON is JSON; the names of fields count as
// names of the values. Bytes that are no such record are filtered as a text. It
// returns record itself where there is nothing to take out, and never changes
// its bytes.
func (f Filter) Record(record []byte) []byte {
	if f.off {
		return record
	}
	return filter(record, recordView)
}

const (
	// maxRounds is how often a text is read at most. What a round takes out can
	// bring values and names together that were apart, so a text counts as
	// filtered when a round finds nothing. Texts settle in the second round;
	// made-up ones that do not are withheld.
	maxRounds = 8
	// withheld stands in place of a text that does not settle.
	withheld = "[redacted: a text that cannot be filtered]"
)

// filter runs rounds over src until one finds nothing.
func filter(src []byte, read func([]byte) *view) []byte {
	for range maxRounds {
		s := scanner{view: read(src)}
		if s.run(); len(s.edits) == 0 {
			return src
		}
		out := s.apply(src)
		if bytes.Equal(out, src) {
			return src
		}
		src = out
	}
	return []byte(withheld)
}
