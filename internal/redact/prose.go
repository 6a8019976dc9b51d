package redact

import "bytes"

const (
	// minSpaced is the length from which on a word behind a spaced sign is a
	// value, and no piece of code: shorter secrets of this form are passwords,
	// which have a rule of their own.
	minSpaced = 16
	// minPassword is the length of the shortest password that is told from a
	// word.
	minPassword = 4
	// maxQuoted bounds a secret in quotes.
	maxQuoted = 256
	// minProse and minProseToken are the lengths from which on a word behind
	// "password is" and "token is" may be one.
	minProse, minProseToken = 5, 12
)

// Ends of names: of those whose value is chosen by people, and of those whose
// value is made by machines.
var (
	passwordEnds = []string{"password", "passwd", "passphrase", "passwort", "kennwort", "senha", "pwd"}
	tokenEnds    = []string{
		"token", "secret", "apikey", "api_key", "api-key", "accesskey", "access_key", "access-key", "secretkey",
		"secret_key", "secret-key", "privatekey", "private_key", "private-key", "encryptionkey", "encryption_key",
		"authorization", "credential", "credentials", "signing_key", "signingkey", "auth_key", "authkey", "api key",
		"access key", "secret key",
	}
)

func endsAny(name []byte, ends []string) bool {
	for _, e := range ends {
		if n := len(name) - len(e); n >= 0 && hasFold(name[n:], e) {
			return true
		}
	}
	return false
}

// spaced takes out the value behind a name and a sign that stands apart:
// `name = value`, `name := value`, `name => value`, `name : value`.
func (s *scanner) spaced(name []byte, hi int) int {
	p := s.over(hi, isBlank)
	rest := s.b[min(p, len(s.b)):]
	sign := 0
	for _, op := range []string{":=", "=>", "：", "==", "=~", "::", "=", ":"} {
		if bytes.HasPrefix(rest, []byte(op)) {
			sign = len(op)
			if op == "==" || op == "=~" || op == "::" {
				return hi
			}
			break
		}
	}
	if sign == 0 {
		return hi
	}
	p = s.over(p+sign, isBlank)
	if s.ends(p) || !endsAny(name, passwordEnds) && !endsAny(name, tokenEnds) {
		return hi
	}
	password := endsAny(name, passwordEnds)
	if s.opens(p) {
		end := s.quotedHere(p)
		if end < 0 {
			return hi
		}
		if v := s.b[p+1 : end]; !harmless(v) && quotedSecret(v, password) {
			s.take(p+1, end, markPlain, ruleAssignment)
		}
		return end + 1
	}
	end := s.word(p)
	for end > p && bytes.IndexByte([]byte(";,)"), s.b[end-1]) >= 0 {
		end--
	}
	if v := s.b[p:end]; !harmless(v) && bareSecret(v, password) {
		s.take(p, end, markPlain, ruleAssignment)
	}
	return end
}

// quotedSecret reports whether a string in quotes is a secret, given that its
// name is that of one.
func quotedSecret(v []byte, password bool) bool {
	switch {
	case len(v) < minPassword || len(v) > maxQuoted:
		return false
	case password:
		return mix(v)&isSpace == 0
	case mix(v)&isSpace != 0 || len(v) < 2*minPassword:
		return false
	}
	return all(v, isDigit, isLetter) || len(v) >= minSpaced && all(v, isUpper, isLower) && entropy(v) >= 3.5
}

// bareSecret is quotedSecret for a word that stands without quotes, where code
// would stand as well.
func bareSecret(v []byte, password bool) bool {
	if bytes.ContainsAny(v, "()[]{}<>|") || len(v) > maxQuoted {
		return false
	}
	if password {
		return len(v) >= minPassword && symbolic(v) && mix(v)&isDot == 0
	}
	return len(v) >= minSpaced && all(v, isDigit, isLetter) && mix(v)&^(isWord|isPlus) == 0 && entropy(v) >= 3.2
}

// symbolic reports whether v has a digit, or a sign that passwords have and
// words do not.
func symbolic(v []byte) bool {
	return mix(v)&isDigit != 0 || bytes.ContainsAny(v, "!@#$%^&*+=~?")
}

