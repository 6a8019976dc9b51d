package wire

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/terminus-archive/terminus/internal/config"
	"github.com/terminus-archive/terminus/internal/fsx"
)

// FollowMove takes the old place out of the timer that an install has made, when the
// archive has moved from there: a timer that names no data directory finds it by the
// pointer, as every other process does. It names the file that it changed, "" for none.
// Where only starting the timer anew failed, the file is changed and the error is a
// *TimerError.
func FollowMove(ctx context.Context, o Options, from string) (changed string, err error) {
	files, err := madeTimer(o.Places.Receipt)
	if err != nil || len(files) == 0 {
		return "", err
	}
	timer, err := TimerFor(o.Account, o.Places.Binary)
	if err != nil {
		return "", err
	}
	turn, err := takeTurn(ctx, o.Places.Receipt)
	if err != nil {
		return "", err
	}
	defer turn.end()
	for _, f := range files {
		text, _, err := ReadFile(f.Path)
		if err != nil {
			return changed, err
		}
		without := text
		for _, named := range dataVariable(from) {
			without = bytes.ReplaceAll(without, named, nil)
		}
		if bytes.Equal(without, text) {
			continue
		}
		if err := fsx.WriteAtomic(f.Path, without, timerMode); err != nil {
			return changed, err
		}
		changed = f.Path
	}
	if changed == "" {
		return "", nil
	}
	if err := run(ctx, timer.Start); err != nil {
		return changed, &TimerError{Commands: timer.Start, Err: err}
	}
	return changed, nil
}

// A TimerError says that the system could not be made to take up a timer that was
// written. It does so at the next login.
type TimerError struct {
	// Commands would have done it.
	Commands [][]string
	Err      error
}

func (e *TimerError) Error() string { return fmt.Sprintf("the timer could not be started: %v", e.Err) }

// Unwrap is why.
func (e *TimerError) Unwrap() error { return e.Err }

// TimerElsewhere names the file of the timer whose receipt lies in a directory if it names
// another data directory than dir, "" if it does not, or there is no timer.
func TimerElsewhere(receipt, dir string) string {
	files, err := madeTimer(receipt)
	if err != nil {
		return ""
	}
	for _, f := range files {
		text, _, err := ReadFile(f.Path)
		if err != nil {
			continue
		}
		here := false
		for _, named := range dataVariable(dir) {
			here = here || bytes.Contains(text, named)
		}
		if !here && bytes.Contains(text, []byte(config.DataVariable)) {
			return f.Path
		}
	}
	return ""
}

// madeTimer are the files of a timer that are recorded, there and ours, but for links.
func madeTimer(receiptDir string) (files []TimerFile, err error) {
	receipt, err := ReadReceipt(receiptDir)
	if err != nil {
		return nil, err
	}
	for _, path := range receipt.Timer {
		f := TimerFile{Path: path}
		if there, mine, err := f.look(); err == nil && there && mine {
			files = append(files, f)
		}
	}
	return files, nil
}

// dataVariable is how a timer's file may hand dir over as the data directory.
func dataVariable(dir string) [][]byte {
	v := config.DataVariable + "=" + filepath.Clean(dir)
	return [][]byte{[]byte(systemdVariable(v)), []byte(launchdVariable(v))}
}
