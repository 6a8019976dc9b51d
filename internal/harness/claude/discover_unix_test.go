//go:build unix

package claude

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/terminus-archive/terminus/internal/harness"
)

func TestPipesAndSocketsAreNamedAndNeverOpened(t *testing.T) {
	root := newRoot(t, "-p/"+sidA+".jsonl", "-p/"+sidC+"/subagents/agent-2.jsonl")
	for _, name := range []string{"-p/" + sidB + ".jsonl", "-p/" + sidA + "/subagents/agent-1.jsonl", "-p/" + sidA + "/tool-results", "-pipe"} {
		if err := os.MkdirAll(filepath.Dir(at(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(at(root, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link(t, at(root, "-pipe"), at(root, "-p/agent-linked.jsonl"))
	short, err := os.MkdirTemp("", "s") // a socket's path is limited to about 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	l, err := net.Listen("unix", filepath.Join(short, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	link(t, filepath.Join(short, "s"), at(root, "-p/agent-socket.jsonl"))

	done := make(chan struct{})
	go func() {
		defer close(done)
		list, problems := found(t, harness.Env{Roots: []string{root}})
		expect(t, "keys", lines(list), []string{sidA + ".jsonl", sidC + "/subagents/agent-2.jsonl"})
		expect(t, "problems", problems, []string{
			at(root, "-p/"+sidA+"/subagents/agent-1.jsonl"), at(root, "-p/"+sidB+".jsonl"),
			at(root, "-p/agent-linked.jsonl"), at(root, "-p/agent-socket.jsonl"),
		})
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("discovery waits for a pipe")
	}
}

func TestANameThatIsNotUTF8IsListedAsItIs(t *testing.T) {
	root := newRoot(t)
	path := at(root, "-p/agent-\xff.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x\n"), 0o600); err != nil {
		t.Skipf("the file system refuses such names: %v", err)
	}
	list, problems := found(t, harness.Env{Roots: []string{root}})
	expect(t, "keys", lines(list), []string{path})
	expect(t, "problems", problems, nil)
}
