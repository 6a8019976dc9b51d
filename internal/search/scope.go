package search

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/terminus-archive/terminus/internal/config"
)

// AllProjects is the Project of a Scope that reaches every project.
const AllProjects = "*"

// A Scope names the part of the archive that a request is about.
type Scope struct {
	// Project is a path inside a project, AllProjects, or "" for the project
	// that Dir lies in. A relative path is meant from Dir.
	Project string
	// Dir is the working directory, "" where it cannot be read.
	Dir string
	// Harnesses are the ids of those whose sessions are wanted; none is all.
	Harnesses []string
}

// A View is what one request may see. Only this package makes one.
type View struct {
	// Reason says why nothing can be seen, "" where something may be.
	Reason string
	// Excluded says that the configuration is the reason.
	Excluded bool

	all      bool
	outside  bool     // the scope lies in no archived project
	projects []string // unless all: the projects in scope
	hidden   []string // values of project and project_pre_worktree that are excluded
	// harnesses are those whose sessions are wanted; none is all.
	harnesses []string
}

// Elsewhere reports that the scope is why something is not found: it reaches
// some projects or none, and AllProjects may hold it.
func (v View) Elsewhere() bool { return v.outside || v.Reason == "" && !v.all }

// Projects are the projects that a scope of one directory lies in: one, or two
// where the directory is reached through a link; none for every project.
func (v View) Projects() []string { return slices.Clone(v.projects) }

// View resolves a scope against the projects that are archived, and takes away
// what the configuration excludes, whenever it was archived.
func (s *Snapshot) View(ctx context.Context, scope Scope) (View, error) {
	v, err := s.view(ctx, scope)
	v.harnesses = scope.Harnesses
	return v, err
}

func (s *Snapshot) view(ctx context.Context, scope Scope) (View, error) {
	switch {
	case s.tx == nil:
		return View{Reason: NoStore(s.r.path)}, nil
	case s.r.exclude.Everything():
		return View{Reason: allExcluded, Excluded: true}, nil
	case scope.Project == AllProjects:
		hidden, err := s.hidden(ctx)
		return View{all: true, hidden: hidden}, err
	}
	dir := scope.Project
	switch {
	case dir == "" && scope.Dir == "", dir != "" && !filepath.IsAbs(dir) && scope.Dir == "":
		return View{Reason: noWorkDir}, nil
	case dir == "":
		dir = scope.Dir
	case !filepath.IsAbs(dir):
		dir = scope.Dir + string(filepath.Separator) + dir
	}
	return s.viewOf(ctx, dir)
}

func (s *Snapshot) viewOf(ctx context.Context, dir string) (View, error) {
	forms := spellings(dir)
	keys, err := s.keysAbove(ctx, forms)
	if err != nil {
		return View{}, err
	}
	projects := covering(keys, forms)
	if len(projects) == 0 {
		filled, err := s.anySession(ctx)
		if err != nil || filled {
			return View{Reason: fmt.Sprintf(patternUncovered, dir), outside: true}, err
		}
		return View{Reason: nothingArchived}, nil
	}
	projects = slices.DeleteFunc(projects, func(p string) bool { return s.r.exclude.Hidden(p, "") })
	if len(projects) == 0 {
		return View{Reason: fmt.Sprintf(patternExcluded, dir), Excluded: true}, nil
	}
	return View{projects: projects, hidden: s.hiddenOf(keys)}, nil
}

// A key is one pair under which sessions are filed; "" stands for null.
type key struct{ project, preWorktree string }

// distinctKeys steps from each project to the next one, and from each path
// before folding to the next one, along their index: there are some dozens of
// pairs, and thousands of sessions.
const distinctKeys = `WITH RECURSIVE
	project(p) AS (
		SELECT min(project) FROM session_meta
		UNION ALL SELECT (SELECT min(project) FROM session_meta WHERE project > p) FROM project WHERE p IS NOT NULL
	),
	folded(p, w) AS (
		SELECT p, (SELECT min(project_pre_worktree) FROM session_meta WHERE project = p) FROM project WHERE p IS NOT NULL
		UNION ALL
		SELECT p, (SELECT min(project_pre_worktree) FROM session_meta WHERE project = p AND project_pre_worktree > w)
		FROM folded WHERE w IS NOT NULL
	)
	SELECT p, '' FROM project WHERE EXISTS (SELECT 1 FROM session_meta WHERE project = p AND project_pre_worktree IS NULL)
	UNION ALL SELECT p, w FROM folded WHERE w IS NOT NULL
	UNION ALL SELECT DISTINCT '', project_pre_worktree FROM session_meta WHERE project IS NULL AND project_pre_worktree IS NOT NULL
	ORDER BY 1, 2`

// keys are the distinct pairs of the archive, ordered by project, then by the
// path before folding.
func (s *Snapshot) keys(ctx context.Context) ([]key, error) { return s.keysOf(ctx, distinctKeys) }

func (s *Snapshot) keysOf(ctx context.Context, query string, args ...any) ([]key, error) {
	var keys []key
	err := s.each(ctx, func(rows *sql.Rows) error {
		var k key
		if err := rows.Scan(&k.project, &k.preWorktree); err != nil {
			return err
		}
		keys = append(keys, k)
		return nil
	}, query, args...)
	return keys, err
}

