package gemini

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
	"github.com/terminus-archive/terminus/internal/transcript"
)

const (
	chats       = "chats"
	lines       = ".jsonl"
	whole       = ".json"
	outputs     = "tool-outputs"
	sessionName = "session-"
	// maxSmall bounds a file that says where something is.
	maxSmall = 1 << 20
	// maxCompanions bounds the outputs of one session that are archived beside it.
	maxCompanions = 1000
)

// Discover lists the chats of every project, in the order of their paths. Of a session that a
// newer version took over from a document into a file of lines, the lines count. Of each file
// the first 64 KiB are read, for only the header says whose it is; one that holds no whole line
// yet is left out.
func (h Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		listed := map[string]bool{}
		for _, root := range env.Roots {
			d := discovery{ctx: ctx, root: root, known: projects(root), dirs: map[string]string{}}
			w := files.Walk{Depth: 3, Match: isChat, Enter: func(rel string) bool { return d.enter(rel, env.PathExcluded) }}
			if !w.Each(ctx, filepath.Join(root, "tmp"), func(f files.File, err error) bool {
				if err != nil {
					return yield(harness.Transcript{}, err)
				}
				if listed[f.Path] || superseded(f.Path) {
					return true
				}
				listed[f.Path] = true
				t, err := d.transcript(f)
				if err == nil && t.Key == "" {
					return true
				}
				return yield(t, err)
			}) {
				return
			}
		}
	}
}

// isChat takes session-*.json and .jsonl in `chats`, and any of both in a folder there.
func isChat(rel string) bool {
	parts := strings.Split(rel, "/")
	if len(parts) < 3 || parts[1] != chats {
		return false
	}
	name := parts[len(parts)-1]
	return (strings.HasSuffix(name, lines) || strings.HasSuffix(name, whole)) &&
		(len(parts) == 4 || strings.HasPrefix(name, sessionName))
}

// superseded reports whether a document has become a file of lines.
func superseded(path string) bool {
	if !strings.HasSuffix(path, whole) {
		return false
	}
	_, err := os.Lstat(path + "l")
	return err == nil
}

// A discovery is one look at the store below a root.
type discovery struct {
	ctx   context.Context
	root  string
	known map[string]string // directories by the names of their folders
	dirs  map[string]string // of the folders that were entered
}

// enter reports whether a folder is looked into.
func (d *discovery) enter(rel string, excluded func(string) bool) bool {
	parts := strings.Split(rel, "/")
	if len(parts) > 1 {
		return parts[1] == chats
	}
	dir := d.directory(rel)
	d.dirs[rel] = dir
	return dir == "" || excluded == nil || !excluded(dir)
}

// directory is the project's directory of a folder of `tmp`, "" where nothing tells it.
func (d *discovery) directory(folder string) string {
	data, err := files.Read(filepath.Join(d.root, "tmp", folder, ".project_root"), maxSmall)
	if dir := string(bytes.TrimSpace(data)); err == nil && filepath.IsAbs(dir) && len(dir) <= transcript.StateLimit {
		return dir
	}
	return d.known[folder]
}

// projects reads which folder of `tmp` belongs to which directory. Older versions named it by
// a hash of the directory.
func projects(root string) map[string]string {
	known := map[string]string{}
	data, err := files.Read(filepath.Join(root, "projects.json"), maxSmall)
	if err != nil {
		return known
	}
	all, _ := transcript.ParseValue(bytes.TrimSpace(data))
	for dir, name := range all.Get("projects").Members() {
		path := string(dir)
		sum := sha256.Sum256(dir)
		known[hex.EncodeToString(sum[:])] = path
		if folder := name.String(); folder != "" {
			known[folder] = path
		}
	}
	return known
}

// transcript describes a chat; its key is "" where the file says nothing yet.
func (d *discovery) transcript(f files.File) (harness.Transcript, error) {
	head, err := files.Head(f.Path)
	if err != nil {
		return harness.Transcript{}, &harness.Problem{Path: f.Path, Err: err}
	}
	parts := strings.Split(f.Rel, "/")
	id := head.Get("sessionId").String()
	if !harness.NamesSession(id) {
		if f.Stat.Size == 0 {
			return harness.Transcript{}, nil
		}
		if strings.HasSuffix(f.Path, lines) { // a document has no lines
			if whole, err := holdsLine(f.Path); err != nil || !whole {
				return harness.Transcript{}, err
			}
		}
		id = strings.TrimSuffix(strings.TrimSuffix(parts[len(parts)-1], "l"), whole)
	}
	t := harness.Transcript{Key: "gemini:" + id, Source: f.Path, Path: f.Path, Dir: d.dirs[parts[0]], Stat: f.Stat}
	if len(parts) == 4 {
		t.Parent = "gemini:" + parts[2]
	}
	if strings.HasSuffix(f.Path, whole) {
		t.Kind, t.Source, t.Stamp = harness.Rows, f.Path+"#"+id, rows.Stamp(f.Path)
	}
	t.Companions = d.outputs(parts[0], id)
	return t, nil
}

// holdsLine reports whether there is a line break in a file, which one that is just being written
// may lack.
func holdsLine(path string) (bool, error) {
	problem := func(err error) (bool, error) { return false, &harness.Problem{Path: path, Err: err} }
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		return problem(err)
	}
	defer f.Close()
	part := make([]byte, 64<<10)
	for {
		n, err := f.Read(part)
		switch {
		case bytes.IndexByte(part[:n], '\n') >= 0:
			return true, nil
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return problem(err)
		}
	}
}

// outputs are the files to which the agent wrote what was too long for a record.
func (d *discovery) outputs(folder, id string) []harness.Companion {
	if id != filepath.Base(id) {
		return nil
	}
	var all []harness.Companion
	w := files.Walk{Depth: 2, Match: func(string) bool { return len(all) < maxCompanions }}
	w.Each(d.ctx, filepath.Join(d.root, "tmp", folder, outputs, sessionName+id), func(f files.File, err error) bool {
		if err == nil {
			all = append(all, harness.Companion{Path: f.Path, Name: outputs + "/" + f.Rel, Stat: f.Stat, Output: true})
		}
		return true
	})
	return all
}
