package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"os"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/store"
)

// renamed looks for a session that was known by the path of its transcript
// alone, which is gone, and whose bytes the transcript of j begins with: the
// file was moved to where its name tells its key. Such a session is renamed,
// not archived again.
func (w *worker) renamed(ctx context.Context, j *job) (archive.Session, bool, error) {
	none := archive.Session{Key: j.t.Key}
	if !w.looked {
		w.looked = true
		var err error
		if w.orphans, err = archive.Orphans(ctx, w.p.reader); err != nil {
			return none, false, store.Wrap("read", w.p.db.Path, err)
		}
	}
	for i, o := range w.orphans {
		if o.Len == 0 || o.Len > j.t.Stat.Size {
			continue
		}
		if _, err := os.Lstat(o.Source); !gone(err) {
			continue
		}
		same, err := beginsWith(j.t.Path, o)
		if err != nil {
			return none, false, err
		}
		if !same {
			continue
		}
		w.orphans = append(w.orphans[:i], w.orphans[i+1:]...)
		if err := w.send(&batch{job: j, sess: &sessionRun{key: o.Key}, renameTo: j.t.Key}); err != nil {
			return none, false, err
		}
		if err := w.barrier(); err != nil {
			return none, false, err
		}
		return archive.Load(ctx, w.p.reader, j.t.Key)
	}
	return none, false, nil
}

func beginsWith(path string, o archive.Orphan) (bool, error) {
	f, _, err := fsx.OpenRegular(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, io.NewSectionReader(f, 0, o.Len))
	return bytes.Equal(sum.Sum(nil), o.Hash), err
}
