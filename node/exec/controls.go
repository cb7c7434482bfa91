package exec

import (
	"sync"

	"godwit/migrate/handover"
	"godwit/scheduler/message"
)

// controls are how an attempt is steered while it runs, and where its sandbox and its
// hand-over find each other. A nil one is of an attempt that cannot be saved.
type controls struct {
	save  chan struct{} // asks the sandbox for a checkpoint
	due   chan struct{} // the same, at a boundary; nil where none is asked for
	share chan float64  // tells it which share of the time the guest runs; holds the newest

	mu     sync.Mutex
	source *source         // nil while it is not on its way
	handed *message.Handed // once the other side runs it
	state  int64           // bytes of its state when it was last saved; 0 not known
	failed string          // why the last hand-over came to nothing; "" for none
}

func newControls() *controls {
	return &controls{save: make(chan struct{}, 1), share: make(chan float64, 1)}
}

// slow has the guest run that share of the time. The sandbox may not have taken what
// was said before.
func (c *controls) slow(share float64) {
	select {
	case <-c.share:
	default:
	}
	c.share <- share // one hand-over at a time says so: there is room
}

// saveSoon asks for a checkpoint, unless one is asked for already.
func (c *controls) saveSoon() {
	select {
	case c.save <- struct{}{}:
	default:
	}
}

// meets has checkpoints that are due be made at boundaries: other replicas come there too.
func (c *controls) meets() { c.due = make(chan struct{}, 1) }

// saveUnlessLeaving asks for one if the attempt is not on its way elsewhere.
func (c *controls) saveUnlessLeaving() (asked bool) {
	if c.leaves() != nil {
		return false
	}
	if c.due == nil {
		c.saveSoon()
		return true
	}
	select {
	case c.due <- struct{}{}:
	default:
	}
	return true
}

// leaves returns the hand-over that the attempt is on its way by; nil for none.
func (c *controls) leaves() *source {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.source
}

func (c *controls) set(s *source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.source = s
}

// ahead sends a block where the attempt is on its way.
func (c *controls) ahead(h [32]byte, block []byte) {
	if s := c.leaves(); s != nil {
		s.ahead(h, block)
	}
}

// note takes in how large the state is now.
func (c *controls) note(state int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
}

// size is what note was told last.
func (c *controls) size() int64 {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// left takes in that a hand-over is over, and the newest state by it.
func (c *controls) left(f handover.Finish, last snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.source = nil
	switch f.Outcome {
	case handover.Stays:
		c.failed = f.Reason
	case handover.Handed:
		c.handed = &message.Handed{
			Bytes: f.Stats.Bytes, State: last.pages.size(last.manifest), Rounds: max(0, len(f.Stats.Rounds)-1),
			Took: f.Stats.Total, Down: f.Stats.Downtime,
		}
	}
}

// ranOn says where the attempt went, if the other side runs it.
func (c *controls) ranOn() *message.Handed {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.handed
}
