package corpus

import (
	"strconv"
	"time"
)

const hexDigits = "0123456789abcdef"

// appendHex appends the lowest n hexadecimal digits of x.
func appendHex(dst []byte, x uint64, n int) []byte {
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, hexDigits[x>>(4*i)&15])
	}
	return dst
}

// A uuid is the text form of a version 4 UUID.
type uuid [36]byte

func newUUID(a, b uint64) (u uuid) {
	a = a&^0xf000 | 0x4000
	b = b&^(3<<62) | 2<<62
	dst := appendHex(u[:0], a>>32, 8)
	dst = append(dst, '-')
	dst = appendHex(dst, a>>16, 4)
	dst = append(dst, '-')
	dst = appendHex(dst, a, 4)
	dst = append(dst, '-')
	dst = appendHex(dst, b>>48, 4)
	dst = append(dst, '-')
	appendHex(dst, b, 12)
	return u
}

func (r *rng) uuid() uuid {
	a := r.u64()
	return newUUID(a, r.u64())
}

// appendHash appends a made-up SHA-256 in hexadecimal.
func (r *rng) appendHash(dst []byte) []byte {
	for range 4 {
		dst = appendHex(dst, r.u64(), 16)
	}
	return dst
}

const idLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz0123456789+/"

// appendID appends n characters that look like base64.
func (r *rng) appendID(dst []byte, n int) []byte {
	for n > 0 {
		x := r.u64()
		for i := 0; i < 10 && n > 0; i, n = i+1, n-1 {
			dst = append(dst, idLetters[x&63])
			x >>= 6
		}
	}
	return dst
}

// escapes holds for each byte what JSON.stringify writes in its place: 0 the
// byte itself, 'u' the six-character form, any other the letter after the
// backslash.
var escapes = func() (t [256]byte) {
	for i := range 0x20 {
		t[i] = 'u'
	}
	t['"'], t['\\'], t['\n'], t['\r'], t['\t'], t['\b'], t['\f'] = '"', '\\', 'n', 'r', 't', 'b', 'f'
	return t
}()

// appendEscaped appends the inside of a JSON string.
func appendEscaped[T string | []byte](dst []byte, s T) []byte {
	from := 0
	for i := 0; i < len(s); i++ {
		e := escapes[s[i]]
		if e == 0 {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		if e == 'u' {
			dst = append(dst, `\u00`...)
			dst = append(dst, hexDigits[s[i]>>4], hexDigits[s[i]&15])
		} else {
			dst = append(dst, '\\', e)
		}
	}
	return append(dst, s[from:]...)
}

// appendString appends a JSON string.
func appendString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	return append(appendEscaped(dst, s), '"')
}

// appendKey appends `,"key":`.
func appendKey(dst []byte, key string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	return append(dst, '"', ':')
}

func appendIntField(dst []byte, key string, v int64) []byte {
	return strconv.AppendInt(appendKey(dst, key), v, 10)
}

func appendStringField[T string | []byte](dst []byte, key string, v T) []byte {
	return appendString(appendKey(dst, key), v)
}

const stampLayout = "2006-01-02T15:04:05.000Z"

// appendStamp appends a time of Unix milliseconds as a JSON string.
func appendStamp(dst []byte, ms int64) []byte {
	dst = append(dst, '"')
	dst = time.UnixMilli(ms).UTC().AppendFormat(dst, stampLayout)
	return append(dst, '"')
}
