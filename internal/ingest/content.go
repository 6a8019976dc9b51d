package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
)

// defaultPatience is how long a store may say nothing before it is left alone: a network
// mount that stops answering holds up whoever reads it for ever.
const defaultPatience = 10 * time.Minute

// errSilent means that a store did not answer within the pass's patience.
var errSilent = errors.New("it does not answer")

func (p *pass) patience() time.Duration {
	if p.o.Patience > 0 {
		return p.o.Patience
	}
	return defaultPatience
}

func silent(patience time.Duration) error {
	return fmt.Errorf("%w: no byte in %s; it is tried again by the next pass", errSilent, patience)
}

// within lets f run on a goroutine of its own, and gives it up when it takes longer than
// the pass's patience. What it does after that touches nothing of the pass.
func within[T any](patience time.Duration, f func() (T, error), undo func(T)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := f()
		done <- outcome{v, err}
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.v, o.err
	case <-timer.C:
		go func() {
			if o := <-done; o.err == nil {
				undo(o.v)
			}
		}()
		var none T
		return none, silent(patience)
	}
}

// A content is what a transcript's file holds as lines: the file, or what it is compressed of.
type content struct {
	io.ReaderAt
	file *os.File
	temp string
}

func (c *content) Close() error {
	err := c.file.Close()
	if c.temp != "" {
		_ = os.Remove(c.temp)
	}
	return err
}

// open opens a transcript that is a file. stat is that of its content: for one that is
// compressed its size is that of the lines, and it has no inode, so that it is never taken
// for a file that only grew.
func (w *worker) open(ctx context.Context, j *job) (*content, fsx.Stat, error) {
	type opened struct {
		f    *os.File
		stat fsx.Stat
	}
	patience := w.p.patience()
	o, err := within(patience, func() (opened, error) {
		f, stat, err := fsx.OpenRegular(j.t.Path)
		return opened{f, stat}, err
	}, func(o opened) { _ = o.f.Close() })
	if err != nil {
		return nil, fsx.Stat{}, err
	}
	read := &patientReader{f: o.f, patience: patience, buf: &w.readBuf}
	if !j.t.Zstd {
		return &content{ReaderAt: read, file: o.f}, o.stat, nil
	}
	defer o.f.Close()
	c, size, torn, err := unpack(ctx, w.p.o.Config.DataDir, io.NewSectionReader(read, 0, o.stat.Size))
	if err != nil {
		return nil, fsx.Stat{}, err
	}
	if torn {
		w.remarks = append(w.remarks, Failure{j.t.Path, "the end of what is compressed cannot be read"})
	}
	j.packed = &o.stat
	return c, fsx.Stat{Size: size, Mtime: o.stat.Mtime}, nil
}

// recorded is the stat by which the next pass knows the file.
func (j *job) recorded(stat fsx.Stat) fsx.Stat {
	if j.packed != nil {
		return *j.packed
	}
	return stat
}

// maxUnpacked bounds the lines of a compressed transcript, in bytes: a few bytes of zstd
// can stand for any number.
const maxUnpacked = 4 << 30

// unpackWindow bounds what unpacking holds in memory. The highest level that is not called
// ultra needs a quarter of it.
const unpackWindow = 32 << 20

// unpack writes the content of zstd frames into a file of its own in a directory; a killed pass's
// is swept up by the next one. torn says that something behind the content is no frame, or none
// that is whole, as while it is being written: what stands before that counts.
func unpack(ctx context.Context, dir string, r io.Reader) (c *content, size int64, torn bool, err error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(unpackWindow))
	if err != nil {
		return nil, 0, false, err
	}
	defer d.Close()
	f, err := fsx.CreateTemp(filepath.Join(dir, "unpacked"))
	if err != nil {
		return nil, 0, false, err
	}
	c = &content{ReaderAt: f, file: f, temp: f.Name()}
	for {
		n, err := io.CopyN(f, d, askEvery)
		size += n
		switch {
		case errors.Is(err, io.EOF):
			return c, size, false, nil
		case err == nil && size > maxUnpacked:
			err = errors.New("it holds more than a transcript may when it is unpacked")
		case err == nil:
			err = ctx.Err()
		case errors.Is(err, errSilent), ctx.Err() != nil:
		case size > 0:
			return c, size, true, nil
		default:
			err = fmt.Errorf("it cannot be unpacked: %w", err)
		}
		if err != nil {
			_ = c.Close()
			return nil, 0, false, err
		}
	}
}

// A patientReader reads a file and gives it up when a read takes longer than its patience.
// A read that was given up may still go on: into memory of its own.
type patientReader struct {
	f        *os.File
	patience time.Duration
	buf      *[]byte // the worker's: one for all its files
}

// readChunk bounds what one read takes, so that a slow store that answers is not taken for one
// that does not.
const readChunk = 1 << 20

func (r *patientReader) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && err == nil {
		var k int
		k, err = r.chunk(p[n:min(len(p), n+readChunk)], off+int64(n))
		n += k
	}
	return n, err
}

func (r *patientReader) chunk(p []byte, off int64) (int, error) {
	if cap(*r.buf) < len(p) {
		*r.buf = make([]byte, len(p))
	}
	buf := (*r.buf)[:len(p)]
	n, err := within(r.patience, func() (int, error) { return r.f.ReadAt(buf, off) }, func(int) {})
	if errors.Is(err, errSilent) {
		*r.buf = nil // it may still be written to
		return 0, err
	}
	return copy(p, buf[:n]), err
}

