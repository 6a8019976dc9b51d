package derive

// Names tells which entity values a query names. Words are compared as the
// tokenizer folds them: in lower case, without diacritics.
type Names struct {
	order []string // the query's distinct words
	have  map[string]bool
	word  []byte
}

// NamesOf reads the terms of a query.
func NamesOf(terms []string) *Names {
	n := &Names{have: map[string]bool{}}
	for _, term := range terms {
		n.eachWord(term, func(word []byte) bool {
			if !n.have[string(word)] {
				n.have[string(word)] = true
				n.order = append(n.order, string(word))
			}
			return true
		})
	}
	return n
}

// Match reports whether every word of value stands in the query, and whether
// value is word for word what the query asks for. A value without words is
// never named.
func (n *Names) Match(value string) (named, exact bool) {
	count := 0
	exact = true
	named = n.eachWord(value, func(word []byte) bool {
		if !n.have[string(word)] {
			return false
		}
		exact = exact && count < len(n.order) && n.order[count] == string(word)
		count++
		return true
	})
	named = named && count > 0
	return named, named && exact && count == len(n.order)
}

// eachWord shows see the folded words of text until it returns false, and
// returns what it returned last.
func (n *Names) eachWord(text string, see func(word []byte) bool) bool {
	b := composed(nil, []byte(text))
	for w := nextWord(b, 0); w.start < w.end; w = nextWord(b, w.end) {
		word := w.bytes(b)
		if w.wide && !hasToken(word) {
			continue
		}
		n.word = appendFold(n.word[:0], word)
		if !see(n.word) {
			return false
		}
	}
	return true
}

// Mark returns where the words of terms stand in text, as ascending pairs of a
// start and an end that do not touch: whole words as the tokenizer folds them,
// the parts of identifiers, and runs of CJK characters that hold a run of terms.
func Mark(text string, terms []string) [][2]int {
	n := NamesOf(terms)
	var runs []string
	for _, word := range n.order {
		if b := []byte(word); nextWord(b, 0).cjk {
			runs = append(runs, word)
		}
	}
	var spans [][2]int
	add := func(from, to int) {
		if k := len(spans); k > 0 && spans[k-1][1] >= from {
			spans[k-1][1] = max(spans[k-1][1], to)
			return
		}
		spans = append(spans, [2]int{from, to})
	}
	b := []byte(text)
	for w := nextWord(b, 0); w.start < w.end; w = nextWord(b, w.end) {
		if w.cjk {
			markRuns(text[w.start:w.end], w.start, runs, add)
			continue
		}
		if n.word = appendFold(n.word[:0], composed(nil, w.bytes(b))); n.have[string(n.word)] {
			add(w.start, w.end)
			continue
		}
		at := w.start
		caseParts(b[w.start:w.end], func(part []byte) {
			if n.word = appendFold(n.word[:0], part); n.have[string(n.word)] {
				add(at, at+len(part))
			}
			at += len(part)
		})
	}
	return spans
}

// markRuns adds the places of runs in a run of CJK characters that begins at
// offset at.
func markRuns(text string, at int, runs []string, add func(from, to int)) {
	for i := range text {
		longest := 0
		for _, run := range runs {
			if len(run) <= len(text)-i && text[i:i+len(run)] == run {
				longest = max(longest, len(run))
			}
		}
		if longest > 0 {
			add(at+i, at+i+longest)
		}
	}
}
