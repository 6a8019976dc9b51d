package codex

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/harness/files"
	"github.com/terminus-archive/terminus/internal/harness/rows"
)

const (
	sessionsName = "sessions"
	archivedName = "archived_sessions"
	historyName  = "history.jsonl"

	rolloutStart = "rollout-"
	keyStart     = "codex:"
	// dayDepth is how deep YYYY/MM/DD is.
	dayDepth = 3
)

// forms are the endings of a rollout's name.
var forms = []string{".jsonl", ".jsonl.zst", ".json"}

// Discover lists the rollouts below `sessions` and `archived_sessions` of each root, then, of
// the sessions without one, what history.jsonl holds. Rollouts are known by their names, and
// none is opened. Where one of these places cannot be read, history.jsonl is not asked.
func (Harness) Discover(ctx context.Context, env harness.Env) iter.Seq2[harness.Transcript, error] {
	return func(yield func(harness.Transcript, error) bool) {
		listed := map[string]bool{} // sources
		known := map[string]bool{}  // keys
		whole := true               // every rollout was listed
		walk := files.Walk{Depth: dayDepth, Match: func(rel string) bool { return isRollout(files.Base(rel, "")) }}
		for _, root := range env.Roots {
			for _, dir := range []string{sessionsName, archivedName} {
				goOn := walk.Each(ctx, filepath.Join(root, dir), func(f files.File, err error) bool {
					if err != nil {
						whole = false
						return yield(harness.Transcript{}, err)
					}
					if listed[f.Path] {
						return true
					}
					t := rollout(f)
					listed[f.Path], known[t.Key] = true, true
					return yield(t, nil)
				})
				if !goOn {
					return
				}
			}
		}
		for _, root := range env.Roots {
			if !whole || env.Excluding { // a session's rollout may be there; its project, nobody knows
				return
			}
			if !history(ctx, filepath.Join(root, historyName), listed, known, yield) {
				return
			}
		}
	}
}

// rollout is the transcript of a file. Its key is that of the name by which it was found.
func rollout(f files.File) harness.Transcript {
	t := harness.Transcript{Key: keyOf(files.Base(f.Rel, "")), Source: f.Path, Path: f.Path, Kind: harness.Lines, Stat: f.Stat}
	switch {
	case strings.HasSuffix(f.Rel, ".zst"):
		t.Zstd = true
	case strings.HasSuffix(f.Rel, ".json"):
		t.Kind, t.Stamp = harness.Rows, rows.Stamp(f.Path)
	}
	return t
}

func isRollout(name string) bool {
	return strings.HasPrefix(name, rolloutStart) && files.Suffix(forms...)(name)
}

// keyOf is the key of a rollout by its name: the id at its end, or, where there is none, all
// that stands behind `rollout-`.
func keyOf(name string) string {
	stem := strings.TrimPrefix(name, rolloutStart)
	for _, form := range forms {
		stem = strings.TrimSuffix(stem, form)
	}
	if n := len(stem) - harness.UUIDLength; n >= 0 && harness.IsUUID(stem[n:]) {
		stem = stem[n:]
	}
	return keyStart + stem
}

// KeyAt is the key of the rollout at a path, "" for any other file.
func (Harness) KeyAt(path string) string {
	if name := filepath.Base(path); isRollout(name) {
		return keyOf(name)
	}
	return ""
}

// RootAt is the folder `sessions` or `archived_sessions` that holds a rollout.
func (Harness) RootAt(path string) string {
	for dir := filepath.Dir(path); ; {
		if base := filepath.Base(dir); base == sessionsName || base == archivedName {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir || strings.TrimRight(dir, string(os.PathSeparator)) == "" {
			return ""
		}
		dir = above
	}
}
