package ingest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/terminus-archive/terminus/internal/fsx"
)

// Progress is how far a pass is. BytesTotal is what was known at its start.
type Progress struct {
	PID        int       `json:"pid"`
	StartedAt  time.Time `json:"started_at"`
	Backfill   bool      `json:"backfill"`
	BytesDone  int64     `json:"bytes_done"`
	BytesTotal int64     `json:"bytes_total"`
	FilesDone  int64     `json:"files_done"`
	FilesTotal int64     `json:"files_total"`

	told time.Time
}

const (
	progressFile  = "progress.json"
	progressEvery = 500 * time.Millisecond // often enough to look alive, rare enough to cost nothing
	progressLimit = 4 << 10                // bytes that are read of a progress file
)

func (p *Progress) begin(now time.Time, backfill bool) {
	p.PID, p.StartedAt, p.Backfill, p.told = os.Getpid(), now, backfill, now
}

// report tells the caller, and whoever asks `terminus status`, how far the
// pass is. It is only a courtesy: its failures are dropped.
func (p *pass) report() {
	now := p.o.Now()
	if now.Sub(p.prog.told) < progressEvery {
		return
	}
	p.prog.told = now
	if p.o.Progress != nil {
		p.o.Progress(p.prog)
	}
	if data, err := json.Marshal(p.prog); err == nil {
		_ = fsx.WriteAtomic(filepath.Join(p.o.Config.DataDir, progressFile), data, 0o600)
	}
}

func clearProgress(dataDir string) { _ = os.Remove(filepath.Join(dataDir, progressFile)) }

// progressStale is the age at which a progress file no longer speaks of a
// running pass, whatever process has its id now. A pass writes it anew with
// every batch; the longest silence is one large commit on a slow disk.
const progressStale = 2 * time.Minute

// ReadProgress returns how far the running pass is. ok is false when none runs
// that has lasted long enough to tell. It takes no lock, so that asking never
// makes a pass that begins in that moment believe that another one runs.
func ReadProgress(dataDir string, now time.Time) (pr Progress, ok bool) {
	f, stat, err := fsx.OpenRegular(filepath.Join(dataDir, progressFile))
	if err != nil {
		return pr, false
	}
	defer f.Close()
	data := make([]byte, progressLimit)
	n, _ := f.Read(data)
	if err := json.Unmarshal(data[:n], &pr); err != nil {
		return pr, false
	}
	return pr, now.Sub(time.Unix(0, stat.Mtime)) < progressStale && fsx.ProcessAlive(pr.PID)
}
