package main

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"time"
	"unicode/utf8"
)

// Sizes in the picture's own units, which are pixels where it is not scaled. A character of
// most fixed-width fonts is 0.6 of their size wide; where one is not, it is stretched.
const (
	fontSize = 14
	cellW    = 8.4
	cellH    = 19
	padding  = 18
)

const imageW, imageH = columns*cellW + 2*padding, rows*cellH + 2*padding

// The picture brings its background along, so that it is legible on any page, and follows
// the reader's theme where it is told it. What is not animated stands still on the first screen.
const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]g %[2]d" width="%[1]g" height="%[2]d" role="img" aria-labelledby="t d">
<title id="t">Terminus at work</title>
<desc id="d">%[3]s</desc>
<style>
text{font:%[4]dpx ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;white-space:pre;fill:#1f2328}
.w{fill:#ffffff;stroke:#d0d7de}.b{fill:#ffffff}.k{fill:#57606a}.bold{font-weight:700}.dim{fill:#57606a}.green{fill:#116329}.blue{fill:#0550ae}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.w{fill:#0d1117;stroke:#30363d}.b{fill:#0d1117}.k{fill:#8b949e}.dim{fill:#8b949e}.green{fill:#7ee787}.blue{fill:#79c0ff}}
@media(prefers-reduced-motion:reduce){*{animation:none!important}}
`

// A sketch collects the picture: keyframes and what they move.
type sketch struct {
	rules, body bytes.Buffer
	end         time.Duration
	names       int
}

// drawing makes the picture of a take.
func drawing(t take) ([]byte, error) {
	s := sketch{end: t.end}
	var told []string
	row, screen := 0, 0
	for i, sh := range t.shots {
		gone := t.end
		for _, later := range t.shots[i:] {
			if later.kind == cleared {
				gone = later.at
				break
			}
		}
		switch sh.kind {
		case cleared:
			row, screen = 0, screen+1
			continue
		case remark:
			told = append(told, sh.text)
			if err := s.lines(remarkOn+sh.text+remarkOff, &row, sh.at, gone, screen); err != nil {
				return nil, err
			}
		case command, asked:
			from := row
			if err := s.lines(prompt+sh.text+"\r\n", &row, sh.at, gone, screen); err != nil {
				return nil, err
			}
			s.keys(sh, from, row)
			if err := s.lines(sh.output, &row, sh.entered, gone, screen); err != nil {
				return nil, err
			}
		}
		if row > rows {
			return nil, fmt.Errorf("screen %d has more than %d rows, from %q on: part it by ---", screen+1, rows, sh.text)
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, head, imageW, imageH, html.EscapeString(strings.Join(told, " ")), fontSize)
	b.Write(s.rules.Bytes())
	fmt.Fprintf(&b, "</style>\n<rect class=\"w\" x=\".5\" y=\".5\" width=\"%g\" height=\"%d\" rx=\"8\"/>\n", imageW-1, imageH-1)
	fmt.Fprintf(&b, "<clipPath id=\"c\"><rect x=\"%d\" y=\"%d\" width=\"%g\" height=\"%d\"/></clipPath>\n<g clip-path=\"url(#c)\" xml:space=\"preserve\">\n",
		padding/2, padding/2, imageW-padding, imageH-padding)
	b.Write(s.body.Bytes())
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes(), nil
}

// percent is a moment as a share of the whole, which is what keyframes are given in.
func (s *sketch) percent(at time.Duration) string {
	return fmt.Sprintf("%.3f%%", 100*at.Seconds()/s.end.Seconds())
}

// animate adds keyframes and returns the style that plays them again and again.
func (s *sketch) animate(timing, frames string) string {
	s.names++
	fmt.Fprintf(&s.rules, "@keyframes a%d{%s}\n", s.names, frames)
	return fmt.Sprintf("animation:a%d %gs %s infinite", s.names, s.end.Seconds(), timing)
}

// lines draws what appears at one moment and goes at another, from row on, which it moves.
func (s *sketch) lines(sent string, row *int, from, gone time.Duration, screen int) error {
	all, err := layout(sent)
	if err != nil || len(all) == 0 {
		return err
	}
	play := s.animate("step-end", fmt.Sprintf("0%%{visibility:hidden}%s{visibility:visible}%s{visibility:hidden}", s.percent(from), s.percent(gone)))
	hidden := ""
	if screen > 0 {
		hidden = ` visibility="hidden"`
	}
	fmt.Fprintf(&s.body, "<g%s style=\"%s\">\n", hidden, play)
	for _, runs := range all {
		for _, r := range runs {
			s.text(r, *row)
		}
		*row++
	}
	s.body.WriteString("</g>\n")
	return nil
}

func (s *sketch) text(r run, row int) {
	// Blanks at the ends carry nothing, and a run of nothing else is not drawn.
	text := strings.TrimLeft(r.text, " ")
	column := r.column + len(r.text) - len(text)
	if text = strings.TrimRight(text, " "); text == "" {
		return
	}
	var classes []string
	if r.bold {
		classes = append(classes, "bold")
	}
	if r.dim {
		classes = append(classes, "dim")
	}
	if r.colour != "" {
		classes = append(classes, r.colour)
	}
	class := ""
	if len(classes) > 0 {
		class = fmt.Sprintf(" class=%q", strings.Join(classes, " "))
	}
	fmt.Fprintf(&s.body, "<text%s x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\">%s</text>\n", class,
		padding+float64(column)*cellW, padding+row*cellH+fontSize, float64(utf8.RuneCountInString(text))*cellW, html.EscapeString(text))
}

// keys covers a typed command by a cursor that gives it free key by key. Where nothing moves,
// the cover lies outside.
func (s *sketch) keys(sh shot, from, to int) {
	n := utf8.RuneCountInString(sh.text)
	at, first := sh.typed, len("$ ")
	for row := from; row < to; row++ {
		here := min(n, columns-first)
		n -= here
		until := at + time.Duration(here)*perKey
		play := s.animate("step-end", fmt.Sprintf(
			"0%%{transform:translateX(%dpx)}%s{transform:none}%s{transform:none;animation-timing-function:steps(%d,end)}%s{transform:translateX(%.1fpx)}%s{transform:translateX(%dpx)}",
			outside, s.percent(sh.at), s.percent(at), max(here, 1), s.percent(until), float64(here)*cellW, s.percent(sh.entered), outside))
		x, y := padding+float64(first)*cellW, padding+row*cellH-1
		fmt.Fprintf(&s.body, "<g transform=\"translate(%d)\" style=\"%s\"><rect class=\"b\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
			outside, play, x, y, imageW, cellH)
		if row == from {
			fmt.Fprintf(&s.body, "<rect class=\"k\" x=\"%.1f\" y=\"%d\" width=\"%g\" height=\"%d\"/>", x, y, cellW, cellH-1)
		}
		s.body.WriteString("</g>\n")
		at, first = until, 0
	}
}

// outside is further than the picture is wide.
const outside = 2000
