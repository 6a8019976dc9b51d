package wire

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/terminus-archive/terminus/internal/config"
)

// A path that each system's form has to spell with care.
const oddBinary = `/home/a b/50% & "more"/<bin>\terminus`

func account(goos string) Account {
	return Account{
		GOOS: goos, Home: "/home/me", XDGConfig: "/home/me/.config", UID: 501, Receipt: "/home/me/own",
		Environ: []string{`TERMINUS_DATA_DIR=/srv/100% "x" & y`},
	}
}

func TestTheTimerOfASystemIsItsOwn(t *testing.T) {
	for _, tt := range []struct {
		goos, name  string
		start, stop string
		files       []string
	}{
		{
			"linux", "systemd user timer", "systemctl --user daemon-reload; systemctl --user start terminus-ingest.timer", "systemctl --user stop terminus-ingest.timer",
			[]string{"/home/me/.config/systemd/user/terminus-ingest.service", "/home/me/.config/systemd/user/terminus-ingest.timer", "/home/me/.config/systemd/user/timers.target.wants/terminus-ingest.timer"},
		},
		{
			"darwin", "launchd agent", "launchctl bootout gui/501/io.github.terminus-archive.ingest; launchctl bootstrap gui/501 /home/me/Library/LaunchAgents/io.github.terminus-archive.ingest.plist",
			"launchctl bootout gui/501/io.github.terminus-archive.ingest",
			[]string{"/home/me/Library/LaunchAgents/io.github.terminus-archive.ingest.plist"},
		},
		{
			"windows", "scheduled task", "schtasks /Create /F /TN Terminus ingest /XML /home/me/own/ingest-task.xml", "schtasks /Delete /F /TN Terminus ingest",
			[]string{"/home/me/own/ingest-task.xml"},
		},
	} {
		timer, err := TimerFor(account(tt.goos), oddBinary)
		if err != nil {
			t.Fatal(err)
		}
		line := func(commands [][]string) string {
			var all []string
			for _, c := range commands {
				all = append(all, strings.Join(c, " "))
			}
			return filepath.ToSlash(strings.Join(all, "; "))
		}
		if timer.Name != tt.name || line(timer.Start) != tt.start || line(timer.Stop) != tt.stop {
			t.Errorf("%s: %s\n%s\n%s", tt.goos, timer.Name, line(timer.Start), line(timer.Stop))
		}
		var files []string
		for _, f := range timer.Files {
			files = append(files, filepath.ToSlash(f.Path))
		}
		if got, want := strings.Join(files, "\n"), strings.Join(tt.files, "\n"); got != want {
			t.Errorf("%s: files\n%s\nwant\n%s", tt.goos, got, want)
		}
	}
	if _, err := TimerFor(account("plan9"), oddBinary); err == nil || !strings.Contains(err.Error(), "no timer for plan9") {
		t.Errorf("an unknown system: %v", err)
	}
}

func TestAUnitOfSystemdQuotesWhatItRuns(t *testing.T) {
	timer, err := TimerFor(account("linux"), oddBinary)
	if err != nil {
		t.Fatal(err)
	}
	unit := string(timer.Files[0].Text)
	for _, line := range []string{
		`ExecStart="/home/a b/50%% & \"more\"/<bin>\\terminus" ingest`,
		`Environment="TERMINUS_DATA_DIR=/srv/100%% \"x\" & y"`,
		"Type=oneshot",
		"# " + timerMark,
	} {
		if !strings.Contains("\n"+unit, "\n"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, unit)
		}
	}
}

// elements reads XML to its end and returns the texts of its elements.
func elements(t *testing.T, text []byte) []string {
	t.Helper()
	var all []string
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if c, ok := token.(xml.CharData); ok && strings.TrimSpace(string(c)) != "" {
			all = append(all, string(c))
		}
	}
}

func TestThePropertyListSaysWhatIsRun(t *testing.T) {
	timer, err := TimerFor(account("darwin"), oddBinary)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(elements(t, timer.Files[0].Text), "|")
	want := "Label|io.github.terminus-archive.ingest|ProgramArguments|" + oddBinary + "|ingest|EnvironmentVariables|TERMINUS_DATA_DIR|" +
		`/srv/100% "x" & y` + "|StartCalendarInterval|Hour|12|Minute|0|ProcessType|Background"
	if got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
}

