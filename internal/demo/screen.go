package main

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// A style is how characters look.
type style struct {
	bold, dim bool
	colour    string // the class of a colour, or nothing
}

// A run is a stretch of a row in one style.
type run struct {
	style
	column int
	text   string
}

// layout parts what a terminal was sent into rows, wrapping where a terminal does. It knows
// colours and weights, and says so where it is sent anything else: what it cannot draw
// would be missing from the picture.
func layout(sent string) ([][]run, error) {
	var all [][]run
	var row []run
	var now style
	column := 0
	feed := func() { all, row, column = append(all, row), nil, 0 }
	for sent != "" {
		switch {
		case strings.HasPrefix(sent, "\r\n"):
			feed()
			sent = sent[2:]
			continue
		case strings.HasPrefix(sent, "\x1b["):
			code, rest, ok := strings.Cut(sent[2:], "m")
			if !ok {
				return nil, fmt.Errorf("an escape sequence does not end: %q", sent)
			}
			var err error
			if now, err = restyle(now, code); err != nil {
				return nil, err
			}
			sent = rest
			continue
		}
		r := []rune(sent)[0]
		if unicode.IsControl(r) || !unicode.IsPrint(r) || wide(r) {
			return nil, fmt.Errorf("%q cannot be drawn, before %q", r, sent)
		}
		if column == columns {
			feed()
		}
		if n := len(row); n > 0 && row[n-1].style == now {
			row[n-1].text += string(r)
		} else {
			row = append(row, run{now, column, string(r)})
		}
		column++
		sent = sent[len(string(r)):]
	}
	if column > 0 {
		feed()
	}
	return all, nil
}

// wide reports whether a character takes two columns.
func wide(r rune) bool {
	k := width.LookupRune(r).Kind()
	return k == width.EastAsianWide || k == width.EastAsianFullwidth
}

func restyle(s style, code string) (style, error) {
	switch code {
	case "", "0":
		return style{}, nil
	case "1":
		s.bold = true
	case "2":
		s.dim = true
	case "22":
		s.bold, s.dim = false, false
	case "32":
		s.colour = "green"
	case "34":
		s.colour = "blue"
	case "39":
		s.colour = ""
	default:
		return s, fmt.Errorf("the escape sequence \\x1b[%sm cannot be drawn", code)
	}
	return s, nil
}
