package testscripts

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/terminus-archive/terminus/internal/cli"
)

// A dataCommand is one row of the family: a later command is one more.
type dataCommand struct {
	line string // as it is typed, without --json
	// empty is the command's data for a store that is not there, and of every
	// failure. REASON stands for the document's reason.
	empty string
	// mends says that the command brings an older store up to date: it has
	// nothing to warn of.
	mends bool
	// judges says that the command has a verdict of its own on each situation, and
	// never answers with nothing: only the form of its document is compared.
	judges bool
	// makes says that the command makes a store where there is none: each situation is
	// one of its own for it.
	makes bool
}

// arguments are the words of one run. FRESH stands for a path at which there is nothing, and
// EXPORT for an export that holds no session; with them comes the data that is expected.
func (c dataCommand) arguments(h *machine) (words []string, empty string) {
	h.runs++
	fresh, export := filepath.Join(h.dir, "fresh"+strconv.Itoa(h.runs)), filepath.Join(h.aside, "export")
	if strings.Contains(c.line, "EXPORT") {
		h.write(filepath.Join(export, "manifest.json"), "{}")
	}
	empty = c.empty
	for _, word := range strings.Fields(c.line) {
		for name, path := range map[string]string{"FRESH": fresh, "EXPORT": export} {
			if word == name {
				word = path
				quoted, err := json.Marshal(path)
				h.check(err)
				empty = strings.ReplaceAll(empty, name, string(quoted))
			}
		}
		words = append(words, word)
	}
	return words, empty
}

var dataCommands = []dataCommand{
	{line: "search needle", empty: `{"hits":[],"query":"needle","truncated":false}`},
	{line: "read 5e0a", empty: `{"branch":null,"project":null,"session_key":null,"turns":[]}`},
	{line: "show 42 7 42", empty: `{"absent":[{"reason":REASON,"turn_id":42},{"reason":REASON,"turn_id":7}],"records":[]}`},
	{line: "sessions", empty: `{"sessions":[]}`},
	{line: "log -n 3", empty: `{"decisions":[]}`},
	{line: "stats", empty: `{"chars_injected":0,"chars_referenced":0,"compacted_decisions":0,"decisions":0,"false_positives":0,"hits":0,"injected_turns":0,"misses":0,"ordinary_decisions":0,"precision":null,"wasted_budget":0}`},
	{line: "replay --ranked 20 --max-turns 0", empty: `{"changed":[],"decisions":0,"labels":[],"thresholds":{"co_occurring":2,"compacted_ranked":50,"entity_rank":3,"max_candidates":8,"max_turns":0,"ranked":20}}`},
	{line: "status", empty: `{"excluded":null,"last_run":null,"sessions":0,"size_bytes":0,"store":null,"turns":0,"watermark_bytes":0,"watermarks":0}`},
	{line: "usage", empty: `{"archive_bytes":0,"by_month":[],"by_project":[],"file_bytes":0,"footprint":[],"sessions":0}`},
	{line: "sources", empty: `{"last_pass":null,"sources":[]}`, judges: true}, // what is there does not hang on the store
	{line: "observations", empty: `{"observations":[]}`},
	{line: "observations regenerate --since 2026-08-14", empty: `{"notes":[],"regenerated":0,"selected":0,"since":"2026-08-14T00:00:00.000Z"}`},
	{line: "export FRESH", empty: `{"bytes":0,"destination":FRESH,"evicted":0,"manifest":null,"notice":` + exportNotice + `,"sessions":0,"turns":0}`},
	{line: "retention --dry-run", empty: `{"cutoff":null,"delete":[],"evict":[],"excluded":0,"over":0}`},
	{line: "verify", empty: `{"checked":0,"failures":[]}`},
	{line: "compact", empty: `{"after":{"db":0,"shm":0,"total":0,"wal":0},"before":{"db":0,"shm":0,"total":0,"wal":0},"reclaimed_bytes":0}`},
	{line: "reindex", empty: `{"preserved":0,"sessions":0,"skipped":[],"turns":0}`, mends: true},
	{line: "doctor", empty: doctorData, judges: true},
	{line: "version", empty: `{"commit":null,"date":null,"go":null,"system":null,"version":null}`, judges: true},
	{line: "import EXPORT", empty: `{"bytes":0,"evicted":0,"excluded":0,"notes":[],"present":0,"refused":[],"sessions":0,"source":EXPORT,"turns":0}`, mends: true, makes: true},
	{line: "snapshot list", empty: `{"snapshots":[]}`, judges: true}, // it asks the snapshots, whatever the store is
	{line: "snapshot restore --yes terminus-20260820T120000.000Z.db", empty: restoreData, judges: true},
}

