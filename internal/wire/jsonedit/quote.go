package jsonedit

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote decodes a string that the parser has passed. Half a surrogate pair
// becomes three bytes of its own, which are not UTF-8: so two strings that differ
// in it stay two.
func unquote(quoted []byte) string {
	s := quoted[1 : len(quoted)-1]
	var b []byte
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b = append(b, s[i])
			i++
			continue
		}
		n := escapeLen(s[i:])
		if s[i+1] != 'u' {
			b = append(b, "\"\\/\b\f\n\r\t"[strings.IndexByte(`"\/bfnrt`, s[i+1])])
			i += n
			continue
		}
		r := hex4(s[i+2:])
		i += n
		if utf16.IsSurrogate(r) && escapeLen(s[i:]) > 2 {
			if pair := utf16.DecodeRune(r, hex4(s[i+2:])); pair != utf8.RuneError {
				r = pair
				i += n
			}
		}
		if utf16.IsSurrogate(r) {
			b = append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
			continue
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

func hex4(s []byte) rune {
	var r rune
	for _, c := range s[:4] {
		r = r<<4 | rune(hexDigit(c))
	}
	return r
}

// hexDigit is the value of a hexadecimal digit, -1 of anything else.
func hexDigit(c byte) int {
	if 'A' <= c && c <= 'F' {
		c |= ' '
	}
	return strings.IndexByte("0123456789abcdef", c)
}

// quote spells a string as JSON does, with as few escapes as it allows.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ':
			const digits = "0123456789abcdef"
			b.WriteString(`\u00` + string(digits[r>>4]) + string(digits[r&15]))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
