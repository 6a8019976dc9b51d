package detach

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

// A report is what a worker writes down about itself, over and over.
type report struct {
	PID   int
	Args  []string
	Beats int
	Open  []int // pipes beyond standard error
}

// lifetime is how long a worker lives that nobody ends.
const lifetime = 2 * patience

// worker writes reports to file until it is killed, or gives up.
func worker(file string) int {
	r := report{PID: os.Getpid(), Args: os.Args, Open: openFiles()}
	for end := time.Now().Add(lifetime); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		r.Beats++
		data, err := json.Marshal(r)
		if err != nil || os.WriteFile(file+".new", data, 0o600) != nil || os.Rename(file+".new", file) != nil {
			return 1
		}
	}
	return 0
}

// lastReport returns the newest report in file, the zero one if there is none.
func lastReport(file string) report {
	var r report
	if data, err := os.ReadFile(file); err == nil {
		_ = json.Unmarshal(data, &r)
	}
	return r
}

// waitForWorker waits for the first report, and ends that worker, by its id,
// when the test is over.
func waitForWorker(t *testing.T, file string) report {
	t.Helper()
	eventually(t, "the worker's start", func() bool { return lastReport(file).PID != 0 })
	r := lastReport(file)
	t.Cleanup(func() {
		if p, err := os.FindProcess(r.PID); err == nil {
			_ = p.Kill()
		}
		eventually(t, "the worker's end", func() bool { return gone(r.PID) })
	})
	return r
}
