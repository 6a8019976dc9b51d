package redact

import "bytes"

// secretWords make a name that has one of them, in any case, the name of a
// secret. That a few other names have one as well (monkey) is accepted: what is
// lost is shown by --raw.
var secretWords = []string{
	"token", "password", "passwd", "secret", "key", "api", "bearer", "cookie", "authorization", "passphrase", "pwd",
	"passwort", "kennwort", "credential", "senha",
}

// foreignWords stand for a password or a key in scripts whose words the rules
// do not part. A sign has to follow.
var foreignWords = []string{
	"contraseña", "contrasena", "пароль", "Пароль", "токен", "密码", "密碼", "口令", "密钥", "令牌", "パスワード", "비밀번호", "암호",
}

// secretStart are the bytes that secretWords begin with.
var secretStart = func() (is [256]bool) {
	for _, w := range secretWords {
		is[w[0]], is[w[0]&^0x20] = true, true
	}
	return is
}()

// maxNameLen bounds a name that stands in quotes, in bytes.
const maxNameLen = 64

// secretName reports whether name is that of a secret.
func secretName(name []byte) bool {
	if len(name) > 4*maxNameLen {
		name = name[len(name)-4*maxNameLen:]
	}
	for i := range name {
		if !secretStart[name[i]] {
			continue
		}
		for _, w := range secretWords {
			if lower(name[i]) == w[0] && hasFold(name[i:], w) {
				return w != "pwd" || !isAny(name, []string{"pwd", "oldpwd"})
			}
		}
	}
	return false
}

// name looks at the name that has a secret word at at, and takes out its value.
func (s *scanner) name(at int, l *literal) int {
	lo, hi := s.back(at, s.floor, isName), s.over(at+len(l.text), isName)
	s.floor = hi
	if s.ends(hi) {
		return hi
	}
	name := s.b[lo:hi]
	switch c := s.b[hi]; {
	case c == '=':
		return s.assignment(name, hi)
	case c == ':':
		return s.header(lo, hi)
	case c == '>':
		return s.element(lo, hi)
	case c == '"', c == '\'':
		return s.pair(lo, hi)
	case class[c]&isBlank != 0:
		if next := s.pair(lo, hi); next > hi {
			return next
		}
		if isFlag(name) {
			return s.flagValue(hi)
		}
		if next := s.spaced(name, hi); next > hi {
			return next
		}
		return s.prose(name, hi)
	case c == '\n' && s.joint(hi) && isFlag(name):
		return s.flagValue(hi)
	case bytes.HasPrefix(s.b[hi:], []byte("：")):
		return s.spaced(name, hi)
	}
	return hi
}

// assignment takes out what follows name and its equals sign. A value in quotes
// goes with them, to the end of the text where they are not closed.
func (s *scanner) assignment(name []byte, hi int) int {
	p := hi + 1
	if s.ends(p) || bytes.IndexByte([]byte("=>~"), s.b[p]) >= 0 {
		return p
	}
	if s.opens(p) {
		end, next := s.quoted(p), 0
		switch {
		case end < 0:
			end = s.rest(p + 1)
			next = end
		case s.depth(end) < s.depth(p): // the end of what the text stands in
			next = end
		default:
			next = end + 1
		}
		if !harmless(s.b[p+1:end]) && !s.workDir(name, p+1) {
			s.take(p, next, markPlain, ruleAssignment)
		}
		return next
	}
	v := span{p, s.word(p)}
	if b := s.bytes(v); !harmless(b) && !echo(name, b) && !s.workDir(name, p) {
		s.take(v.from, v.to, markPlain, ruleAssignment)
	}
	return v.to
}

// echo reports whether a value is its own name: `token: token,`.
func echo(name, v []byte) bool {
	return bytes.EqualFold(bytes.Trim(v, ";,)"), name)
}

// code reports whether an unquoted value is a call or a literal of a program:
// a word without digits, and a bracket directly behind it.
func code(v []byte) bool {
	v = bytes.TrimLeft(v, "&*![]")
	for i, c := range v {
		switch {
		case c == '(' || c == '{' || c == '[':
			return i > 0
		case class[c]&(isLetter|isDot) == 0 && c != '_' && c != '*':
			return false
		}
	}
	return false
}

