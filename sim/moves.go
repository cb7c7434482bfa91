package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"godwit/migrate"
	"godwit/scheduler/place"
	"godwit/task"
	"godwit/trace"
)

// exits tells who counts that a host's availability ended.
func (w *world) exits(i int32, h *simHost) {
	if w.mover == nil {
		return
	}
	w.mover.Left(w.peer(i), w.time())
	w.judge.Left(w.peer(i), w.time())
}

// scan asks the migration policy about all hosts that are there, as a live
// coordinator shows its members, and moves what it says. By the published rules
// it sees those that are available.
func (w *world) scan() {
	w.scanned = w.scanned[:0]
	for i := range w.hosts {
		h := &w.hosts[i]
		if h.state == trace.Available || !h.gone && !w.paper {
			w.scanned = append(w.scanned, w.shown(int32(i), h))
		}
	}
	w.migrate(w.scanned)
}

// notice is when a host says that it leaves.
func (w *world) notice(i int32, h *simHost) {
	w.fill(i, h)
	w.heedNotice(i, h)
	if w.paper {
		w.loseAll(i, h, "its host takes no tasks any more")
	}
}

// shown is a host as migration policies see it: one on notice gives tasks nothing.
func (w *world) shown(i int32, h *simHost) migrate.Host {
	m := migrate.Host{Peer: w.peer(i), Leaving: h.onNotice()}
	if !m.Leaving {
		m.CPU = migrate.CPUPercent(w.records[i].share, 1)
	}
	for k := h.tasks.head; k != none; k = w.tasks.slots[k].hnext {
		m.Tasks = append(m.Tasks, task.TaskID{Job: jobName, Index: w.tasks.slots[k].id})
	}
	return m
}

// migrate has the policy scan hosts and moves the tasks of those that it says
// will go.
func (w *world) migrate(hosts []migrate.Host) {
	w.judge.Settle(w.time())
	rng := rand.New(rand.NewPCG(w.seed, ^w.scans))
	w.scans++
	predictions := w.mover.Scan(w.time(), hosts, w.moveForecast, rng)
	if w.now >= w.tally.boundary {
		w.judge.Predicted(w.time(), w.ofAvailable(predictions))
	}
	moves := migrate.Moves(hosts, predictions)
	if len(moves) == 0 {
		return
	}
	widened, touched := w.widened, slices.Clone(w.touched)
	w.widened = true
	offers := slices.Clone(w.offerAll())
	w.widened = widened
	for _, i := range touched { // they are still to be offered to the queue
		w.touch(i, &w.hosts[i])
	}
	for _, m := range moves {
		offers = w.move(&m, offers)
	}
}

// ofAvailable leaves out predictions about hosts that are available no more:
// their exit was.
func (w *world) ofAvailable(predictions []migrate.Prediction) []migrate.Prediction {
	gone := func(p migrate.Prediction) bool {
		i, ok := hostOf(p.Peer)
		return ok && w.hosts[i].state != trace.Available
	}
	if !slices.ContainsFunc(predictions, gone) {
		return predictions
	}
	return slices.DeleteFunc(slices.Clone(predictions), gone)
}

// A single is a queue of one task.
type single struct {
	task  place.Task
	given bool
}

// Next implements place.Queue.
func (q *single) Next() (place.Task, bool) {
	if q.given {
		return place.Task{}, false
	}
	q.given = true
	return q.task, true
}

// SkipJob implements place.Queue.
func (q *single) SkipJob() {}

