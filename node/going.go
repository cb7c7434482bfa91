package node

import (
	"time"

	"godwit/member"
	"godwit/overlay"
)

// A node gives notice when what runs here has to go: its worker's word to the
// leader is then that it is leaving, whatever the owner's state is called. The
// leader answers with where each task goes, or has its state saved.

const (
	// aheadLeast is the least notice of an end that is known: the leader's order, the
	// stream and the destination's sandbox take seconds. aheadMost is the most: beyond
	// it the work that would not be done here weighs more than a checkpoint.
	aheadLeast, aheadMost = 15 * time.Second, 10 * time.Minute
)

// ahead returns how long before a known end what runs should begin to leave.
func (l *lending) ahead() time.Duration { return min(max(aheadLeast, l.exec.LeaveTime()), aheadMost) }

// departure is when an end that is known makes what runs leave; zero for never.
func (l *lending) departure() time.Time {
	d := l.decision
	if d.State != overlay.Available || d.Until.IsZero() || l.exec.Count() == 0 {
		return time.Time{}
	}
	return d.Until.Add(-l.ahead())
}

// goes says whether what runs here has to go, and why.
func (l *lending) goes(now time.Time) (reason string, goes bool) {
	switch d := l.decision; {
	case l.movedOut:
		return d.Reason + "; the grace has passed", true
	case d.Ends != "" && !l.departing.IsZero():
		return d.Ends + " at " + d.Until.Format("15:04") + ": what runs leaves before", true
	}
	return "", false
}

// departIfDue notes that a known end is near, on the loop.
func (l *lending) departIfDue(now time.Time) {
	at := l.departure()
	switch {
	case !l.departing.IsZero():
		until := l.decision.Until
		if l.decision.State != overlay.Available || until.IsZero() || until.After(l.departing) {
			l.departing = time.Time{} // the owner has thought otherwise, or it is over
			l.lend()
			return
		}
		l.departing = until // sooner than was thought: all the more
	case !at.IsZero() && !at.After(now):
		l.departing = l.decision.Until
		l.log.Info("what runs leaves", "reason", l.decision.Ends, "until", l.decision.Until, "ahead",
			l.decision.Until.Sub(now).Round(time.Second))
		l.lend()
	}
}

// lend tells the peer what the owner lends, and whether what runs has to go.
func (l *lending) lend() {
	going, _ := l.goes(l.now())
	l.tell(member.Lent{State: l.owner, Going: going})
}
