package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/export"
	"github.com/terminus-archive/terminus/internal/search"
)

// An exportDocument is the data of export.
type exportDocument struct {
	Destination string  `json:"destination"`
	Manifest    *string `json:"manifest"` // its path, null where nothing was written
	Sessions    int     `json:"sessions"`
	Turns       int64   `json:"turns"`
	Evicted     int     `json:"evicted"`
	Bytes       int64   `json:"bytes"`
	Notice      string  `json:"notice"`
}

func newExport(e *env) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "export <dir>",
		Short:   "Write every session into a directory, one file each",
		GroupID: groupCare,
		Long: `Write every session into a directory that is empty or not there yet: one .jsonl
file each, with the session's records byte for byte as they were archived, and
manifest.json, which says what each file is. Nothing is filtered: what stands in
these files is as private as the archive. Companion files are not exported, and of
an evicted session only the name is left.

It is written whole or not at all. terminus import takes it in again.`,
		Example: `  terminus export ~/terminus-export
  terminus export /mnt/backup/sessions --json | jq .data.bytes`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || args[0] == "":
				return errors.New("no directory to export to: there is no default place for an unfiltered copy of every session")
			case len(args) > 1:
				return fmt.Errorf("unexpected word %q: one directory", args[1])
			}
			dir = e.absolute(args[0])
			return nil
		},
	}
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return exportDocument{Destination: dir, Notice: export.Notice} },
		run:   func(ctx context.Context) (answer, error) { return e.export(ctx, dir) },
	})
}

func (e *env) export(ctx context.Context, dir string) (answer, error) {
	cfg, err := e.config()
	if err != nil {
		return answer{}, err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	type written struct {
		export.Manifest
		reason string
	}
	m := e.meter()
	w, warnings, err := ask(ctx, e, func(r *search.Reader) (w written, err error) {
		w.Manifest, w.reason, err = export.Write(ctx, export.Options{Reader: r, Dir: dir, DataDir: cfg.DataDir, Progress: m.update})
		return w, err
	})
	m.clear()
	if ctx.Err() != nil && err != nil {
		err = errors.New("interrupted; nothing was exported")
	}
	if err != nil || w.ArchiveFormat == 0 {
		return answer{reason: w.reason, warnings: warnings, text: func() error {
			e.notef("%s", w.reason)
			return nil
		}}, err
	}
	manifest := filepath.Join(dir, export.ManifestName)
	doc := exportDocument{
		Destination: dir, Manifest: &manifest, Sessions: w.Sessions, Turns: w.Turns, Evicted: w.Evicted, Bytes: w.Bytes, Notice: w.Notice,
	}
	return answer{data: doc, reason: w.reason, warnings: warnings, text: func() error {
		e.printExport(doc)
		return nil
	}}, nil
}

func (e *env) printExport(d exportDocument) {
	e.printf("%s\n\n", d.Notice)
	e.labelled("wrote", "%s", visible(d.Destination))
	e.labelled("sessions", "%d", d.Sessions)
	e.labelled("evicted", "%d", d.Evicted)
	e.labelled("turns", "%d", d.Turns)
	e.labelled("bytes", "%s", byteCount(d.Bytes))
	e.labelled("manifest", "%s", visible(*d.Manifest))
}
