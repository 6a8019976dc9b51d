package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/capture"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/project"
	"github.com/terminus-archive/terminus/internal/store"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// errExcluded means that a session's records place it in an excluded project,
// which its folder's name did not tell.
var errExcluded = errors.New("the project is excluded")

// errRacing means that a transcript changed while it was read. That is no
// failure: its stat differs from the recorded one, so the next pass takes it.
var errRacing = errors.New("it changed while it was read")

// errAbandoned ends the worker when the writer has failed.
var errAbandoned = errors.New("the writer has failed")

// A worker reads transcripts and makes batches of what is new in them.
type worker struct {
	p        *pass
	q        *queue[*batch]
	projects project.Resolver
	inFlight map[string]bool // session keys with batches that may not be committed
	orphans  []archive.PathKeyedSession
	looked   bool // orphans were read
	limit    int64
	remarks  []Failure
	strange  map[string]int64 // records by their types, of which none is known
	readBuf  []byte           // of patientReader
}

// run takes the jobs in order. A transcript that cannot be read is a failure
// of its own; only the store's failures end the pass.
func (w *worker) run(ctx context.Context) error {
	for i := range w.p.jobs {
		j := &w.p.jobs[i]
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := w.job(ctx, j)
		var se *store.Error
		switch {
		case err == nil:
			continue
		case errors.Is(err, errAbandoned), ctx.Err() != nil, errors.As(err, &se):
			return err
		case gone(err), errors.Is(err, errExcluded), errors.Is(err, errRacing), errors.Is(err, store.ErrUnsettled):
			err = nil
		}
		b := &batch{job: j, last: true}
		if err != nil {
			b.failure = &Failure{j.t.Path, reason(err, j.t.Path)}
		}
		if !w.q.put(b) {
			return errAbandoned
		}
	}
	return nil
}

// reason is err without the path that the failure names anyway.
func reason(err error, path string) string {
	var pe *os.PathError
	if errors.As(err, &pe) && pe.Path == path {
		return pe.Op + ": " + pe.Err.Error()
	}
	return err.Error()
}

// job takes in one transcript. A reader that panics over foreign bytes costs
// its transcript, not the pass.
func (w *worker) job(ctx context.Context, j *job) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reading it failed: %v", r)
		}
	}()
	s, exists, err := w.session(ctx, j)
	if err != nil {
		return err
	}
	run := &sessionRun{key: j.t.Key, harness: j.h.ID(), parent: j.t.Parent, exists: exists, meta: s.Meta, no: s.No, slot: s.Slot}
	if !exists {
		run.slot = -1
	}
	switch {
	case exists && w.p.o.Config.Exclude.Hidden(s.Meta.Project, s.Meta.PreWorktree):
		return errExcluded
	case !j.changed:
		return w.companionsOnly(j, run)
	case j.t.Kind == harness.Rows:
		return w.rows(ctx, j, run, s)
	}
	f, stat, err := w.open(ctx, j)
	if err != nil {
		return err
	}
	defer f.Close()
	take := w.file
	if s.Evicted {
		take = w.returned
	}
	return w.diverged(run, s, take(ctx, j, run, s, f, stat))
}

// session loads the session that a transcript belongs to.
func (w *worker) session(ctx context.Context, j *job) (archive.Session, bool, error) {
	if w.inFlight[j.t.Key] {
		if err := w.barrier(); err != nil {
			return archive.Session{}, false, err
		}
	}
	s, exists, err := archive.Load(ctx, w.p.reader, j.t.Key)
	if err != nil {
		return s, exists, err
	}
	if j.known && (!exists || s.No != j.no) {
		return w.keyed(ctx, j, exists)
	}
	if !exists && j.t.Kind == harness.Lines && j.t.Key != j.t.Source {
		return w.renamed(ctx, j)
	}
	return s, exists, nil
}

// keyed loads the session that a known source belongs to where its path now
// tells another key. A file stays with its session; a session that had only the
// path for a key takes the new one.
func (w *worker) keyed(ctx context.Context, j *job, taken bool) (archive.Session, bool, error) {
	key, err := archive.KeyOf(ctx, w.p.reader, j.no)
	if err != nil {
		return archive.Session{}, false, err
	}
	if key != j.t.Source || taken {
		j.t.Key = key
	} else {
		if err := w.send(&batch{job: j, sess: &sessionRun{key: key}, renameTo: j.t.Key}); err != nil {
			return archive.Session{}, false, err
		}
	}
	if err := w.barrier(); err != nil {
		return archive.Session{}, false, err
	}
	return archive.Load(ctx, w.p.reader, j.t.Key)
}

