package testscripts

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"

	"github.com/terminus-archive/terminus/internal/fsx"
)

// commands are what scripts can do beyond testscript's own commands:
//
//	exits N program args...    run a program that must exit with N
//	closed N program args...   the same, with a stdout that nobody reads
//	pty [-cols N] [-pause FILE] N program args...
//	                           the same on a pseudo-terminal; its output, with
//	                           plain newlines, is stdout. -pause stops the program
//	                           for more than a second once FILE exists
//	norm FILE OUT              copy FILE, with what varies from run to run
//	                           replaced: times, durations, sizes, $DATA, $WORK; relevances are rounded,
//	                           and the escape character is spelled ESC
//	fill FILE...               write @WORK@ in a file as $WORK, in the form that a
//	                           JSON string holds it, and @xFF@ as that byte
//	flip FILE OFFSET           invert the bits of one byte (a negative OFFSET
//	                           counts from the end)
//	sql DB STATEMENT           run SQL; rows go to stdout, columns parted by |
//	touch-mtime FILE TIME      set the modification time
//	mkfifo FILE
//	append FILE SOURCE         append one file to another
//	repeat FILE N SOURCE       write SOURCE N times into FILE, with the number
//	                           of the copy, six digits, in place of NNNNNN
//	await SECONDS FILE...      wait until the files exist
//	await-lock FILE            wait until another process holds a lock
//	await-unlocked FILE        wait until nobody does
//	mcp FILE                   run the server with the requests of a file; see cmdMCP
//	chomp FILE OUT             copy FILE without the newline at its end
//	same-tree DIR DIR          compare two directories byte for byte
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exits":       cmdExits,
	"closed":      cmdClosed,
	"pty":         cmdPTY,
	"norm":        cmdNorm,
	"fill":        cmdFill,
	"flip":        cmdFlip,
	"sql":         cmdSQL,
	"touch-mtime": cmdTouch,
	"mkfifo":      cmdMkfifo,
	"append":      cmdAppend,
	"repeat":      cmdRepeat,
	"await":       cmdAwait,
	"mcp":         cmdMCP,
	"chomp":       cmdChomp,
	"same-tree":   cmdSameTree,

	"await-lock":     func(ts *testscript.TestScript, neg bool, args []string) { awaitLock(ts, neg, args, true) },
	"await-unlocked": func(ts *testscript.TestScript, neg bool, args []string) { awaitLock(ts, neg, args, false) },
}

func usage(ts *testscript.TestScript, neg bool, ok bool, form string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", form)
	}
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "exits N program args...")
	err := ts.Exec(args[1], args[2:]...)
	checkCode(ts, number(ts, args[0]), err)
}

