package redact

import "bytes"

const (
	// minRun and maxRun bound a value that its looks alone give away: shorter
	// ones cannot reach minEntropy, and longer ones are data.
	minRun, maxRun = 20, 256
	// minAlone is the least length of one that nothing but its line is said of.
	minAlone = 28
	// minEntropy is what random base64 of minRun characters and more has, and a
	// long identifier has not, in bits a byte.
	minEntropy = 4.5
	// minKey is the least number of letters of a name.
	minKey = 3
)

// inRun are the bytes of a value that looks random.
var inRun = func() (is [256]bool) {
	for c := range is {
		is[c] = class[c]&isWord != 0 || c == '+' || c == '/'
	}
	return is
}()

// harmlessKeys are in the names of random values that are no secrets: hashes,
// ids, and data.
var harmlessKeys = []string{
	"hash", "sha", "md5", "digest", "checksum", "integrity", "etag", "commit", "revision", "uuid", "guid", "signature",
	"fingerprint", "nonce", "cursor", "path", "file", "dir", "url", "uri", "src", "href", "image", "data", "blob", "thumb",
	"version", "name", "model", "class", "font", "icon", "cache", "trace", "span", "request", "parent", "session",
	"public", "cert", "encrypted", "thought", "route", "type", "title", "import", "module", "package", "branch", "tool",
}

// runs finds values that look random where a secret would stand: behind the
// sign of an assignment, or alone on a line.
func (s *scanner) runs() {
	b := s.b
	for i := minRun - 1; i < len(b); {
		if !inRun[b[i]] {
			i += minRun
			continue
		}
		lo, hi := i, i+1
		for lo > 0 && inRun[b[lo-1]] {
			lo--
		}
		for hi < len(b) && inRun[b[hi]] {
			hi++
		}
		if n := hi - lo; n >= minRun && n <= maxRun && random(b[lo:hi]) {
			s.random(lo, hi)
		}
		i = hi + minRun
	}
}

// random reports whether a run looks random.
func random(v []byte) bool {
	if !all(v, isLower, isUpper, isDigit) || v[0] == '/' || v[0] == '-' || entropy(v) < minEntropy {
		return false
	}
	slashed := bytes.IndexByte(v, '/') >= 0
	for _, part := range bytes.FieldsFunc(v, func(r rune) bool { return r == '/' || r == '_' || r == '-' }) {
		if len(part) >= 4 && mix(part)&^isLower == 0 || slashed && len(part) > 2 && camel(part) {
			return false // a path, or words
		}
	}
	return !ordered(v) && !wordy(v)
}

// ordered reports whether v is made of stretches of an alphabet.
func ordered(v []byte) bool {
	n := 0
	for i := 1; i < len(v); i++ {
		if v[i] == v[i-1]+1 {
			n++
		}
	}
	return 3*n > len(v)
}

// wordy reports whether a third of v and more are words of minWord letters and
// more: a long identifier. Of random characters a tenth are.
func wordy(v []byte) bool {
	const minWord = 4
	words, run := 0, 0
	for _, c := range append(v[:len(v):len(v)], 0) {
		if class[c]&isLower != 0 {
			run++
			continue
		}
		if run >= minWord {
			words += run
		}
		run = 0
	}
	return 3*words > len(v)
}

// camel reports whether a part of a path is a word with one capital at most.
func camel(v []byte) bool { return mix(v[1:])&^isLower == 0 }

// random takes out the run from lo to hi if it stands where a secret would.
func (s *scanner) random(lo, hi int) {
	end := hi
	for end < min(hi+2, len(s.b)) && s.b[end] == '=' {
		end++
	}
	p := s.part(lo)
	switch {
	case p.isString && p.at == lo && p.end == end:
		if !s.randomField(p, hi-lo) {
			return
		}
	case s.assigned(lo, end), hi-lo >= minAlone && s.alone(lo, end):
	default:
		return
	}
	s.take(lo, end, markEntropy, ruleEntropy)
}

// randomField reports whether a string of a record may be a secret, of which
// nothing but its field's name is known.
func (s *scanner) randomField(p *part, n int) bool {
	if p.key.from == p.key.to {
		return n >= minAlone
	}
	return !harmlessKey(s.fields[p.key.from:p.key.to])
}

// harmlessKey reports whether name is that of a random value that is no secret,
// or too short to be a name.
func harmlessKey(name []byte) bool {
	letters := 0
	for _, c := range name {
		if class[c]&isLetter != 0 {
			letters++
		}
	}
	if letters < minKey || endsAny(name, []string{"_id", "-id", "ids"}) || isAny(name, []string{"uid", "sid", "rid"}) ||
		bytes.HasSuffix(name, []byte("Id")) || bytes.HasSuffix(name, []byte("ID")) {
		return true
	}
	for i := range name {
		for _, k := range harmlessKeys {
			if lower(name[i]) == k[0] && hasFold(name[i:], k) {
				return true
			}
		}
	}
	return false
}

// assigned reports whether what stands from lo to hi is a value behind a name
// and a sign.
func (s *scanner) assigned(lo, hi int) bool {
	if !s.ends(hi) && !s.is(hi, isSpace|isQuote) && bytes.IndexByte([]byte(",;)}]&"), s.b[hi]) < 0 {
		return false
	}
	p := lo
	if s.is(p-1, isQuote) {
		p--
	}
	p = s.back(p, max(0, p-maxGap), isBlank)
	switch {
	case p < 2:
		return false
	case s.b[p-1] == '=' && s.b[p-2] == ':', s.b[p-1] == '>' && s.b[p-2] == '=':
		p -= 2
	case s.b[p-1] == '=' && s.b[p-2] != '=', s.b[p-1] == ':' && s.b[p-2] != ':':
		p--
	default:
		return false
	}
	p = s.back(p, max(0, p-maxGap), isBlank)
	if s.is(p-1, isQuote) {
		p--
	}
	return !harmlessKey(s.b[s.back(p, max(0, p-maxNameLen), isName):p])
}

// alone reports whether what stands from lo to hi is the only thing on its
// line, and no line of a longer block.
func (s *scanner) alone(lo, hi int) bool {
	start := s.back(lo, max(0, lo-maxGap), isBlank)
	stop := min(s.over(hi, isBlank), len(s.b))
	if start > 0 && !s.is(start-1, isLine) || stop < len(s.b) && !s.is(stop, isLine) {
		return false
	}
	before := start
	for before > 0 && s.b[before-1] != brk && s.is(before-1, isSpace) {
		before--
	}
	if bytes.HasSuffix(s.b[:before], []byte(fence)) {
		return false // a block that is public: the others are taken out
	}
	above := before
	for above > max(0, before-minAlone) && inRun[s.b[above-1]] {
		above--
	}
	below := stop
	for !s.ends(below) && s.is(below, isSpace) {
		below++
	}
	n := 0
	for n < minAlone && below+n < len(s.b) && inRun[s.b[below+n]] {
		n++
	}
	return before-above < minAlone && n < minAlone
}
