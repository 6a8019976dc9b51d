package corpus

import (
	"strconv"
	"strings"
)

// A part of a compiled pattern: literal text, then a slot (0 for none).
type part struct {
	lit  string
	slot byte
}

const slotLetters = "nvaipfdhwc"

func compile(patterns []string) [][]part {
	out := make([][]part, len(patterns))
	for i, p := range patterns {
		for {
			at := slotAt(p)
			if at < 0 {
				out[i] = append(out[i], part{lit: p})
				break
			}
			out[i] = append(out[i], part{lit: p[:at], slot: p[at+1]})
			p = p[at+3:]
		}
	}
	return out
}

func slotAt(p string) int {
	for i := 0; i+2 < len(p); i++ {
		if p[i] == '{' && p[i+2] == '}' && strings.IndexByte(slotLetters, p[i+1]) >= 0 {
			return i
		}
	}
	return -1
}

// A vocabulary is what all sessions of a corpus share. It is read only.
type vocabulary struct {
	sentences, prompts, commands, errors, logs, code [][]part

	function, noun, verb, adjective *zipf
}

func newVocabulary() *vocabulary {
	return &vocabulary{
		sentences: compile(sentencePatterns), prompts: compile(promptPatterns), commands: compile(commandPatterns),
		errors: compile(errorPatterns), logs: compile(logPatterns), code: compile(codePatterns),
		function: newZipf(len(functionWords), 2, 20), noun: newZipf(len(nouns), 9, 100),
		verb: newZipf(len(verbs), 3, 60), adjective: newZipf(len(adjectives), 3, 60),
	}
}

// Sizes of a project's own vocabulary. With them a corpus of 2.5 GB has some
// hundred thousand distinct terms, hashes not counted.
const (
	projectIdents = 6000
	projectFiles  = 90
)

// A project is a directory with its files and its identifiers. It is read only.
type project struct {
	seed     uint64
	name     string
	root     string
	branches []string
	idents   []string
	files    []string
	ident    *zipf
	file     *zipf
}

func newProject(seed uint64, n int) *project {
	p := &project{seed: mix(seed, uint64(n)), ident: newZipf(projectIdents, 6, 150), file: newZipf(projectFiles, 4, 150)}
	r := newRNG(p.seed, 1)
	p.name = projectNames[n%len(projectNames)]
	if n >= len(projectNames) {
		p.name += "-" + strconv.Itoa(n/len(projectNames)+1)
	}
	p.root = "/home/dev/src/" + p.name
	if n%7 == 5 {
		p.root = "/home/dev/src/" + projectNames[(n*5+2)%len(projectNames)] + "/.claude/worktrees/" + p.name
	}
	p.branches = []string{"main", "main", verbs[r.n(len(verbs))] + "-" + nouns[r.n(len(nouns))], "release/" + strconv.Itoa(r.n(9)) + ".x"}
	p.idents = make([]string, projectIdents)
	for i := range p.idents {
		p.idents[i] = identifier(r)
	}
	extensions := []string{".go", ".ts", ".py", ".rs", ".md", ".yaml", ".sql", "_test.go", ".tsx"}
	p.files = make([]string, projectFiles)
	for i := range p.files {
		f := directories[r.n(len(directories))] + "/"
		if r.permille(500) {
			f += nouns[r.n(len(nouns))] + "/"
		}
		f += nouns[r.n(len(nouns))]
		if r.permille(400) {
			f += "_" + nouns[r.n(len(nouns))]
		}
		p.files[i] = f + extensions[r.n(len(extensions))]
	}
	return p
}

// identifier makes a name in one of the usual spellings.
func identifier(r *rng) string {
	words := []string{verbs[r.n(len(verbs))], nouns[r.n(len(nouns))], nouns[r.n(len(nouns))]}[r.n(2):]
	if r.permille(250) {
		words = append(words, adjectives[r.n(len(adjectives))])
	}
	switch style := r.n(10); {
	case style < 5:
		for i := range words {
			if i > 0 || style < 2 {
				words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
			}
		}
		return strings.Join(words, "")
	case style < 8:
		return strings.Join(words, "_")
	case style < 9:
		return strings.ToUpper(strings.Join(words, "_"))
	default:
		return strings.Join(words, "-") + strconv.Itoa(r.n(10))
	}
}

// A scribe appends made-up text of one project to a buffer. The text is
// plain, not yet escaped for JSON.
type scribe struct {
	r *rng
	v *vocabulary
	p *project
}

func (t scribe) ident() string { return t.p.idents[t.p.ident.rank(t.r)] }
func (t scribe) path() string  { return t.p.files[t.p.file.rank(t.r)] }

