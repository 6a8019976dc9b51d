package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// defaultBriefChars and defaultPromptChars are the budgets that the
	// contract names for the brief and for the lookup of one prompt.
	defaultBriefChars  = 6000
	defaultPromptChars = 4000

	defaultSnapshotHours = 24
	defaultSnapshotKeep  = 3
	minSnapshotKeep      = 1
	// maxSnapshotHours keeps the interval inside a time.Duration.
	maxSnapshotHours = int64(math.MaxInt64 / time.Hour)

	// maxAgeDays is the largest age that the configuration's documentation
	// allows; larger ones are lowered to it.
	maxAgeDays = math.MaxUint32

	// recallOff is the value of TERMINUS_RECALL that switches injection off.
	recallOff = "off"
	// recallOn is the one that says what is the case anyway.
	recallOn = "on"
)

// A Config is the whole configuration, with every default filled in.
type Config struct {
	// DataDir holds the store, ConfigDir the configuration; see Directories.
	DataDir, ConfigDir string
	// File is the path of terminus.toml, whether it exists or not; "" if there
	// is no configuration directory.
	File string
	// Environ is what it was read with.
	Environ Environ
	// WorkDir and Home are those of the Environ.
	WorkDir, Home string
	// ClaudeRoots are the configuration directories of Claude Code, absolute
	// where there is a working directory to see a relative one from: `projects`
	// is not appended, and `~` is not expanded.
	ClaudeRoots []string
	// Exclude is never nil.
	Exclude   *Exclusions
	Injection Injection
	Capture   Capture
	Privacy   Privacy
	Retention Retention
	Snapshot  Snapshot
	// Harness holds what is set for a harness, by its id.
	Harness map[string]HarnessConfig
	// Warnings are sentences about entries that do nothing, and probably were
	// meant to.
	Warnings []string
}

// Injection says where hooks may hand over text, and how much.
type Injection struct {
	// Enabled is the answer for every project that Projects does not name.
	Enabled bool
	// BriefChars and PromptChars are budgets in characters, 0 or more.
	BriefChars, PromptChars int
	// Projects overrides Enabled below a normalised path.
	Projects map[string]bool
}

// For reports whether injection is on in project, which may be "".
func (i Injection) For(project string) bool {
	if on, ok := deepest(i.Projects, project); ok {
		return on
	}
	return i.Enabled
}

// ForAny is For of a session that several directories stand for. Where one of
// them is named, and off, injection is off; where none is named, the answer is
// Enabled.
func (i Injection) ForAny(dirs ...string) bool {
	named := false
	for _, dir := range dirs {
		on, ok := deepest(i.Projects, dir)
		if ok && !on {
			return false
		}
		named = named || ok
	}
	return named || i.Enabled
}

// A CaptureMode says how much of a tool's output is archived.
type CaptureMode string

// The capture modes.
const (
	CaptureFull    CaptureMode = "full"
	CaptureLean    CaptureMode = "lean"
	CaptureMinimal CaptureMode = "minimal"
)

// Capture says what of a record is archived.
type Capture struct {
	// Mode is one of the three modes.
	Mode CaptureMode
}

// Privacy says what leaves the archive.
type Privacy struct {
	// RedactRecall masks secrets in whatever is shown or injected. Only the
	// file can switch it on.
	RedactRecall bool
}

// An Action is what retention does to an old session.
type Action string

// The actions of retention.
const (
	Keep   Action = "keep"
	Evict  Action = "evict"
	Delete Action = "delete"
)

// A Rule is one rule of retention.
type Rule struct {
	// Action is one of the three actions.
	Action Action
	// AgeDays is the age that a session must have passed; 0 switches the rule off.
	AgeDays uint32
}

// Acts reports whether the rule can do anything.
func (r Rule) Acts() bool { return r.Action != Keep && r.AgeDays > 0 }

// Retention is the general rule and the rules of projects.
type Retention struct {
	Rule
	// Projects replaces the whole rule below a normalised path.
	Projects map[string]Rule
}

// For returns the rule of project, which may be "".
func (r Retention) For(project string) Rule {
	if rule, ok := deepest(r.Projects, project); ok {
		return rule
	}
	return r.Rule
}

// Acts reports whether any rule can do anything.
func (r Retention) Acts() bool {
	for _, rule := range r.Projects {
		if rule.Acts() {
			return true
		}
	}
	return r.Rule.Acts()
}

// Snapshot says when copies of the store are made.
type Snapshot struct {
	Enabled bool
	// IntervalHours is 1 or more, and fits a time.Duration.
	IntervalHours int
	// Keep is 1 or more.
	Keep int
}

// A HarnessConfig is what is set for one harness.
type HarnessConfig struct {
	// Enabled is nil where the file does not say.
	Enabled *bool
	// Roots replaces the harness's own directories, if not empty. They are as
	// those of Config.ClaudeRoots.
	Roots []string
}

// Load resolves the directories and reads terminus.toml. A file that is not
// there means defaults. Syntax that is not TOML and a value of the wrong type
// are errors that name file and line, and so is a number below 0; an unknown word means the choice that loses nothing, and an unknown key is
// ignored.
func Load(e Environ) (*Config, error) {
	dirs, err := Dirs(e)
	if err != nil {
		return nil, err
	}
	return LoadWith(e, dirs)
}

