package ingest

import (
	"context"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/store"
)

// A VerifyReport is what verify found.
type VerifyReport struct {
	Checked  int // sessions, evicted ones included
	Failures []archive.Failure
}

// Verify proves the archive whole, or says what is not. It takes no lock. The
// error is that of opening the store, store.ErrNoStore included; once it is
// open, whatever is wrong is in the report.
func Verify(ctx context.Context, dataDir string, progress func(done, total int64)) (VerifyReport, error) {
	db, err := store.OpenReader(ctx, store.Path(dataDir))
	if err != nil {
		return VerifyReport{}, err
	}
	defer db.Close()
	return VerifyStore(ctx, db, progress)
}

// VerifyStore is Verify for a store that is open, which may be a copy. A failure of
// the database's pages, and not of a session, has store.FileName for its session key.
func VerifyStore(ctx context.Context, db *store.DB, progress func(done, total int64)) (VerifyReport, error) {
	var r VerifyReport
	total, err := archive.StreamBytes(ctx, db)
	if err != nil {
		return r, store.Wrap("read", db.Path, err)
	}
	report := func(f archive.Failure) { r.Failures = append(r.Failures, f) }
	tell := func(done int64) {
		if progress != nil {
			progress(done, total)
		}
	}
	r.Checked, err = archive.Verify(ctx, db.DB, &index.Checker{Lookup: registry.ByID}, report, tell)
	if err != nil {
		return r, store.Wrap("read", db.Path, err)
	}
	pages, err := archive.QuickCheck(ctx, db)
	if err != nil {
		pages = append(pages, err.Error())
	}
	for _, line := range pages {
		report(archive.Failure{SessionKey: store.FileName, Detail: line})
	}
	return r, ctx.Err()
}