// patiently hands over what a sequence yields, which runs on a goroutine of its own, and ends
// with an error when nothing came for as long as the patience. One value at a time is alive, so
// that it may alias a buffer of the sequence.
func patiently[T any](patience time.Duration, seq func(yield func(T, error) bool)) func(yield func(T, error) bool) {
	return func(yield func(T, error) bool) {
		type item struct {
			v   T
			err error
		}
		items, taken, stop := make(chan item), make(chan struct{}), make(chan struct{})
		failed := make(chan any, 1)
		go func() {
			defer close(items)
			defer func() {
				if r := recover(); r != nil {
					failed <- r
				}
			}()
			seq(func(v T, err error) bool {
				select {
				case items <- item{v, err}:
				case <-stop:
					return false
				}
				select {
				case <-taken:
					return true
				case <-stop:
					return false
				}
			})
		}()
		ended := false
		defer func() {
			close(stop)
			if ended {
				return
			}
			// The sequence closes what it has open; it is waited for, as long as patience has it.
			timer := time.NewTimer(patience)
			defer timer.Stop()
			for {
				select {
				case _, ok := <-items:
					if !ok {
						return
					}
				case <-timer.C:
					return
				}
			}
		}()
		timer := time.NewTimer(patience)
		defer timer.Stop()
		for {
			timer.Reset(patience)
			select {
			case it, ok := <-items:
				if !ok {
					ended = true
					select {
					case r := <-failed:
						panic(r)
					default:
					}
					return
				}
				if !yield(it.v, it.err) {
					return
				}
				taken <- struct{}{}
			case <-timer.C:
				ended = true // nobody waits for it
				var none T
				yield(none, silent(patience))
				return
			}
		}
	}
}

// silentTicks is how often within its patience it is asked whether a sequence said something.
const silentTicks = 8

// gather gives keep what a sequence yields, which runs on a goroutine of its own, and gives it up
// when it yields nothing for as long as the patience, or an eighth longer. What it yields after
// that is dropped. Unlike with patiently, values are kept as they come and nobody is woken for
// each: a look over thousands of files must not pay that. So no value may alias what the sequence
// uses again. A panic of the sequence is one of gather.
func gather[T any](patience time.Duration, seq func(yield func(T, error) bool), keep func(T, error)) error {
	var (
		mu     sync.Mutex // of all that keep touches
		said   int
		left   bool
		ended  = make(chan any, 1) // what the sequence panicked with, else nil
		ticker = time.NewTicker(max(patience/silentTicks, 1))
	)
	defer ticker.Stop()
	go func() {
		defer func() { ended <- recover() }()
		seq(func(v T, err error) bool {
			mu.Lock()
			defer mu.Unlock()
			if !left {
				said++
				keep(v, err)
			}
			return !left
		})
	}()
	quiet, heard := 0, 0
	for {
		select {
		case r := <-ended:
			if r != nil {
				panic(r)
			}
			return nil
		case <-ticker.C:
		}
		mu.Lock()
		if quiet++; said != heard {
			quiet, heard = 0, said
		}
		left = quiet >= silentTicks
		mu.Unlock()
		if left {
			return silent(patience)
		}
	}
}

// discovered is what one harness found.
type discovered struct {
	roots    []string // in which it looked
	found    []found
	problems []error
}

// ask lets every harness look at once, each for itself: one whose store does not answer holds
// up nobody but those who wait for the end of the pass. Their answers stand in the order of
// the harnesses.
func (p *pass) ask(ctx context.Context, hs []harness.Harness) []discovered {
	all := make([]discovered, len(hs))
	done := make(chan int, len(hs))
	for i, h := range hs {
		go func() {
			defer func() { done <- i }()
			defer func() {
				if r := recover(); r != nil {
					all[i].problems = append(all[i].problems, &harness.Problem{Path: h.Name(), Err: fmt.Errorf("looking for sessions failed: %v", r)})
				}
			}()
			all[i] = p.askOne(ctx, h)
		}()
	}
	for range hs {
		<-done
	}
	return all
}

func (p *pass) askOne(ctx context.Context, h harness.Harness) (d discovered) {
	e, err := within(p.patience(), func() (harness.Env, error) { return p.env(h), nil }, func(harness.Env) {})
	if err != nil {
		d.problems = append(d.problems, &harness.Problem{Path: h.Name(), Err: err})
		return d
	}
	if len(e.Roots) > 0 {
		d = p.discoverIn(ctx, h, e)
	}
	d.roots = e.Roots
	return d
}

// discoverIn asks a harness. What it finds twice, as below roots that overlap, counts once.
func (p *pass) discoverIn(ctx context.Context, h harness.Harness, e harness.Env) (d discovered) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // as in rows
	seen := map[string]bool{}
	err := gather(p.patience(), h.Discover(ctx, e), func(t harness.Transcript, err error) {
		switch {
		case err != nil:
			d.problems = append(d.problems, err)
		case !seen[t.Source]:
			seen[t.Source] = true
			d.found = append(d.found, found{h, t})
		}
	})
	if err != nil {
		d.problems = append(d.problems, &harness.Problem{Path: e.Roots[0], Err: err})
	}
	return d
}
