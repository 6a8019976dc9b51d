package redact

import (
	"cmp"
	"slices"
	"sync"
)

// The rules in the order of their precedence: of two that take out the same
// bytes the first counts, and of two that overlap the one that takes more.
const (
	rulePEM = iota
	ruleUserinfo
	ruleHeader
	rulePair
	ruleAssignment
	ruleFlag
	ruleJWT
	ruleGitHub
	ruleProvider
	ruleCommand
	ruleProse
	ruleEntropy
)

// The markers. What stood there is told by its shape where a rule knows it.
const (
	markPlain    = "[redacted]"
	markPEM      = "[redacted: a PEM private key block]"
	markUserinfo = "[redacted:connection-url-userinfo]"
	markFlag     = "[redacted:a-command-line-flag-value]"
	markJWT      = "[redacted:a-json-web-token]"
	markGitHub   = "[redacted:a-github-token]"
	markEntropy  = "[redacted:a-high-entropy-value]"
)

// An edit puts text in place of bytes of the source.
type edit struct {
	from, to int
	text     string
	rule     int
}

// A scanner finds what is to be taken out of a view.
type scanner struct {
	*view
	edits []edit
	floor int // names before it have been looked at
	// Up to where a kind of program has been read, and where a shape is known not
	// to fit.
	seen [programKinds]int
	none []int
}

// run fills edits: disjoint, in order.
func (s *scanner) run() {
	s.edits, s.none = s.fixed, make([]int, len(shapes))
	s.literals()
	s.runs()
	s.settle()
}

// literals finds every literal that a rule begins with, and lets the rule
// decide.
func (s *scanner) literals() {
	m := matcher()
	b, class, hot := s.b, &m.class, &m.bucket
	var h uint32
	for i := 0; i < len(b); i++ {
		// Most bytes are the end of no beginning of a literal: four at a time.
		for len(b)-i >= 4 {
			w := b[i : i+4 : i+4]
			h0 := h<<classBits | uint32(class[w[0]])
			h1 := h0<<classBits | uint32(class[w[1]])
			h2 := h1<<classBits | uint32(class[w[2]])
			h3 := h2<<classBits | uint32(class[w[3]])
			if hot[h0&gramMask]|hot[h1&gramMask]|hot[h2&gramMask]|hot[h3&gramMask] != 0 {
				break
			}
			h = h3
			i += 4
		}
		if i == len(b) {
			break
		}
		h = h<<classBits | uint32(class[b[i]])
		k := hot[h&gramMask]
		if k == 0 {
			continue
		}
		if next := s.look(m.buckets[k], i-(gram-1)); next > i+1 {
			i, h = next-1, 0
		}
	}
}

// look tries literals at at, and returns where to go on, 0 if that is the next
// byte.
func (s *scanner) look(bucket []literal, at int) int {
	for k := range bucket {
		if l := &bucket[k]; l.at(s.b, at) {
			if next := l.rule(s, at, l); next > at+gram {
				return next
			}
		}
	}
	return 0
}

// A literal is what a rule looks for before it looks closer. rule returns where
// to go on: at the earliest behind what it took out.
type literal struct {
	text  string // lower case where fold
	fold  bool
	rule  func(s *scanner, at int, l *literal) int
	shape *shape // of a provider's token
	kind  int    // of a program, and the index of a shape
}

func (l *literal) at(b []byte, i int) bool {
	if l.fold {
		return i >= 0 && hasFold(b[i:], l.text)
	}
	return i >= 0 && len(b)-i >= len(l.text) && string(b[i:i+len(l.text)]) == l.text
}

const (
	// gram is how many bytes of a literal are looked up: every literal has as
	// many.
	gram      = 3
	classBits = 5
	gramMask  = 1<<(gram*classBits) - 1
)

// A matcherTable finds literals by the classes of their first bytes.
type matcherTable struct {
	class   [256]uint8
	bucket  [gramMask + 1]uint8 // of those that begin with these classes, 0 if none do
	buckets [][]literal
}

