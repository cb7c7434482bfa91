package node

import (
	"slices"
	"time"

	"godwit/migrate/handover"
	"godwit/overlay"
	"godwit/owner"
	"godwit/scheduler/message"
)

// A node gives notice when what runs here has to go: its worker's word to the
// leader is then that it is leaving, whatever the owner's state is called. The
// leader answers with where each task goes, or has its state saved.

const (
	// usualRate is the bytes a second that a hand-over is thought to take before
	// any was measured: an upload of 10 Mbit/s, which most homes have.
	usualRate = 10e6 / 8
	// usualState is the bytes of state that a task is thought to have before it was
	// saved, at most its limit: jobs that say nothing may have 256 MiB, and few do.
	usualState = 64 << 20
	// aheadRounds is how often the whole state is thought to travel: once, and as
	// much again for what changes meanwhile.
	aheadRounds = 2
	// aheadLeast is the least notice of an end that is known: the leader's order, the
	// stream and the destination's sandbox take seconds. aheadMost is the most: beyond
	// it the work that would not be done here weighs more than a checkpoint.
	aheadLeast, aheadMost = 15 * time.Second, 10 * time.Minute
	// haste is the least time before the machine goes that a task stands still at
	// the latest: the freeze, a round trip and the goodbye take some tenths of it.
	haste = time.Second
	// orderWait is how long a task that has to go waits for the leader's word on
	// where to, and to be let in there: some round trips around the world, and time to
	// compile a usual module. Then its state is saved instead, to wait with the leader.
	orderWait = time.Second
)

// A pace is how fast hand-overs from here went.
type pace struct {
	rate float64 // bytes a second; 0 before the first
}

// paceShare is the weight of the newest hand-over: five of them forget a network
// that is no more.
const paceShare = 0.3

// paceBytes is the least that tells of a network: of less, the round trips are most.
const paceBytes = 1 << 20

// note takes a hand-over of so many bytes in, on the loop.
func (p *pace) note(bytes int64, took time.Duration) {
	if bytes < paceBytes || took <= 0 {
		return
	}
	rate := float64(bytes) / took.Seconds()
	if p.rate > 0 {
		rate = p.rate + paceShare*(rate-p.rate)
	}
	p.rate = rate
}

// ahead returns how long before a known end what runs should begin to leave.
func (n *Node) ahead() time.Duration { return min(max(aheadLeast, n.leaving()), aheadMost) }

// leaving is how long what runs here is thought to take to leave while it runs.
func (n *Node) leaving() time.Duration {
	var bytes float64
	for name, a := range n.running {
		size := a.place.size()
		if p := n.prepared[name.Task.Job]; size == 0 && p != nil {
			size = min(p.job.Memory, usualState)
		}
		bytes += float64(size)
	}
	return time.Duration(aheadRounds * bytes / n.uplink() * float64(time.Second))
}

// departure is when an end that is known makes what runs leave; zero for never.
func (n *Node) departure() time.Time {
	d := n.decision
	if d.State != overlay.Available || d.Until.IsZero() || len(n.running) == 0 {
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
			n.shareOut()
			return
		}
		n.departing = until // sooner than was thought: all the more
	case !at.IsZero() && !at.After(now):
		n.departing = n.decision.Until
		n.log.Info("what runs leaves", "reason", n.decision.Ends, "until", n.decision.Until, "ahead", n.decision.Until.Sub(now).Round(time.Second))
		n.shareOut()
	}
}

// inHaste says whether what leaves is to stand still for it at once: it does
// already, or there is no time to send its state ahead.
func (n *Node) inHaste() bool {
	if n.decision.Stop || !n.leaveBy.IsZero() {
		return true
	}
	return n.decision.Rule == owner.RuleGoing && !n.now().Before(n.lastMoment())
}

// lastMoment is when what runs here has to stand still at the latest, so that its
// state has left when the machine goes; in the past where that may be any moment.
func (n *Node) lastMoment() time.Time {
	if n.decision.Until.IsZero() {
		return time.Time{}
	}
	return n.decision.Until.Add(-max(haste, n.leaving()))
}

// sendAway has an attempt leave. Where tasks move the leader says where to, and
// what it has no word on within orderWait is saved, to wait with the leader.
func (n *Node) sendAway(name message.AttemptName, a attempt) {
	switch {
	case !a.savable():
		a.end()
	case a.place.now() != nil:
		n.hurry(a, "it has to be gone")
		fallthrough
	default:
		n.after(a, n.orderTime(), func() { n.saveHere(name, a) })
	}
}

// savable says whether an attempt that has to go can go with its state: one that
// can be saved, where the overlay's rules let running tasks move.
func (a *attempt) savable() bool { return a.save != nil && a.of.moves() }

// orderTime is how long a task that has to go waits for word on where to.
func (n *Node) orderTime() time.Duration {
	if !n.leaveBy.IsZero() {
		return goodbyeOrder
	}
	return orderWait
}

// saveHere ends an attempt with its state if it is not on its way, in the time
// that a node which leaves has. It is not while the other side has not let it in:
// that may have to fetch and compile the job, on a machine that has much else to do.
func (n *Node) saveHere(name message.AttemptName, a attempt) {
	if g := a.place.now(); g != nil {
		if g.isWelcome() {
			return
		}
		n.spawn(func() {
			g.tell(handover.Cancel{Reason: "it has to go, and was not let in yet"})
			<-g.done
			if g.result.Outcome == handover.Stays {
				n.post(post{call: func() { n.saveHere(name, a) }})
			}
		})
		return
	}
	if !a.saved.Load() {
		n.log.Info("saving a task", "task", name.Task.String(), "reason", "it has to go, and there was no word on where to, or it was not let in there")
	}
	a.save()
	if !n.leaveBy.IsZero() {
		n.after(a, saveOnLeaving, a.end)
	}
}

// hurry has a task on its way stand still for the rest of it.
func (n *Node) hurry(a attempt, why string) {
	if g := a.place.now(); g != nil {
		n.spawn(func() { g.tell(hurry(why)) })
	}
}

// onTheWay counts the attempts that are being handed over from here, or saved.
func (n *Node) onTheWay() (count int) {
	for _, a := range n.running {
		if a.place.now() != nil || a.saved.Load() {
			count++
		}
	}
	return count
}

// othersCanWork says whether another member takes tasks.
func (n *Node) othersCanWork() bool {
	for _, m := range n.members {
		if slices.ContainsFunc(m.view.Members(), func(a overlay.Advert) bool {
			return a.Peer != n.self && a.State == overlay.Available && a.Slots > 0
		}) {
			return true
		}
	}
	return false
}
