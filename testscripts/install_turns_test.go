package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// rounds is how often processes are set upon each other. Without turns one of the first
// few fails.
const rounds = 5

// Installs and uninstalls that are started in the same moment take turns: each does its
// work whole, whatever the order.
func TestInstallsAndUninstallsTakeTurns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the home of another system")
	}
	state := "{\n  \"numStartups\": 1\n}\n"
	for _, commands := range []string{"install install", "install uninstall", "uninstall install install", "uninstall uninstall"} {
		t.Run(commands, func(t *testing.T) {
			for range rounds {
				h := newInstalled(t, state)
				if strings.HasPrefix(commands, "uninstall") {
					h.run("install")
				}
				h.atOnce(strings.Fields(commands))
				// One or the other was last, and left nothing by halves.
				switch _, err := os.Stat(filepath.Join(h.home, ".config", "terminus", "install.json")); {
				case err == nil:
					if err := wired(h.home); err != nil {
						t.Fatal(err)
					}
				case !strings.Contains(commands, "uninstall"):
					t.Fatalf("no receipt: %v", err)
				default:
					h.asBefore(state)
				}
				h.run("uninstall")
				h.asBefore(state)
			}
		})
	}
}

// atOnce runs commands in the same moment, none of which may fail.
func (h installed) atOnce(commands []string) {
	h.t.Helper()
	var running []*exec.Cmd
	var said []*strings.Builder
	for _, name := range commands {
		cmd, out := h.command(name), &strings.Builder{}
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			h.t.Fatal(err)
		}
		running, said = append(running, cmd), append(said, out)
	}
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil {
			h.t.Errorf("%v: %v\n%s", cmd.Args[1:], err, said[i])
		}
	}
	if h.t.Failed() {
		h.t.FailNow()
	}
}
