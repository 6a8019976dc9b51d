package testscripts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/terminus-archive/terminus/internal/store"
)

// More of what scripts can do, for what is taken in:
//
//	archived FILE              the newest archived state of FILE is what the file
//	                           holds up to its last newline, byte for byte
//	archived FILE STATE        one archived state of FILE is the file STATE
//	hits N word...             a search of everything finds N turns; flags of search
//	                           may stand among the words
//	body TURN FILE             the archived record of a turn is what FILE holds
//	chop FILE N                take the last N bytes off a file
//	nuls FILE N                append N bytes of zero
//	longline FILE BYTES WORD   write a record that is one line of about BYTES, with
//	                           WORD in the middle of its text
//	output FILE N BYTES WORD   write a record N whose tool returned WORD, a blank and
//	                           BYTES more
//	noise FILE BYTES SEED      append records of words that nothing can compress
//	peak MIB program args...   the program never uses more memory than that
//	quick MS program args...   the program needs less processor time than that
//	eventually SECONDS PATTERN program args...
//	                           run the program until its stdout matches
//	unprivileged N program args...
//	                           run the program, which must exit with N, without
//	                           the superuser's right to read what it may not
//	mksocket FILE              make a socket that nobody listens at
//	tmpfs DIR SIZE             mount a file system of that size, for this script
//	fillup FILE                write FILE until its file system is full
var ingestCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"archived":     cmdArchived,
	"hits":         cmdHits,
	"body":         cmdBody,
	"chop":         cmdChop,
	"nuls":         cmdNuls,
	"longline":     cmdLongline,
	"output":       cmdOutput,
	"noise":        cmdNoise,
	"peak":         cmdPeak,
	"quick":        cmdQuick,
	"eventually":   cmdEventually,
	"unprivileged": cmdUnprivileged,
	"mksocket":     cmdMksocket,
	"tmpfs":        cmdTmpfs,
	"fillup":       cmdFillup,
}

func init() {
	for name, f := range ingestCommands {
		commands[name] = f
	}
}

func cmdArchived(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 && len(args) != 2 {
		ts.Fatalf("usage: archived FILE [STATE]")
	}
	path := resolved(ts.MkAbs(args[0]))
	db, err := store.OpenReader(context.Background(), ts.Getenv("DB"))
	ts.Check(err)
	defer db.Close()
	back, ok, err := restore(db, path)
	ts.Check(err)
	if ok == neg && len(args) == 1 {
		ts.Fatalf("%s is archived: %v", args[0], ok)
	}
	if neg && len(args) == 1 {
		return
	}
	if len(args) == 2 {
		want := []byte(ts.ReadFile(args[1]))
		for _, state := range back.states {
			if bytes.Equal(state, want) {
				if neg {
					ts.Fatalf("%s was archived as %s", args[0], args[1])
				}
				return
			}
		}
		if !neg {
			ts.Fatalf("none of the %d archived states of %s is %s", len(back.states), args[0], args[1])
		}
		return
	}
	want := []byte(ts.ReadFile(args[0]))
	if back.key != "" {
		want = whole(want)
	}
	if got := back.states[len(back.states)-1]; !bytes.Equal(got, want) {
		ts.Fatalf("%s comes back as\n%.2000q\nwant\n%.2000q", args[0], got, want)
	}
}

func cmdHits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "hits N word...")
	ts.Check(ts.Exec("terminus", append([]string{"search", "--project", "*", "--limit", "50", "--json"}, args[1:]...)...))
	if got := strings.Count(ts.ReadFile("stdout"), `"turn_id":`); got != number(ts, args[0]) {
		ts.Fatalf("%d turns are found, want %s", got, args[0])
	}
}

func cmdBody(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "body TURN FILE")
	ts.Check(ts.Exec("terminus", "show", "--project", "*", "--json", args[0]))
	var doc struct {
		Data struct{ Records []struct{ Body string } }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &doc))
	if len(doc.Data.Records) != 1 {
		ts.Fatalf("there is no turn %s", args[0])
	}
	if got, want := doc.Data.Records[0].Body, strings.TrimSuffix(ts.ReadFile(args[1]), "\n"); got != want {
		ts.Fatalf("turn %s is\n%q\nwant\n%q", args[0], got, want)
	}
}

func cmdChop(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "chop FILE N")
	name := ts.MkAbs(args[0])
	info, err := os.Stat(name)
	ts.Check(err)
	ts.Check(os.Truncate(name, info.Size()-int64(number(ts, args[1]))))
}

func cmdNuls(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "nuls FILE N")
	appendFile(ts, args[0], strings.Repeat("\x00", number(ts, args[1])))
}

// recordForm is a user record around a text, with its number as its uuid.
const recordForm = `{"type":"user","uuid":"%d","timestamp":"2026-08-12T21:00:00.000Z","sessionId":"made","cwd":"/work/app",` +
	`"message":{"role":"user","content":"%s"}}` + "\n"

