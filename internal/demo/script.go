package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// A step is a line of the script: a remark, a command, or the end of a screen.
type step struct {
	kind kind
	text string
}

type kind int

const (
	remark  kind = iota
	command      // run once
	asked        // a command that answers within a time or not at all: run until it prints something
	cleared      // an empty screen follows
)

// attempts is how often a hook is asked: a machine that is too busy for all of them is not
// one to record on.
const attempts = 100

// answer stands in whatever a hook hands over.
const answer = "hookSpecificOutput"

// parse reads a script. Empty lines are skipped.
func parse(script string) ([]step, error) {
	var steps []step
	n := 0
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		n++
		mark, text, _ := strings.Cut(line, " ")
		switch {
		case line == "":
			continue
		case line == "---":
			steps = append(steps, step{kind: cleared})
			continue
		case text == "":
			return nil, fmt.Errorf("line %d is empty behind its mark: %q", n, line)
		}
		switch mark {
		case "#":
			steps = append(steps, step{remark, text})
		case "$":
			steps = append(steps, step{command, text})
		case "?":
			steps = append(steps, step{asked, text})
		default:
			return nil, fmt.Errorf("line %d begins with none of #, $, ? and ---: %q", n, line)
		}
	}
	if len(steps) == 0 {
		return nil, errors.New("holds no step")
	}
	return steps, nil
}

// How long things take on the screen: slow enough to read along, and nothing that was measured.
const (
	beforeTyping = 700 * time.Millisecond
	perKey       = 35 * time.Millisecond
	beforeOutput = 200 * time.Millisecond
	perStep      = 500 * time.Millisecond // to look at whatever appeared
	perLine      = 250 * time.Millisecond // to read a line of it
	lastLook     = 3 * time.Second        // before a screen is cleared
)

// A shot is what one step puts on the screen.
type shot struct {
	step
	at      time.Duration // when its first character appears: that of a prompt, or of a remark
	typed   time.Duration // when the first key is pressed
	entered time.Duration // when the output appears
	output  string        // as the terminal was sent it, lines ending in \r\n
}

// A take is a whole recording.
type take struct {
	shots []shot
	end   time.Duration
}

// play gives each step its times and each command its output.
func play(steps []step, run func(command string) (string, error)) (take, error) {
	var t take
	for _, s := range steps {
		sh := shot{step: s, at: t.end}
		switch s.kind {
		case remark:
			t.end += perStep + perLine
		case cleared:
			sh.at += lastLook
			t.end = sh.at
		case command, asked:
			sh.typed = sh.at + beforeTyping
			sh.entered = sh.typed + time.Duration(len([]rune(s.text)))*perKey + beforeOutput
			for n := 0; ; n++ {
				out, err := run(s.text)
				if err != nil {
					return take{}, err
				}
				if sh.output = out; s.kind != asked || strings.Contains(out, answer) {
					break
				}
				if n == attempts {
					return take{}, fmt.Errorf("$ %s: was too late %d times: %s", s.text, n, out)
				}
			}
			t.end = sh.entered + perStep + time.Duration(strings.Count(sh.output, "\n"))*perLine
		}
		t.shots = append(t.shots, sh)
	}
	t.end += lastLook
	return t, nil
}