// matcher is made when a text is first filtered: most processes filter none.
var matcher = sync.OnceValue(func() *matcherTable {
	m := &matcherTable{buckets: make([][]literal, 1)}
	for c := range m.class {
		b := lower(byte(c))
		switch {
		case b >= 'a' && b <= 'z':
			m.class[c] = b - 'a' + 1
		case b >= '0' && b <= '9':
			m.class[c] = 27
		case b == '_', b == '-', b == '.':
			m.class[c] = 28
		case b == ':':
			m.class[c] = 29
		case b == '/':
			m.class[c] = 30
		case b >= 0x80:
			m.class[c] = b & (1<<classBits - 1)
		}
	}
	for _, l := range literals() {
		h := uint32(0)
		for i := range gram {
			h = h<<classBits | uint32(m.class[l.text[i]])
		}
		if m.bucket[h] == 0 {
			m.bucket[h] = uint8(len(m.buckets))
			m.buckets = append(m.buckets, nil)
		}
		m.buckets[m.bucket[h]] = append(m.buckets[m.bucket[h]], l)
	}
	for _, bucket := range m.buckets {
		slices.SortStableFunc(bucket, func(a, b literal) int { return cmp.Compare(len(b.text), len(a.text)) })
	}
	return m
})

// literals are those of all rules.
func literals() []literal {
	all := []literal{
		{text: "[redacted", rule: (*scanner).skip},
		{text: ":AA", rule: (*scanner).telegram},
		{text: "begin ", fold: true, rule: (*scanner).pem},
		{text: "://", rule: (*scanner).userinfo},
		{text: "machine", fold: true, rule: (*scanner).netrc},
		{text: "bearer", fold: true, rule: (*scanner).scheme},
		{text: "basic", fold: true, rule: (*scanner).scheme},
	}
	for _, w := range secretWords {
		if w == "bearer" {
			continue // scheme tries it as a name first
		}
		all = append(all, literal{text: w, fold: true, rule: (*scanner).name})
	}
	for _, w := range foreignWords {
		all = append(all, literal{text: w, fold: true, rule: (*scanner).foreign})
	}
	for i := range shapes {
		for _, text := range shapes[i].prefixes {
			all = append(all, literal{text: text, fold: shapes[i].fold, rule: (*scanner).provider, shape: &shapes[i], kind: i})
		}
	}
	for kind, names := range programs {
		for _, name := range names {
			all = append(all, literal{text: name, rule: (*scanner).program, kind: kind})
		}
	}
	return all
}

// skip goes over a marker.
func (s *scanner) skip(at int, _ *literal) int { return at + marker(s.b[at:]) }

// take replaces the view's bytes from from to to. It stays inside the strings
// of a record: where a span crosses elements of an array, the first holds the
// marker and the others nothing.
func (s *scanner) take(from, to int, mark string, rule int) {
	if from >= to {
		return
	}
	for p := s.part(from); from < to; p = s.part(from) {
		if end := min(to, p.end); from < end {
			a, _ := s.source(from)
			_, b := s.source(end - 1)
			s.edits = append(s.edits, edit{a, b, mark, rule})
			mark = ""
		}
		if from = p.end + 1; from >= len(s.b) {
			return
		}
	}
}

// settle orders the edits and makes them disjoint.
func (s *scanner) settle() {
	slices.SortStableFunc(s.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.rule, b.rule))
	})
	out := s.edits[:0]
	for _, e := range s.edits {
		if n := len(out); n > 0 && e.from < out[n-1].to {
			last := &out[n-1]
			if e.to > last.to {
				last.to = e.to
				if e.rule < last.rule {
					last.rule, last.text = e.rule, e.text
				}
			}
			continue
		}
		out = append(out, e)
	}
	s.edits = out
}

// apply returns src with the edits made.
func (s *scanner) apply(src []byte) []byte {
	size := len(src)
	for _, e := range s.edits {
		size += len(e.text)
	}
	out := make([]byte, 0, size)
	done := 0
	for _, e := range s.edits {
		out = append(out, src[done:e.from]...)
		out = append(out, e.text...)
		done = e.to
	}
	return append(out, src[done:]...)
}
