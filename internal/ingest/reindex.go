package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/registry"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/store"
)

// A Reindexed is what reindex did.
type Reindexed struct {
	Sessions  int64     `json:"sessions"` // derived again
	Turns     int64     `json:"turns"`    // of them
	Skipped   []Skipped `json:"skipped"`  // sessions that could not be; their rows stay
	Preserved int64     `json:"preserved"`
}

// A Skipped is a session that could not be derived again.
type Skipped struct {
	SessionKey string `json:"session_key"`
	Reason     string `json:"reason"`
}

// A LockedError means that another process holds the ingest lock.
type LockedError struct{ Path string }

func (e *LockedError) Error() string {
	return "another process holds the ingest lock " + e.Path + ": nothing was done"
}

// ReindexOptions say how to reindex.
type ReindexOptions struct {
	DataDir string
	// Lookup finds a harness by its id; the registry's when nil.
	Lookup func(id string) (harness.Harness, bool)
	// Progress, if not nil, is told how many bytes of stream are done.
	Progress func(done, total int64)
}

// Reindex makes every derived row again out of the archived bytes: the rows
// that ingest would make, ids included. It goes session by session; whoever
// reads meanwhile finds each session whole, as it was or as it is made again
// (one of more than wholeSession bytes is found in part for a while). Killed,
// it goes on where it was when it is called again.
//
// A session whose bytes are damaged keeps its rows and is named; those of an
// evicted session are the only copy and stay. A search index that is damaged is
// made anew, and the evicted sessions, whose words it alone had, are named. The
// error is store.ErrNoStore, a *LockedError, or that of the store.
func Reindex(ctx context.Context, o ReindexOptions) (Reindexed, error) {
	unlock, err := lockStore(ctx, o.DataDir)
	if err != nil {
		return Reindexed{}, err
	}
	defer unlock()
	db, err := store.OpenWriter(ctx, o.DataDir)
	if err != nil {
		return Reindexed{}, err
	}
	defer db.Close()
	if o.Lookup == nil {
		o.Lookup = registry.ByID
	}
	var done Reindexed
	if err = db.RestoreSchema(ctx); err == nil {
		done, err = reindex(ctx, db, o)
	}
	if err == nil || ctx.Err() != nil || store.IsKind(err, store.Locked) || store.IsKind(err, store.Full) {
		return done, err
	}
	// A damaged search index shows itself as many an error.
	if renewed, e := renewSearch(ctx, db); e != nil || !renewed {
		return Reindexed{}, err // of what was met first
	}
	if done, err = reindex(ctx, db, o); err != nil {
		return Reindexed{}, err
	}
	return done.wordless(ctx, db)
}

func reindex(ctx context.Context, db *store.DB, o ReindexOptions) (Reindexed, error) {
	reader, err := store.OpenReader(ctx, db.Path)
	if err != nil {
		return Reindexed{}, err
	}
	defer reader.Close()
	w, err := db.Writer(ctx)
	if err != nil {
		return Reindexed{}, err
	}
	defer w.Close()
	r := rebuilder{db: db, reader: reader, w: w, lookup: o.Lookup, progress: o.Progress, resumable: true}
	return r.all(ctx)
}

func (r *rebuilder) all(ctx context.Context) (Reindexed, error) {
	list, err := archive.Derivables(ctx, r.reader)
	if err == nil {
		err = r.resume(ctx)
	}
	if err != nil {
		return Reindexed{}, store.Wrap("read", r.db.Path, err)
	}
	left := list[:0]
	for _, d := range list {
		if r.cursor == nil || d.After(r.cursor.Slot, r.cursor.No) {
			left = append(left, d)
		}
	}
	if err := r.run(ctx, left); err != nil {
		return Reindexed{}, err
	}
	if err := r.complete(ctx); err != nil {
		return Reindexed{}, err
	}
	_ = r.reader.Close() // the last checkpoint must not meet our own reader
	return r.done, r.w.Checkpoint(ctx)
}

// cursorKey is the row of meta that stands there while a reindex is under way.
const cursorKey = "reindex"

// A cursor is how far an unfinished reindex is.
type cursor struct {
	Schema   int       `json:"schema"` // by which derivation
	Slot     int64     `json:"slot"`   // of the last session that is done
	No       int64     `json:"no"`
	Underway string    `json:"underway,omitempty"` // the session whose rows are there in part
	Done     Reindexed `json:"done"`
}

