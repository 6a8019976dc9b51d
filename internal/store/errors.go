package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Kind says what stands behind a failure of the store, because callers do
// different things: damage is reported, a lock or a full disk is tried again.
type Kind uint8

const (
	// Other is anything without a kind of its own, a missing permission for
	// example.
	Other Kind = iota
	// Damaged means that the file is not a store, or not a whole one.
	Damaged
	// Locked means that another process kept the database for too long.
	Locked
	// Full means that the disk, or a quota, is full.
	Full
	// Newer means that a later build made the store.
	Newer
)

// An Error is a failure of the store as a whole.
type Error struct {
	Op   string // what was tried: open, create, checkpoint, write
	Path string // the database
	Kind Kind
	Err  error
	Hint string // a command that mends it, or ""
}

func (e *Error) Error() string {
	var what string
	switch e.Kind {
	case Damaged:
		what = "the store cannot be used"
	case Locked:
		what = "the store is busy"
	case Full:
		what = "the disk is full"
	case Newer:
		what = "the store is newer than this build"
	default:
		what = "cannot " + e.Op + " the store"
	}
	msg := fmt.Sprintf("%s: %s: %v", what, e.Path, e.Err)
	if e.Hint != "" {
		msg += "; " + e.Hint
	}
	return msg
}

func (e *Error) Unwrap() error { return e.Err }

// IsKind reports whether err is a store error of that kind.
func IsKind(err error, k Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == k
}

func wrap(op, path string, err error) *Error {
	e := &Error{Op: op, Path: path, Err: err}
	if errors.Is(err, syscall.ENOSPC) {
		e.Kind = Full
	}
	return e
}

// Wrap gives an error from the driver its kind. A nil error, a cancelled
// context and an error that already is a store error come back as they are.
func Wrap(op, path string, err error) error { return asStoreError(op, path, err) }

func asStoreError(op, path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	var known *Error
	if errors.As(err, &known) {
		if known.Path == "" {
			known.Path = path
		}
		return err
	}
	e := wrap(op, path, err)
	var se *sqlite.Error
	if errors.As(err, &se) {
		switch se.Code() & 0xff { // the low byte is the primary code
		case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT:
			e.Kind = Damaged
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			e.Kind = Locked
		case sqlite3.SQLITE_FULL:
			e.Kind = Full
		}
		e.Err = errors.New(strings.TrimPrefix(se.Error(), "SQL logic error: "))
	}
	return e
}

// halfMade reports whether a read-only handle met a rollback journal that is
// still to be played back. SQLite tells it by an extended code, which is lost
// where an extension meets it first, while a connection is opened.
func halfMade(err error, path string) bool {
	var se *sqlite.Error
	return errors.As(err, &se) && se.Code()&0xff == sqlite3.SQLITE_READONLY && exists(path+"-journal")
}
