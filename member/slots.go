package member

import (
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
)

const (
	// DemandFor is how long an overlay counts as having work for this peer after it
	// last had some: a pause between two jobs, or between two batches of short tasks,
	// does not give its share away and take it back.
	DemandFor = 5 * time.Second
	// TurnTime is how long the overlay with the smallest share has a core before it is
	// the next one's turn, where there are more overlays with work than cores. That
	// slots have moved is heard within AdvertGap and a report of the worker's: ten
	// times as long leaves most of a turn for work.
	TurnTime = 30 * time.Second
)

// slots are what of the machine a member's worker may use.
type slots struct {
	told   message.OwnerState // what the worker last heard
	busy   time.Time          // until when its share counts as used
	share  float64            // by which it was told so, alone on its machine
	served float64            // seconds of a core, over the share that they were had by: see countTurns
}

// Settle divides what the owner lends among the overlays, and tells their workers. The
// driver calls it before it carries out what it has gathered.
func (p *Peer) Settle(now time.Time) []Effect { return p.At(now, p.shareOut) }

// shareOut tells each overlay's worker what it may use now, of what the owner lends.
func (p *Peer) shareOut() {
	withheld := p.world.Withheld()
	if len(p.members) == 1 { // has all that there is; it is asked in each turn, mostly for nothing
		m, n := p.members[0], p.lent.State.Slots
		share := p.world.Weight(m)
		if p.servedAt = p.now; p.shared && withheld == m.told.Withheld && share == m.share {
			return
		}
		if p.shared, m.share = true, share; share == 0 {
			n = 0
		}
		m.hears(n, share, withheld)
		return
	}
	claims := p.claims()
	for i, n := range allot(p.lent.State.Slots, claims) {
		p.members[i].hears(n, claims[i].share, withheld)
	}
}

// hears tells the member's worker what it may use, if that is news.
func (m *Member) hears(n int, share float64, withheld int) {
	word := m.word(n, share)
	word.Withheld = withheld
	if word == m.told {
		return
	}
	before := m.told
	before.Withheld = word.Withheld // of which only the leader is told
	m.told = word
	m.step(m.worker, word)
	m.step(m.submitter, m.p.lent.State) // which asks others to run tasks again where nothing is lent
	if word != before {
		m.AdvertiseSoon()
	}
}

// word is what a member's worker is told that has so many slots.
func (m *Member) word(n int, share float64) message.OwnerState {
	p := m.p
	word := p.lent.State
	word.Slots = n
	gone, goes := p.going()
	switch {
	case p.full != "":
		return message.OwnerState{State: word.State, Reason: p.full}
	case m.leaving:
		return message.OwnerState{State: overlay.Leaving, Reason: "the member is leaving"}
	case goes:
		return gone
	case p.lent.State.Slots == 0 || n > 0:
	case share == 0:
		word.Reason = "the owner's rules give this overlay no share of the machine"
	default:
		word.Reason = "it is another overlay's turn: more have work for this machine than it has cores"
	}
	return word
}

// going is what workers are told while what runs has to go; ok is false while it has not.
func (p *Peer) going() (word message.OwnerState, ok bool) {
	word = message.OwnerState{State: overlay.Leaving, Reason: p.lent.Going, Until: p.lent.State.Until}
	switch {
	case p.lent.Going != "":
		return word, true
	case !p.departing.IsZero():
		word.Reason = p.lent.Ends + " at " + word.Until.Format("15:04") + ": what runs leaves before"
		return word, true
	}
	return message.OwnerState{}, false
}

// claims returns what the overlays have a right to, in their order.
func (p *Peer) claims() []claim {
	for _, m := range p.members {
		running, queued, _ := m.worker.Load()
		if running+queued > 0 {
			m.busy = p.now.Add(DemandFor)
		} else if !m.busy.After(p.now) {
			m.busy = time.Time{}
		}
	}
	return p.countTurns()
}

// countTurns adds what guests have had since it was last called, and returns the
// overlays' claims. Time is counted by share, so that equal counts are just. Who comes
// back to work has the next turn, and no more for its absence.
func (p *Peer) countTurns() []claim {
	passed := p.now.Sub(p.servedAt).Seconds()
	p.servedAt = p.now
	p.world.Guests(func(m *Member) {
		if w := p.world.Weight(m); w > 0 {
			m.served += passed / w
		}
	})
	claims := make([]claim, len(p.members))
	least, first := 0.0, 0.0 // the smallest share, and who of those with work was served least
	working := false
	for i, m := range p.members {
		c := claim{share: p.world.Weight(m), busy: m.busy.After(p.now)}
		claims[i] = c
		if c.share > 0 && (least == 0 || c.share < least) {
			least = c.share
		}
		if c.share > 0 && c.busy && (!working || m.served < first) {
			first, working = m.served, true
		}
	}
	if least == 0 {
		return claims
	}
	turn := TurnTime.Seconds() / least
	for i, m := range p.members {
		if working && !claims[i].busy {
			m.served = max(m.served, first-turn)
		}
		claims[i].turns = int64(m.served / turn)
	}
	return claims
}
