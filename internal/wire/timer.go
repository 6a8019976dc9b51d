package wire

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

// A Timer is what makes a system run `terminus ingest` once a day: the files that it
// consists of, and the commands that make the system take it up and let it go. What a
// command does is done by the files as well, at the next login, except on Windows.
type Timer struct {
	// Name is what the system calls such a thing.
	Name string
	// Files are written before Start is run, in this order.
	Files []TimerFile
	// Start makes the system take the timer up, Stop is run before its files go.
	// Each is a program and its arguments.
	Start, Stop [][]string
}

// A TimerFile is one file of a timer, or a link.
type TimerFile struct {
	Path string
	Text []byte
	// Link is where it leads, if it is a link.
	Link string
}

// timerMark stands in each file of a timer: one without it is somebody else's.
const timerMark = "Made by terminus install; terminus uninstall removes it."

// The names of the timer.
const (
	systemdUnit  = "terminus-ingest"
	launchdLabel = "io.github.terminus-archive.ingest"
	windowsTask  = "Terminus ingest"
	windowsFile  = "ingest-task.xml"
)

// timerMode is the mode of a timer's files. They hold no secret, and a system's own are
// read by everybody.
const timerMode = 0o644

// The hour of the day at which launchd and Windows run the timer: most machines are
// on then, and both make up for a run that they slept through.
const timerHour = 12

// An Account is what a timer needs to know of the system and the user.
type Account struct {
	// GOOS is the system, Home the home directory.
	GOOS, Home string
	// XDGConfig is the directory of the user's configuration on Linux.
	XDGConfig string
	// UID is the user's number, where the system has one.
	UID int
	// Receipt is the directory of the receipt.
	Receipt string
	// Environ are variables that the program needs to find its files, as NAME=value.
	Environ []string
}

// TimerFor is the timer of a system for the program at binary. A system that has
// none that we know is an error.
func TimerFor(a Account, binary string) (Timer, error) {
	switch a.GOOS {
	case "linux":
		return systemdTimer(a, binary), nil
	case "darwin":
		return launchdTimer(a, binary), nil
	case "windows":
		return windowsTimer(a, binary), nil
	}
	return Timer{}, fmt.Errorf("there is no timer for %s: let its scheduler run %s ingest once a day", a.GOOS, binary)
}

func systemdTimer(a Account, binary string) Timer {
	dir := filepath.Join(a.XDGConfig, "systemd", "user")
	service, timer := systemdUnit+".service", systemdUnit+".timer"
	var env strings.Builder
	for _, v := range a.Environ {
		env.WriteString(systemdVariable(v))
	}
	return Timer{
		Name: "systemd user timer",
		Files: []TimerFile{
			{Path: filepath.Join(dir, service), Text: []byte("# " + timerMark + `
[Unit]
Description=Archive what coding agents wrote

[Service]
Type=oneshot
` + env.String() + "ExecStart=" + systemdQuote(binary) + ` ingest
Nice=10
`)},
			{Path: filepath.Join(dir, timer), Text: []byte("# " + timerMark + `
[Unit]
Description=Archive what coding agents wrote, once a day

[Timer]
OnCalendar=daily
RandomizedDelaySec=1h
Persistent=true

[Install]
WantedBy=timers.target
`)},
			// What `systemctl --user enable` would make.
			{Path: filepath.Join(dir, "timers.target.wants", timer), Link: filepath.Join(dir, timer)},
		},
		Start: [][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "start", timer}},
		Stop:  [][]string{{"systemctl", "--user", "stop", timer}},
	}
}

// systemdVariable is what hands a variable, NAME=value, to the program.
func systemdVariable(v string) string { return "Environment=" + systemdQuote(v) + "\n" }

// systemdQuote spells a word of a unit file.
func systemdQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`, "\r", `\r`).Replace(s) + `"`
}

