package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/ingest"
	"github.com/terminus-archive/terminus/internal/store"
)

// A verifyDocument is the data of verify.
type verifyDocument struct {
	Checked  int             `json:"checked"`
	Failures []verifyFailure `json:"failures"`
}

type verifyFailure struct {
	SessionKey string `json:"session_key"`
	Block      *int64 `json:"block"`
	Detail     string `json:"detail"`
}

func newVerify(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "verify",
		Short:   "Prove that what was archived is still what was written",
		GroupID: groupCare,
		Long: `Read every archived byte and compare it with the hashes that were taken when it
was written. What does not match is named, with its session and block, and the
exit code is 1. Nothing is changed.`,
		Example: `  terminus verify
  terminus verify --json | jq .data.failures`,
		Args: noArgs,
	}
	return e.bind(cmd, dataCommand{
		empty: func(string) any { return verifyDocument{} },
		run:   e.verify,
	})
}

func (e *env) verify(ctx context.Context) (answer, error) {
	cfg, err := e.config()
	if err != nil {
		return answer{}, err
	}
	warnings, err := e.warningsOf(ctx)
	if err != nil {
		return answer{}, err
	}
	debug.SetMemoryLimit(ingest.MemoryLimit)
	m := e.meter()
	report, err := ingest.Verify(ctx, cfg.DataDir, m.update)
	m.clear()
	if errors.Is(err, store.ErrNoStore) {
		return e.noStoreAnswer(cfg.DataDir), nil
	}
	if err != nil {
		return answer{warnings: warnings}, err
	}
	a := answer{data: verifyData(report), bad: len(report.Failures) > 0, warnings: warnings, text: func() error {
		e.printVerify(report)
		return nil
	}}
	if a.bad {
		a.reason = count(len(report.Failures), "failure") + " in " + count(report.Checked, "session")
	}
	return a, nil
}

func verifyData(r ingest.VerifyReport) verifyDocument {
	doc := verifyDocument{Checked: r.Checked}
	for _, f := range r.Failures {
		doc.Failures = append(doc.Failures, verifyFailure{f.SessionKey, f.Block, f.Detail})
	}
	return doc
}

func (e *env) printVerify(r ingest.VerifyReport) {
	for _, f := range r.Failures {
		e.printf("%s: %s\n", visible(f.SessionKey), visible(failureDetail(f)))
	}
	e.notef("%s checked, %d failed", count(r.Checked, "session"), len(r.Failures))
}

func failureDetail(f archive.Failure) string {
	if f.Block == nil {
		return f.Detail
	}
	return fmt.Sprintf("block %d: %s", *f.Block, f.Detail)
}