func checkCode(ts *testscript.TestScript, want int, err error) {
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// inherited are the variables that a program started by closed and pty gets,
// where the script has set them.
var inherited = []string{
	"HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "PATH", "TZ", "TMPDIR", "TMP", "SystemRoot",
	"TERMINUS_DATA_DIR", "TERMINUS_CONFIG_DIR", "TERMINUS_BIN_DIR", "TERMINUS_RECALL", "TERMINUS_TEST_NOW", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR",
	"PAGER", "LESS", "TERM", "NO_COLOR",
}

func program(ts *testscript.TestScript, args []string) *exec.Cmd {
	path := args[0]
	if filepath.Base(path) == path {
		path = filepath.Join(binDir, path+exeSuffix())
		if args[0] != "terminus" {
			found, err := exec.LookPath(args[0])
			ts.Check(err)
			path = found
		}
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"PWD=" + cmd.Dir}
	for _, name := range inherited {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd
}

func cmdClosed(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "closed N program args...")
	r, w, err := os.Pipe()
	ts.Check(err)
	ts.Check(r.Close())
	cmd := program(ts, args[1:])
	cmd.Stdout, cmd.Stderr = w, ts.Stderr()
	err = cmd.Run()
	w.Close()
	checkCode(ts, number(ts, args[0]), err)
}

// What varies from run to run, in documents and in the human output.
var normRules = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`"(started_at|finished_at|last_pass|last_archived_at)":"[^"]*"`), `"$1":"TIME"`},
	{regexp.MustCompile(`"ts":"[^"]*"\}`), `"ts":"TIME"}`}, // that of a decision: nobody else's stands last
	{regexp.MustCompile(`(?m)^20\d\d-\d\d-\d\d[T ][0-9:.]+(Z| \(local\))  `), `TIME  `},
	{regexp.MustCompile(`"duration_ms":\d+`), `"duration_ms":0`},
	{regexp.MustCompile(`"size_bytes":[1-9]\d*`), `"size_bytes":1`},
	{regexp.MustCompile(`"file_bytes":[1-9]\d*,"footprint":\[[^\]]*\]`), `"file_bytes":1,"footprint":[PARTS]`},
	{regexp.MustCompile(`"bytes":\d+,"name":"terminus-`), `"bytes":1,"name":"terminus-`},
	{regexp.MustCompile(`(?m)^(terminus-\S+\.db  )\d+ bytes \([^)]*\)`), `${1}SIZE`},
	{regexp.MustCompile(`"(db|shm|total)":[1-9]\d*`), `"$1":1`},
	{regexp.MustCompile(`"reclaimed_bytes":[1-9]\d*`), `"reclaimed_bytes":1`},
	{regexp.MustCompile(`(?m)^((?:before|after|reclaimed) +)[1-9]\d* bytes \(.*\)$`), `${1}SIZE`},
	{regexp.MustCompile(`(?m)^(size +(?:\d+ files?, )?).*$`), `${1}SIZE`},
	{regexp.MustCompile(`(?m)^(last run +)\d.*$`), `${1}TIME`},
	{regexp.MustCompile(`(?m)^( +duration +)\d+ ms$`), `${1}0 ms`},
}

// A processor that multiplies and adds in one step rounds once less: the last
// digits of a relevance are its own.
var relevance = regexp.MustCompile(`"relevance":-?[0-9.]+(e-?[0-9]+)?`)

const relevanceDecimals = 9