// verbs stand between a secret and its value in a sentence.
var verbs = []string{"is", "was", "are", "to", "ist", "es", "é"}

// prose takes out a secret that a sentence states: "the admin password is ...".
// It ends at the first blank.
func (s *scanner) prose(name []byte, hi int) int {
	password := endsAny(name, passwordEnds)
	if endsAny(name, []string{"key"}) && s.precededBy(hi, "api", "access", "secret", "private") {
		name = []byte("api key")
	}
	if !password && !endsAny(name, tokenEnds) {
		return hi
	}
	p := s.over(hi, isBlank)
	verb := false
	for range 3 { // "for root is", "was set to"
		end := s.over(p, isAlnum)
		w := s.b[p:end]
		next := s.over(end, isBlank)
		switch {
		case isAny(w, verbs):
			verb = true
		case isAny(w, []string{"for", "of"}):
			next = s.over(s.over(next, isName), isBlank)
		case verb && isAny(w, []string{"set", "now", "still", "just"}), isAny(w, []string{"set", "changed"}):
		default:
			next = p
		}
		if next == p || next == end {
			break
		}
		p = next
	}
	if s.ends(p) || p == hi {
		return hi
	}
	if s.quote(p) || s.b[p] == '`' {
		return s.proseQuoted(p, hi, password, verb)
	}
	if !verb {
		return hi
	}
	end := s.word(p)
	for end > p && bytes.IndexByte([]byte(".,;:)?"), s.b[end-1]) >= 0 {
		end--
	}
	if v := s.b[p:end]; !harmless(v) && proseSecret(v, password) {
		s.take(p, end, markPlain, ruleProse)
		return end
	}
	return hi
}

// proseQuoted is prose for a value in quotes at p.
func (s *scanner) proseQuoted(p, hi int, password, verb bool) int {
	end := s.quotedHere(p)
	if end < 0 || end-p > maxQuoted {
		return hi
	}
	v := s.b[p+1 : end]
	if harmless(v) || mix(v)&isSpace != 0 {
		return hi
	}
	if password && verb && len(v) >= minPassword || proseSecret(v, password) {
		s.take(p+1, end, markPlain, ruleProse)
		return end
	}
	return hi
}

// precededBy reports whether the word that ends at hi follows one of words.
func (s *scanner) precededBy(hi int, words ...string) bool {
	start := s.back(hi, 0, isWord)
	end := s.back(start, 0, isBlank)
	return end < start && endsAny(s.b[max(0, end-maxNameLen):end], words)
}

// formats are words with digits that say how a secret is kept, not which.
var formats = []string{"base64", "base32", "sha", "md5", "utf", "argon2", "pbkdf2", "oauth2", "http", "x509", "rfc", "aes", "ed25519", "p256", "rs256", "hs256", "es256", "v1", "v2", "v3", "uuid"}

// proseSecret reports whether a word of a sentence is a secret, and no word.
func proseSecret(v []byte, password bool) bool {
	for _, f := range formats {
		if hasFold(v, f) {
			return false
		}
	}
	if bytes.ContainsAny(v, "/()[]{}<>|") {
		return false
	}
	if at := bytes.IndexByte(v, '@'); at > 0 && bytes.IndexByte(v[at:], '.') > 0 {
		return false // an address
	}
	if password {
		return len(v) >= minProse && symbolic(v) && !bytes.HasPrefix(v, []byte("--"))
	}
	return len(v) >= minProseToken && all(v, isDigit, isLetter) && mix(v)&isDot == 0
}

// foreign takes out what follows a word of foreignWords and a sign.
func (s *scanner) foreign(at int, l *literal) int {
	p := s.over(at+len(l.text), isBlank)
	switch {
	case s.ends(p):
		return p
	case s.b[p] == ':' || s.b[p] == '=':
		p++
	case bytes.HasPrefix(s.b[p:], []byte("：")):
		p += len("：")
	default:
		return p
	}
	p = s.over(p, isBlank)
	if s.ends(p) {
		return p
	}
	v, next := s.value(p)
	if b := s.bytes(v); len(b) >= minPassword && !harmless(b) && symbolic(b) {
		s.take(v.from, v.to, markPlain, ruleAssignment)
	}
	return next
}
