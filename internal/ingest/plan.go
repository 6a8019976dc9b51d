package ingest

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/capture"
	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/fsx"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/claude"
	"github.com/terminus-archive/terminus/internal/store"
)

// A job is one transcript that has something new.
type job struct {
	h          harness.Harness
	t          harness.Transcript
	known      bool                // it has a watermark
	no         int64               // the session that the watermark belongs to
	changed    bool                // its own bytes, not only companions
	companions []harness.Companion // those whose stat is new
	bytes      int64               // estimate of what is to be read
	committed  bool                // the writer's: something of it was stored
	exported   bool                // it is a file of an export: its lines may be wrapped rows
	packed     *fsx.Stat           // the worker's: of the file itself, where its content was unpacked
}

// Roots are the directories in which a harness looks: those that the configuration names, else
// those in which its agent keeps its sessions on this machine. Each is absolute.
func Roots(c *config.Config, h harness.Harness) []string {
	switch own := c.Harness[h.ID()].Roots; {
	case h.ID() == (claude.Harness{}).ID():
		return c.ClaudeRoots // which already minds [harness.claude], and the key `roots`
	case len(own) > 0:
		return own
	}
	return h.Roots(harness.Machine{GOOS: c.Environ.GOOS, Home: c.Home, Data: c.DataDir, Get: c.Environ.Get})
}

// Enabled reports whether a pass asks a harness.
func Enabled(c *config.Config, h harness.Harness) bool {
	own, ok := c.Harness[h.ID()]
	return !ok || own.Enabled == nil || *own.Enabled
}

// env is what a harness may know of what it is to discover.
func (p *pass) env(h harness.Harness) harness.Env {
	c := p.o.Config
	return harness.Env{FolderExcluded: c.Exclude.Folder, PathExcluded: c.Exclude.Covers, Excluding: len(c.Exclude.List()) > 0, Roots: Roots(c, h)}
}

// plan discovers what there is and keeps what is new. What is known is read
// while the agents' directories are listed.
func (p *pass) plan(ctx context.Context) error {
	f := filter{now: p.started, mode: p.o.Config.Capture.Mode}
	loaded := make(chan error, 1)
	go func() {
		var err error
		if f.seen, err = archive.SeenSources(ctx, p.reader); err == nil {
			f.companions, err = archive.SeenCompanions(ctx, p.reader)
		}
		loaded <- err
	}()
	found, err := p.discover(ctx)
	if e := <-loaded; e != nil {
		return store.Wrap("read", p.db.Path, e)
	}
	for i := range found {
		p.keep(f.job(found[i].h, found[i].t))
	}
	return err
}

// A found is a transcript and whose it is.
type found struct {
	h harness.Harness
	t harness.Transcript
}

func (p *pass) discover(ctx context.Context) ([]found, error) {
	if p.named != nil {
		p.res.FilesSeen = int64(len(p.named))
		return p.named, nil
	}
	var asked []harness.Harness
	for _, h := range p.o.Harnesses {
		if Enabled(p.o.Config, h) {
			asked = append(asked, h)
		}
	}
	var out []found
	for _, d := range p.ask(ctx, asked) {
		for _, err := range d.problems {
			p.unreadable(err)
		}
		out = append(out, d.found...)
	}
	p.res.FilesSeen = int64(len(out))
	return out, ctx.Err()
}

func (p *pass) keep(j job, ok bool) {
	if !ok {
		return
	}
	p.jobs = append(p.jobs, j)
	p.prog.BytesTotal += j.bytes
	p.prog.FilesTotal++
}

// unreadable notes a place that discovery could not take for a transcript. What
// is no file at all is odd, and no failure: there is nothing to read.
func (p *pass) unreadable(err error) {
	if errors.Is(err, store.ErrUnsettled) {
		return // its stamp is another the next time
	}
	if errors.Is(err, fsx.ErrNotRegular) {
		p.res.Remarks = append(p.res.Remarks, problem(err))
		return
	}
	p.res.Unreadable = append(p.res.Unreadable, problem(err))
}

func problem(err error) Failure {
	var pr *harness.Problem
	if errors.As(err, &pr) {
		return Failure{pr.Path, pr.Err.Error()}
	}
	return Failure{"discovery", err.Error()}
}

// A filter drops what is as the last pass left it: such a transcript is not
// opened.
type filter struct {
	now        time.Time
	mode       config.CaptureMode
	seen       map[string]archive.Seen
	companions map[string]fsx.Stat
}

func (f filter) job(h harness.Harness, t harness.Transcript) (job, bool) {
	j := job{h: h, t: t}
	last, known := f.seen[t.Source]
	j.known, j.no = known, last.No
	switch t.Kind {
	case harness.Lines:
		j.changed = !known || last.Stat != t.Stat || f.checkDue(last)
		j.bytes = max(t.Stat.Size-last.Offset, 0)
	case harness.Rows:
		j.changed = !known || t.Stamp == "" || last.Stamp != t.Stamp
	}
	for _, c := range t.Companions {
		if !capture.Companion(f.mode, c) {
			continue
		}
		if old, ok := f.companions[c.Path]; !ok || old != c.Stat {
			j.companions = append(j.companions, c)
			j.bytes += c.Stat.Size
		}
	}
	if !j.changed {
		j.bytes = 0
	}
	return j, j.changed || len(j.companions) > 0
}

// checkDue reports whether a transcript at rest grew since its whole prefix was
// compared last, and that is long ago: on growth only its end was compared.
func (f filter) checkDue(s archive.Seen) bool {
	if f.now.Unix()-s.CheckedAt < int64(checkEvery.Seconds()) {
		return false
	}
	updated, err := time.Parse(archive.TimeForm, s.UpdatedAt)
	return err != nil || s.CheckedAt < updated.Unix()
}

// An Estimate is what a pass would take in.
type Estimate struct {
	Transcripts int      // with something new
	Bytes       int64    // of them, not archived yet
	Problems    []string // places that could not be listed
}

// Measure estimates a pass without the lock and without creating anything.
func Measure(ctx context.Context, c *config.Config, harnesses []harness.Harness) (Estimate, error) {
	p := &pass{o: Options{Config: c, Harnesses: harnesses}}
	db, err := store.OpenReader(ctx, store.Path(c.DataDir))
	switch {
	case errors.Is(err, store.ErrNoStore):
		err = p.planEmpty(ctx)
	case err == nil:
		p.db, p.reader = db, db
		err = p.plan(ctx)
		_ = db.Close()
	}
	e := Estimate{Transcripts: len(p.jobs), Bytes: p.prog.BytesTotal}
	for _, u := range p.res.Unreadable {
		e.Problems = append(e.Problems, u.String())
	}
	return e, err
}

func (p *pass) planEmpty(ctx context.Context) error {
	list, err := p.discover(ctx)
	for i := range list {
		p.keep(filter{mode: p.o.Config.Capture.Mode}.job(list[i].h, list[i].t))
	}
	return err
}

// gone reports whether err says that a file vanished between discovery and
// reading: that is no failure, the next pass sees what became of it.
func gone(err error) bool { return errors.Is(err, os.ErrNotExist) }