func cmdNorm(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "norm FILE OUT")
	text := ts.ReadFile(args[0])
	work := ts.Getenv("WORK")
	for _, place := range []struct{ path, name string }{
		{ts.Getenv("DATA") + string(filepath.Separator), "$DATA/"}, {ts.Getenv("DATA"), "$DATA"}, {work, "$WORK"},
	} {
		for _, form := range []string{place.path, resolvedAs(place.path)} {
			text = strings.ReplaceAll(text, strings.ReplaceAll(form, `\`, `\\`), place.name) // in JSON
			text = strings.ReplaceAll(text, form, place.name)
		}
	}
	text = strings.ReplaceAll(text, "\x1b", "ESC")
	for _, rule := range normRules {
		text = rule.re.ReplaceAllString(text, rule.with)
	}
	text = relevance.ReplaceAllStringFunc(text, func(s string) string {
		name, value, _ := strings.Cut(s, ":")
		f, err := strconv.ParseFloat(value, 64)
		ts.Check(err)
		return name + ":" + strconv.FormatFloat(f, 'f', relevanceDecimals, 64)
	})
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// resolved is path with its links resolved: a temporary directory may lie
// behind one.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// resolvedAs is resolved that keeps a separator at the end.
func resolvedAs(path string) string {
	const sep = string(filepath.Separator)
	if dir, ok := strings.CutSuffix(path, sep); ok {
		return resolved(dir) + sep
	}
	return resolved(path)
}

var byteMark = regexp.MustCompile(`@x([0-9a-f]{2})@`)

func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) > 0, "fill FILE...")
	work := strings.ReplaceAll(resolved(ts.Getenv("WORK")), `\`, `\\`)
	for _, name := range args {
		text := strings.ReplaceAll(ts.ReadFile(name), "@WORK@", work)
		text = byteMark.ReplaceAllStringFunc(text, func(mark string) string {
			b, err := hex.DecodeString(mark[2:4])
			ts.Check(err)
			return string(b)
		})
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "flip FILE OFFSET")
	name := ts.MkAbs(args[0])
	data, err := os.ReadFile(name)
	ts.Check(err)
	at := number(ts, args[1])
	if at < 0 {
		at += len(data)
	}
	if at < 0 || at >= len(data) {
		ts.Fatalf("%s has %d bytes", args[0], len(data))
	}
	data[at] ^= 0xff
	ts.Check(os.WriteFile(name, data, 0o600))
}

func cmdSQL(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "sql DB STATEMENT")
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	rows, err := db.Query(args[1])
	ts.Check(err)
	defer rows.Close()
	columns, err := rows.Columns()
	ts.Check(err)
	cells := make([]any, len(columns))
	for i := range cells {
		cells[i] = new(any)
	}
	for rows.Next() {
		ts.Check(rows.Scan(cells...))
		line := make([]string, len(cells))
		for i, c := range cells {
			switch v := (*c.(*any)).(type) {
			case nil:
				line[i] = "null"
			case []byte:
				line[i] = fmt.Sprintf("%x", v)
			default:
				line[i] = fmt.Sprint(v)
			}
		}
		fmt.Fprintln(ts.Stdout(), strings.Join(line, "|"))
	}
	ts.Check(rows.Err())
	_ = ts.Stdout() // a statement without rows clears stdout, too
}

func cmdTouch(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "touch-mtime FILE TIME")
	at, err := time.Parse(time.RFC3339, args[1])
	ts.Check(err)
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), at, at))
}

func cmdAppend(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "append FILE SOURCE")
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	ts.Check(err)
	_, err = f.WriteString(ts.ReadFile(args[1]))
	ts.Check(err)
	ts.Check(f.Close())
}

func cmdRepeat(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "repeat FILE N SOURCE")
	source := ts.ReadFile(args[2])
	var b strings.Builder
	for i := range number(ts, args[1]) {
		b.WriteString(strings.ReplaceAll(source, "NNNNNN", fmt.Sprintf("%06d", i)))
	}
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o700))
	ts.Check(os.WriteFile(name, []byte(b.String()), 0o600))
}

// awaitStep is how often a file is looked for.
const awaitStep = 5 * time.Millisecond

func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "await SECONDS FILE...")
	deadline := time.Now().Add(time.Duration(number(ts, args[0])) * time.Second)
	for _, name := range args[1:] {
		for !exists(ts.MkAbs(name)) {
			if time.Now().After(deadline) {
				ts.Fatalf("%s did not appear", name)
			}
			time.Sleep(awaitStep)
		}
	}
}

// lockPatience is how long a lock is waited for.
const lockPatience = 30 * time.Second

func awaitLock(ts *testscript.TestScript, neg bool, args []string, want bool) {
	usage(ts, neg, len(args) == 1, "await-lock FILE, await-unlocked FILE")
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(awaitStep) {
		lock, held, err := fsx.TryLock(ts.MkAbs(args[0]))
		ts.Check(err)
		if !held {
			ts.Check(lock.Unlock())
		}
		if held == want {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("held: %v, want %v", held, want)
		}
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func cmdSameTree(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "same-tree DIR DIR")
	a, b := tree(ts, args[0]), tree(ts, args[1])
	for name, data := range a {
		other, ok := b[name]
		if !ok {
			ts.Fatalf("%s is only in %s", name, args[0])
		}
		if !bytes.Equal(data, other) {
			ts.Fatalf("%s differs", name)
		}
		delete(b, name)
	}
	for name := range b {
		ts.Fatalf("%s is only in %s", name, args[1])
	}
}

func tree(ts *testscript.TestScript, dir string) map[string][]byte {
	files := make(map[string][]byte)
	root := ts.MkAbs(dir)
	ts.Check(filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || d.IsDir() {
			files[rel+"/"] = nil
			return err
		}
		files[rel], err = os.ReadFile(path)
		return err
	}))
	return files
}
