package scheduler

import (
	"fmt"
	"math"

	"godwit/task"
)

// What members claim. In an open overlay a member's slots and speed are anybody's words: who
// claims thousands of slots of the fastest machine there is would be given everything, and
// might do nothing. So what it claims counts as far as it has shown: it begins with little,
// and may have twice as much after each batch of tasks that this leader saw it end rightly. A
// next leader, or the same when the member was gone, begins anew. This node is believed, for
// it is the leader's own.

const (
	// startSlots is what a member has at first: that many cores most machines have.
	startSlots = 4
	// startSpeed is how fast it is at first, at most: as the reference core.
	startSpeed = 1
	// maxBatches is enough to believe whatever an advert can say.
	maxBatches = 20
)

// A claim is what a member says of itself, and how far it has shown that.
type claim struct {
	slots   int
	speed   float64
	batches int // of tasks that it ended rightly, at most maxBatches
	ended   int // of the next
}

// batch is how many tasks the next batch has: as many as it may have at once.
func (c *claim) batch() int { return startSlots << c.batches }

// heed has a host count with what it claims, as far as that goes here.
func (m *membership) heed(h *host) {
	h.slots, h.speed = h.claim.slots, h.claim.speed
	if m.c.cfg.Rules.Open && h.peer != m.c.self {
		h.slots = min(h.slots, h.claim.batch())
		h.speed = min(h.speed, math.Ldexp(startSpeed, h.claim.batches))
	}
}

// heedAll does so for all hosts, when the rules have changed: between two Steps, of which the
// next looks at all that are idle.
func (m *membership) heedAll() {
	for _, h := range m.roster.all() {
		m.heed(h)
		m.settleHost(h)
	}
}

// showed counts a task that a host ended rightly.
func (m *membership) showed(h *host) {
	c := &h.claim
	if c.batches >= maxBatches {
		return
	}
	if c.ended++; c.ended < c.batch() {
		return
	}
	c.batches, c.ended = c.batches+1, 0
	if slots, speed := h.slots, h.speed; m.c.cfg.Rules.Open {
		if m.heed(h); h.slots != slots || h.speed != speed {
			m.c.decided(task.TaskID{}, "believed", h.peer, fmt.Sprintf("it has ended %d tasks rightly: it counts with %d slots "+
				"and a speed of %.3g", c.batch()/2, h.slots, h.speed))
		}
		m.touchHost(h)
	}
}

// belied begins anew with a host whose result cannot be right.
func (m *membership) belied(h *host) {
	if !m.c.cfg.Rules.Open {
		return
	}
	h.claim.batches, h.claim.ended = 0, 0
	m.heed(h)
	m.touchHost(h)
}
