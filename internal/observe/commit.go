package observe

import (
	"bytes"
	"strings"
)

// commitSubject is the message of a command that is a commit, "" for any other.
//
// The command's first word is git, in whatever directory; a word `commit` follows;
// after it the first `-m X`, `--message X` or `--message=X` counts. An X that runs a
// command, as in -m "$(cat <<'EOF' ...)", stands for the first line of the text that
// is given to it. What is not in the command (-F, an editor) is not known.
func commitSubject(command []byte) string {
	const long = "--message"
	w := words{rest: command}
	if !w.next() || string(w.word[bytes.LastIndexByte(w.word, '/')+1:]) != "git" {
		return ""
	}
	for string(w.word) != "commit" {
		if !w.next() {
			return ""
		}
	}
	for w.next() {
		switch word := string(w.word); {
		case word == "-m", word == long:
			if !w.next() {
				return ""
			}
			return message(string(w.word), w.raw)
		case strings.HasPrefix(word, long+"="):
			return message(word[len(long)+1:], w.raw)
		}
	}
	return ""
}

// message is what a message argument says. raw is the command from there on: the
// quotes in a text that is handed to another command are its own.
func message(x string, raw []byte) string {
	if !strings.HasPrefix(x, "$(") {
		return strings.TrimSpace(x)
	}
	_, here, ok := bytes.Cut(raw, []byte("<<"))
	if !ok {
		return ""
	}
	_, lines, _ := bytes.Cut(here, []byte("\n"))
	for line := range bytes.Lines(lines) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return string(line)
		}
	}
	return ""
}

// words parts a command as a shell would: at white space that is not quoted. Quotes
// and the backslashes that escape are taken away.
type words struct {
	rest []byte
	raw  []byte // rest before the present word
	word []byte
}

// next goes to the next word, and reports whether there is one.
func (w *words) next() bool {
	const space = " \t\r\n"
	w.rest = bytes.TrimLeft(w.rest, space)
	w.raw, w.word = w.rest, w.word[:0]
	if len(w.rest) == 0 {
		return false
	}
	var quote byte
	i := 0
	for ; i < len(w.rest); i++ {
		c := w.rest[i]
		switch {
		case quote == 0 && strings.IndexByte(space, c) >= 0:
			w.rest = w.rest[i:]
			return true
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		case c == '\\' && escapes(quote, w.rest[i+1:]):
			i++
			w.word = append(w.word, w.rest[i])
		default:
			w.word = append(w.word, c)
		}
	}
	w.rest = nil
	return true
}

// escapes reports whether a backslash takes the meaning of what follows it.
func escapes(quote byte, next []byte) bool {
	switch {
	case len(next) == 0 || quote == '\'':
		return false
	case quote == 0:
		return true
	}
	return strings.IndexByte("\"\\$`", next[0]) >= 0
}
