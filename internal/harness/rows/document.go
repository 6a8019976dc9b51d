// Package rows owns the stores that are no files of lines: documents that an agent writes anew
// as a whole, and tables of a SQLite database. It makes records of them, one a message, each
// with an id by which its next state takes its place.
package rows

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// MaxDocument bounds a document, in bytes: it is held in memory as a whole.
const MaxDocument = 64 << 20

// A Document is one JSON file of a transcript.
type Document struct {
	// Path is the file.
	Path string
	// Name tells its records from those of the transcript's other documents. It is "" for at
	// most one of them.
	Name string
	// List is the member that holds the messages; "" where the document itself is the list or
	// holds none.
	List string
	// ID is the member of a message that is its id. Where it is "", or a message has none, or
	// one that came before, its place in the list is.
	ID string
	// IDOf, if not nil, makes the id instead, of what a message keeps while it grows. Of
	// messages with one id the second has ".2" behind it, and so on.
	IDOf func(message transcript.Value) string
	// Optional says that the transcript may lack the file.
	Optional bool
}

// Stamp changes whenever one of the files does.
func Stamp(paths ...string) string {
	var b []byte
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			b = append(b, "-;"...)
			continue
		}
		stat := fsx.StatOf(info)
		b = fmt.Appendf(b, "%d.%d.%d;", stat.Size, stat.Mtime, stat.Inode)
	}
	return string(b)
}

// Head is the id of the record that holds what a document consists of beside its messages.
const Head = "document"

// Records gives the records of documents in their order: of each first its head, then its
// messages, every value as it stands in the file. A document that is no JSON, as one that is
// just being written, is an error: what was archived of it stays.
func Records(documents ...Document) func(yield func(transcript.Record, error) bool) {
	return func(yield func(transcript.Record, error) bool) {
		for _, d := range documents {
			data, err := files.Read(d.Path, MaxDocument)
			if err != nil {
				if d.Optional && errors.Is(err, fs.ErrNotExist) {
					continue
				}
				yield(transcript.Record{}, err)
				return
			}
			doc, ok := transcript.ParseValue(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
			if !ok {
				yield(transcript.Record{}, &harness.Problem{Path: d.Path, Err: errors.New("it is not one whole JSON document")})
				return
			}
			if !d.records(doc, yield) {
				return
			}
		}
	}
}

func (d Document) records(doc transcript.Value, yield func(transcript.Record, error) bool) bool {
	list := doc
	if d.List != "" || doc.Kind() != '[' {
		list = nil
		if d.List != "" {
			list = doc.Get(d.List)
		}
		if !yield(Record(d.name(Head), d.head(doc, list)), nil) {
			return false
		}
	}
	seen := map[string]int{}
	i := 0
	for m := range list.Elements() {
		id := d.id(m, i, seen)
		if !yield(Record(d.name(id), m), nil) {
			return false
		}
		i++
	}
	return true
}

// id is the id of the message at a place of the list. seen counts the ids before it.
func (d Document) id(m transcript.Value, place int, seen map[string]int) string {
	if d.IDOf != nil {
		id := d.IDOf(m)
		if seen[id]++; seen[id] > 1 {
			return id + "." + strconv.Itoa(seen[id])
		}
		return id
	}
	id := ""
	if d.ID != "" {
		id = idOf(m.Get(d.ID))
	}
	if id == "" || seen[id] > 0 || id == Head {
		id = "#" + strconv.Itoa(place)
	}
	seen[id]++
	return id
}

// printed is how much of each text tells a message from others that is written as it comes: it
// has the same beginning all the while.
const printed = 64

// Print is a short id made of the first 64 bytes of texts: that of a message that has none of its
// own, may move in its list, and may have been caught while it was written. Where the list is cut,
// one of two that begin alike may take the place of the other.
func Print(texts ...[]byte) string {
	beginnings := make([][]byte, len(texts))
	for i, text := range texts {
		beginnings[i] = text[:min(len(text), printed)]
	}
	return PrintWhole(beginnings...)
}

// PrintWhole is Print of whole texts, for a message that is written at once: another takes its
// place only if it says the same.
func PrintWhole(texts ...[]byte) string {
	h := sha256.New()
	for _, text := range texts {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text))))
		h.Write(text)
	}
	return printMark + hex.EncodeToString(h.Sum(nil)[:8])
}

// printMark begins an id that Print made.
const printMark = "~"

// Printed reports whether an id is one that Print makes, as it is or told from an equal one.
func Printed(id string) bool { return strings.HasPrefix(id, printMark) }

// idOf is an id that is a text or a number.
func idOf(v transcript.Value) string {
	switch v.Kind() {
	case '"':
		return v.String()
	case '0':
		return string(v)
	}
	return ""
}

func (d Document) name(id string) string {
	if d.Name == "" {
		return id
	}
	return d.Name + "/" + id
}

// head is the document without its messages.
func (d Document) head(doc, list transcript.Value) []byte {
	if list.Kind() != '[' || len(list) == 0 {
		return doc
	}
	// list is a part of doc, so that its place is the distance between them.
	at := cap(doc) - cap(list)
	out := make([]byte, 0, len(doc)-len(list)+2)
	out = append(out, doc[:at]...)
	out = append(out, "[]"...)
	return append(out, doc[at+len(list):]...)
}

// Record makes a record of a row, a JSON value.
func Record(id string, row []byte) transcript.Record {
	return transcript.Record{ID: id, Bytes: transcript.Wrap(id, row)}
}

// Read reads a record that Record made.
func Read(record []byte) (id string, row transcript.Value) {
	v, _ := transcript.ParseValue(bytes.TrimRight(record, "\n"))
	return v.Get("id").String(), v.Get("row")
}
