package ingest

import (
	"sync"

	"github.com/terminus-archive/terminus/internal/archive"
	"github.com/terminus-archive/terminus/internal/harness"
	"github.com/terminus-archive/terminus/internal/index"
	"github.com/terminus-archive/terminus/internal/transcript"
)

// A sessionRun is one session while a transcript of it is taken in, as the
// worker found it. The writer reads only what does not change: key to exists,
// no and slot.
type sessionRun struct {
	key     string
	harness string
	parent  string
	exists  bool // at the time of reading
	meta    archive.Meta

	// where its rows are, once it exists
	no, slot int64
}

// A batch is what the writer commits in one piece: whole records with all that
// was derived from them, and the watermark at their end.
type batch struct {
	job  *job
	sess *sessionRun

	meta  archive.Meta // as the worker found it
	up    archive.Append
	rows  []index.Row
	state transcript.State
	held  []heldLine

	// growth is how many bytes of stream the batch adds.
	growth int64

	// What becomes of the transcript's newest revision: grown by these bytes, at
	// growOff, to a state of stateLen bytes with the hash stateSum, or replaced by a
	// new one. Neither while a changed transcript is still being read.
	grow       bool
	growOff    int64
	stateLen   int64
	stateSum   []byte
	revision   *archive.Revision // the new state
	setExtents bool              // revision.Extents replace those of the newest revision

	mark    *archive.Watermark // nil while a changed transcript is still being read
	touch   bool               // only the stat is new
	project string
	preTree string

	companions []harness.Companion
	bytesRead  int64
	last       bool
	failure    *Failure

	hide bool // nothing else: the session gets meta's project, which is excluded

	diverged *bool // nothing else: the session's mark of that name

	renameTo string // nothing else: the session sess.key gets this key

	restore *restoration // nothing else: give an evicted session its bytes back

	barrier chan struct{} // nothing else: commit, then close
}

type heldLine struct {
	id string
	index.Held
}

func (b *batch) weigh() int64 {
	n := int64(4 << 10)
	for i := range b.up.Blocks {
		n += int64(len(b.up.Blocks[i].Bytes))
	}
	for i := range b.rows {
		n += b.rows[i].Size()
	}
	return n
}

// drop frees whoever waits for a batch that is not applied.
func (b *batch) drop() {
	if b.barrier != nil {
		close(b.barrier)
	}
	if b.restore != nil {
		b.restore.done <- errAbandoned
	}
}

// queueBytes bounds what waits between worker and writer. Small sessions vary
// in what they cost each side; some tens of them must fit, or the two wait for
// each other.
const queueBytes = 16 << 20

// A load is what a queue carries.
type load interface {
	weigh() int64 // about how many bytes it takes in memory
	drop()        // it will not be used
}

// A queue passes loads from the worker to the writer, bounded in bytes.
type queue[T load] struct {
	mu     sync.Mutex
	room   *sync.Cond
	weight int64
	ch     chan queued[T]
	closed bool
}

type queued[T load] struct {
	load   T
	weight int64
}

func newQueue[T load]() *queue[T] {
	q := &queue[T]{ch: make(chan queued[T], 1024)}
	q.room = sync.NewCond(&q.mu)
	return q
}

// put waits for room. It reports false once the writer has given up.
func (q *queue[T]) put(l T) bool {
	n := l.weigh()
	q.mu.Lock()
	for q.weight > 0 && q.weight+n > queueBytes && !q.closed {
		q.room.Wait()
	}
	if q.closed {
		q.mu.Unlock()
		return false
	}
	q.weight += n
	q.mu.Unlock()
	q.ch <- queued[T]{l, n}
	return true
}

// took gives the room of a load back.
func (q *queue[T]) took(l queued[T]) {
	q.mu.Lock()
	q.weight -= l.weight
	q.mu.Unlock()
	q.room.Signal()
}

// abandon lets the worker run dry: what it still puts is dropped.
func (q *queue[T]) abandon() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.room.Broadcast()
	for l := range q.ch {
		l.load.drop()
	}
}
