package derive

import "hash/maphash"

// An expansion is the parts of identifiers that a body gains.
type expansion struct {
	parts []part
	index table // of the parts in lower case, numbered as in parts
	whole table // of the identifiers
	// sizes has for each first byte the lengths of the parts that begin with
	// it, a bit each modulo 64: most words are known not to be a part by it,
	// without a hash.
	sizes [256]uint64
	lower []byte
}

// A part is the first spelling of a part of an identifier; known marks one
// that is a word of the text by itself.
type part struct {
	text  []byte
	known bool
}

// expand appends to body the parts of the identifiers in text: each part that
// is no word of text in any case, once, in its first spelling, in the order of
// the text, until one does not fit.
func (p *Projector) expand(body, text []byte) []byte {
	x := &p.parts
	x.parts, x.sizes = x.parts[:0], [256]uint64{}
	x.index.reset()
	x.whole.reset()
	for _, w := range p.words {
		if !w.cased {
			continue
		}
		b := w.bytes(text)
		if !x.whole.add(maphash.Bytes(p.seed, b)) {
			continue
		}
		caseParts(b, func(spelling []byte) {
			x.lower = appendLower(x.lower[:0], spelling)
			if x.index.add(maphash.Bytes(p.seed, x.lower)) {
				x.sizes[x.lower[0]] |= 1 << (len(x.lower) % 64)
				x.parts = append(x.parts, part{text: spelling})
			}
		})
	}
	for _, w := range p.words {
		b := w.bytes(text)
		if !w.wide && x.sizes[lowerByte(b[0])]&(1<<(len(b)%64)) == 0 {
			continue
		}
		x.lower = appendLower(x.lower[:0], b)
		if k := x.index.find(maphash.Bytes(p.seed, x.lower)); k >= 0 {
			x.parts[k].known = true
		}
	}
	room := maxParts
	for _, part := range x.parts {
		if part.known {
			continue
		}
		if room -= len(part.text) + 1; room < 0 {
			break
		}
		body = append(append(body, '\n'), part.text...)
	}
	return body
}
