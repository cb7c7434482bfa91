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
	w.clearScan()
	for i := range w.hosts {
		h := &w.hosts[i]
		if h.state == trace.Available || !w.paper && (!h.gone || w.chooser != nil && h.unseen) {
			w.scanned = append(w.scanned, w.shown(int32(i), h))
		}
	}
	w.migrate(w.scanned)
}

// clearScan forgets the hosts of the last scan.
func (m *moving) clearScan() {
	m.scanned, m.scanTasks, m.scanRuns = m.scanned[:0], m.scanTasks[:0], m.scanRuns[:0]
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
	m := migrate.Host{Peer: w.peer(i), Leaving: h.onNotice(), Speed: h.speed}
	m.Paused = m.Leaving && suspends(h.state) && w.grace > 0
	if !m.Leaving {
		m.CPU = migrate.CPUPercent(w.records[i].share, 1)
	}
	tells := w.chooser != nil || w.copier != nil
	if tells {
		if w.advance(h); w.roomy.has(i) {
			m.Idle = max(0, w.slots32()-int(h.load))
		}
	}
	from := len(w.scanTasks)
	for k := h.tasks.head; k != none; k = w.tasks.slots[k].hnext {
		w.scanTasks = append(w.scanTasks, task.TaskID{Job: jobName, Index: w.tasks.slots[k].id})
		if tells {
			w.scanRuns = append(w.scanRuns, w.told(k, h))
		}
	}
	if m.Tasks = w.scanTasks[from:]; tells {
		m.Runs = w.scanRuns[from:]
	}
	return m
}

// migrate has the policy scan hosts and moves the tasks of those that it says
// will go.
func (w *world) migrate(hosts []migrate.Host) {
	w.judge.Settle(w.time())
	moves := w.chosen(hosts)
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

// chosen asks the policy what to move.
func (w *world) chosen(hosts []migrate.Host) []migrate.Move {
	if w.chooser != nil {
		s := w.situation
		s.Waiting, s.Endless = w.waiting, w.saturated
		return w.chooser.Moves(w.time(), hosts, w.moveForecast, s)
	}
	rng := rand.New(rand.NewPCG(w.seed, ^w.scans))
	w.scans++
	predictions := w.mover.Scan(w.time(), hosts, w.moveForecast, rng)
	if w.now >= w.tally.boundary {
		w.judge.Predicted(w.time(), w.ofAvailable(predictions))
	}
	return migrate.AppendMoves(nil, hosts, predictions)
}

// ofAvailable leaves out predictions about hosts that are available no more:
// their exit was.
func (c *crowd) ofAvailable(predictions []migrate.Prediction) []migrate.Prediction {
	gone := func(p migrate.Prediction) bool {
		i, ok := hostOf(p.Peer)
		return ok && c.hosts[i].state != trace.Available
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
	if k == none || from.gone || w.tasks.slots[k].to != none || w.tasks.slots[k].twin != none {
		return offers
	}
	at, there := w.destination(m, k, offers)
	if at < 0 {
		return offers
	}
	to, _ := hostOf(offers[at].Peer)
	reason := ""
	if w.watch != nil {
		reason = m.Why()
		if there := there.String(); there != "" {
			reason += "; there: " + there
		}
	}
	t := w.shape(k)
	if !w.paper && w.tasks.slots[k].status == taskRunning && w.runs(from) {
		w.copy(k, int32(to), reason)
	} else {
		w.shift(k, int32(n), int32(to), reason)
	}
	if offers[at].Take(&t); offers[at].Free <= 0 {
		offers = slices.Delete(offers, at, at+1)
	}
	return offers
}

// destination is the place in offers of the host that a task moves to, -1 for
// none: the one that the migration policy names, or else the placement policy's
// choice.
func (w *world) destination(m *migrate.Move, k int32, offers []place.Host) (int, place.Reason) {
	t := w.shape(k)
	if m.To != "" {
		at := slices.IndexFunc(offers, func(h place.Host) bool { return h.Peer == m.To })
		if at >= 0 && (m.To == m.From || !offers[at].Fits(&t)) {
			at = -1
		}
		return at, place.Reason{}
	}
	shown := offers
	if at := slices.IndexFunc(offers, func(h place.Host) bool { return h.Peer == m.From }); at >= 0 {
		shown = slices.Delete(slices.Clone(offers), at, at+1)
	}
	if len(shown) == 0 {
		return -1, place.Reason{}
	}
	w.draws.Seed(w.seed, w.round)
	w.round++
	w.situate()
	out := w.policy.Place(w.time(), &single{task: t}, shown, w.placeForecast, w.rng)
	if len(out) == 0 || out[0].Peer == m.From {
		return -1, place.Reason{}
	}
	return slices.IndexFunc(offers, func(h place.Host) bool { return h.Peer == out[0].Peer }), out[0].Reason
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
		made, safe := w.checkpoints(t, served)
		w.tally.checkpoint(made, t, w.saves.Away)
		w.tally.wasted += spent - useful
		if safe > 0 && w.saves.Away {
			useful -= w.holdSafe(t, safe, useful/done)
		}
		t.extra += useful
		t.from = min(t.work-1, t.from+int64(done))
	}
	w.takeOff(k, i, h)
	t.origin, t.away = origin, h.epoch
	w.send(k, to, &w.hosts[to])
	d := w.network.Delay
	bytes := t.state
	switch {
	case started && origin == i && !w.paper:
		d = w.handOver(t.state)
		bytes += t.state / deltaPart
	case started:
		d = time.Duration(w.transfer(t.state))
	}
	if !t.early {
		w.tally.migrations++
		if started {
			w.tally.moved += bytes
		}
	}
	if w.watch != nil {
		w.watch(Decision{At: w.time(), Task: t.id, Action: "moved", Host: int(to), From: int(i), Reason: reason})
	}
	w.dispatch(k, to, d)
}

// holdSafe notes the safe checkpoints of a run that goes on elsewhere, and returns
// the host time in them; perWork is the run's for each nanosecond of work.
func (f *farm) holdSafe(t *simTask, safe int64, perWork float64) float64 {
	gain := float64(safe) * float64(t.every)
	held := gain * perWork
	if t.onSaved {
		t.savedTime += t.extra + held
	} else {
		f.tally.wasted += t.savedTime
		t.savedTime = t.extra + held
	}
	t.extra, t.onSaved = 0, true
	t.saved, t.savedHost = t.from+int64(gain), none
	return held
}

// takeOff has a host that goes on without a task.
func (f *farm) takeOff(k, i int32, h *simHost) {
	f.depart(k, h)
	h.load--
	h.memory -= f.tasks.slots[k].memory
	f.fill(i, h)
	f.touch(i, h)
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