// above finds which of a list of directories are a project, or a path that was
// folded onto one.
const above = `SELECT value, '' FROM json_each(?1) WHERE EXISTS (SELECT 1 FROM session_meta WHERE project = value)
	UNION
	SELECT coalesce(project, ''), project_pre_worktree FROM session_meta
	WHERE project_pre_worktree IN (SELECT value FROM json_each(?1))
	ORDER BY 1, 2`

// keysAbove are at least those keys that cover one of dirs, all of them where
// exclusions are to be held against them.
func (s *Snapshot) keysAbove(ctx context.Context, dirs []string) ([]key, error) {
	var all []string
	for _, dir := range dirs {
		list, exact := config.Ancestors(dir)
		if !exact || !utf8.ValidString(dir) || len(s.r.exclude.List()) > 0 {
			return s.keys(ctx)
		}
		all = append(all, list...)
	}
	list, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return s.keysOf(ctx, above, string(list))
}

func (s *Snapshot) anySession(ctx context.Context) (bool, error) {
	var found bool
	err := s.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sessions)`).Scan(&found)
	return found, s.r.wrap(err)
}

// hidden are the stored directories that the configuration excludes.
func (s *Snapshot) hidden(ctx context.Context) ([]string, error) {
	if len(s.r.exclude.List()) == 0 {
		return nil, nil
	}
	keys, err := s.keys(ctx)
	return s.hiddenOf(keys), err
}

func (s *Snapshot) hiddenOf(keys []key) []string {
	var out []string
	for _, k := range keys {
		for _, dir := range []string{k.project, k.preWorktree} {
			if dir != "" && s.r.exclude.Hidden(dir, "") {
				out = append(out, dir)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// spellings are dir as it is written, and with its links resolved.
func spellings(dir string) []string {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil && resolved != dir {
		return []string{dir, resolved}
	}
	return []string{dir}
}

// covering finds the projects that a directory of these spellings lies in. Of
// two the one with fewer steps down to it counts, for a link inside a directory
// that happens to be a project leads away from it; at equal distance both do,
// since sessions may have been started through either.
func covering(keys []key, forms []string) []string {
	var projects []string
	best := -1
	for _, form := range forms {
		project, steps, ok := owner(keys, form)
		if !ok || best >= 0 && steps > best {
			continue
		}
		if steps != best {
			projects, best = nil, steps
		}
		if !slices.Contains(projects, project) {
			projects = append(projects, project)
		}
	}
	return projects
}

// owner finds the project of the stored directory nearest above dir, and how
// many steps lie between. At equal depth a project wins over the path of a
// worktree that was folded onto one, then the first key.
func owner(keys []key, dir string) (project string, steps int, ok bool) {
	whole, _ := config.Covers(dir, dir)
	best, direct := -1, false
	for _, k := range keys {
		if k.project == "" {
			continue
		}
		if depth, ok := config.Covers(k.project, dir); ok && (depth > best || depth == best && !direct) {
			project, best, direct = k.project, depth, true
		}
		if k.preWorktree == "" {
			continue
		}
		if depth, ok := config.Covers(k.preWorktree, dir); ok && depth > best {
			project, best, direct = k.project, depth, false
		}
	}
	return project, whole - best, best >= 0
}

// where renders the condition, on session_meta as m, that holds for exactly
// the sessions of the view. A session without metadata, or without a project,
// belongs to AllProjects alone and is never excluded.
func (v View) where() (string, []any) {
	var terms []string
	var args []any
	if !v.all {
		terms = append(terms, "m.project IN ("+marks(len(v.projects))+")")
		args = appendStrings(args, v.projects)
	}
	if len(v.hidden) > 0 {
		for _, column := range []string{"m.project", "m.project_pre_worktree"} {
			list, listArgs := among(v.hidden)
			terms = append(terms, "("+column+" IS NULL OR "+column+" NOT IN "+list+")")
			args = append(args, listArgs...)
		}
	}
	if len(v.harnesses) > 0 {
		list, listArgs := among(v.harnesses)
		terms = append(terms, "s.harness IN "+list)
		args = append(args, listArgs...)
	}
	if terms == nil {
		return "1", nil
	}
	return strings.Join(terms, " AND "), args
}

// marks are n parameter marks for a list.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// maxMarks is how many strings of a list stand in a statement one by one: all
// its lists together may hold 32,766.
const maxMarks = 1000

// among renders a list of strings behind IN. A long one is one parameter, in
// which strings that are no UTF-8 are left out: nothing that is stored equals
// one.
func among(list []string) (string, []any) {
	if len(list) <= maxMarks {
		return "(" + marks(len(list)) + ")", appendStrings(nil, list)
	}
	valid := slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !utf8.ValidString(s) })
	text, err := json.Marshal(valid)
	if err != nil {
		panic(err) // a list of strings always has a JSON form
	}
	return "(SELECT value FROM json_each(?))", []any{string(text)}
}

func appendStrings(args []any, list []string) []any {
	for _, s := range list {
		args = append(args, s)
	}
	return args
}