func (w *worker) companionsOnly(j *job, run *sessionRun) error {
	if !run.exists || len(j.companions) == 0 {
		return w.send(&batch{job: j, last: true})
	}
	return w.send(&batch{job: j, sess: run, companions: j.companions, last: true})
}

// barrier waits until everything sent so far is committed, so that a session
// that is read again is read as it will be.
func (w *worker) barrier() error {
	done := make(chan struct{})
	if err := w.send(&batch{barrier: done}); err != nil {
		return err
	}
	<-done
	clear(w.inFlight)
	return nil
}

func (w *worker) send(b *batch) error {
	if b.sess != nil {
		w.inFlight[b.sess.key] = true
	}
	if !w.q.put(b) {
		return errAbandoned
	}
	return nil
}

// file decides what became of a transcript that is a file: grown, only
// touched, or changed.
func (w *worker) file(ctx context.Context, j *job, run *sessionRun, s archive.Session, f io.ReaderAt, stat fsx.Stat) error {
	if !run.exists {
		return w.grown(ctx, j, run, s, f, stat, archive.Watermark{Source: j.t.Source, CheckedAt: w.p.started.Unix()},
			archive.Revision{})
	}
	if !j.known {
		return w.changed(ctx, j, run, s, f, stat, nil)
	}
	mark, err := archive.LoadWatermark(ctx, w.p.reader, j.t.Source)
	if err != nil {
		return store.Wrap("read", w.p.db.Path, err)
	}
	old, err := archive.LoadRevision(ctx, w.p.reader, mark.Revision)
	if err != nil {
		return store.Wrap("read", w.p.db.Path, err)
	}
	same, err := w.samePrefix(f, stat, &mark)
	switch {
	case err != nil:
		return err
	case !same:
		return w.changed(ctx, j, run, s, f, stat, &mark)
	case stat.Size > mark.Offset && len(archive.NewCover(old.Extents).Gaps(s.Tail.StreamLen)) > 0:
		return w.regrown(ctx, j, run, s, f, stat, mark, old)
	}
	return w.grown(ctx, j, run, s, f, stat, mark, old)
}

// samePrefix reports whether the archived part of a file is still what the
// file begins with. The end of it is always compared; the whole of it when
// anything but growth happened, and once a day.
func (w *worker) samePrefix(f io.ReaderAt, stat fsx.Stat, mark *archive.Watermark) (bool, error) {
	if stat.Size < mark.Offset {
		return false, nil
	}
	tail, err := tailHash(f, mark.Offset)
	if err != nil || !bytes.Equal(tail, mark.TailHash) {
		return false, err
	}
	now := w.p.started.Unix()
	onlyGrown := stat.Inode == mark.Stat.Inode && stat.Size > mark.Stat.Size
	if onlyGrown && now-mark.CheckedAt < int64(checkEvery.Seconds()) {
		return true, nil
	}
	whole, err := fileSum(mark)
	if err != nil {
		return false, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, mark.Offset)); err != nil {
		return false, err
	}
	mark.CheckedAt = now
	return bytes.Equal(sum.Sum(nil), whole), nil
}

func tailHash(f io.ReaderAt, offset int64) ([]byte, error) {
	from := max(0, offset-archive.TailSpan)
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(f, from, offset-from))
	if err == nil && n < offset-from {
		err = errRacing
	}
	return sum.Sum(nil), err
}

// An intake is one transcript on its way into the archive.
type intake struct {
	w      *worker
	j      *job
	run    *sessionRun
	app    *archive.Appender
	derive index.Deriver
	rows   []index.Row
	cut    *capture.Cutter
	sums   sums
	read   int64 // bytes read since the last batch
	grown  int64 // bytes that they became in the stream
	long   int64 // lines longer than archive.MaxLine

	wrapped  []heldLine // of a stream of rows that is read as lines
	rowBytes int64      // of rows
	located  bool       // the project was looked for
	batched  bool       // a batch was made
}

func (w *worker) intake(ctx context.Context, j *job, run *sessionRun, s archive.Session) (*intake, error) {
	raw, err := s.Tail.OpenRaw(ctx, w.p.reader)
	if err != nil {
		return nil, fmt.Errorf("the archive of session %s is damaged, nothing is added to it (see terminus verify): %w", run.key, err)
	}
	in := &intake{w: w, j: j, run: run, app: archive.NewAppender(s.Tail, raw), sums: freshSums(), derive: index.Deriver{Harness: j.h}}
	in.cut = capture.New(w.p.o.Config.Capture.Mode, j.h, j.t.Kind)
	if s.Meta.State != "" {
		if err := json.Unmarshal([]byte(s.Meta.State), &in.derive.State); err != nil {
			return nil, fmt.Errorf("the stored state of session %s cannot be read: %w", run.key, err)
		}
	}
	in.derive.State.Key = run.key
	if st := &in.derive.State; st.CWD == "" {
		st.SeeDirectory([]byte(j.t.Dir))
		run.meta.ToldCWD = st.CWD // deriving the session again begins with it
	}
	return in, nil
}