func loadCursor(ctx context.Context, q archive.Querier) (*cursor, error) {
	text, err := archive.MetaValue(ctx, q, cursorKey)
	if err != nil || text == "" {
		return nil, err
	}
	c := &cursor{}
	if json.Unmarshal([]byte(text), c) != nil || c.Schema != store.DerivedSchema {
		return nil, nil // of another build: it starts over
	}
	return c, nil
}

func (r *rebuilder) resume(ctx context.Context) error {
	c, err := loadCursor(ctx, r.reader)
	if err == nil && c != nil {
		r.cursor, r.done = c, c.Done
	}
	return err
}

// save notes in the open transaction how far the rebuild is.
func (r *rebuilder) save(ctx context.Context, d archive.Derivable, underway string) error {
	if !r.resumable {
		return nil
	}
	c := cursor{Schema: store.DerivedSchema, Slot: -1, No: -1, Done: r.done}
	if r.cursor != nil {
		c.Slot, c.No = r.cursor.Slot, r.cursor.No
	}
	c.Underway = underway
	if underway == "" {
		c.Slot, c.No = d.Slot, d.No
	}
	r.cursor = &c
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return archive.SetMetaValue(ctx, r.w, cursorKey, string(text))
}

// complete does what is owed once every session is done.
func (r *rebuilder) complete(ctx context.Context) error {
	if err := predecessors(ctx, r.w, r.db.Path); err != nil {
		return err
	}
	if err := r.w.Begin(ctx); err != nil {
		return err
	}
	err := archive.DropStalePredecessors(ctx, r.w)
	if err == nil {
		err = index.DropUnusedValues(ctx, r.w)
	}
	if err == nil {
		err = archive.SetMetaValue(ctx, r.w, "derived_schema", fmt.Sprint(store.DerivedSchema))
	}
	if err == nil {
		err = archive.SetMetaValue(ctx, r.w, cursorKey, "")
	}
	if err == nil {
		err = r.w.Commit(ctx)
	}
	if err != nil {
		return store.Wrap("write", r.db.Path, err)
	}
	return index.MergeAll(ctx, r.w)
}

// catchUp brings derived rows forward that another build made, before anything
// is added to them, and finishes a session that a killed reindex left in part.
func (p *pass) catchUp(ctx context.Context) error {
	c, err := loadCursor(ctx, p.reader)
	if err != nil {
		return store.Wrap("read", p.db.Path, err)
	}
	if !p.db.Older && (c == nil || c.Underway == "") {
		return nil
	}
	all, err := archive.Derivables(ctx, p.reader)
	if err != nil {
		return store.Wrap("read", p.db.Path, err)
	}
	var list []archive.Derivable
	for _, d := range all {
		if d.Version != store.DerivedSchema && (p.db.Older || d.Key == c.Underway) {
			list = append(list, d)
		}
	}
	w, err := p.db.Writer(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	r := rebuilder{db: p.db, reader: p.reader, w: w, lookup: p.harness}
	if err := r.run(ctx, list); err != nil {
		return err
	}
	for _, s := range r.done.Skipped {
		p.res.Unindexed = append(p.res.Unindexed, Failure{s.SessionKey, s.Reason})
	}
	if !p.db.Older {
		return nil
	}
	p.db.Older = false
	return r.complete(ctx)
}

// harness finds one by its id, those of the options first.
func (p *pass) harness(id string) (harness.Harness, bool) {
	for _, h := range p.o.Harnesses {
		if h.ID() == id {
			return h, true
		}
	}
	return registry.ByID(id)
}

// skip says why a session cannot be derived again; "" where the failure is
// that of the store or of the caller.
func skip(ctx context.Context, err error) string {
	var se *store.Error
	if ctx.Err() != nil || errors.Is(err, errAbandoned) || errors.As(err, &se) {
		return ""
	}
	var damage *archive.DamageError
	if errors.As(err, &damage) {
		if damage.Block == nil {
			return damage.Detail
		}
		return fmt.Sprintf("block %d: %s", *damage.Block, damage.Detail)
	}
	return err.Error()
}