// workDir reports whether name is short for the working directory.
func (s *scanner) workDir(name []byte, value int) bool {
	return (isAny(name, []string{"pwd", "oldpwd"}) || bytes.HasSuffix(name, []byte(".pwd"))) &&
		value < len(s.b) && bytes.IndexByte([]byte("/~.$"), s.b[value]) >= 0
}

// header takes out what follows a name and its colon on the line. The name is
// what stands directly before the colon, dots excluded.
func (s *scanner) header(lo, hi int) int {
	from := s.back(hi, lo, isWord)
	name := s.b[from:hi]
	p := hi + 1
	switch {
	case s.ends(p), !secretName(name), s.b[p] == ':', bytes.HasPrefix(s.b[p:], []byte("//")):
		return p
	case s.b[p] == '=':
		return max(s.spaced(name, hi), p)
	case lo > 1 && s.b[lo-1] == '/' && s.b[lo-2] == '/' && s.is(p, isDigit): // a host and its port
		return p
	}
	v := s.over(p, isBlank)
	if s.ends(v) || s.is(v, isLine) {
		return v
	}
	var val span
	var next int
	if rest := s.wholeLine(name, v); rest > v {
		val, next = span{v, rest}, rest
	} else if val, next = s.value(v); isAny(s.bytes(val), schemes) {
		if p := s.over(val.to, isBlank); p > val.to && val.to == next {
			cred := s.word(p)
			if cred == p || harmless(s.b[p:cred]) {
				return cred
			}
			val.to, next = cred, cred
		} else {
			return next
		}
	}
	if b := s.bytes(val); harmless(b) || echo(name, b) || s.workDir(name, val.from) ||
		!s.quote(v) && (isAny(b, plainWords) || !endsAny(name, passwordEnds) && code(b)) {
		return next
	}
	mark := markPlain
	switch { // one space stands before it
	case v == p && val.from == v:
		mark = " " + mark
	case v == p:
		at, _ := s.source(v)
		s.edits = append(s.edits, edit{at, at, " ", ruleHeader})
	case v > p+1 || s.b[p] != ' ':
		s.take(p, v, " ", ruleHeader)
	}
	s.take(val.from, val.to, mark, ruleHeader)
	return next
}

var (
	// schemes stand before the credentials of a header.
	schemes = []string{"bearer", "basic", "digest", "token", "negotiate", "ntlm"}
	// listSchemes are those whose credentials are a list of parameters.
	listSchemes = []string{"digest ", "oauth ", "hawk ", "signature ", "aws4-"}
	cookies     = []string{"cookie", "set-cookie", "cookie2"}
)

// wholeLine returns the end of the value at p where that is the rest of the
// line, or of the string that the header stands in; 0 where it is one word.
func (s *scanner) wholeLine(name []byte, p int) int {
	if s.opens(p) || marker(s.b[p:]) > 0 {
		return 0
	}
	switch {
	case isAny(name, cookies):
	case hasFold(name[max(0, len(name)-len("authorization")):], "authorization"):
		listed := false
		for _, scheme := range listSchemes {
			listed = listed || hasFold(s.b[p:], scheme)
		}
		if !listed {
			return 0
		}
	default:
		return 0
	}
	end := p
	for open := false; end < len(s.b) && !s.is(end, isLine); end++ {
		if c := s.b[end]; c == '"' || c == '\'' {
			if !open && s.b[end-1] != '=' {
				break
			}
			open = !open
		}
	}
	return s.back(end, p, isBlank)
}

// plainWords follow a name in prose, where no value does.
var plainWords = []string{
	"a", "an", "and", "are", "as", "at", "be", "by", "can", "could", "for", "from", "has", "have", "how", "if", "in", "is",
	"it", "its", "may", "must", "need", "needs", "no", "not", "of", "on", "only", "or", "see", "should", "so", "that",
	"the", "then", "there", "these", "this", "to", "use", "was", "we", "what", "when", "where", "which", "who", "why",
	"will", "with", "without", "you", "your", "argument", "arguments", "flag", "flags", "option", "options",
}

