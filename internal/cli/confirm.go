package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

var errNoAnswer = errors.New("nobody is there to answer: --yes answers yes")

// confirm asks a question on stdout, once, and reads the answer from stdin. Only
// "y" and "yes", in any case, are yes; an empty answer is no. yes answers without
// asking: the question then stands there with its answer. An input that ends
// without a line is an error.
func (e *env) confirm(question string, yes bool) (bool, error) {
	e.printf("%s [y/N] ", question)
	if yes {
		e.printf("yes\n")
		return true, nil
	}
	e.out.flush()
	line, err := readAnswer(e.stdin)
	if !isTerminal(e.stdin) {
		e.printf("\n") // nobody's Enter has ended the line
	}
	if err != nil {
		return false, errNoAnswer
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// maxAnswer is more than anybody types: an input without a line's end is given up.
const maxAnswer = 4 << 10

// readAnswer reads one line. A last line need not be ended.
func readAnswer(r io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(r, maxAnswer)).ReadString('\n')
	if errors.Is(err, io.EOF) && line != "" {
		err = nil
	}
	return line, err
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
