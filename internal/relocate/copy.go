package relocate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/ingest"
)

// An entry is one thing below a directory that is walked.
type entry struct {
	name string // below the directory
	mode fs.FileMode
	stat fsx.Stat
}

// walk calls f for everything below dir, directories before what they hold, links
// as themselves. What vanishes meanwhile is left out, and so is a dir that does not
// exist.
func walk(dir string, f func(entry) error) error {
	root, err := filepath.EvalSymlinks(dir) // the directory itself may be a link
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || name == "." {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return f(entry{name: name, mode: info.Mode(), stat: fsx.StatOf(info)})
	})
}

// stays reports whether a file is left out of the copy: it is made anew there, or
// is only another process's half of a file.
func stays(name string) bool {
	base := filepath.Base(name)
	if ok, _ := filepath.Match(fsx.TempPattern, base); ok {
		return true
	}
	return base == ingest.LockName || name == sharedMemory || name == MarkerName
}

// A copier copies one directory into another, for its owner alone.
type copier struct {
	from, to    string
	done, total int64
	progress    func(done, total int64)
	reached     func(point)
	seen        map[string]fsx.Stat // what was copied, as it was
}

// all copies everything, and forces it to the disk.
func (c *copier) all(ctx context.Context) error {
	c.seen = map[string]fsx.Stat{}
	dirs := []string{c.to}
	err := walk(c.from, func(e entry) error {
		target := filepath.Join(c.to, e.name)
		switch {
		case e.mode.IsDir():
			dirs = append(dirs, target)
			return fsx.MkdirOwner(target)
		case stays(e.name):
			return nil
		}
		err := c.file(ctx, e)
		if err == nil {
			c.reached(copying)
		}
		return err
	})
	if err != nil {
		return err
	}
	lock, err := fsx.CreateOwner(filepath.Join(c.to, ingest.LockName))
	if err != nil {
		return err
	}
	if err := lock.Close(); err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := fsx.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// late takes along what has appeared or changed in the source since it was copied.
// What has changed in the copy as well is newer there. The archive's own files
// cannot have: the lock is held.
func (c *copier) late(ctx context.Context) error {
	own := map[string]bool{}
	for _, name := range storeFiles() {
		own[name] = true
	}
	return walk(c.from, func(e entry) error {
		target := filepath.Join(c.to, e.name)
		if e.mode.IsDir() {
			return fsx.MkdirOwner(target)
		}
		was, known := c.seen[e.name]
		if own[e.name] || stays(e.name) || !e.mode.IsRegular() || known && was == e.stat {
			return nil
		}
		if info, err := os.Stat(target); err == nil && (!known || fsx.StatOf(info).Mtime != was.Mtime) {
			return nil
		}
		return c.file(ctx, e)
	})
}

// file copies one file beside its place, compares what has been written with what
// was read, and puts it there. A file that is gone by now was somebody's temporary
// one.
func (c *copier) file(ctx context.Context, e entry) (err error) {
	target := filepath.Join(c.to, e.name)
	src, stat, err := fsx.OpenRegular(filepath.Join(c.from, e.name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer src.Close()
	temp := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".copy.terminus-tmp")
	_ = os.Remove(temp) // what an earlier run has left
	dst, err := fsx.CreateOwner(temp)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = dst.Close() // a second close is an error that says nothing new
			_ = os.Remove(temp)
		}
	}()
	read := sha256.New()
	if _, err = io.Copy(io.MultiWriter(dst, read), &tracked{ctx, src, c}); err != nil {
		return fmt.Errorf("copy %s: %w", src.Name(), err)
	}
	if err = dst.Sync(); err == nil {
		err = dst.Close()
	}
	if err == nil {
		err = prove(temp, read.Sum(nil))
	}
	if err == nil {
		err = os.Chtimes(temp, time.Time{}, time.Unix(0, stat.Mtime))
	}
	if err == nil {
		err = os.Rename(temp, target)
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", src.Name(), err)
	}
	c.seen[e.name] = stat
	return nil
}

// prove reads a file again and compares its hash.
func prove(path string, want []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if !bytes.Equal(h.Sum(nil), want) {
		return errors.New("what was written is not what was read")
	}
	return nil
}

// tracked reads until the context ends, and tells how much has been read.
type tracked struct {
	ctx context.Context
	r   io.Reader
	c   *copier
}

func (t *tracked) Read(p []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := t.r.Read(p)
	t.c.done += int64(n)
	if t.c.progress != nil {
		t.c.progress(t.c.done, t.c.total)
	}
	return n, err
}