// pair takes out the value that follows a name in quotes: `"name": "value"`,
// and what programming languages write in its place.
func (s *scanner) pair(lo, hi int) int {
	closed := hi
	for closed < len(s.b) && closed-hi <= maxNameLen && class[s.b[closed]]&(isQuote|isLine) == 0 {
		closed++
	}
	if !s.quote(closed) || class[s.b[closed]]&isQuote == 0 {
		return hi
	}
	open := lo
	for open > 0 && lo-open <= maxNameLen && class[s.b[open-1]]&(isQuote|isLine) == 0 {
		open--
	}
	q := s.b[closed]
	if open--; open < 0 || s.b[open] != q || s.depth(open) != s.depth(closed) {
		return hi
	}
	p, mark, rule := s.sign(closed+1), markPlain, rulePair
	if p < 0 {
		p = s.comma(closed + 1)
		switch {
		case p < 0:
			return hi
		case isFlag(s.b[open+1 : closed]):
			mark, rule = markFlag, ruleFlag
		default:
			if p = s.valueField(p); p < 0 {
				return hi
			}
		}
	}
	if !s.quote(p) || s.depth(p) != s.depth(open) {
		return hi
	}
	end := s.quoted(p)
	if end < 0 {
		return hi
	}
	if !harmless(s.b[p+1 : end]) {
		s.take(p+1, end, mark, rule)
	}
	if s.depth(end) < s.depth(p) {
		return end
	}
	return end + 1
}

// sign returns where the value begins behind a name in quotes that ends at p:
// behind a colon, an arrow or an equals sign. -1: there is no sign.
func (s *scanner) sign(p int) int {
	p = s.over(p, isBlank)
	if p < len(s.b) && s.b[p] == ']' {
		p = s.over(p+1, isBlank)
	}
	switch {
	case p >= len(s.b):
		return -1
	case s.b[p] == ':':
		p++
	case s.b[p] == '=' && p+1 < len(s.b) && s.b[p+1] == '>':
		p += 2
	case s.b[p] == '=' && p+1 < len(s.b) && s.b[p+1] != '=':
		p++
	default:
		return -1
	}
	return s.gap(p)
}

// comma is sign for the next element of a list.
func (s *scanner) comma(p int) int {
	if p = s.over(p, isBlank); p >= len(s.b) || s.b[p] != ',' {
		return -1
	}
	return s.gap(p + 1)
}

// valueField returns where the value begins in `"value": "..."` at p, -1 if
// there is none.
func (s *scanner) valueField(p int) int {
	if !s.quote(p) || !hasFold(s.b[p+1:], "value") || !s.quote(p+1+len("value")) {
		return -1
	}
	return s.sign(p + len("'value'"))
}

// maxGap is how far a value may stand from its sign: an indented line.
const maxGap = 64

// gap returns the first place from p on that is no white space.
func (s *scanner) gap(p int) int {
	for end := p + maxGap; p < min(end, len(s.b)) && s.b[p] != brk && class[s.b[p]]&isSpace != 0; {
		p++
	}
	return p
}

// element takes out the text of an XML element, `<name>value</name>`.
func (s *scanner) element(lo, hi int) int {
	if lo == 0 || s.b[lo-1] != '<' {
		return hi
	}
	end := hi + 1
	for end < len(s.b) && s.b[end] != '<' && !s.is(end, isLine) {
		end++
	}
	if bytes.HasPrefix(s.b[min(end, len(s.b)):], []byte("</")) && !harmless(s.b[hi+1:end]) {
		s.take(hi+1, end, markPlain, rulePair)
	}
	return end
}

// isFlag reports whether name is a flag whose value is a secret: not where the
// value only says where to find it.
func isFlag(name []byte) bool {
	if len(name) < 3 || name[0] != '-' || len(name) > maxNameLen || !secretName(name) {
		return false
	}
	for _, tail := range []string{"file", "path", "dir", "stdin", "url", "env", "fd"} {
		if n := len(name) - len(tail); n > 0 && hasFold(name[n:], tail) {
			return false
		}
	}
	return mix(name)&^isWord == 0
}

// flagValue takes out the value behind a flag that ends at hi.
func (s *scanner) flagValue(hi int) int {
	p := s.over(hi, isBlank)
	if p == hi {
		p++ // the next element of an array
	}
	if s.ends(p) || s.b[p] == '-' {
		return p
	}
	quoted := s.quote(p)
	v, next := s.value(p)
	if b := s.bytes(v); !harmless(b) && (quoted || !isAny(b, plainWords)) {
		s.take(v.from, v.to, markFlag, ruleFlag)
	}
	return next
}
