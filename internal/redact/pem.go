package redact

import (
	"bytes"
	"encoding/base64"
)

const (
	fence = "-----"
	// maxLabel bounds the words between the fences of a PEM block.
	maxLabel = 64
)

// pem takes out a private key block, from the fence before BEGIN at at to the
// one behind END, or to the end of the text. The block may be indented, and
// its lines may be elements of an array.
func (s *scanner) pem(at int, l *literal) int {
	from := at - len(fence)
	if from < 0 || string(s.b[from:at]) != fence {
		return at
	}
	label := at + len(l.text)
	k := bytes.Index(s.b[label:min(len(s.b), label+maxLabel)], []byte(fence))
	if k < 0 || !bytes.Contains(bytes.ToUpper(s.b[label:label+k]), []byte("PRIVATE KEY")) ||
		mix(s.b[label:label+k])&isLine != 0 {
		return at
	}
	body := label + k + len(fence)
	end := s.rest(body)
	if k := bytes.Index(s.b[body:end], []byte(fence+"END ")); k >= 0 {
		tail := body + k + len(fence+"END ")
		if k := bytes.Index(s.b[tail:end], []byte(fence)); k >= 0 {
			end = tail + k + len(fence)
		}
	}
	s.take(from, end, markPEM, rulePEM)
	return end
}

// userinfo takes out what stands before the @ of the address behind the :// at
// at: up to the last one before the host ends.
func (s *scanner) userinfo(at int, l *literal) int {
	from := at + len(l.text)
	end, last := from, -1
	for ; end < len(s.b); end++ {
		c := s.b[end]
		if c == '@' {
			last = end
		}
		if class[c]&(isSpace|isQuote) != 0 || c == '/' || c == '?' || c == '#' || c == '\\' || c == '<' || c == '>' {
			break
		}
		if n := marker(s.b[end:]); n > 0 {
			end += n - 1
		}
	}
	if last > from && !harmless(s.b[from:last]) {
		s.take(from, last, markUserinfo, ruleUserinfo)
		return last
	}
	return from
}

const (
	// minScheme is the shortest credential behind the name of a scheme in
	// running text.
	minScheme = 16
	// minBasic is that of Basic, which can be decoded.
	minBasic = 8
)

// scheme takes out the credential behind "Bearer" or "Basic", wherever they
// stand. The words are also names, and tried as such first.
func (s *scanner) scheme(at int, l *literal) int {
	if l.text == "bearer" {
		if next := s.name(at, l); next > at+len(l.text) {
			return next
		}
	}
	p := at + len(l.text)
	from := s.over(p, isBlank)
	if from == p || s.is(at-1, isAlnum) {
		return p
	}
	end := s.over(from, isName|isPlus)
	v := s.b[from:end]
	if len(v) > 0 && v[0] == '.' {
		return p
	}
	switch l.text {
	case "bearer":
		if len(v) < minScheme || !all(v, isDigit|isUpper|isPlus) || mix(v)&isDigit == 0 && entropy(v) < 3.5 {
			return p
		}
	default:
		plain, err := base64.StdEncoding.DecodeString(string(v))
		if len(v) < minBasic || err != nil || bytes.IndexByte(plain, ':') < 1 || bytes.ContainsAny(plain, "\x00\x01\x02") {
			return p
		}
	}
	s.take(from, end, markPlain, ruleProvider)
	return end
}