const exportNotice = `"This export is the verbatim, unredacted transcripts: whatever was typed, read or printed in these ` +
	`sessions stands in it, passwords and keys included. Keep it as private as the archive itself."`

// doctorData has the keys of doctor's data.
const doctorData = `{"auto_compact":null,"binary":null,"claude_code":null,"cleanup_period_days":null,"config_roots":null,` +
	`"data_directory":null,"hook_PostCompact":null,"hook_SessionEnd":null,"hook_SessionStart":null,"hook_UserPromptSubmit":null,` +
	`"last_run":null,"mcp_server":null,"settings_file":null,"store":null}`

// restoreData is the data of snapshot restore where there is no such snapshot.
const restoreData = `{"damaged":0,"gone_sessions":null,"kept":null,"name":"terminus-20260820T120000.000Z.db",` +
	`"newer_decisions":null,"newer_sessions":null,"sessions":0,"taken_at":null,"turns":0}`

func TestEveryDataCommandIsInTheFamily(t *testing.T) {
	var names []string
	for _, c := range dataCommands {
		names = append(names, c.name())
	}
	slices.Sort(names)
	want := cli.DataCommands()
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("the family holds %v, the program has %v", names, want)
	}
}

func (c dataCommand) name() string {
	longest := ""
	for _, name := range cli.DataCommands() {
		if (c.line == name || strings.HasPrefix(c.line, name+" ")) && len(name) > len(longest) {
			longest = name
		}
	}
	return longest
}

// A machine is a home on which the real binary runs.
type machine struct {
	t     *testing.T
	dir   string
	aside string // another directory
	runs  int    // how often words were made for it
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	return &machine{t: t, dir: t.TempDir(), aside: t.TempDir()}
}

func (h *machine) data() string { return dataDir(h.dir) }
func (h *machine) db() string   { return filepath.Join(h.data(), "terminus.db") }

func (h *machine) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(binDir, "terminus"+exeSuffix()), args...)
	cmd.Dir = h.dir
	cmd.Env = []string{
		"HOME=" + h.dir, "USERPROFILE=" + h.dir, "PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"),
		"LOCALAPPDATA=" + filepath.Join(h.dir, "AppData", "Local"), "APPDATA=" + filepath.Join(h.dir, "AppData", "Roaming"),
	}
	return cmd
}

// run runs the binary and returns what it wrote and its exit code.
func (h *machine) run(args ...string) (stdout, stderr string, code int) {
	h.t.Helper()
	var out, errs bytes.Buffer
	cmd := h.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		h.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// runClosed runs the binary with a stdout that nobody reads.
func (h *machine) runClosed(args ...string) (stderr string, code int) {
	h.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		h.t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var errs bytes.Buffer
	cmd := h.command(args...)
	cmd.Stdout, cmd.Stderr = w, &errs
	err = cmd.Run()
	if cmd.ProcessState == nil {
		h.t.Fatal(err)
	}
	return errs.String(), cmd.ProcessState.ExitCode()
}

func (h *machine) write(name, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *machine) ingest() {
	h.t.Helper()
	if _, errs, code := h.run("ingest"); code != 0 {
		h.t.Fatalf("ingest: %d %s", code, errs)
	}
}

// alter makes a store and runs a statement on it.
func (h *machine) alter(statement string) {
	h.t.Helper()
	h.ingest()
	db, err := sql.Open("sqlite", h.db())
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		h.t.Fatal(err)
	}
}

// A situation is a machine on which every data command has to answer alike.
type situation struct {
	name    string
	prepare func(h *machine)
	code    int
	// reason must be part of the document's reason.
	reason string
	// whole asks for the command's empty data, to the byte; else only its shape
	// is compared.
	whole bool
	// warning must be part of stderr, with --json too; "" is an empty stderr.
	warning string
	// untouched asks that the store's bytes stay.
	untouched bool
}

