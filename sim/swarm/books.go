package swarm

import (
	"slices"
	"time"

	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/scheduler/worker"
	"godwit/sim"
	"godwit/trace"
)

// decided notes what a machine decided.
func (w *world) decided(n *node, m machine, d message.Decided) {
	peer := -1
	o := w.byID[d.Peer]
	if o != nil {
		peer = o.index
	}
	if w.opt.Watch != nil {
		w.opt.Watch(Decision{At: w.clock, Node: n.index, Machine: nameOf(m), Decided: d, PeerNode: peer})
	}
	switch d.Action {
	case "lent":
		w.stats.Lent++
	case "taken back":
		w.stats.TakenBack++
	}
	j := w.jobs[d.Task.Job]
	if _, leads := m.(*scheduler.Coordinator); !leads || j == nil || d.Task.Index >= uint64(len(j.tasks)) {
		return
	}
	t := j.tasks[d.Task.Index]
	switch d.Action {
	case "placed":
		w.wait(t, false)
		w.say(t, "placed", o, nil, d.Reason)
		t.at, t.moving = o, false
	case "adopted":
		w.wait(t, false)
	case "requeued":
		w.wait(t, t.ended < 0)
		t.moving = false
	case "moved":
		t.moves++
		w.wait(t, false)
		w.say(t, "moved", o, t.at, d.Reason)
		t.at, t.moving = o, o == nil || !slices.ContainsFunc(o.runs, func(r *run) bool { return r.t == t })
	case "done", "failed":
		w.over(t, d.Action == "failed", d.Reason)
	}
}

// A presence is since when a node is there, and leads.
type presence struct{ up, leads time.Duration } // below 0: it is not, or does not

// nobody is a presence of one that is neither.
var nobody = presence{-1, -1}

// ends books how long a node was there, or led, up to now.
func (w *world) ends(since *time.Duration, sum *time.Duration) {
	if *since >= 0 {
		*sum += w.now - *since
	}
	*since = -1
}

// closeBooks books for how long those were there that are there at the end.
func (w *world) closeBooks() {
	w.stats.Ran = w.now
	for _, n := range w.nodes {
		w.ends(&n.there.up, &w.stats.Up)
		w.ends(&n.there.leads, &w.stats.Led)
	}
}

// led books who leads, and tells it if somebody asks.
func (w *world) led(n *node, epoch uint64) {
	switch {
	case epoch == 0:
		w.ends(&n.there.leads, &w.stats.Led)
	case n.there.leads < 0:
		n.there.leads = w.now
	}
	if w.opt.Led != nil {
		w.opt.Led(Leading{At: w.clock, Node: n.index, Epoch: epoch})
	}
}

func nameOf(m machine) string {
	switch m.(type) {
	case *scheduler.Coordinator:
		return "coordinator"
	case *scheduler.Replica:
		return "replica"
	case *worker.Worker:
		return "worker"
	}
	return "submitter"
}

// over ends a task, once: another leader may say it again.
func (w *world) over(t *taskBook, failed bool, reason string) {
	w.wait(t, false)
	if t.ended >= 0 || w.drained {
		return
	}
	t.ended, t.failed = w.now, failed
	w.inside(-1)
	w.residence += float64(w.now - t.arrived)
	if failed {
		w.say(t, "failed", nil, nil, reason)
		return
	}
	w.dayAt(w.now, false).succeeded++
	w.say(t, "completed", nil, nil, reason)
}

// begun notes a run's begin. One that goes on where a move brought it is no
// placement.
func (w *world) begun(r *run) {
	w.changes++
	if r.t.begun < 0 {
		r.t.begun = w.now
	}
	if r.t.moving {
		r.t.moving = false
		return
	}
	r.t.starts++
	w.dayAt(w.now, true).allocated++
}

// A loss is how a run ends without a result.
type loss uint8

const (
	died     loss = iota // with its host
	returned             // though its host lives
	moved                // because the leader wants it elsewhere, or not at all
)

// lost notes a run's end without a result.
func (w *world) lost(r *run, why string, as loss) {
	w.changes++
	switch as {
	case died:
		r.t.losses++
		w.dayAt(w.now, false).failed++
	case returned:
		r.t.returns++
	case moved:
		return
	}
	w.say(r.t, "lost", r.n, nil, why)
}

// stood notes that a node's runs stand still, or go on.
func (w *world) stood(n *node, before, now message.OwnerState) {
	action := ""
	switch {
	case !stops(before.State) && stops(now.State):
		action = "suspended"
	case stops(before.State) && !stops(now.State):
		action = "resumed"
	default:
		return
	}
	for _, r := range n.runs {
		w.say(r.t, action, n, nil, now.Reason)
	}
}

func (w *world) say(t *taskBook, action string, at, from *node, reason string) {
	if w.s.Watch == nil || w.drained {
		return
	}
	index := func(n *node) int {
		if n == nil {
			return -1
		}
		return n.index
	}
	w.s.Watch(sim.Decision{
		At: w.s.Day0().Add(w.traced(w.now)), Task: t.number, Action: action, Host: index(at), From: index(from),
		Reason: reason,
	})
}

// inside counts tasks in the system, for Little's law.
func (w *world) inside(change int) {
	w.area += float64(w.in) * float64(w.now-w.inAt)
	w.in, w.inAt = w.in+change, w.now
}

// spend books host time of a task, by days.
func (w *world) spend(r *run, from, to time.Duration) {
	r.t.spent += w.counted(from, to)
	extra := time.Duration(0)
	if r.n.spell.state != trace.Available { // what runs on while its host gives notice
		extra = 1
		w.available += w.counted(from, to)
	}
	w.days(from, to, func(d *day, part time.Duration) {
		d.used += part
		d.available += extra * part
	})
}

// offer books time for which a host was available.
func (w *world) offer(from, to time.Duration) {
	w.available += w.counted(from, to) * time.Duration(w.slots)
	w.days(from, to, func(d *day, part time.Duration) { d.available += part * time.Duration(w.slots) })
}
