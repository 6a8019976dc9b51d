package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/terminus-archive/terminus/internal/fsx"
)

const (
	// ReceiptName is the receipt's file in the configuration directory.
	ReceiptName = "install.json"
	// receiptFormat is the newest format that is read, and the one that is written.
	receiptFormat = 1
)

// A Receipt says what installs changed on this machine. It is written before each
// change, so that the next install finishes what an interrupted one began, and uninstall
// takes back that and nothing else.
type Receipt struct {
	// Format is the receipt's own version.
	Format int `json:"format"`
	// Terminus is the version of the build that wrote it.
	Terminus string `json:"terminus"`
	// Binaries are the stable paths that installs used, the newest first.
	Binaries []string `json:"binaries"`
	// Files are the files of agents that were edited.
	Files []RecordedFile `json:"files"`
	// Timer are the files of the daily timer.
	Timer []string `json:"timer"`
	// Directories are those that were made, the outermost first.
	Directories []string `json:"directories"`
}

// A RecordedFile is one file that was edited.
type RecordedFile struct {
	// Path is the file as it is named: a link is not resolved.
	Path string `json:"path"`
	// Created tells that there was no file before.
	Created bool `json:"created"`
	// Backups are copies of what it was before, the newest last.
	Backups []string `json:"backups"`
}

// ReadReceipt reads the receipt in the configuration directory dir. One that is not
// there is the zero Receipt.
func ReadReceipt(dir string) (Receipt, error) {
	path := filepath.Join(dir, ReceiptName)
	text, exists, err := ReadFile(path)
	if err != nil || !exists {
		return Receipt{}, err
	}
	r, err := parseReceipt(text)
	if err != nil {
		return Receipt{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func parseReceipt(text []byte) (Receipt, error) {
	var r Receipt
	if err := json.Unmarshal(text, &r); err != nil {
		return Receipt{}, err
	}
	if r.Format != receiptFormat {
		return Receipt{}, fmt.Errorf("format %d, this build knows format %d", r.Format, receiptFormat)
	}
	return r, nil
}

// Own is who an install at the stable path binary is, given what earlier ones
// recorded.
func (r Receipt) Own(binary string) Own {
	own := Own{Binary: binary}
	for _, path := range r.Binaries {
		if path != binary {
			own.Recorded = append(own.Recorded, path)
		}
	}
	return own
}

// file is the entry of a file, which is made where there is none.
func (r *Receipt) file(path string) *RecordedFile {
	for i := range r.Files {
		if r.Files[i].Path == path {
			return &r.Files[i]
		}
	}
	r.Files = append(r.Files, RecordedFile{Path: path, Backups: []string{}})
	return &r.Files[len(r.Files)-1]
}

// known is the entry of a file, nil where there is none.
func (r Receipt) known(path string) *RecordedFile {
	for i := range r.Files {
		if r.Files[i].Path == path {
			return &r.Files[i]
		}
	}
	return nil
}

// addDirectories records directories that are to be made.
func (r *Receipt) addDirectories(dirs []string) {
	for _, dir := range dirs {
		if !slices.Contains(r.Directories, dir) {
			r.Directories = append(r.Directories, dir)
		}
	}
}

// clone is a copy that shares nothing.
func (r Receipt) clone() Receipt {
	r.Binaries, r.Timer, r.Directories = slices.Clone(r.Binaries), slices.Clone(r.Timer), slices.Clone(r.Directories)
	r.Files = slices.Clone(r.Files)
	for i := range r.Files {
		r.Files[i].Backups = slices.Clone(r.Files[i].Backups)
	}
	return r
}

// encode is the receipt as it stands in its file.
func (r Receipt) encode() ([]byte, error) {
	for _, list := range []*[]string{&r.Binaries, &r.Timer, &r.Directories} {
		if *list == nil {
			*list = []string{}
		}
	}
	if r.Files == nil {
		r.Files = []RecordedFile{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(r)
	return b.Bytes(), err
}

// save writes the receipt into dir, unless just that stands there.
func (r Receipt) save(dir string) error {
	text, err := r.encode()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, ReceiptName)
	if old, exists, err := ReadFile(path); err == nil && exists && bytes.Equal(old, text) {
		return nil
	}
	if err := fsx.MkdirOwner(dir); err != nil {
		return err
	}
	fsx.Sweep(path)
	return fsx.WriteAtomic(path, text, fsx.OwnerFile)
}

// removeReceipt removes the receipt of dir, and reports whether there was something of a
// receipt that an install was killed while writing.
func removeReceipt(dir string) (swept bool, err error) {
	swept = fsx.Sweep(filepath.Join(dir, ReceiptName))
	if err = os.Remove(filepath.Join(dir, ReceiptName)); os.IsNotExist(err) {
		err = nil
	}
	return swept, err
}
