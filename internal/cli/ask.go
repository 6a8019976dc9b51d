package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// maxAnswer is how much of a line is read for an answer; the longest that means
// something is "yes".
const maxAnswer = 4 << 10

// confirm asks a question that a person answers with yes or no, on stderr, and
// reports whether it was yes. Nothing and anything else mean no. yes answers it
// beforehand. Where nobody can answer, the error says how to do so.
func (e *env) confirm(question string, yes bool) (bool, error) {
	question = visible(question) + " [y/N]"
	if yes {
		e.say(question + " yes")
		return true, nil
	}
	if f, ok := e.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		e.out.flush()
		_, _ = io.WriteString(e.stderr, question+" ")
	} else {
		e.say(question)
	}
	line, err := bufio.NewReader(io.LimitReader(e.stdin, maxAnswer)).ReadString('\n')
	switch {
	case err != nil && line == "" && errors.Is(err, io.EOF):
		return false, errors.New("nobody answered: --yes answers beforehand")
	case err != nil && !errors.Is(err, io.EOF):
		return false, fmt.Errorf("read the answer: %w; --yes answers beforehand", err)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}