var situations = []situation{
	{name: "no store", prepare: func(*machine) {}, reason: "no store at ", whole: true},
	{name: "empty file", prepare: func(h *machine) { h.write(h.db(), "") }, reason: "no store at ", whole: true, untouched: true},
	{name: "empty store", prepare: (*machine).ingest},
	{
		name: "not a database", prepare: func(h *machine) { h.write(h.db(), strings.Repeat("this is not a database\n", 1000)) },
		code: 1, reason: "terminus.db", whole: true, untouched: true,
	},
	{
		name: "damaged", prepare: func(h *machine) {
			h.ingest()
			h.overwrite(100, 4000) // the first page, but for the header: the schema
		},
		code: 1, reason: "terminus.db", whole: true,
	},
	{
		name: "a directory in its place", prepare: func(h *machine) { h.write(filepath.Join(h.db(), "file"), "") },
		code: 1, reason: "terminus.db", whole: true,
	},
	{
		name: "unreadable", prepare: func(h *machine) {
			if os.Geteuid() == 0 || runtime.GOOS == "windows" {
				h.t.Skip("this user may read everything")
			}
			h.ingest()
			h.check(os.Chmod(h.db(), 0))
		},
		code: 1, reason: "terminus.db", whole: true,
	},
	{
		name: "newer archive format", prepare: func(h *machine) { h.alter(`UPDATE meta SET value = '99' WHERE key = 'archive_format'`) },
		code: 1, reason: "99", whole: true, untouched: true,
	},
	{
		name: "older derivation", prepare: func(h *machine) { h.alter(`UPDATE meta SET value = '0' WHERE key = 'derived_schema'`) },
		warning: "terminus: warning: this store was indexed by another version",
	},
	{
		name: "broken configuration", prepare: func(h *machine) {
			h.ingest()
			h.write(h.config(), "exclude = []\nroots = 7\n")
		},
		code: 1, reason: "terminus.toml:2: ", whole: true, untouched: true,
	},
}

func (h *machine) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *machine) config() string {
	if runtime.GOOS == "windows" {
		return filepath.Join(h.dir, "AppData", "Roaming", "terminus", "terminus.toml")
	}
	return filepath.Join(h.dir, ".config", "terminus", "terminus.toml")
}

func (h *machine) overwrite(from, to int) {
	h.t.Helper()
	data, err := os.ReadFile(h.db())
	h.check(err)
	for i := from; i < to; i++ {
		data[i] = 0xa5
	}
	h.check(os.WriteFile(h.db(), data, 0o600))
}

// bytes are the store's files.
func (h *machine) bytes() string {
	var all strings.Builder
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(h.db() + suffix)
		if err != nil && !os.IsNotExist(err) {
			return ""
		}
		all.Write(data)
	}
	return all.String()
}

func TestEnvelope(t *testing.T) {
	t.Parallel()
	for _, s := range situations {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			h := newMachine(t)
			s.prepare(h)
			before := h.bytes()
			for _, c := range dataCommands {
				on := h
				if c.makes {
					on = newMachine(t)
					s.prepare(on)
				}
				t.Run(c.name(), func(t *testing.T) { s.hold(t, on, c) })
			}
			if s.name == "no store" {
				if entries, _ := os.ReadDir(h.dir); len(entries) > 0 {
					t.Errorf("asking made %v", entries)
				}
			}
			if s.untouched && h.bytes() != before {
				t.Error("the store's bytes have changed")
			}
		})
	}
}

