package rows

import (
	"bytes"
	"encoding/base64"

	"github.com/terminus-archive/terminus/internal/transcript"
)

// Text is a row that is one text, as it stands in the agent's store. What is not UTF-8 stands in
// it as {"base64":"…"}, so that no byte is lost.
func Text(text []byte) []byte { return appendString(nil, string(text), false) }

// Said is what a row of Text says, in UTF-8; nil for any other row.
func Said(row transcript.Value) []byte {
	if row.Kind() == '"' {
		return row.Text()
	}
	coded := row.Get("base64").Text()
	if coded == nil {
		return nil
	}
	text, err := base64.StdEncoding.AppendDecode(nil, coded[:len(coded)&^3])
	if err != nil {
		return nil
	}
	return bytes.ToValidUTF8(text, []byte("\ufffd"))
}
