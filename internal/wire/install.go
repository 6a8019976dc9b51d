package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/fsx"
)

// Options say what is to be installed, and where.
type Options struct {
	// Exe is the program that runs, and Version what it says of itself.
	Exe, Version string
	// Places are where things go.
	Places config.Wiring
	// Edits are the edits of agents' files, by who we are in them.
	Edits func(Own) []Edit
	// Account is what a timer needs to know, and Timer whether one is asked for. One that
	// an earlier install made is kept up to date without being asked for.
	Account Account
	Timer   bool
}

// A Plan is an install that is decided on, before anything is written.
type Plan struct {
	Program Program
	Files   []PlannedFile
	// Timer is nil where there is to be none.
	Timer *TimerState
	// Receipt is the path of the receipt.
	Receipt string

	o      Options
	was    Receipt // as it stands on the disk
	now    Receipt // as it is to stand there
	begun  bool    // something beyond the receipt was changed
	timers error   // how starting the timer went
}

// A PlannedFile is one edit, as it was decided on, and later as it was made.
type PlannedFile struct {
	Edit
	Outcome
	// Before is what the file holds now; nil where there is none.
	Before []byte
	// Backup is the copy of what the file was before the first install; "" where there
	// was no file, or none is known.
	Backup string
}

// A RefusedError says which file cannot be edited, and what would have to stand in it.
type RefusedError struct {
	Edit string // its name
	Path string
	Err  error
	// Snippet is what the edit would put into an empty file.
	Snippet string
}

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap is why.
func (e *RefusedError) Unwrap() error { return e.Err }

// ReadOnly reports whether the file is there to be read alone.
func (e *RefusedError) ReadOnly() bool { return errors.Is(e.Err, errReadOnly) }

// Prepare decides on an install. It writes nothing. What stands in the way of any part
// of it is an error: a *ForeignError, a *RefusedError, or another one.
func Prepare(o Options) (*Plan, error) {
	p := &Plan{o: o, Receipt: filepath.Join(o.Places.Receipt, ReceiptName)}
	for _, path := range []string{o.Places.Binary, o.Places.Receipt, o.Places.ClaudeSettings, o.Places.ClaudeState} {
		if !utf8.ValidString(path) {
			return nil, fmt.Errorf("%s: not UTF-8, and so cannot be written down in JSON", path)
		}
	}
	var err error
	if p.was, err = ReadReceipt(o.Places.Receipt); err != nil {
		return nil, err
	}
	p.now = p.was.clone()
	p.now.Format, p.now.Terminus = receiptFormat, o.Version
	own := p.was.Own(o.Places.Binary)
	p.now.Binaries = append([]string{own.Binary}, own.Recorded...)
	if p.Program, err = planProgram(o.Exe, o.Places.Binary); err != nil {
		return nil, err
	}
	if p.Program.Needed {
		p.now.addDirectories(missing(filepath.Dir(o.Places.Binary)))
	}
	for _, e := range o.Edits(own) {
		f, err := p.planFile(e)
		if err != nil {
			return nil, err
		}
		p.Files = append(p.Files, f)
	}
	if o.Timer || len(p.was.Timer) > 0 {
		if err := p.planTimer(); err != nil {
			return nil, err
		}
	}
	if err := checkDir(o.Places.Receipt); err != nil && p.Changes() {
		return nil, err
	}
	p.now.addDirectories(missing(o.Places.Receipt))
	return p, nil
}

func (p *Plan) planFile(e Edit) (PlannedFile, error) {
	f := PlannedFile{Edit: e}
	refuse := func(err error) error {
		r := &RefusedError{Edit: e.Name, Path: e.Path, Err: err}
		if empty, err := e.Add(nil); err == nil {
			r.Snippet = string(empty.Text)
		}
		return r
	}
	t, err := readTarget(e.Path)
	if err != nil {
		return f, refuse(err)
	}
	f.Before = t.text
	if f.Outcome, err = e.Add(t.text); err != nil {
		return f, refuse(fmt.Errorf("%s: %w", e.Path, err))
	}
	if len(f.Changed) > 0 {
		if err := t.check(); err != nil {
			return f, refuse(err)
		}
		p.now.addDirectories(missing(filepath.Dir(t.real)))
		p.now.file(e.Path)
	}
	if known := p.now.known(e.Path); known != nil && !known.Created && len(known.Backups) > 0 {
		f.Backup = known.Backups[len(known.Backups)-1]
	}
	return f, nil
}

func (p *Plan) planTimer() error {
	timer, err := TimerFor(p.o.Account, p.o.Places.Binary)
	if err != nil {
		return err
	}
	state, err := planTimer(timer)
	if err != nil {
		return err
	}
	p.Timer = &state
	for _, f := range timer.Files {
		p.now.addDirectories(missing(filepath.Dir(f.Path)))
		if !slices.Contains(p.now.Timer, f.Path) {
			p.now.Timer = append(p.now.Timer, f.Path)
		}
	}
	return nil
}

