package swarm

import (
	"slices"
	"time"

	"godwit/member"
	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler/message"
	"godwit/sim"
	"godwit/trace"
)

// watch has the trace's spells happen to the node, from the one that holds at
// the start on. Those before are what it remembers.
func (n *node) watch() {
	h := n.host.History
	n.spell = host{state: trace.Unobserved}
	for i := range h.Len() {
		s := h.Spell(i)
		if !s.Start.Before(n.w.base) {
			break
		}
		at := n.w.base.Add(n.w.machines(s.Start.Sub(n.w.base)))
		if !s.End.After(n.w.base) { // else it is what holds at the start
			n.spell.next = i + 1
		}
		if s.State == trace.Unobserved {
			n.recorder.Blind(at)
			_ = n.history.Gap(at) // in order, as in h
		} else {
			n.saw(at, s.State)
		}
	}
	n.nextSpell()
}

// saw notes that the node's host is in a state.
func (n *node) saw(at time.Time, s trace.State) {
	n.recorder.Observe(at, s)
	if n.w.keepsHistories() {
		_ = n.history.Append(at, s, 1) // in order, as the clock goes
	}
}

// keepsHistories reports whether the predictor needs more than records.
func (w *world) keepsHistories() bool {
	return w.cfg.Rules.Predictor != "" && w.cfg.Rules.Predictor != predictor.Default
}

// nextSpell arranges the next change of the node's host.
func (n *node) nextSpell() {
	h, w := n.host.History, n.w
	state, cpu, at := trace.Unobserved, 0.0, h.Until()
	if n.spell.next < h.Len() {
		s := h.Spell(n.spell.next)
		state, cpu, at = s.State, s.CPU, s.Start
	} else if n.spell.next > h.Len() || h.Len() == 0 {
		return
	}
	n.spell.next++
	when := max(0, w.machines(at.Sub(w.base)))
	if when > w.span {
		return
	}
	r := coming
	if isDown(state) {
		r = going
	}
	w.queue.add(when, r, func() {
		n.become(state, cpu)
		n.nextSpell()
	})
}

// become has the node's host be in a state.
func (n *node) become(s trace.State, cpu float64) {
	w := n.w
	before := n.spell.state
	w.changes++
	for _, r := range n.runs {
		r.settle()
	}
	n.bookSpell()
	n.spell.state, n.spell.cpu = s, cpu
	switch {
	case isDown(s):
		if n.up && !n.leaving() {
			w.end(n, before)
		}
	case n.up && n.leaving():
		n.leave()
		fallthrough
	case !n.up:
		n.saw(w.clock, s)
		n.boot()
	default:
		n.turn(n.decided)
	}
}

// end ends a node as the options say.
func (w *world) end(n *node, before trace.State) {
	ends := w.opt.Ends
	if len(w.opt.Script.Ends) > 0 {
		ends = w.opt.Script.Ends[n.index]
	}
	if ends == Goodbye || ends == AsTraced && before == trace.Leaving {
		n.goodbye()
		return
	}
	n.crash()
}

// bookSpell adds the time of the state to the books.
func (n *node) bookSpell() {
	if n.spell.state == trace.Available {
		n.w.offer(n.spell.since, n.w.now)
	}
	n.spell.since = n.w.now
}

// decided obeys the owner.
func (n *node) decided() {
	w := n.w
	s := message.OwnerState{State: overlay.Available, Slots: w.slots, Memory: w.s.Hosts.Memory}
	if n.host == nil {
		s = message.OwnerState{State: overlay.Available, Reason: "this node only submits"}
	} else if st := n.spell.state; st != trace.Available {
		s = message.OwnerState{State: st, Memory: w.s.Hosts.Memory, Reason: "the member is " + st.String()}
	}
	before := n.owner
	n.owner = s
	if n.m.Advertised().Seq > 0 && s != before {
		n.saw(w.clock, s.State)
	}
	n.moved = n.moved && n.standing()
	n.setMove(before)
	for _, r := range slices.Clone(n.runs) {
		if r.then != nil && n.standing() && !w.hands() {
			r.interrupt(s.Reason, returned)
			continue
		}
		r.goOn()
	}
	n.lend()
	if n.m.Advertised().Seq > 0 && s != before {
		w.stood(n, before, s)
		n.moveIfDue()
	}
}

// setMove says when tasks that stand still go elsewhere.
func (n *node) setMove(before message.OwnerState) {
	w := n.w
	switch {
	case n.host == nil || n.owner.Slots > 0:
		n.moveAt = time.Time{}
	case n.moved && n.standing():
	case n.owner.State == trace.Leaving && w.hands():
		n.moveAt = time.Time{} // the leader says where they go, or has them saved
	case n.owner.State == trace.Leaving || w.s.Hosts.Owner == sim.Kill:
		n.moveAt = w.clock
	case w.s.Hosts.Grace > 0 && before.Slots > 0:
		n.moveAt = w.clock.Add(w.machines(w.s.Hosts.Grace))
	}
}

// moveIfDue gives stopped tasks back when their grace has passed: where nobody could
// take them, those that are saved, to wait with the leader.
func (n *node) moveIfDue() {
	now := n.w.clock
	if n.moveAt.IsZero() || n.moveAt.After(now) {
		return
	}
	n.moveAt = time.Time{}
	if n.w.s.Hosts.Owner != sim.Kill && len(n.runs) > 0 && !n.w.hands() && !n.peer.OthersWork() {
		n.moveAt = now.Add(moveRetry)
		return
	}
	if n.moved = n.w.hands() && n.standing(); n.moved {
		n.lend()
	}
	n.endRuns(n.owner.Reason, returned)
}

// lend tells the node's part in the overlay what its owner lends.
func (n *node) lend() {
	going := ""
	if n.moved {
		going = n.owner.Reason + "; the grace has passed"
	}
	n.tell(member.Lent{State: n.owner, Going: going})
}
