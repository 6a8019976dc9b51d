package wire

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/terminus-archive/terminus/internal/fsx"
)

// A Removal is what uninstall did to one thing.
type Removal struct {
	// What is its name, in a word, and Path where it is.
	What, Path string
	// Outcome says what became of an edited file; zero of anything else.
	Outcome
	// Result is what happened.
	Result Result
	// Kept are copies of the file from before an install that are still there.
	Kept []string
	// Err is what went wrong; nothing was done then.
	Err error
}

// A Result is what uninstall did.
type Result uint8

// The results.
const (
	Nothing  Result = iota // nothing of ours was there
	Cleaned                // ours was taken out, and the rest left
	Restored               // what was there before is there again, to the byte
	Removed                // it is gone
	Kept                   // it is not ours
	Failed
)

// Uninstall takes back what installs did, as far as it is ours: each thing for
// itself, whatever becomes of the others. The receipt goes last, and only when all went
// well. The error is a *BusyError where another install or uninstall was at work all
// the while; nothing was done then.
func Uninstall(ctx context.Context, o Options) ([]Removal, error) {
	before, _ := ReadReceipt(o.Places.Receipt) // it is read again, and judged, in our turn
	t, err := takeTurn(ctx, o.Places.Receipt)
	var busy *BusyError
	if errors.As(err, &busy) {
		return nil, err
	}
	all, empty := uninstall(ctx, o)
	if t != nil { // else nothing can be written there, by another either
		if before.Format != 0 && !slices.ContainsFunc(all, func(r Removal) bool { return r.Err != nil }) {
			empty = append(empty, before.Directories...) // another may have left them to us
		}
		t.end(empty...)
	}
	return all, nil
}

// uninstall also names the directories that are to go if nothing is left in them.
func uninstall(ctx context.Context, o Options) (all []Removal, empty []string) {
	receipt, err := ReadReceipt(o.Places.Receipt)
	if err != nil {
		// Without it only the stable path is known to be ours, and what files were before is not.
		return []Removal{{What: "receipt", Path: o.Places.Receipt, Result: Failed, Err: err}}, nil
	}
	own := receipt.Own(o.Places.Binary)
	for _, e := range o.Edits(own) {
		all = append(all, unedit(e, receipt.known(e.Path)))
	}
	if r, ok := removeTimer(ctx, o, receipt); ok {
		all = append(all, r)
	}
	for _, path := range append([]string{own.Binary}, own.Recorded...) {
		r := unplace(path)
		if r.Result != Nothing || path == own.Binary {
			all = append(all, r)
		}
	}
	for i := range all {
		all[i].Orphans = slices.DeleteFunc(all[i].Orphans, func(o Orphan) bool {
			_, err := os.Lstat(o.Program)
			return err == nil // it was not removed
		})
	}
	if slices.ContainsFunc(all, func(r Removal) bool { return r.Err != nil }) {
		return all, nil
	}
	removeDirectories(receipt.Directories) // before the receipt, which tells of them
	swept, err := removeReceipt(o.Places.Receipt)
	if err != nil {
		return append(all, Removal{What: "receipt", Path: o.Places.Receipt, Result: Failed, Err: err}), nil
	}
	if swept {
		empty = append(empty, o.Places.Receipt)
	}
	return all, append(empty, receipt.Directories...)
}

// unedit takes ours out of a file. known is nil where no install recorded it.
func unedit(e Edit, known *RecordedFile) Removal {
	r := Removal{What: e.Name, Path: e.Path}
	b, err := known.before()
	var was target
	if err == nil {
		err = replace(e.Path, func(t target) ([]byte, error) {
			was, r.Outcome = t, Outcome{Text: t.text}
			if known != nil {
				fsx.Sweep(t.real)
			}
			if t.text == nil {
				return nil, nil
			}
			var err error
			if r.Outcome, err = e.Remove(t.text, b); err != nil {
				return nil, fmt.Errorf("%s: %w", e.Path, err)
			}
			return r.Text, nil
		}, func(target) error { return nil })
	}
	if known != nil {
		r.Kept = existing(known.Backups)
	}
	if err != nil {
		r.Err, r.Result = err, Failed
		return r
	}
	back := b.Known && same(r.Text, b.Text)
	switch {
	case r.Text == nil && was.text != nil:
		r.Result = Removed
	case r.Held && back:
		r.Result = Restored
	case r.Held:
		r.Result = Cleaned
	}
	if r.Held || back {
		// Nothing that is in a copy is missing in the file because of us.
		for _, path := range r.Kept {
			_ = os.Remove(path)
		}
		r.Kept = existing(r.Kept)
	}
	return r
}

// before is what a file was before the first edit.
func (f *RecordedFile) before() (Before, error) {
	switch {
	case f == nil:
		return Before{}, nil
	case f.Created:
		return Before{Known: true}, nil
	}
	for _, path := range slices.Backward(f.Backups) {
		text, exists, err := ReadFile(path)
		if err != nil {
			return Before{}, err
		}
		if exists {
			return Before{Known: true, Text: text}, nil
		}
	}
	return Before{}, nil
}

// existing are the paths at which something is.
func existing(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		_, err := os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist)
	})
}

// unplace removes a program that is a build of Terminus.
func unplace(path string) Removal {
	r := Removal{What: "binary", Path: path}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fsx.Sweep(path)
		return r
	case err == nil && !info.Mode().IsRegular():
		r.Result = Kept // install makes no links
		return r
	}
	marked := false
	if err == nil {
		marked, err = MarkedFile(path)
	}
	switch {
	case err != nil:
	case !marked:
		r.Result = Kept
		return r
	default:
		fsx.Sweep(path)
		err = removeProgram(path)
	}
	r.Result = Removed
	if err != nil {
		r.Result, r.Err = Failed, err
	}
	return r
}

// removeTimer stops and removes the timer that is recorded.
func removeTimer(ctx context.Context, o Options, receipt Receipt) (r Removal, ok bool) {
	timer, err := TimerFor(o.Account, o.Places.Binary)
	if err != nil || len(receipt.Timer) == 0 {
		return r, false
	}
	r = Removal{What: "timer", Path: receipt.Timer[0]}
	stopped := false
	for _, path := range slices.Backward(receipt.Timer) {
		f := TimerFile{Path: path}
		if i := slices.IndexFunc(timer.Files, func(f TimerFile) bool { return f.Path == path }); i >= 0 {
			f = timer.Files[i]
		}
		there, mine, err := f.look()
		switch {
		case err != nil:
			r.Result, r.Err = Failed, err
		case there && mine:
			if !stopped {
				_ = run(ctx, timer.Stop) // what cannot be stopped finds nothing to run
				stopped = true
			}
			if err := os.Remove(path); err != nil {
				r.Result, r.Err = Failed, err
			} else if r.Result == Nothing {
				r.Result = Removed
			}
		}
	}
	return r, true
}
