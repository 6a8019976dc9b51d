package export

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	fileSuffix = ".jsonl"
	// maxName is below what every file system allows for a name.
	maxName = 200
	// slugLen is how much of a key is kept in a name that is not the key itself.
	slugLen = 120
	// hashLen is how many bytes of the key's hash tell such names apart.
	hashLen = 8
)

// FileName is the name of a session's file: its key where that is a plain `<uuid>.jsonl`, and
// else what of the key can stand in a file's name on every system, and part of its hash, so
// that no two sessions have one name, whatever a system takes for the same.
func FileName(key string) string {
	stem, jsonl := strings.CutSuffix(key, fileSuffix)
	if jsonl && isUUID(stem) {
		return key
	}
	slug := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, stem)
	if len(slug) > slugLen {
		slug = slug[len(slug)-slugLen:]
	}
	if slug = strings.TrimLeft(slug, ".-"); slug != "" {
		slug += "-"
	}
	sum := sha256.Sum256([]byte(key))
	return slug + hex.EncodeToString(sum[:hashLen]) + fileSuffix
}

// isUUID reports whether s is a UUID in lower case.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if ('0' > c || c > '9') && ('a' > c || c > 'f') {
			return false
		}
	}
	return true
}
