package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"io"
	"os"
	"slices"

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
	if err := w.findOrphans(ctx); err != nil {
		return none, false, err
	}
	i, err := w.beginsWith(j)
	if err != nil || i < 0 {
		return none, false, err
	}
	key := w.orphans[i].Key
	w.orphans = slices.Delete(w.orphans, i, i+1)
	if err := w.send(&batch{job: j, sess: &sessionRun{key: key}, renameTo: j.t.Key}); err != nil {
		return none, false, err
	}
	if err := w.barrier(); err != nil {
		return none, false, err
	}
	return archive.Load(ctx, w.p.reader, j.t.Key)
}

// findOrphans reads, once a pass, the sessions known by a path that is gone,
// shortest first.
func (w *worker) findOrphans(ctx context.Context) error {
	if w.looked {
		return nil
	}
	w.looked = true
	all, err := archive.PathKeyed(ctx, w.p.reader)
	if err != nil {
		return store.Wrap("read", w.p.db.Path, err)
	}
	for _, o := range all {
		if _, err := os.Lstat(o.Source); o.Len > 0 && gone(err) {
			w.orphans = append(w.orphans, o)
		}
	}
	slices.SortStableFunc(w.orphans, func(a, b archive.PathKeyedSession) int { return cmp.Compare(a.Len, b.Len) })
	return nil
}

// beginsWith returns the index of an orphan whose bytes the transcript of j
// begins with, -1 for none. It reads the transcript once, whatever the number
// of orphans.
func (w *worker) beginsWith(j *job) (int, error) {
	if len(w.orphans) == 0 || w.orphans[0].Len > j.t.Stat.Size {
		return -1, nil
	}
	f, stat, err := fsx.OpenRegular(j.t.Path)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	sum, at := sha256.New(), int64(0)
	for i, o := range w.orphans {
		if o.Len > stat.Size {
			break
		}
		if _, err := io.Copy(sum, io.NewSectionReader(f, at, o.Len-at)); err != nil {
			return -1, err
		}
		at = o.Len
		want, err := archive.RestoreHash(o.SHAState)
		if err != nil {
			return -1, err
		}
		if bytes.Equal(sum.Sum(nil), want.Sum(nil)) {
			return i, nil
		}
	}
	return -1, nil
}
