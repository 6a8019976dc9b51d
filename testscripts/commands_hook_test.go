package testscripts

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/terminus-archive/terminus/internal/fsx"
)

// What scripts can do with hooks:
//
//	hook EVENT PAYLOAD         answer an event with a file on stdin, in which @WORK@
//	                           and @xFF@ stand for what fill makes of them; the exit
//	                           code must be 0. The pass that it starts finds the lock
//	                           taken, and has ended afterwards. An answer that a busy
//	                           machine makes late is asked for again
//	hook -pass EVENT PAYLOAD   the same, once, and the pass does its work
//	idle                       wait until no pass of this script runs any more
var hookCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"hook": cmdHook,
	"idle": func(ts *testscript.TestScript, neg bool, args []string) {
		usage(ts, neg, len(args) == 0, "idle")
		passesEnd(ts.Getenv("HOME"))
	},
}

func init() {
	for name, f := range hookCommands {
		commands[name] = f
	}
}

const (
	// hookTries is how often an answer may come too late: a test is about what is
	// answered, not about how fast this machine is just now.
	hookTries = 40
	// lateMark is part of what a hook says whose answer comes too late, and
	// lateReason of the decision that it leaves.
	lateMark   = "it took longer than 50ms"
	lateReason = `"reason":"it took longer`
)

func cmdHook(ts *testscript.TestScript, neg bool, args []string) {
	pass := len(args) > 0 && args[0] == "-pass"
	if pass {
		args = args[1:]
	}
	usage(ts, neg, len(args) == 2, "hook [-pass] EVENT PAYLOAD")
	askHook(ts, pass, args[1], "terminus", "hook", args[0])
}

// askHook runs a command with the payload of a hook, again and again while the answer
// comes too late.
func askHook(ts *testscript.TestScript, pass bool, file string, command ...string) {
	cmdFill(ts, false, []string{file})
	payload := ts.ReadFile(file)
	data := ts.Getenv("DATA")
	if !pass && exists(data) {
		passesEnd(ts.Getenv("HOME"))
		lock, held, err := fsx.TryLock(filepath.Join(data, "LOCK"))
		ts.Check(err)
		if !held {
			defer func() { ts.Check(lock.Unlock()) }()
		}
	}
	var stdout, stderr bytes.Buffer
	for range hookTries {
		stdout.Reset()
		stderr.Reset()
		cmd := program(ts, command)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(payload), &stdout, &stderr
		ts.Check(cmd.Run())
		if pass || !strings.Contains(stderr.String(), lateMark) {
			break
		}
		removeLate(ts, filepath.Join(data, "decisions"))
	}
	_, _ = ts.Stdout().Write(stdout.Bytes())
	_, _ = ts.Stderr().Write(stderr.Bytes())
	passesEnd(ts.Getenv("HOME"))
}

// removeLate takes away the decisions of prompts that were answered late.
func removeLate(ts *testscript.TestScript, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	ts.Check(err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		ts.Check(err)
		if bytes.Contains(text, []byte(lateReason)) {
			ts.Check(os.Remove(name))
		}
	}
}

// passPatience is how long passes are waited for, and passPause how long where
// the system does not tell which process belongs to whom.
const (
	passPatience = 30 * time.Second
	passPause    = 500 * time.Millisecond
)

// passesEnd waits until no process of the binary runs in that home. It looks
// twice: the one that hands over may end while it is looked for, and what it
// started began after the look.
func passesEnd(home string) {
	quiet := 0
	for end := time.Now().Add(passPatience); time.Now().Before(end); time.Sleep(awaitStep) {
		running, known := passes(home)
		if !known {
			time.Sleep(passPause)
			return
		}
		if quiet++; running > 0 {
			quiet = 0
		}
		if quiet == 2 {
			return
		}
	}
}

// passes counts the processes of the binary in a home.
func passes(home string) (running int, known bool) {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(processes) == 0 {
		return 0, false
	}
	for _, p := range processes {
		exe, err := os.Readlink(filepath.Join(p, "exe"))
		installed := filepath.Join(home, ".local", "bin")
		if err != nil || filepath.Dir(exe) != binDir && filepath.Dir(exe) != installed {
			continue
		}
		environ, err := os.ReadFile(filepath.Join(p, "environ"))
		if err == nil && bytes.Contains(append([]byte{0}, environ...), []byte("\x00HOME="+home+"\x00")) {
			running++
		}
	}
	return running, true
}