// Changes reports whether carrying the plan out changes anything but the receipt.
func (p *Plan) Changes() bool {
	for _, f := range p.Files {
		if len(f.Changed) > 0 {
			return true
		}
	}
	return p.Program.Needed || p.Timer != nil && p.Timer.Changed
}

// TimerError is why a timer that was written could not be started at once.
func (p *Plan) TimerError() error { return p.timers }

// Carry does what was decided on: it waits for its turn, decides once more by what
// there is then, and brings the plan up to date with that and with what was found while
// doing it. When it fails, what was done until then stays, and is in the receipt; where
// nothing was, the receipt goes as well. The error is a *BusyError where another install
// or uninstall was at work all the while.
func (p *Plan) Carry(ctx context.Context) error {
	if p.settled() {
		return nil // nothing is made for a lock either
	}
	turn, err := takeTurn(ctx, p.o.Places.Receipt)
	if err != nil {
		return err
	}
	now, err := Prepare(p.o)
	if err != nil {
		turn.end()
		return err
	}
	before := p.now.Directories
	*p = *now
	p.now.addDirectories(turn.made)
	if now.was.Format == 0 {
		p.now.addDirectories(before) // another has removed the receipt, and left them to us
	}
	err = p.carry(ctx)
	if err == nil || p.begun || p.was.Format != 0 {
		turn.end()
		return err
	}
	_, _ = removeReceipt(p.o.Places.Receipt)
	turn.end(p.now.Directories...)
	return err
}

// settled reports whether nothing at all is to be written.
func (p *Plan) settled() bool {
	was, err := p.was.encode()
	if err != nil {
		return false
	}
	now, err := p.now.encode()
	return err == nil && !p.Changes() && bytes.Equal(was, now)
}

func (p *Plan) carry(ctx context.Context) error {
	if err := p.now.save(p.o.Places.Receipt); err != nil {
		return err
	}
	if p.Program.Needed {
		if err := os.MkdirAll(filepath.Dir(p.Program.Path), 0o755); err != nil {
			return err
		}
		if err := p.Program.place(ctx, p.o.Version); err != nil {
			return err
		}
		p.begun = true
	}
	for i := range p.Files {
		if err := p.edit(&p.Files[i]); err != nil {
			return err
		}
	}
	if p.Timer != nil && p.Timer.Changed {
		return p.startTimer(ctx)
	}
	return nil
}

// edit carries out one edit of what the file holds by now.
func (p *Plan) edit(f *PlannedFile) error {
	copied := "" // the backup that was made for this edit, which has not happened yet
	err := replace(f.Path, func(t target) ([]byte, error) {
		out, err := f.Add(t.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		f.Outcome, f.Before = out, t.text
		if len(out.Changed) == 0 {
			return t.text, nil
		}
		return out.Text, nil
	}, func(t target) error {
		if copied != "" {
			_ = os.Remove(copied) // of a state that is gone
			copied = ""
		}
		if err := os.MkdirAll(filepath.Dir(t.real), fsx.OwnerDir); err != nil {
			return err
		}
		fsx.Sweep(t.real)
		name, err := p.keep(f, t)
		copied = name
		return err
	})
	p.begun = p.begun || err == nil && len(f.Changed) > 0
	return err
}

// keep records what a file is before it is edited, and makes a copy of it. A state that
// was recorded already stays, unless nothing of ours is in the file any more: then
// it is another file by now.
func (p *Plan) keep(f *PlannedFile, t target) (copied string, err error) {
	entry := p.now.file(f.Path)
	if f.Held && (entry.Created || len(entry.Backups) > 0) {
		return "", nil
	}
	if t.text == nil {
		entry.Created = true
		return "", p.now.save(p.o.Places.Receipt)
	}
	name, there, err := backupName(t.real, t.text)
	if err != nil {
		return "", err
	}
	entry.Created = false
	entry.Backups = append(slices.DeleteFunc(entry.Backups, func(b string) bool { return b == name }), name)
	f.Backup = name
	if err := p.now.save(p.o.Places.Receipt); err != nil || there {
		return "", err
	}
	return name, t.writeBackup(name)
}

// startTimer writes the files of the timer and makes the system take them up. That the
// system does not is no failure: it does at the next login.
func (p *Plan) startTimer(ctx context.Context) error {
	for _, f := range p.Timer.Files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			return err
		}
		there, mine, err := f.look()
		switch {
		case err != nil:
		case there && !mine:
			err = fmt.Errorf("%s: is there already, and is not from terminus install", f.Path)
		case f.Link == "":
			err = fsx.WriteAtomic(f.Path, f.Text, timerMode)
		case !there:
			err = os.Symlink(f.Link, f.Path)
		}
		if err != nil {
			return err
		}
		p.begun = true
	}
	p.timers = run(ctx, p.Timer.Start)
	return nil
}

// removeDirectories removes those that are empty, the innermost first.
func removeDirectories(dirs []string) {
	slices.SortFunc(dirs, func(a, b string) int { return len(b) - len(a) })
	for _, dir := range dirs {
		_ = os.Remove(dir) // one that holds something stays
	}
}