// LoadWith is Load with directories that have been resolved, or of which only the
// configuration directory could be.
func LoadWith(e Environ, dirs Directories) (*Config, error) {
	var file string
	var data []byte
	var err error
	if dirs.Config != "" {
		file = filepath.Join(dirs.Config, FileName)
		data, err = readFile(file, maxFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	c, err := parse(e, file, data)
	if err != nil {
		return nil, err
	}
	c.Environ, c.DataDir, c.ConfigDir = e, dirs.Data, dirs.Config
	return c, nil
}

// parse makes the configuration of what stands in the file.
func parse(e Environ, file string, data []byte) (*Config, error) {
	doc, root := parseDocument(file, data)
	exclude := root.strings("exclude")
	c := &Config{
		File: file, WorkDir: e.WorkDir, Home: e.Home,
		Exclude:   NewExclusions(e.Home, exclude),
		Injection: injection(e, root.table("injection")),
		Capture:   capture(root.table("capture")),
		Privacy:   Privacy{RedactRecall: root.table("privacy").boolean("redact_recall", false)},
		Retention: retention(e, root.table("retention")),
		Snapshot:  snapshot(root.table("snapshot")),
		Harness:   harnesses(root.table("harness")),
	}
	roots := root.strings("roots")
	if doc.err != nil {
		return nil, doc.err
	}
	c.warnOfRoots(e, "roots", roots)
	c.warnOfExclusions(exclude)
	for _, id := range slices.Sorted(maps.Keys(c.Harness)) {
		h := c.Harness[id]
		c.warnOfRoots(e, "harness."+id+".roots", h.Roots)
		h.Roots = e.absolutes(h.Roots)
		c.Harness[id] = h
	}
	if len(roots) == 0 {
		roots = c.Harness["claude"].Roots
	}
	if len(roots) == 0 {
		if dir := e.get(envClaudeDir); dir != "" {
			roots = []string{dir}
		} else if dir := below(e.Home, ".claude"); dir != "" {
			roots = []string{dir}
		}
	}
	if len(roots) == 0 {
		return nil, errors.New("no home directory is set, and no roots are configured: nowhere to read sessions from")
	}
	c.ClaudeRoots = e.absolutes(roots)
	return c, nil
}

// warnOfRoots warns of roots that look as if `~` was to be expanded. A root that
// does not exist is otherwise no cause for a word: it may come to be.
func (c *Config) warnOfRoots(e Environ, key string, roots []string) {
	for _, root := range roots {
		if !strings.HasPrefix(root, "~") {
			continue
		}
		path, _ := e.absolute(root)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			c.warn("%s: %q does not exist: ~ is not expanded there, so write the path in full", key, root)
		}
	}
}

// warnOfExclusions warns of entries that were dropped.
func (c *Config) warnOfExclusions(entries []string) {
	for _, entry := range entries {
		if _, ok := Normalize(c.Home, entry); !ok {
			c.warn("exclude: %q excludes nothing: it is not an absolute path", entry)
		}
	}
}

func (c *Config) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

func injection(e Environ, t table) Injection {
	i := Injection{
		Enabled:     t.boolean("enabled", true),
		BriefChars:  clamp(t.count("brief_chars", defaultBriefChars), 0, math.MaxInt),
		PromptChars: clamp(t.count("prompt_chars", defaultPromptChars), 0, math.MaxInt),
		Projects:    map[string]bool{},
	}
	for _, p := range t.table("project").tables() {
		enabled := p.boolean("enabled", true)
		if path, ok := Normalize(e.Home, p.name); ok && p.has("enabled") {
			i.Projects[path] = enabled
		}
	}
	if recallIsOff(e) {
		i.Enabled, i.Projects = false, map[string]bool{}
	}
	return i
}

func capture(t table) Capture {
	return Capture{Mode: choice(t.text("mode"), CaptureFull, CaptureLean, CaptureMinimal)}
}

func retention(e Environ, t table) Retention {
	r := Retention{Rule: rule(t), Projects: map[string]Rule{}}
	for _, p := range t.table("project").tables() {
		own := rule(p)
		if path, ok := Normalize(e.Home, p.name); ok {
			r.Projects[path] = own
		}
	}
	return r
}

func rule(t table) Rule {
	return Rule{
		Action:  choice(t.text("action"), Keep, Evict, Delete),
		AgeDays: uint32(clamp(t.integer("age_days", 0), 0, maxAgeDays)),
	}
}

func snapshot(t table) Snapshot {
	s := Snapshot{
		Enabled:       t.boolean("enabled", true),
		IntervalHours: clamp(t.count("interval_hours", defaultSnapshotHours), 0, maxSnapshotHours),
		Keep:          clamp(t.count("keep", defaultSnapshotKeep), minSnapshotKeep, math.MaxInt),
	}
	if s.IntervalHours == 0 {
		s.IntervalHours = defaultSnapshotHours
	}
	return s
}

func harnesses(t table) map[string]HarnessConfig {
	all := map[string]HarnessConfig{}
	for _, h := range t.tables() {
		c := HarnessConfig{Roots: h.strings("roots")}
		if enabled := h.boolean("enabled", false); h.has("enabled") {
			c.Enabled = &enabled
		}
		all[h.name] = c
	}
	return all
}

// choice returns the word that s is, whatever its case, or the first one: the
// choice that loses nothing.
func choice[T ~string](s string, words ...T) T {
	for _, w := range words {
		if strings.EqualFold(strings.TrimSpace(s), string(w)) {
			return w
		}
	}
	return words[0]
}

func clamp(n, low, high int64) int { return int(min(max(n, low), high)) }
