package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/terminus-archive/terminus/internal/cli"
)

// pages writes a manual page for each command into the directory man of out, and once more,
// compressed as distributions want it, into man.gz.
func pages(root *cobra.Command, out string, date time.Time) error {
	dir, packed := filepath.Join(out, "man"), filepath.Join(out, "man.gz")
	for _, d := range []string{dir, packed} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	describe(root)
	err := doc.GenManTree(root, &doc.GenManHeader{
		Title: "TERMINUS", Section: "1", Source: "Terminus " + cli.Version(), Manual: "Terminus", Date: &date,
	}, dir)
	if err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return err
	}
	for _, name := range names {
		page, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		page = finish(page)
		if err := os.WriteFile(name, page, 0o644); err != nil {
			return err
		}
		if err := pack(filepath.Join(packed, filepath.Base(name)+".gz"), page); err != nil {
			return err
		}
	}
	return nil
}

// packFile packs a file.
func packFile(path, source string) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return pack(path, text)
}

// pack writes text compressed, without name and time, so that its bytes are always the same.
func pack(path string, text []byte) error {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// describe makes the tree fit for pages. The pages go through Markdown, which takes a word in
// angle brackets for a tag of HTML; a flag is to show what it takes, not what it is without.
func describe(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	cmd.Use = strings.ReplaceAll(cmd.Use, "<", `\<`)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() != "bool" {
			f.DefValue = strings.ToUpper(f.Value.Type())
		}
	})
	for _, c := range cmd.Commands() {
		// Packages install completions; nobody has to read how they are printed.
		c.Hidden = c.Hidden || c.Name() == "completion"
		describe(c)
	}
}

// exitStatus is what help says of it.
const exitStatus = `
.SH EXIT STATUS
.TP
.B 0
done; an empty answer is one, too
.TP
.B 1
it could not be done, or verify found damage
.TP
.B 2
the command line could not be used
`

// finish takes away what the generator says of a switch's default, and adds what it does not
// know.
func finish(page []byte) []byte {
	page = bytes.ReplaceAll(page, []byte(`\fP[=false]`), []byte(`\fP`))
	see := []byte("\n.SH SEE ALSO")
	if i := bytes.Index(page, see); i >= 0 {
		return append(append(append([]byte{}, page[:i]...), exitStatus...), page[i+1:]...)
	}
	return append(page, exitStatus[1:]...)
}