// hold holds one command in one situation to the contract.
func (s situation) hold(t *testing.T, h *machine, c dataCommand) {
	if c.mends {
		s.warning = ""
	}
	if c.makes && s.code == 0 {
		s.reason = ""
	}
	words, wanted := c.arguments(h)
	out, errs, code := h.run(append(words, "--json")...)
	if c.judges {
		s = situation{name: s.name, code: code} // that of ok, as is held below
	}
	if code != s.code {
		t.Errorf("exit code %d, want %d", code, s.code)
	}
	s.checkWarning(t, errs)
	doc := decode(t, out)
	if doc.Command != c.name() || doc.OK != (code == 0) {
		t.Errorf("command %q, ok %v, exit code %d", doc.Command, doc.OK, code)
	}
	why := ""
	if doc.Reason != nil {
		why = *doc.Reason
	}
	if s.reason != "" && !strings.Contains(why, s.reason) {
		t.Errorf("the reason %q does not say %q", why, s.reason)
	}
	quoted, err := json.Marshal(why)
	if err != nil {
		t.Fatal(err)
	}
	empty := strings.ReplaceAll(wanted, "REASON", string(quoted))
	if s.whole && string(doc.Data) != empty {
		t.Errorf("data\n%s\nwant\n%s", doc.Data, empty)
	}
	if got, want := keys(t, doc.Data), keys(t, []byte(empty)); !slices.Equal(got, want) {
		t.Errorf("data has %v, want %v", got, want)
	}

	// Without --json: data to stdout, the reason or the error to stderr.
	words, _ = c.arguments(h)
	out, errs, code = h.run(words...)
	if code != s.code {
		t.Errorf("for people: exit code %d, want %d", code, s.code)
	}
	if s.whole && out != "" && !c.makes {
		t.Errorf("for people: stdout %q", out)
	}
	if s.code != 0 && !c.judges && !strings.HasPrefix(errs, "terminus: ") {
		t.Errorf("for people: stderr %q", errs)
	}
	if s.reason != "" && !strings.Contains(errs, s.reason) {
		t.Errorf("for people: stderr %q does not say %q", errs, s.reason)
	}

	// A closed stdout ends quietly with the verdict's exit code.
	words, _ = c.arguments(h)
	errs, code = h.runClosed(append(words, "--json")...)
	if code != s.code {
		t.Errorf("closed stdout: exit code %d, want %d", code, s.code)
	}
	s.checkWarning(t, errs)

	// Misuse is found before anything is opened, and writes no document.
	out, errs, code = h.run(append(words, "--json", "--no-such-flag")...)
	if code != 2 || out != "" || !strings.HasPrefix(errs, "terminus: ") {
		t.Errorf("misuse: exit code %d, stdout %q, stderr %q", code, out, errs)
	}
}

func (s situation) checkWarning(t *testing.T, stderr string) {
	t.Helper()
	if s.warning == "" && stderr != "" || !strings.Contains(stderr, s.warning) {
		t.Errorf("stderr %q, want %q", stderr, s.warning)
	}
}

type envelope struct {
	Command string
	Data    json.RawMessage
	OK      bool
	Reason  *string
}

// decode reads a document, and checks its outer form: one line, the four keys
// in order, every object's keys sorted.
func decode(t *testing.T, out string) envelope {
	t.Helper()
	var doc envelope
	if strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, "\n") {
		t.Fatalf("not one line: %q", out)
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := keys(t, []byte(out)); !slices.Equal(got, []string{"command", "data", "ok", "reason"}) {
		t.Fatalf("the document has %v", got)
	}
	var any any
	if err := json.Unmarshal([]byte(out), &any); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(any) // sorts, and writes floats otherwise
	if err != nil {
		t.Fatal(err)
	}
	if order(t, string(sorted)) != order(t, out) {
		t.Errorf("keys are not sorted: %s", out)
	}
	return doc
}

// order is the sequence of the keys of a document, at every depth.
func order(t *testing.T, doc string) string {
	t.Helper()
	var keys []string
	var inObject []bool
	isKey := false
	d := json.NewDecoder(strings.NewReader(doc))
	for {
		tok, err := d.Token()
		if err != nil {
			return strings.Join(keys, "\n")
		}
		if name, ok := tok.(string); ok && isKey {
			keys = append(keys, name)
			isKey = false
			continue
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			inObject = append(inObject, tok == json.Delim('{'))
		case json.Delim('}'), json.Delim(']'):
			inObject = inObject[:len(inObject)-1]
		}
		isKey = len(inObject) > 0 && inObject[len(inObject)-1]
	}
}

// keys are the keys of one object, in their order.
func keys(t *testing.T, object []byte) []string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(object, &m); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