func cmdLongline(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "longline FILE BYTES WORD")
	half := strings.Repeat("wide text that says nothing at all ", number(ts, args[1])/2/35)
	appendFile(ts, args[0], fmt.Sprintf(recordForm, 1_000_000, half+args[2]+" "+half))
}

// outputForm is a user record with the structured result of a tool.
const outputForm = `{"type":"user","uuid":"%d","timestamp":"2026-08-12T21:00:00.000Z","sessionId":"made","cwd":"/work/app",` +
	`"message":{"role":"user","content":"returned"},"toolUseResult":{"stdout":"%s"}}` + "\n"

func cmdOutput(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 4, "output FILE N BYTES WORD")
	text := args[3] + " " + strings.Repeat("y", number(ts, args[2]))
	appendFile(ts, args[0], fmt.Sprintf(outputForm, number(ts, args[1]), text))
}

func cmdNoise(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "noise FILE BYTES SEED")
	r := rand.New(rand.NewPCG(uint64(number(ts, args[2])), 1))
	var b strings.Builder
	for i := 0; b.Len() < number(ts, args[1]); i++ {
		var text strings.Builder
		for range 500 {
			fmt.Fprintf(&text, "%016x ", r.Uint64())
		}
		fmt.Fprintf(&b, recordForm, i, text.String())
	}
	appendFile(ts, args[0], b.String())
}

func appendFile(ts *testscript.TestScript, name, text string) {
	f, err := os.OpenFile(ts.MkAbs(name), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	ts.Check(err)
	_, err = f.WriteString(text)
	ts.Check(err)
	ts.Check(f.Close())
}

// runProgram runs a program with the script's streams and returns what it cost.
func runProgram(ts *testscript.TestScript, args []string) (*os.ProcessState, error) {
	cmd := program(ts, args)
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	err := cmd.Run()
	return cmd.ProcessState, err
}

// peakStep is how often a running program's memory is looked at. What it held
// most is remembered by the system, so only its last moments can be missed.
const peakStep = 2 * time.Millisecond

func cmdPeak(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "peak MIB program args...")
	cmd := program(ts, args[1:])
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var used int64
	for running := true; running; {
		if now, ok := peakMemory(cmd.Process.Pid); ok {
			used = max(used, now)
		}
		select {
		case err := <-ended:
			ts.Check(err)
			running = false
		case <-time.After(peakStep):
		}
	}
	ts.Logf("at most %d MiB", used>>20)
	if limit := int64(number(ts, args[0])) << 20; used > limit {
		ts.Fatalf("it used %d MiB", used>>20)
	}
}

// quickTries is how often a program may try: the machine has other things to
// do as well.
const quickTries = 5

func cmdQuick(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "quick MS program args...")
	limit := time.Duration(number(ts, args[0])) * time.Millisecond
	best := time.Hour
	for range quickTries {
		state, err := runProgram(ts, args[1:])
		ts.Check(err)
		best = min(best, state.UserTime()+state.SystemTime())
		if best < limit {
			return
		}
	}
	ts.Fatalf("it needs %v", best)
}

func cmdEventually(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 3, "eventually SECONDS PATTERN program args...")
	pattern, err := regexp.Compile(args[1])
	ts.Check(err)
	deadline := time.Now().Add(time.Duration(number(ts, args[0])) * time.Second)
	for {
		cmd := program(ts, args[2:])
		out, err := cmd.Output()
		if err == nil && pattern.Match(out) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%q did not come: %v\n%s", args[1], err, out)
		}
		time.Sleep(awaitStep)
	}
}

func cmdUnprivileged(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) >= 2, "unprivileged N program args...")
	command := args[1:]
	if os.Geteuid() == 0 {
		if command[0] == "terminus" {
			command = append([]string{program(ts, command).Path}, command[1:]...)
		}
		command = append([]string{"setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"}, command...)
	}
	_, err := runProgram(ts, command)
	checkCode(ts, number(ts, args[0]), err)
}

// canBeUnprivileged reports whether unprivileged works here.
func canBeUnprivileged() bool {
	if os.Geteuid() != 0 {
		return true
	}
	return exec.Command("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--", "true").Run() == nil
}

var errNoSpaceLeft = errors.New("the file system never filled up")

// cmdFillup writes a file until the file system is full.
func cmdFillup(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "fillup FILE")
	ts.Check(fillup(ts.MkAbs(args[0])))
}

// fillupLimit is far above any file system that a test mounts.
const fillupLimit = 1 << 30

func fillup(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for size, step := 0, 1<<20; size < fillupLimit; {
		n, err := f.Write(make([]byte, step))
		size += n
		if err != nil && step == 1 {
			return nil
		}
		if err != nil {
			step = max(1, step/16)
		}
	}
	return errNoSpaceLeft
}
