package exec

import (
	"time"

	"godwit/migrate/handover"
	"godwit/owner"
)

const (
	// usualState is the bytes of state that a task is thought to have before it was
	// saved, at most its limit: jobs that say nothing may have 256 MiB, and few do.
	usualState = 64 << 20
	// aheadRounds is how often the whole state is thought to travel: once, and as
	// much again for what changes meanwhile.
	aheadRounds = 2
	// haste is the least time before the machine goes that a task stands still at
	// the latest: the freeze, a round trip and the goodbye take some tenths of it.
	haste = time.Second
	// orderWait is how long a task that has to go waits for the leader's word on
	// where to, and to be let in there: some round trips around the world, and time to
	// compile a usual module. Then its state is saved instead, to wait with the leader.
	orderWait = time.Second
)

// LeaveTime returns how long what runs here is thought to take to leave while it runs,
// on the loop.
func (x *Executor) LeaveTime() time.Duration {
	heed(x)
	var bytes float64
	for _, a := range x.running {
		size := a.controls.size()
		if size == 0 && a.job != nil && a.audit == nil { // an audit has no state to take along
			size = min(a.job.spec.Memory, usualState)
		}
		bytes += float64(size)
	}
	return time.Duration(aheadRounds * bytes / x.pace.uplink(x.lent.Upload) * float64(time.Second))
}

// inHaste reports whether what leaves is to stand still for it at once: it does
// already, or there is no time to send its state ahead.
func (x *Executor) inHaste() bool {
	if x.lent.Stop || x.leaving != nil {
		return true
	}
	return x.lent.Rule == owner.RuleGoing && !x.Host.Now().Before(x.lastMoment())
}

// lastMoment is when what runs here has to stand still at the latest, so that its
// state has left when the machine goes; in the past where that may be any moment.
func (x *Executor) lastMoment() time.Time {
	if x.lent.Until.IsZero() {
		return time.Time{}
	}
	return x.lent.Until.Add(-max(haste, x.LeaveTime()))
}

// Leave notes that the node says goodbye, on the loop: nothing arrives here any more, a
// task that has to go waits for so long until the leader says where to, and may then
// take so long to be saved.
func (x *Executor) Leave(order, save time.Duration) {
	x.leaving = &leaving{order, save}
	x.ahead.leave()
	x.refuseArrivals("the member is leaving", func(*destination) bool { return true })
}

// SendAway has the attempts of a client leave, on the loop.
func (x *Executor) SendAway(of Client) {
	heed(x)
	for _, a := range x.running {
		if a.of == of {
			x.sendAway(a)
		}
	}
}

// MoveOut has what runs here leave, on the loop, and returns how many attempts stay and
// how many leave. Those that cannot go with their state stay, unless others can work; audits
// end, as their work is asked for again.
func (x *Executor) MoveOut(othersWork bool, reason string) (stay, leave int) {
	heed(x)
	for _, a := range x.running {
		if !othersWork && !a.movable() && a.audit == nil {
			stay++
			continue
		}
		leave++
		x.Log.Info("giving a task back", "task", a.name.Task.String(), "reason", reason)
		x.sendAway(a)
	}
	return stay, leave
}

// sendAway has an attempt leave. Where tasks move the leader says where to, and
// what it has no word on within orderWait is saved, to wait with the leader.
func (x *Executor) sendAway(a *attempt) {
	if !a.movable() {
		a.end()
		return
	}
	x.hurry(a, "it has to be gone")
	wait := orderWait
	if x.leaving != nil {
		wait = x.leaving.order
	}
	x.after(a, wait, func() { x.saveHere(a) })
}

// movable reports whether an attempt that has to go can go with its state: one that
// can be saved, where the overlay's rules let running tasks move.
func (a *attempt) movable() bool { return a.savable() && a.of.Moves() }

// saveHere ends an attempt with its state if it is not on its way, in the time
// that a node which leaves has. It is not while the other side has not let it in:
// that may have to fetch and compile the job, on a machine that has much else to do.
func (x *Executor) saveHere(a *attempt) {
	if s := a.controls.leaves(); s != nil {
		if s.isWelcome() {
			return
		}
		x.spawn(func() {
			s.tell(handover.Cancel{Reason: "it has to go, and was not let in yet"})
			<-s.done
			if s.result.Outcome == handover.Stays {
				x.Host.Post(func() { x.saveHere(a) })
			}
		})
		return
	}
	if !a.saved.Load() {
		x.Log.Info("saving a task", "task", a.name.Task.String(),
			"reason", "it has to go, and there was no word on where to, or it was not let in there")
	}
	a.save()
	if x.leaving != nil {
		x.after(a, x.leaving.save, a.end)
	}
}

// Leaving counts the attempts that are being handed over from here, or saved, on the
// loop.
func (x *Executor) Leaving() (count int) {
	heed(x)
	for _, a := range x.running {
		if a.controls.leaves() != nil || a.saved.Load() {
			count++
		}
	}
	return count
}