// kept is a line, or a piece of one, as it is archived. What is too long to be
// held whole is too long to be read as a record, and is archived whole.
func (in *intake) kept(l archive.Line) archive.Line {
	if l.Whole() {
		l.Bytes = in.cut.Line(l.Bytes)
	}
	return l
}

// add appends a line, or a piece of one, to the stream and derives its turns.
// The error is errExcluded, or that of sending.
func (in *intake) add(l archive.Line) error {
	at := in.app.StreamLen()
	in.app.Add(l.Bytes, l.Start)
	in.grown += int64(len(l.Bytes))
	if in.j.exported && l.Whole() {
		// The agent's own store, found later, must find here what it holds.
		if id, ok := transcript.WrappedID(l.Bytes); ok {
			in.wrapped = append(in.wrapped, heldLine{id, index.Held{Hash: rowHash(l.Bytes), Off: at, Len: int64(len(l.Bytes))}})
		}
	}
	switch {
	case l.Whole():
		rows := in.derive.Line(l.Bytes, at)
		for i := range rows {
			in.rowBytes += rows[i].Size()
		}
		in.rows = append(in.rows, rows...)
	case l.Start:
		in.long++
	}
	return in.locate()
}

// locate finds the session's project once a record names its directory. In an
// excluded one nothing more is taken in; what an earlier transaction took in
// before the directory was known is hidden by the project.
func (in *intake) locate() error {
	if in.located || in.derive.State.CWD == "" {
		return nil
	}
	in.located = true
	m := &in.run.meta
	if m.Project != "" {
		return nil
	}
	m.Project, m.PreWorktree = in.w.projects.Resolve(in.derive.State.CWD)
	if !in.w.p.o.Config.Exclude.Hidden(m.Project, m.PreWorktree) {
		return nil
	}
	if in.batched || in.run.exists {
		if err := in.w.send(&batch{job: in.j, sess: in.run, meta: *m, hide: true}); err != nil {
			return err
		}
	}
	return errExcluded
}

// remark notes what is odd about a transcript that was read to its last
// newline. torn says that something follows it.
func (in *intake) remark(torn bool) {
	var parts []string
	add := func(n int64, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, strconv.FormatInt(n, 10)+" "+many)
		}
	}
	add(in.derive.State.Damaged, "damaged line", "damaged lines")
	add(in.long, "line too long to be a record", "lines too long to be records")
	if torn {
		add(1, "incomplete line", "")
	}
	for kind, n := range in.derive.State.Strange {
		if _, seen := in.w.strange[kind]; seen || len(in.w.strange) < transcript.StrangeLimit {
			in.w.strange[kind] += n
		}
	}
	if len(parts) > 0 {
		in.w.remarks = append(in.w.remarks, Failure{in.j.t.Path, strings.Join(parts, ", ")})
	}
}

// strangers is the note about records of types that nobody knows, "" where there were none.
func (w *worker) strangers() string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(w.strange)) {
		all = append(all, fmt.Sprintf("%s (%d)", strings.Map(printable, kind), w.strange[kind]))
	}
	if len(all) == 0 {
		return ""
	}
	return "records of types that are not known, archived and not searched: " + strings.Join(all, ", ")
}

// printable keeps a note on its line.
func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return unicode.ReplacementChar
	}
	return r
}

// due reports whether a transaction should end before a line of n bytes.
func (in *intake) due(n int) bool {
	return (in.app.Fresh() >= in.w.limit || in.rowBytes >= rowLimit) && in.app.AtCut(n)
}

// batch takes what has come together so far.
func (in *intake) batch(up archive.Append) *batch {
	b := &batch{job: in.j, sess: in.run, meta: in.run.meta, up: up, rows: in.rows, state: in.derive.State, bytesRead: in.read, growth: in.grown}
	b.project, b.preTree = in.run.meta.Project, in.run.meta.PreWorktree
	b.held = in.wrapped
	in.rows, in.wrapped, in.read, in.grown, in.rowBytes, in.batched = nil, nil, 0, 0, 0, true
	return b
}

// finish ends a transcript: the last batch carries the companions.
func (in *intake) finish(b *batch) error {
	b.last = true
	b.companions = in.j.companions
	return in.w.send(b)
}

// quiet reports whether a transcript is not expected to grow soon.
func (w *worker) quiet(stat fsx.Stat) bool {
	return stat.Mtime < w.p.started.Add(-quietAfter).UnixNano()
}
