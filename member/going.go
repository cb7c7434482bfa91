package member

import (
	"time"

	"godwit/overlay"
)

// Where the end of what the owner lends is known, what runs leaves before: the workers'
// word to their leaders is then that they are leaving, whatever the owner's state is
// called. A leader answers with where each task goes, or has its state saved.

const (
	// aheadLeast is the least notice of an end that is known: the leader's order, the
	// stream and the destination's sandbox take seconds. aheadMost is the most: beyond
	// it the work that would not be done here weighs more than a checkpoint.
	aheadLeast, aheadMost = 15 * time.Second, 10 * time.Minute
)

// departure is when an end that is known makes what runs leave; zero for never.
func (p *Peer) departure() time.Time {
	s := &p.lent.State
	if p.lent.Ends == "" || s.State != overlay.Available || s.Until.IsZero() || p.countGuests() == 0 {
		return time.Time{}
	}
	return s.Until.Add(-min(max(aheadLeast, p.world.LeaveTime()), aheadMost))
}

// departs brings up to date whether what runs leaves before a known end, and reports
// whether that is another answer than before.
func (p *Peer) departs() bool {
	before, until := p.departing, p.lent.State.Until
	if p.lent.Ends == "" || p.lent.State.State != overlay.Available || until.IsZero() || until.After(before) {
		p.departing = time.Time{} // the owner has thought otherwise, or it is over
	}
	at := p.departure()
	switch {
	case !p.departing.IsZero():
		p.departing = until // sooner than was thought: all the more
	case !at.IsZero() && !at.After(p.now):
		p.departing = until
	}
	if before.IsZero() && !p.departing.IsZero() {
		p.emit(Notice{Level: Info, Text: "what runs leaves", Args: []any{"reason", p.lent.Ends, "until", until, "ahead",
			until.Sub(p.now).Round(time.Second)}})
	}
	return before.IsZero() != p.departing.IsZero()
}

// departIfDue has what runs leave when a known end is near.
func (p *Peer) departIfDue() {
	if p.departs() {
		p.shared = false
		p.shareOut()
	}
}