// move moves one task to where the placement policy says, if anywhere, and
// returns the hosts with room after that.
func (w *world) move(m *migrate.Move, offers []place.Host) []place.Host {
	n, _ := hostOf(m.From)
	from := &w.hosts[n]
	k := from.tasks.head
	for k != none && w.tasks.slots[k].id != m.Task.Index {
		k = w.tasks.slots[k].hnext
	}
	if k == none || from.gone {
		return offers
	}
	shown := offers
	if at := slices.IndexFunc(offers, func(h place.Host) bool { return h.Peer == m.From }); at >= 0 {
		shown = slices.Delete(slices.Clone(offers), at, at+1)
	}
	if len(shown) == 0 {
		return offers
	}
	w.draws.Seed(w.seed, w.round)
	w.round++
	out := w.policy.Place(w.time(), &single{task: w.shape(k)}, shown, w.placeForecast, w.rng)
	if len(out) == 0 {
		return offers
	}
	at := slices.IndexFunc(offers, func(h place.Host) bool { return h.Peer == out[0].Peer })
	if at < 0 || out[0].Peer == m.From {
		return offers
	}
	to, _ := hostOf(out[0].Peer)
	reason := ""
	if w.watch != nil {
		reason = m.Reason + "; there: " + out[0].Reason.String()
	}
	w.shift(k, int32(n), int32(to), reason)
	t := w.shape(k)
	if offers[at].Take(&t); offers[at].Free <= 0 {
		offers = slices.Delete(offers, at, at+1)
	}
	return offers
}

// shift sends a task elsewhere: with its state if it runs, from its last
// checkpoint if it stands still.
func (w *world) shift(k, i, to int32, reason string) {
	h, t := &w.hosts[i], &w.tasks.slots[k]
	w.advance(h)
	started, origin := t.status == taskRunning, i
	switch {
	case started && !w.runs(h):
		if started = h.timeClock > t.begunTime; !started {
			break // it stood still before it began
		}
		if origin = fromStore; !w.fallBack(k, h) {
			w.takeOff(k, i, h)
			w.giveUp(k, i, to)
			return
		}
	case started:
		served, spent := h.workClock-t.begunWork, h.timeClock-t.begunTime
		done := w.worked(t, served)
		useful := 0.
		if served > 0 {
			useful = spent * min(1, done/served)
		}
		made, _ := w.checkpoints(t, served)
		w.tally.checkpoint(made, t, w.saves.Away)
		t.extra += useful
		w.tally.wasted += spent - useful
		t.from = min(t.work-1, t.from+int64(done))
	}
	w.takeOff(k, i, h)
	t.origin, t.away = origin, h.epoch
	w.send(k, to, &w.hosts[to])
	d := w.network.Delay
	if started {
		d = time.Duration(w.transfer(t.state))
	}
	if !t.early {
		w.tally.migrations++
		if started {
			w.tally.moved += t.state
		}
	}
	if w.watch != nil {
		w.watch(Decision{At: w.time(), Task: t.id, Action: "moved", Host: int(to), From: int(i), Reason: reason})
	}
	w.dispatch(k, to, d)
}

// takeOff has a host that goes on without a task.
func (w *world) takeOff(k, i int32, h *simHost) {
	w.depart(k, h)
	h.load--
	h.memory -= w.tasks.slots[k].memory
	w.fill(i, h)
	w.touch(i, h)
}

// strand puts a task whose move came to nothing back into the queue: from the
// state that its origin has, or, if that went as well, from its last checkpoint.
func (w *world) strand(k int32, left bool) {
	t := &w.tasks.slots[k]
	if left || t.from == 0 {
		w.tally.wasted += t.extra
	} else {
		if t.onSaved {
			t.savedTime += t.extra
		} else {
			w.tally.wasted += t.savedTime
			t.savedTime = t.extra
		}
		t.saved, t.savedHost = t.from, t.origin
		if w.saves.Away {
			t.savedHost = none
		}
	}
	t.extra = 0
	w.tally.giveBack(t.early)
	w.lost(k, t.host, "its move came to nothing", true)
}

// newMover makes the migration policy, nil where nothing moves. Where all hosts
// are to be predicted for, a policy that has the choice looks at all.
func newMover(s *Scenario) (migrate.Policy, error) {
	spec := s.Migration
	if spec == "" || spec == "none" {
		return nil, nil
	}
	if s.ScanAll {
		sep := ":"
		for _, c := range spec {
			if c == ':' {
				sep = ","
			}
		}
		if p, err := migrate.Parse(spec + sep + "hosts=available"); err == nil {
			return p, nil
		}
	}
	return migrate.Parse(spec)
}
