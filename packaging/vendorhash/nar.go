package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// hashPath is what `nix hash path` prints of a path: the SHA-256 of its archive in Nix's
// form, which holds names, contents, links and the executable bit, and nothing else.
func hashPath(path string) (string, error) {
	h := sha256.New()
	w := &narWriter{to: h}
	w.words("nix-archive-1")
	w.node(path)
	if w.err != nil {
		return "", w.err
	}
	return "sha256-" + base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}

// A narWriter writes such an archive. The first error is kept, and nothing is written
// after it.
type narWriter struct {
	to  io.Writer
	err error
}

// words writes strings as the archive has them: the length in eight bytes, the string,
// and zeros up to the next multiple of eight.
func (w *narWriter) words(words ...string) {
	for _, word := range words {
		w.length(int64(len(word)))
		w.write([]byte(word))
		w.pad(int64(len(word)))
	}
}

func (w *narWriter) length(n int64) {
	w.write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

func (w *narWriter) pad(n int64) { w.write(make([]byte, (8-n%8)%8)) }

func (w *narWriter) write(data []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(data)
	}
}

func (w *narWriter) node(path string) {
	info, err := os.Lstat(path)
	if w.err != nil || err != nil {
		w.fail(err)
		return
	}
	w.words("(", "type")
	switch mode := info.Mode(); {
	case mode.IsRegular():
		w.words("regular")
		if mode&0o100 != 0 {
			w.words("executable", "")
		}
		w.words("contents")
		w.file(path, info.Size())
	case mode.IsDir():
		w.words("directory")
		entries, err := os.ReadDir(path) // in the order of their names, as the archive wants them
		w.fail(err)
		for _, e := range entries {
			w.words("entry", "(", "name", e.Name(), "node")
			w.node(filepath.Join(path, e.Name()))
			w.words(")")
		}
	case mode&os.ModeSymlink != 0:
		target, err := os.Readlink(path)
		w.fail(err)
		w.words("symlink", "target", target)
	default:
		w.fail(fmt.Errorf("%s: neither a file, nor a directory, nor a link", path))
	}
	w.words(")")
}

func (w *narWriter) file(path string, size int64) {
	f, err := os.Open(path)
	if err != nil {
		w.fail(err)
		return
	}
	defer f.Close()
	w.length(size)
	if w.err != nil {
		return
	}
	if _, err := io.CopyN(w.to, f, size); err != nil {
		w.fail(fmt.Errorf("read %s: %w", path, err))
	}
	w.pad(size)
}

func (w *narWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
