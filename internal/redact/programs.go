package redact

import "bytes"

// The kinds of programs, by how they take a secret as an argument.
const (
	attached     = iota // -pSECRET
	separate            // -p SECRET, or -pSECRET
	login               // the same behind the word login
	userColon           // -u user:SECRET
	userSign            // -U user%SECRET
	shortA              // -a SECRET
	shortW              // -w SECRET
	upperP              // -P SECRET
	passPhrase          // pass:SECRET
	programKinds        // how many there are
)

var programs = [programKinds][]string{
	attached:   {"mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump"},
	separate:   {"sshpass", "mongo", "mongosh", "mongodump", "mongorestore"},
	login:      {"docker", "podman", "buildah", "skopeo", "nerdctl", "oras", "helm"},
	userColon:  {"curl"},
	userSign:   {"smbclient", "rpcclient"},
	shortA:     {"redis-cli", "valkey-cli"},
	shortW:     {"ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami"},
	upperP:     {"zip", "unzip", "sqlcmd"},
	passPhrase: {"openssl"},
}

// program takes the secrets out of the arguments of the program whose name
// stands at at: up to the end of the line, or of the command.
func (s *scanner) program(at int, l *literal) int {
	name := at + len(l.text)
	if at < s.seen[l.kind] || s.is(at-1, isWord) || !s.is(name, isBlank) && !s.joint(name) {
		return at
	}
	p, flag, glued, logged := name, span{}, false, l.kind != login
	for {
		for s.is(p, isBlank) || p < len(s.b) && s.b[p] == '\n' && s.joint(p) {
			p++
		}
		if bytes.HasPrefix(s.b[p:], []byte("\\\n")) {
			p += len("\\\n")
			continue
		}
		if s.ends(p) || s.is(p, isLine) || bytes.IndexByte([]byte("|;&<>"), s.b[p]) >= 0 {
			break
		}
		quoted := s.quote(p)
		arg, next := s.value(p)
		if next == p {
			break // a backslash, or a quote of another kind
		}
		if p = next; logged {
			s.argument(l.kind, flag, arg, glued)
		}
		logged = logged || string(s.bytes(arg)) == "login"
		// A quote right behind a word belongs to it where the word is a flag, and
		// else to the string that the whole command stands in.
		flag, glued = arg, !quoted && s.quote(p)
		if b := s.bytes(arg); glued && (len(b) == 0 || b[0] != '-') {
			break
		}
	}
	s.seen[l.kind] = p
	return name
}

// argument takes the secret out of an argument, which follows flag: glued to it
// if it stands in quotes right behind it.
func (s *scanner) argument(kind int, before, arg span, glued bool) {
	b, flag := s.bytes(arg), bytes.TrimSuffix(s.bytes(before), []byte("="))
	secret := span{}
	short := map[int]string{attached: "-p", separate: "-p", login: "-p", shortA: "-a", shortW: "-w", upperP: "-P"}[kind]
	switch kind {
	case userColon, userSign:
		sep := map[int]byte{userColon: ':', userSign: '%'}[kind]
		from := arg.from
		switch {
		case isAny(flag, []string{"-u", "--user", "--proxy-user"}):
		case hasFold(b, "--user=") || hasFold(b, "--proxy-user="):
			from += bytes.IndexByte(b, '=') + 1
		case hasFold(b, "-u") && len(b) > 2:
			from += 2
		default:
			return
		}
		if k := bytes.IndexByte(s.b[from:arg.to], sep); k >= 0 {
			secret = span{from + k + 1, arg.to}
		}
	case passPhrase:
		if hasFold(b, "pass:") {
			secret = span{arg.from + len("pass:"), arg.to}
		}
	default:
		switch {
		case string(flag) == short && (kind != attached || glued) && len(b) > 0 && b[0] != '-':
			secret = arg
		case len(b) > 2 && string(b[:2]) == short && (kind == attached || kind == separate || kind == login):
			secret = span{arg.from + 2, arg.to}
		}
	}
	if secret.from < secret.to && !harmless(s.bytes(secret)) {
		s.take(secret.from, secret.to, markFlag, ruleCommand)
	}
}

// maxNetrc is how many words an entry of a netrc file has at most.
const maxNetrc = 10

// netrc takes the password out of `machine HOST login USER password SECRET`, on
// one line or several.
func (s *scanner) netrc(at int, l *literal) int {
	p := at + len(l.text)
	if s.is(at-1, isWord) || !s.is(p, isSpace) {
		return p
	}
	from, seen := p, false
	for range maxNetrc {
		for !s.ends(p) && s.is(p, isSpace) {
			p++
		}
		start := p
		if p = s.word(p); p == start {
			break
		}
		switch string(s.b[start:p]) {
		case "login":
			seen = true
		case "machine":
			return from
		case "password":
			v := s.gap(p)
			if end := s.word(v); seen && v > p && !harmless(s.b[v:end]) {
				s.take(v, end, markPlain, ruleCommand)
			}
			return from
		}
	}
	return from
}
