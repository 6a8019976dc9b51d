package hook

import "sync"

// notes are what a worker writes down about its text: made before the text is
// handed over, and put right where it no longer can be. Whichever of the two
// comes first, the other finds it done.
type notes struct {
	mu      sync.Mutex
	expired bool
	redress func() // what is to be done where the text comes too late
}

// ifLate sets what is to be done where the text comes too late; nil is nothing.
func (n *notes) ifLate(redress func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.redress = redress
}

// make makes the notes of a text, unless it is too late for that, and sets what
// takes them back. Where they cannot be made they are taken back at once.
func (n *notes) make(do func() error, redress func()) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.expired {
		return nil
	}
	n.redress = redress
	err := do()
	if err != nil {
		redress()
	}
	return err
}

// expire says that the text came too late.
func (n *notes) expire() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.expired = true
	if n.redress != nil {
		n.redress()
	}
}
