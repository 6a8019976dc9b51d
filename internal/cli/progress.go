package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// When progress appears, and how often it is drawn anew. Work that ends within
// a second needs none; ten times a second is as fluent as eyes can tell.
const (
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
)

// A meter shows on one line of a terminal how far a piece of work is. On
// anything else it shows nothing. It may be told from several goroutines.
type meter struct {
	w      io.Writer
	screen screen
	now    func() time.Time
	unit   string // what is counted, in the singular; "" is bytes

	mu    sync.Mutex
	start time.Time
	drawn time.Time // zero until the line stands there
}

// meter is a meter on stderr. With --json it shows nothing: the document is the
// answer.
func (e *env) meter() *meter {
	if e.json {
		return newMeter(e.stderr, screen{}, time.Now)
	}
	return newMeter(e.stderr, screenOf(e.stderr, e.environ.Get), time.Now)
}

func newMeter(w io.Writer, s screen, now func() time.Time) *meter {
	return &meter{w: w, screen: s, now: now, start: now()}
}

// update says that done of total bytes, or units, are done.
func (m *meter) update(done, total int64) {
	if !m.screen.terminal() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if now.Sub(m.start) < progressAfter || now.Sub(m.drawn) < progressEvery {
		return
	}
	m.drawn = now
	// A terminal wraps when its last column is taken: that one stays free.
	_, _ = io.WriteString(m.w, "\r"+fit(m.line(done, total, now.Sub(m.start)), m.screen.width-1)+"\x1b[K")
}

func (m *meter) line(done, total int64, elapsed time.Duration) string {
	if m.unit == "" {
		return progressLine(done, total, elapsed)
	}
	line := fmt.Sprintf("%d of %s", done, count(total, m.unit))
	if done > 0 && total > done {
		line += ", " + duration(time.Duration(float64(elapsed)/float64(done)*float64(total-done))) + " left"
	}
	return line
}

// clear takes the line away.
func (m *meter) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.drawn.IsZero() {
		_, _ = io.WriteString(m.w, "\r\x1b[K")
		m.drawn = time.Time{}
	}
}

// progressLine says how much is done, how fast, and how long the rest takes at
// that rate.
func progressLine(done, total int64, elapsed time.Duration) string {
	line := decimalSize(done) + " of " + decimalSize(max(done, total))
	seconds := elapsed.Seconds()
	if done <= 0 || seconds <= 0 {
		return line
	}
	rate := float64(done) / seconds
	line += fmt.Sprintf(", %s/s", decimalSize(int64(rate)))
	if total > done {
		line += ", " + duration(time.Duration(float64(total-done)/rate*float64(time.Second))) + " left"
	}
	return line
}
