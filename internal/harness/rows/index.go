package rows

import (
	"errors"
	"io/fs"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// Index reads a file in which an agent lists its sessions, a JSON array of objects: each object by
// the text of the member id. It is nil where there is no file. A file that is anything else is a
// *harness.Problem that says otherwise.
func Index(path, id, otherwise string) (map[string]transcript.Value, error) {
	data, err := files.Read(path, MaxDocument)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, &harness.Problem{Path: path, Err: err}
	}
	doc, ok := transcript.ParseValue(data)
	if !ok || doc.Kind() != '[' {
		return nil, &harness.Problem{Path: path, Err: errors.New(otherwise)}
	}
	list := map[string]transcript.Value{}
	for entry := range doc.Elements() {
		if name := entry.Get(id).String(); name != "" {
			list[name] = entry
		}
	}
	return list, nil
}
