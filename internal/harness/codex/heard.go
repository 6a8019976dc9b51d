package codex

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// A rollout holds most of what was said more than once: as the item that the model gets or
// gave, as the event by which older versions showed it, and as the event by which newer ones
// do. Which of them there are, and which comes first, differs by version; the first is the
// turn. A form tells them apart.
type form uint8

const (
	asItem form = 1 << iota
	asMessage
	asCompleted
)

// A said is a text that was said, and the forms in which it was met.
type said struct {
	sum   uint64
	forms form
}

// A typed is a prompt of history.jsonl, and the id of its record.
type typed struct {
	sum uint64
	id  string
}

// Bounds of what is carried: the forms of a text stand next to each other but for what was said
// at the same time; a prompt of history.jsonl waits for a rollout that comes back.
const (
	maxSaid   = 16
	maxFailed = 16
	maxTyped  = 48
	maxWord   = 40 // bytes of one part of Own that is a text
)

// own is what Codex's state holds in State.Own.
type own struct {
	// rollout says that a rollout was met.
	rollout bool
	// at is when the session began, for records that tell no time.
	at string
	// copying is the time of the last record of a run of copies (see reader.copied).
	copying string
	// start is the ordinal of the first record that is no copy of the parent's.
	start int64
	said  []said
	// failed are calls whose output is still to come.
	failed []uint64
	typed  []typed
}

// parseOwn reads what String wrote; whatever else it meets it leaves out.
func parseOwn(text string) (o own) {
	for len(text) > 0 {
		var word string
		word, text, _ = strings.Cut(text, " ")
		if word == "" {
			continue
		}
		kind, rest := word[0], word[1:]
		first, second, _ := strings.Cut(rest, ":")
		switch kind {
		case 'b':
			o.copying = rest
		case 'r':
			o.rollout = true
		case 't':
			o.at = rest
		case 's':
			o.start, _ = strconv.ParseInt(rest, 10, 64)
		case 'm':
			forms, _ := strconv.ParseUint(second, 10, 8)
			o.said = append(o.said, said{hexadecimal(first), form(forms)})
		case 'f':
			o.failed = append(o.failed, hexadecimal(first))
		case 'h':
			o.typed = append(o.typed, typed{hexadecimal(first), second})
		}
	}
	return o
}

func hexadecimal(text string) uint64 {
	n, _ := strconv.ParseUint(text, 16, 64)
	return n
}

// copyMark begins the state of a session while copies are read.
const copyMark = "b"

func (o *own) String() string {
	b := make([]byte, 0, 256)
	word := func(kind, text string) {
		if text != "" && len(text) <= maxWord && !strings.Contains(text, " ") {
			b = append(append(append(b, kind...), text...), ' ')
		}
	}
	word(copyMark, o.copying)
	if o.rollout {
		b = append(b, "r "...)
	}
	word("t", o.at)
	if o.start > 0 {
		word("s", strconv.FormatInt(o.start, 10))
	}
	for _, s := range last(o.said, maxSaid) {
		b = strconv.AppendUint(append(b, 'm'), s.sum, 16)
		b = append(strconv.AppendUint(append(b, ':'), uint64(s.forms), 10), ' ')
	}
	for _, sum := range last(o.failed, maxFailed) {
		b = append(strconv.AppendUint(append(b, 'f'), sum, 16), ' ')
	}
	for _, t := range last(o.typed, maxTyped) {
		if len(t.id) <= maxWord {
			b = append(append(append(strconv.AppendUint(append(b, 'h'), t.sum, 16), ':'), t.id...), ' ')
		}
	}
	return string(bytes.TrimRight(b, " "))
}

// last are the last n elements.
func last[T any](all []T, n int) []T { return all[max(0, len(all)-n):] }

// heard notes that a text was met in a form, and reports whether it was met in another before,
// and is no turn again.
func (o *own) heard(sum uint64, f form) bool {
	for i := range o.said {
		if s := &o.said[i]; s.sum == sum && s.forms&f == 0 {
			s.forms |= f
			return true
		}
	}
	o.said = append(o.said, said{sum, f})
	return false
}

// fail notes that a call failed, before its output.
func (o *own) fail(call []byte) {
	if len(call) > 0 {
		o.failed = append(o.failed, sumOf('c', call))
	}
}

// hasFailed reports, once, whether a call was noted.
func (o *own) hasFailed(call []byte) bool {
	sum := sumOf('c', call)
	for i, f := range o.failed {
		if f == sum {
			o.failed = append(o.failed[:i], o.failed[i+1:]...)
			return true
		}
	}
	return false
}

// takesOver gives, once, the id of the prompt of history.jsonl with that text, "" for none.
func (o *own) takesOver(sum uint64) string {
	for i, t := range o.typed {
		if t.sum == sum {
			o.typed = append(o.typed[:i], o.typed[i+1:]...)
			return promptStart + t.id
		}
	}
	return ""
}

// sumOf is the FNV-1a of texts without their white space, by which the forms of one text
// differ, and of who said them.
func sumOf(who byte, texts ...[]byte) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	sum := (uint64(offset) ^ uint64(who)) * prime
	for _, text := range texts {
		for _, c := range text {
			if c > ' ' {
				sum = (sum ^ uint64(c)) * prime
			}
		}
	}
	return sum
}

// titleLength bounds the title that a session gets of its first prompt, in bytes.
const titleLength = 120

// titleOf is the first line of a prompt that says something.
func titleOf(text []byte) []byte {
	text = bytes.TrimLeftFunc(text, unicode.IsSpace)
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return transcript.CutBytes(bytes.TrimSpace(line), titleLength)
}
