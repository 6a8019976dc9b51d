package testscripts

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/terminus-archive/terminus/internal/wire"
	wireclaude "github.com/terminus-archive/terminus/internal/wire/claude"
)

// More of what scripts can do, for what install changes:
//
//	remember DIR             keep in mind what lies below DIR: names, bytes, modes,
//	                         times and links
//	unchanged DIR            it is still the same
//	roundtrip FILE STYLE...  for each STYLE, in a home of its own: FILE, a path below
//	                         the home, holds what the file STYLE does, or is not there
//	                         where STYLE is `-`. Install wires what there is to wire and
//	                         keeps all else, a second install changes no byte, and after
//	                         uninstall the home is what it was
//	answer TEXT N program args...
//	                         run a program that must exit with N, with TEXT and a newline as
//	                         its input
func init() {
	for name, f := range map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"remember":  cmdRemember,
		"unchanged": cmdUnchanged,
		"roundtrip": cmdRoundtrip,
		"answer":    cmdAnswer,
	} {
		commands[name] = f
	}
}

// A trace is what can be told of one file.
type trace struct {
	mode fs.FileMode
	text string // its bytes, or where a link leads
	time int64
}

// traces are those of a directory and all below it.
func traces(dir string) (map[string]trace, error) {
	all := map[string]trace{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		t := trace{mode: info.Mode()}
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			t.text, t.time = string(data), info.ModTime().UnixNano()
		case info.Mode()&fs.ModeSymlink != 0:
			t.text, err = os.Readlink(path)
		}
		all[path] = t
		return err
	})
	return all, err
}

// differences names what is not the same in two states of a directory.
func differences(a, b map[string]trace, times bool) []string {
	var all []string
	for path, was := range a {
		now, ok := b[path]
		if !times {
			was.time, now.time = 0, 0
		}
		switch {
		case !ok:
			all = append(all, path+" is gone")
		case was != now:
			all = append(all, fmt.Sprintf("%s was %v %.500q\nand is %v %.500q", path, was.mode, was.text, now.mode, now.text))
		}
	}
	for path := range b {
		if _, ok := a[path]; !ok {
			all = append(all, path+" is new")
		}
	}
	return all
}

// remembered is what scripts keep in mind, by the absolute path of the directory, which
// no two scripts share.
var remembered sync.Map

func cmdRemember(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "remember DIR")
	all, err := traces(ts.MkAbs(args[0]))
	ts.Check(err)
	remembered.Store(ts.MkAbs(args[0]), all)
}

func cmdUnchanged(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "unchanged DIR")
	all, err := traces(ts.MkAbs(args[0]))
	ts.Check(err)
	was, ok := remembered.Load(ts.MkAbs(args[0]))
	if !ok {
		ts.Fatalf("%s was not remembered", args[0])
	}
	if d := differences(was.(map[string]trace), all, true); d != nil {
		ts.Fatalf("%s", strings.Join(d, "\n"))
	}
}

func cmdAnswer(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 3, "answer TEXT N program args...")
	cmd := program(ts, args[2:])
	cmd.Stdin = strings.NewReader(args[0] + "\n")
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	checkCode(ts, number(ts, args[1]), cmd.Run())
}

func cmdRoundtrip(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "roundtrip FILE STYLE...")
	for i, style := range args[1:] {
		home := ts.MkAbs(fmt.Sprintf("roundtrip/%s/%d", filepath.Base(args[0]), i))
		file := filepath.Join(home, filepath.FromSlash(args[0]))
		ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
		if style != "-" {
			ts.Check(os.WriteFile(file, []byte(ts.ReadFile(style)), 0o640))
		}
		if err := roundtrip(home, file); err != nil {
			ts.Fatalf("%s: %v", style, err)
		}
	}
}

// roundtrip installs twice and uninstalls in a home.
func roundtrip(home, file string) error {
	run := func(args ...string) error {
		cmd := exec.Command(filepath.Join(binDir, "terminus"+exeSuffix()), args...)
		cmd.Dir = home
		cmd.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"), "LOCALAPPDATA=" + filepath.Join(home, "AppData", "Local"), "APPDATA=" + filepath.Join(home, "AppData", "Roaming")}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", args, err, out)
		}
		return nil
	}
	before, err := traces(home)
	if err != nil {
		return err
	}
	if err := run("install"); err != nil {
		return err
	}
	if err := wired(home); err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if rest := before[file].text; !within([]byte(strings.TrimSpace(rest)), text) {
		return fmt.Errorf("install changed what was there:\n%q\nbecame\n%q", rest, text)
	}
	once, err := traces(home)
	if err != nil {
		return err
	}
	if err := run("install", "--yes"); err != nil {
		return err
	}
	twice, err := traces(home)
	if err != nil {
		return err
	}
	if d := differences(once, twice, true); d != nil {
		return fmt.Errorf("the second install changed something: %s", strings.Join(d, "\n"))
	}
	if err := run("uninstall"); err != nil {
		return err
	}
	after, err := traces(home)
	if err != nil {
		return err
	}
	if d := differences(before, after, false); d != nil {
		return fmt.Errorf("not as it was: %s", strings.Join(d, "\n"))
	}
	return nil
}

// wired reports what is not as install writes it in a home.
func wired(home string) error {
	s := wireclaude.Wiring{
		Settings: filepath.Join(home, ".claude", "settings.json"), State: filepath.Join(home, ".claude.json"),
		Own: wire.Own{Binary: filepath.Join(home, ".local", "bin", "terminus")},
	}.Status()
	for _, f := range []wireclaude.FileStatus{s.Settings, s.State} {
		if f.Err != nil {
			return f.Err
		}
		if !f.Exists {
			return fmt.Errorf("%s is not there", f.Path)
		}
	}
	for _, h := range s.Hooks {
		if len(h.Ours) != 1 || !h.Ours[0].Whole || len(h.Others) > 0 {
			return fmt.Errorf("hook %+v", h)
		}
	}
	if !s.MCP.Ours || !s.MCP.Entry.Whole {
		return fmt.Errorf("server %+v", s.MCP)
	}
	return nil
}

// within reports whether part comes of whole by leaving bytes out.
func within(part, whole []byte) bool {
	for _, c := range whole {
		if len(part) > 0 && part[0] == c {
			part = part[1:]
		}
	}
	return len(bytes.TrimSpace(part)) == 0
}
