// Package derive owns what is made of a turn's texts: the projection that
// excerpts are cut from, the body that is indexed, the words of a query and
// the excerpt around a match. All of it is a pure function of its input.
//
// A body and a query are cut into words by the same rules, so that a turn is
// found by every word that stands in the indexed part of its text, by the
// camelCase parts of its identifiers, and by any run of CJK characters.
package derive

import (
	"bytes"
	"hash/maphash"
	"slices"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/transcript"
)

const (
	// maxText bounds the projection of a turn, in bytes of its texts.
	maxText = transcript.TextRoom
	// maxParts bounds the parts of identifiers that are added to a body, in
	// bytes with a separator each: half of the text, as the format has it.
	maxParts = 128 << 10
)

// A Projector turns pieces into text. The zero value is ready. It is not safe
// for concurrent use, and what a method returns is valid until the next call.
// Its buffers stay at the size of the largest turn, at most about 12 MiB.
type Projector struct {
	seed   maphash.Seed
	seeded bool

	text, body, composed []byte

	room int // bytes of maxText that are left
	// lines holds the lines of text[:lined].
	lines table
	lined int

	words []word // of text
	parts expansion
}

// Text is the projection of pieces: their texts, joined by newlines, up to
// 256 KiB of them, cut between two characters. Of an echo only the lines count
// that the projection does not hold yet, white space around them and the line
// numbers of a file listing aside.
func (p *Projector) Text(pieces []transcript.Piece) []byte {
	if !p.seeded {
		p.seed, p.seeded = maphash.MakeSeed(), true
	}
	p.text, p.room, p.lined = p.text[:0], maxText, 0
	p.lines.reset()
	var first [copies][]byte
	n := 0
	for i, piece := range pieces {
		switch {
		case p.room == 0:
			return p.text
		case piece.Echo:
			p.echo(piece.Text, first[:n])
		default:
			p.add(piece.Text)
			if i < copies {
				first[n] = bytes.TrimSpace(piece.Text)
				n++
			}
		}
	}
	return p.text
}

// add appends a text as far as there is room for it. A text that is cut ends
// the projection.
func (p *Projector) add(text []byte) {
	if len(text) == 0 {
		return
	}
	cut := transcript.CutBytes(text, p.room)
	if len(cut) > 0 {
		p.separate()
		p.text = append(p.text, cut...)
	}
	if p.room -= len(cut); len(cut) < len(text) {
		p.room = 0
	}
}

func (p *Projector) separate() {
	if len(p.text) > 0 {
		p.text = append(p.text, '\n')
	}
}

// copies is how many texts an echo is compared with whole, white space around
// them aside, before it is compared line by line. Usually the first one is its
// twin.
const copies = 4

// echo appends the lines of an echo that the projection does not hold, nothing
// if the echo is one of twins.
func (p *Projector) echo(text []byte, twins [][]byte) {
	text = bytes.TrimSpace(text)
	for _, twin := range twins {
		if bytes.Equal(twin, text) {
			return
		}
	}
	p.learn()
	start := len(p.text)
	for len(text) > 0 && p.room > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		bare := bytes.TrimSpace(line)
		if len(bare) == 0 || !p.lines.add(maphash.Bytes(p.seed, bare)) {
			continue
		}
		if start > 0 || len(p.text) > start {
			p.text = append(p.text, '\n')
		}
		cut := transcript.CutBytes(line, p.room)
		p.text = append(p.text, cut...)
		if p.room -= len(cut); len(cut) < len(line) {
			p.room = 0
		}
	}
	p.lined = len(p.text)
}

// learn enters the lines of the projection that are not in the table yet,
// each as it stands and without a line number in front.
func (p *Projector) learn() {
	rest := p.text[p.lined:]
	for len(rest) > 0 {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		p.lines.add(maphash.Bytes(p.seed, line))
		if bare := unnumbered(line); len(bare) > 0 && len(bare) < len(line) {
			p.lines.add(maphash.Bytes(p.seed, bare))
		}
	}
	p.lined = len(p.text)
}

// unnumbered returns a line without the number that a file listing puts in
// front of it ("12→" or "12" and a tab), and without the white space after it.
func unnumbered(line []byte) []byte {
	n := 0
	for n < len(line) && '0' <= line[n] && line[n] <= '9' {
		n++
	}
	if n == 0 {
		return line
	}
	rest := line[n:]
	switch {
	case bytes.HasPrefix(rest, []byte("→")):
		return bytes.TrimSpace(rest[len("→"):])
	case len(rest) > 0 && rest[0] == '\t':
		return bytes.TrimSpace(rest)
	}
	return line
}

// Body is what is indexed of pieces: their projection, with each word cut to
// 256 bytes, letters composed with their marks, and each run of CJK characters replaced by its overlapping pairs
// and then its last character; after it the parts of identifiers that are no
// words of the projection yet, up to 128 KiB of them.
func (p *Projector) Body(pieces []transcript.Piece) []byte {
	text := p.Text(pieces)
	body, cased := p.rewrite(text)
	if wide := func(w word) bool { return w.wide }; slices.ContainsFunc(p.words, wide) && isLoose(text) {
		p.composed = composed(p.composed, text)
		text = p.composed
		if body, cased = p.rewrite(text); body == &p.text {
			body = &p.composed
		}
	}
	if cased {
		*body = p.expand(*body, text)
	}
	return *body
}

// rewrite returns the buffer that holds text as it is indexed, which is that
// of text itself where nothing changes, and whether a word of it has a case
// boundary. It leaves the words in p.words.
func (p *Projector) rewrite(text []byte) (_ *[]byte, cased bool) {
	var glued bool
	p.words, glued = words(p.words[:0], text)
	body, done, end := p.body[:0], 0, 0
	for _, w := range p.words {
		if w.glued {
			body = append(append(body, text[done:end]...), ' ')
			done = w.start
		}
		end = w.end
		switch {
		case w.cjk:
			body = append(body, text[done:w.start]...)
			body = appendPairs(body, text[w.start:w.end])
			done = w.end
		case w.end-w.start > maxWord:
			body = append(body, text[done:w.start]...)
			body = append(body, w.bytes(text)...)
			done = w.end
		}
		cased = cased || w.cased
	}
	if glued {
		body = append(body, text[done:end]...)
		done = len(text)
	}
	if done == 0 {
		return &p.text, cased
	}
	p.body = append(body, text[done:]...)
	return &p.body, cased
}

// appendPairs appends a run of CJK characters as it is indexed, with spaces
// around it: 项目评审 as 项目 目评 评审 审.
func appendPairs(dst, run []byte) []byte {
	for i := 0; i < len(run); {
		_, n := utf8.DecodeRune(run[i:])
		_, m := utf8.DecodeRune(run[i+n:])
		dst = append(append(dst, ' '), run[i:i+n+m]...)
		i += n
	}
	return append(dst, ' ')
}