func launchdTimer(a Account, binary string) Timer {
	path := filepath.Join(a.Home, "Library", "LaunchAgents", launchdLabel+".plist")
	var env strings.Builder
	if len(a.Environ) > 0 {
		env.WriteString("\t<key>EnvironmentVariables</key>\n\t<dict>\n")
		for _, v := range a.Environ {
			env.WriteString(launchdVariable(v))
		}
		env.WriteString("\t</dict>\n")
	}
	text := `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ` + timerMark + ` -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + launchdLabel + `</string>
	<key>ProgramArguments</key>
	<array>
		<string>` + xmlText(binary) + `</string>
		<string>ingest</string>
	</array>
` + env.String() + `	<key>StartCalendarInterval</key>
	<dict>
		<key>Hour</key>
		<integer>` + fmt.Sprint(timerHour) + `</integer>
		<key>Minute</key>
		<integer>0</integer>
	</dict>
	<key>ProcessType</key>
	<string>Background</string>
</dict>
</plist>
`
	domain := fmt.Sprintf("gui/%d", a.UID)
	return Timer{
		Name:  "launchd agent",
		Files: []TimerFile{{Path: path, Text: []byte(text)}},
		Start: [][]string{{"launchctl", "bootout", domain + "/" + launchdLabel}, {"launchctl", "bootstrap", domain, path}},
		Stop:  [][]string{{"launchctl", "bootout", domain + "/" + launchdLabel}},
	}
}

// launchdVariable is what hands a variable, NAME=value, to the program.
func launchdVariable(v string) string {
	name, value, _ := strings.Cut(v, "=")
	return "\t\t<key>" + xmlText(name) + "</key>\n\t\t<string>" + xmlText(value) + "</string>\n"
}

// windowsTimer leaves the environment alone: a task sees the user's own.
func windowsTimer(a Account, binary string) Timer {
	path := filepath.Join(a.Receipt, windowsFile)
	text := `<?xml version="1.0" encoding="UTF-16"?>
<!-- ` + timerMark + ` -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Archives what coding agents wrote, once a day.</Description>
  </RegistrationInfo>
  <Triggers>
    <CalendarTrigger>
      <StartBoundary>` + fmt.Sprintf("2026-01-01T%02d:00:00", timerHour) + `</StartBoundary>
      <ScheduleByDay><DaysInterval>1</DaysInterval></ScheduleByDay>
    </CalendarTrigger>
  </Triggers>
  <Settings>
    <StartWhenAvailable>true</StartWhenAvailable>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <ExecutionTimeLimit>PT4H</ExecutionTimeLimit>
  </Settings>
  <Actions>
    <Exec>
      <Command>` + xmlText(binary) + `</Command>
      <Arguments>ingest</Arguments>
    </Exec>
  </Actions>
</Task>
`
	return Timer{
		Name:  "scheduled task",
		Files: []TimerFile{{Path: path, Text: utf16LE(text)}},
		Start: [][]string{{"schtasks", "/Create", "/F", "/TN", windowsTask, "/XML", path}},
		Stop:  [][]string{{"schtasks", "/Delete", "/F", "/TN", windowsTask}},
	}
}

func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}

// utf16LE is text as schtasks wants a file, with its mark in front.
func utf16LE(text string) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// TimerState is what happens to a timer.
type TimerState struct {
	Timer
	// Changed tells whether a file of it has to be written.
	Changed bool
}

// planTimer looks at the places of a timer's files. Somebody else's file there is an
// error.
func planTimer(t Timer) (TimerState, error) {
	s := TimerState{Timer: t}
	for _, f := range t.Files {
		there, mine, err := f.look()
		if err != nil {
			return s, err
		}
		if there && !mine {
			return s, fmt.Errorf("%s: is there already, and is not from terminus install", f.Path)
		}
		if there && f.current() {
			continue
		}
		s.Changed = true
		if err := checkDir(filepath.Dir(f.Path)); err != nil {
			return s, err
		}
	}
	return s, nil
}

// look reports whether a file is there, and whether it is ours.
func (f TimerFile) look() (there, mine bool, err error) {
	info, err := os.Lstat(f.Path)
	if errors.Is(err, os.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	if f.Link != "" {
		to, err := os.Readlink(f.Path)
		return true, err == nil && to == f.Link, nil
	}
	if !info.Mode().IsRegular() {
		return true, false, nil
	}
	text, _, err := ReadFile(f.Path)
	marks := [][]byte{[]byte(timerMark), utf16LE(timerMark)[2:]}
	return true, slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Contains(text, m) }), err
}

// current reports whether a file that is ours is as it is to be.
func (f TimerFile) current() bool {
	if f.Link != "" {
		return true
	}
	text, _, err := ReadFile(f.Path)
	return err == nil && bytes.Equal(text, f.Text)
}

// commandWait is how long a scheduler's own command may take.
const commandWait = 10 * time.Second

// run runs commands of a scheduler and reports how the last one went: those before it
// prepare it, and may find nothing to do.
func run(ctx context.Context, commands [][]string) (failed error) {
	for _, c := range commands {
		failed = nil
		ctx, cancel := context.WithTimeout(ctx, commandWait)
		out, err := exec.CommandContext(ctx, c[0], c[1:]...).CombinedOutput()
		cancel()
		if err != nil {
			failed = fmt.Errorf("%s: %w", strings.Join(c, " "), err)
			if said := strings.TrimSpace(string(out)); said != "" {
				failed = fmt.Errorf("%w: %s", failed, strings.SplitN(said, "\n", 2)[0])
			}
		}
	}
	return failed
}
