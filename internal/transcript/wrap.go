package transcript

import (
	"bytes"
	"encoding/json"
)

// WrappedID is the id in a stream line that Wrap made, or the beginning of
// one. ok is false for any other line.
func WrappedID(line []byte) (id string, ok bool) {
	rest, found := bytes.CutPrefix(line, []byte(`{"id":"`))
	if !found {
		return "", false
	}
	end := 0
	for end < len(rest) && rest[end] != '"' {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(rest) || !bytes.HasPrefix(rest[end+1:], []byte(`,"row":`)) {
		return "", false
	}
	quoted := line[len(`{"id":`) : len(`{"id":"`)+end+1]
	err := json.Unmarshal(quoted, &id)
	return id, err == nil
}