func (t scribe) fill(dst []byte, pattern []part) []byte {
	for _, p := range pattern {
		dst = append(dst, p.lit...)
		switch p.slot {
		case 'n':
			dst = append(dst, nouns[t.v.noun.rank(t.r)]...)
		case 'v':
			dst = append(dst, verbs[t.v.verb.rank(t.r)]...)
		case 'a':
			dst = append(dst, adjectives[t.v.adjective.rank(t.r)]...)
		case 'w':
			dst = append(dst, functionWords[t.v.function.rank(t.r)]...)
		case 'i':
			dst = append(dst, t.ident()...)
		case 'p':
			dst = append(dst, t.path()...)
		case 'f':
			dst = append(append(dst, t.ident()...), '(')
			dst = append(append(dst, nouns[t.v.noun.rank(t.r)]...), ')')
		case 'd':
			dst = strconv.AppendInt(dst, int64(t.r.logUniform(1, 5000)), 10)
		case 'h':
			dst = appendHex(dst, t.r.u64(), 7)
		}
	}
	return dst
}

func (t scribe) pick(dst []byte, patterns [][]part) []byte {
	return t.fill(dst, patterns[t.r.n(len(patterns))])
}

// salad appends a sentence whose words follow no pattern, only the frequencies.
func (t scribe) salad(dst []byte) []byte {
	start := len(dst)
	for range t.r.between(5, 19) {
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		switch k := t.r.n(100); {
		case k < 46:
			dst = append(dst, functionWords[t.v.function.rank(t.r)]...)
		case k < 70:
			dst = append(dst, nouns[t.v.noun.rank(t.r)]...)
		case k < 84:
			dst = append(dst, verbs[t.v.verb.rank(t.r)]...)
		case k < 94:
			dst = append(dst, adjectives[t.v.adjective.rank(t.r)]...)
		default:
			dst = append(dst, t.ident()...)
		}
	}
	if c := dst[start]; c >= 'a' && c <= 'z' {
		dst[start] = c - 'a' + 'A'
	}
	return append(dst, '.')
}

// Of 1,000 sentences, how many follow no pattern and how many end in another script.
const (
	saladPermille   = 280
	foreignPermille = 12
)

// prose appends paragraphs, with a list or a piece of code now and then, until
// at least size bytes are written.
func (t scribe) prose(dst []byte, size int) []byte {
	start := len(dst)
	for {
		if t.r.permille(saladPermille) {
			dst = t.salad(dst)
		} else {
			dst = t.pick(dst, t.v.sentences)
		}
		if t.r.permille(foreignPermille) {
			dst = append(append(dst, ' '), foreign[t.r.n(len(foreign))]...)
		}
		if len(dst)-start >= size {
			return dst
		}
		switch k := t.r.n(100); {
		case k < 68:
			dst = append(dst, ' ')
		case k < 84:
			dst = append(dst, "\n\n"...)
		case k < 94:
			dst = append(dst, "\n- "...)
		default:
			dst = append(dst, "\n\n```\n"...)
			dst = t.source(dst, t.r.between(60, 500))
			dst = append(dst, "```\n\n"...)
		}
	}
}

// maxDepth is how deep source indents.
const maxDepth = 6

// source appends indented lines of code until at least size bytes are written.
func (t scribe) source(dst []byte, size int) []byte {
	start, depth := len(dst), 0
	for len(dst)-start < size {
		pattern := t.v.code[t.r.n(len(t.v.code))]
		if first := pattern[0].lit; strings.HasPrefix(first, "}") && depth > 0 {
			depth--
		}
		dst = append(dst, "\t\t\t\t\t\t"[:depth]...)
		dst = t.fill(dst, pattern)
		if len(dst) > start && dst[len(dst)-1] == '{' && depth < maxDepth {
			depth++
		}
		dst = append(dst, '\n')
	}
	return dst
}

// output appends what a program may print until at least size bytes are
// written: runs of log lines of one form, with errors among them.
func (t scribe) output(dst []byte, size int) []byte {
	start := len(dst)
	for len(dst)-start < size {
		pattern := t.v.logs[t.r.n(len(t.v.logs))]
		for range t.r.between(1, 14) {
			dst = append(t.fill(dst, pattern), '\n')
			if len(dst)-start >= size {
				return dst
			}
		}
		if t.r.permille(300) {
			for range t.r.between(1, 5) {
				dst = append(t.pick(dst, t.v.errors), '\n')
			}
		}
	}
	return dst
}

// prompt appends what a person may type, sometimes with pasted output.
func (t scribe) prompt(dst []byte) []byte {
	for i := range t.r.between(1, 3) {
		if i > 0 {
			dst = append(dst, ". "...)
		}
		dst = t.pick(dst, t.v.prompts)
	}
	if t.r.permille(40) {
		dst = append(append(dst, ' '), foreign[t.r.n(len(foreign))]...)
	}
	switch k := t.r.n(100); {
	case k < 12:
		dst = append(dst, "\n\n"...)
		dst = t.output(dst, t.r.between(100, 3000))
	case k < 20:
		dst = append(dst, "\n\n"...)
		dst = t.prose(dst, t.r.between(300, 4000))
	}
	return dst
}

// fileContent appends file n of the project, the same bytes every time.
func (t scribe) fileContent(dst []byte, n int) []byte {
	own := scribe{r: newRNG(t.p.seed, uint64(1000+n)), v: t.v, p: t.p}
	size := int(own.r.logUniform(1200, 28_000))
	if strings.HasSuffix(t.p.files[n], ".md") {
		return append(own.prose(dst, size), '\n')
	}
	return own.source(dst, size)
}
