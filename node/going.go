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
func (n *Node) ahead() time.Duration { return min(max(aheadLeast, n.exec.LeaveTime()), aheadMost) }

// departure is when an end that is known makes what runs leave; zero for never.
func (n *Node) departure() time.Time {
	d := n.decision
	if d.State != overlay.Available || d.Until.IsZero() || n.exec.Count() == 0 {
		return time.Time{}
	}
	return d.Until.Add(-n.ahead())
}

// goes says whether what runs here has to go, and why.
func (n *Node) goes(now time.Time) (reason string, goes bool) {
	switch d := n.decision; {
	case n.movedOut:
		return d.Reason + "; the grace has passed", true
	case d.Ends != "" && !n.departing.IsZero():
		return d.Ends + " at " + d.Until.Format("15:04") + ": what runs leaves before", true
	}
	return "", false
}

// departIfDue notes that a known end is near, on the loop.
func (n *Node) departIfDue(now time.Time) {
	at := n.departure()
	switch {
	case !n.departing.IsZero():
		until := n.decision.Until
		if n.decision.State != overlay.Available || until.IsZero() || until.After(n.departing) {
			n.departing = time.Time{} // the owner has thought otherwise, or it is over
			n.lend()
			return
		}
		n.departing = until // sooner than was thought: all the more
	case !at.IsZero() && !at.After(now):
		n.departing = n.decision.Until
		n.log.Info("what runs leaves", "reason", n.decision.Ends, "until", n.decision.Until, "ahead",
			n.decision.Until.Sub(now).Round(time.Second))
		n.lend()
	}
}

// lend tells the peer what the owner lends, and whether what runs has to go.
func (n *Node) lend() {
	going, _ := n.goes(n.now())
	n.tell(member.Lent{State: n.owner, Going: going})
}
