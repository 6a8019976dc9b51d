package config

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// maxFolder is the length from which on Claude Code cuts a folder name: what
// is longer keeps this many characters, a dash and a hash.
const maxFolder = 200

// EncodeFolder returns the name of the folder in which Claude Code keeps the
// sessions of a working directory: every UTF-16 unit outside [A-Za-z0-9]
// becomes a dash, and a name longer than 200 is cut there and gets a hash of
// the whole path. It is lossy and cannot be turned around.
func EncodeFolder(path string) string {
	name := dashes(path, true)
	if len(name) <= maxFolder {
		return name
	}
	return name[:maxFolder] + "-" + folderHash(path)
}

// folderHash is the base-36 absolute value of the 32-bit hash that Java
// defines for strings: h*31 + unit, over UTF-16.
func folderHash(path string) string {
	var h int32
	for _, unit := range utf16.Encode([]rune(path)) {
		h = h*31 + int32(unit)
	}
	abs := int64(h) // the least int32 has no absolute value in 32 bits
	if abs < 0 {
		abs = -abs
	}
	return strconv.FormatInt(abs, 36)
}

// dashes replaces whatever is not an ASCII letter or digit by a dash, and a
// character beyond the basic plane by two if units is set.
func dashes(path string, units bool) string {
	var b strings.Builder
	b.Grow(len(path))
	for _, r := range path {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			b.WriteByte(byte(r))
		case units && r > 0xFFFF:
			b.WriteString("--")
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}

// A match is how far a folder name agrees with a directory.
type match uint8

const (
	matchNone match = iota
	// matchBelow: the name may be that of something below the directory.
	matchBelow
	// matchSame: the name is the directory's own.
	matchSame
)

// A folderName holds one directory in each form in which a client may have
// encoded it: by UTF-16 units, as clients do, and by characters, as older
// ones are said to have done. The forms differ beyond the basic plane only.
type folderName struct {
	cut   string    // with the hash, if it is too long
	whole [2]string // not cut
	below [2]string // whole, with the separator after it
}

func newFolderName(path string) folderName {
	f := folderName{cut: EncodeFolder(path)}
	for i, units := range [...]bool{true, false} {
		f.whole[i] = dashes(path, units)
		f.below[i] = f.whole[i] + "-"
		if path == filepath.VolumeName(path)+separator {
			f.below[i] = f.whole[i] // a root ends in its separator already
		}
	}
	return f
}

// compare tells how far name agrees with f. A name of 200 characters or more
// may have been cut: then all that can be compared with a longer directory is
// the part before the cut, which says that it may lie below.
func (f folderName) compare(name string, fold bool) match {
	if sameName(name, f.cut, fold) {
		return matchSame
	}
	found := matchNone
	for i, whole := range f.whole {
		if sameName(name, whole, fold) {
			return matchSame
		}
		if n := len(f.below[i]); len(name) > n && sameName(name[:n], f.below[i], fold) {
			found = matchBelow
		}
	}
	if f.cutShort(name, fold) {
		found = matchBelow
	}
	return found
}

// cutShort reports whether name may have been cut before f's directory ends.
func (f folderName) cutShort(name string, fold bool) bool {
	return len(name) >= maxFolder && slices.ContainsFunc(f.whole[:], func(whole string) bool {
		return len(whole) > maxFolder && sameName(name[:maxFolder], whole[:maxFolder], fold)
	})
}

func sameName(a, b string, fold bool) bool {
	return a == b || fold && len(a) == len(b) && strings.EqualFold(a, b)
}
