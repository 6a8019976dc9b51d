package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// args reads the arguments of a call. Null is as good as absent, and names that
// no tool has are passed over. The first argument that cannot be used is kept.
type args struct {
	members object
	why     string // what is wrong, "" where nothing is
}

func (a *args) refuse(format string, values ...any) {
	if a.why == "" {
		a.why = clip(fmt.Sprintf(format, values...))
	}
}

// has reports whether an argument was given; one that must be is refused where
// it was not.
func (a *args) has(name string, required bool) bool {
	given := a.members.given(name)
	if !given && required {
		a.refuse("%s is missing", name)
	}
	return given
}

// text reads a string, "" where there is none.
func (a *args) text(name string, required bool) string {
	if !a.has(name, required) {
		return ""
	}
	s, ok := a.members.text(name)
	if !ok {
		a.refuse("%s is not a string", name)
	}
	return s
}

// texts reads a list of strings.
func (a *args) texts(name string) []string {
	var list []*string
	if !a.has(name, false) {
		return nil
	}
	if err := json.Unmarshal(a.members[name], &list); err != nil {
		a.refuse("%s is not a list of strings", name)
		return nil
	}
	var out []string
	for _, s := range list {
		if s == nil {
			a.refuse("%s is not a list of strings", name)
			return nil
		}
		out = append(out, *s)
	}
	return out
}

// time reads a bound of a window of time, in the form that parse gives it.
func (a *args) time(name string, parse func(string) (string, error)) string {
	if !a.has(name, false) {
		return ""
	}
	at, err := parse(a.text(name, false))
	if err != nil {
		a.refuse("%s: %v", name, err)
	}
	return at
}

// count reads a whole number of at least least, and lowers it to most.
func (a *args) count(name string, otherwise, least, most int) (n int, lowered bool) {
	if !a.has(name, false) {
		return otherwise, false
	}
	digits, isNumber := whole(string(a.members[name]))
	v, _ := strconv.ParseInt(digits, 10, 64) // out of range it gives the bound; "" gives 0
	switch {
	case !isNumber:
		a.refuse("%s is not a number", name)
	case digits == "" || v < int64(least):
		a.refuse("%s is not a whole number of at least %d", name, least)
	case v > int64(most):
		return most, true
	default:
		return int(v), false
	}
	return otherwise, false
}

// id reads a turn id that must be there.
func (a *args) id(name string) int64 {
	if !a.has(name, true) {
		return 0
	}
	return a.toID(name, "is", a.members[name])
}

// ids reads a list of turn ids that must be there and hold at least one.
func (a *args) ids(name string) []int64 {
	if !a.has(name, true) {
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(a.members[name], &list); err != nil {
		a.refuse("%s is not a list of turn ids", name)
		return nil
	}
	if len(list) == 0 {
		a.refuse("%s is empty", name)
	}
	ids := make([]int64, 0, len(list))
	for _, v := range list {
		if a.why != "" {
			return nil
		}
		ids = append(ids, a.toID(name, "holds", v))
	}
	return ids
}

func (a *args) toID(name, verb string, v json.RawMessage) int64 {
	digits, _ := whole(string(v))
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		a.refuse("%s %s %s, which is no turn id", name, verb, clip(string(v)))
	}
	return id
}

// maxDigits is one more than the largest number of 64 bits has.
const maxDigits = 20

// whole is a JSON number as plain digits, "" if it is not a whole one. 5.0 and
// 1e2 are whole, to the last digit. A number of more digits than fit comes back
// as some number that does not fit either.
func whole(text string) (digits string, isNumber bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return "", false
	}
	text, negative := strings.CutPrefix(text, "-")
	mantissa, exponent := text, ""
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		mantissa, exponent = text[:e], text[e+1:]
	}
	before, after, _ := strings.Cut(mantissa, ".")
	after = strings.TrimRight(after, "0")
	digits = strings.TrimLeft(before+after, "0")
	if digits == "" {
		return "0", true
	}
	// Out of range Atoi gives the bound, and more zeros than a line has room for
	// are as good as any number of them.
	power, _ := strconv.Atoi(exponent)
	zeros := min(max(power, -2*MaxLine), 2*MaxLine) - len(after)
	switch significant := strings.TrimRight(digits, "0"); {
	case len(significant) > len(digits)+zeros:
		return "", true
	case len(digits)+zeros >= maxDigits:
		digits = strings.Repeat("9", maxDigits)
	default:
		digits = significant + strings.Repeat("0", len(digits)+zeros-len(significant))
	}
	if negative {
		digits = "-" + digits
	}
	return digits, true
}