func TestTheTaskIsUTF16AndSaysWhatIsRun(t *testing.T) {
	timer, err := TimerFor(account("windows"), oddBinary)
	if err != nil {
		t.Fatal(err)
	}
	raw, ok := bytes.CutPrefix(timer.Files[0].Text, []byte{0xff, 0xfe})
	if !ok {
		t.Fatal("no byte order mark")
	}
	var units []uint16
	for i := 0; i+1 < len(raw); i += 2 {
		units = append(units, uint16(raw[i])|uint16(raw[i+1])<<8)
	}
	got := strings.Join(elements(t, []byte(string(utf16.Decode(units)))), "|")
	want := "Archives what coding agents wrote, once a day.|2026-01-01T12:00:00|1|true|false|false|IgnoreNew|PT4H|" + oddBinary + "|ingest"
	if got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
}

func TestAFileOfATimerIsOursByItsMark(t *testing.T) {
	dir := t.TempDir()
	for _, goos := range []string{"darwin", "windows"} {
		a := account(goos)
		a.Home, a.Receipt = dir, dir
		timer, err := TimerFor(a, oddBinary)
		if err != nil {
			t.Fatal(err)
		}
		f := timer.Files[0]
		write(t, f.Path, string(f.Text))
		if there, mine, err := f.look(); !there || !mine || err != nil || !f.current() {
			t.Errorf("%s: %v %v %v", goos, there, mine, err)
		}
		write(t, f.Path, "somebody else's")
		if there, mine, err := f.look(); !there || mine || err != nil {
			t.Errorf("%s: %v %v %v", goos, there, mine, err)
		}
		if _, err := planTimer(timer); err == nil {
			t.Errorf("%s: somebody else's file was taken", goos)
		}
	}
}

func TestAUnitHasNoLineThatAPathBegins(t *testing.T) {
	timer := systemdTimer(Account{XDGConfig: "/x"}, "/home/a\nExecStart=/bin/b/terminus")
	if text := string(timer.Files[0].Text); !strings.Contains(text, "ExecStart=\"/home/a\\nExecStart=/bin/b/terminus\" ingest\n") {
		t.Error(text)
	}
}

// A timer that names the old place of the data directory no longer does after a move; one
// that names another is left alone.
func TestATimerFollowsAMove(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths of other systems")
	}
	t.Setenv("PATH", t.TempDir()) // no scheduler is to be told
	for _, goos := range []string{"linux", "darwin"} {
		for from, follows := range map[string]bool{`/srv/100% "x" & y`: true, `/srv/100% "x" & y/`: true, "/srv/other": false} {
			t.Run(goos+" "+from, func(t *testing.T) {
				dir := t.TempDir()
				a := account(goos)
				a.Home, a.XDGConfig, a.Receipt = dir, dir, dir
				a.Environ = append(a.Environ, "TERMINUS_CONFIG_DIR="+dir)
				o := Options{Account: a, Places: config.Wiring{Binary: oddBinary, Receipt: dir}}
				timer, err := TimerFor(a, oddBinary)
				if err != nil {
					t.Fatal(err)
				}
				f := timer.Files[0]
				if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(f.Path, f.Text, 0o644); err != nil {
					t.Fatal(err)
				}
				if err := (Receipt{Format: receiptFormat, Timer: []string{f.Path}}).save(dir); err != nil {
					t.Fatal(err)
				}
				if got := TimerElsewhere(dir, from); (got == "") != follows || got != "" && got != f.Path {
					t.Errorf("elsewhere: %q", got)
				}
				changed, err := FollowMove(t.Context(), o, from)
				var unstarted *TimerError
				if follows != (changed == f.Path) || follows != errors.As(err, &unstarted) || !follows && err != nil {
					t.Errorf("changed %q, %v", changed, err)
				}
				want := f.Text
				if follows {
					o.Account.Environ = a.Environ[1:]
					timer, _ := TimerFor(o.Account, oddBinary) // as above
					want = timer.Files[0].Text
				}
				if got, err := os.ReadFile(f.Path); err != nil || string(got) != string(want) {
					t.Errorf("%s\n%v", got, err)
				}
				if got := TimerElsewhere(dir, "/anywhere"); (got == "") != follows {
					t.Errorf("afterwards elsewhere: %q", got)
				}
			})
		}
	}
}
