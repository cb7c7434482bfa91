package sim

import (
	"errors"
	"fmt"
	"time"

	"godwit/migrate"
)

// Run runs a scenario and reports what came of it. It fails if the scenario is
// not valid, or if at the end the tasks in the system over time are not what
// their stays sum to (Little's law), which would be a fault of the engine.
func Run(s *Scenario) (*Report, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if what := s.wholeNodes(); what != "" {
		return nil, fmt.Errorf("%s: %w", what, ErrWholeNodes)
	}
	w, err := newWorld(s)
	if err != nil {
		return nil, err
	}
	if err := w.run(); err != nil {
		return nil, err
	}
	return w.finish()
}

// ErrStopped is returned by Run if Scenario.Stopped returned true.
var ErrStopped = errors.New("sim: the run was stopped")

// stopEvery is the number of events between calls of Scenario.Stopped, which take less than a millisecond.
const stopEvery = 1 << 10

// ErrWholeNodes is what Run returns of a scenario that says what only whole nodes
// obey: run it with sim/swarm.
var ErrWholeNodes = errors.New("only whole nodes obey it")

// wholeNodes names what of a scenario Run does not obey, "" if it obeys all.
func (s *Scenario) wholeNodes() string {
	switch {
	case s.Fairness != "":
		return "fairness " + s.Fairness
	case s.Chunking != "":
		return "chunking " + s.Chunking
	case len(s.Hosts.Sites) > 0:
		return "sites of hosts"
	}
	for i := range s.Workload.Classes {
		if c := &s.Workload.Classes[i]; c.Weight > 1 {
			return "the weight of class " + nameOf(i, c)
		} else if c.Slots > 0 {
			return "the slots of class " + nameOf(i, c)
		}
	}
	return ""
}

// RunAll runs scenarios and returns their reports in their order. It calls each
// once, with their number and a function to be called for every one of them, in
// any order or at once. Scenarios that fail have no report: it returns their
// errors joined, in their order and with their numbers.
func RunAll(ss []*Scenario, each func(n int, run func(i int))) ([]*Report, error) {
	reports, errs := make([]*Report, len(ss)), make([]error, len(ss))
	each(len(ss), func(i int) {
		var err error
		if reports[i], err = Run(ss[i]); err != nil {
			errs[i] = fmt.Errorf("scenario %d of %d: %w", i+1, len(ss), err)
		}
	})
	return reports, errors.Join(errs...)
}

// run goes through the agenda. Placements come at most once before what leaves
// at an instant, and again after it if that gave tasks back.
func (w *world) run() error {
	stopped := w.scenario.Stopped
	for n := uint64(1); ; n++ {
		if stopped != nil && n%stopEvery == 0 && stopped() {
			return ErrStopped
		}
		stirred := w.widened || len(w.touched) > 0
		e, ok := w.agenda.first()
		if !ok {
			if !stirred || w.now == w.end {
				return nil
			}
			w.place()
			continue
		}
		if stirred && (e.at() > w.now || e.phase() > phasePlacements && w.placedAt < w.now) {
			w.placedAt = w.now
			w.place()
			continue
		}
		if w.agenda.opened {
			w.agenda.opened = false
			w.warmth += w.warm()
		}
		w.agenda.take()
		w.now = e.at()
		w.happen(e)
	}
}

func (w *world) happen(e event) {
	i := e.index()
	switch e.kind() {
	case onTimer:
		w.timer(i, w.now)
	case onChange:
		w.change(i)
	case onArrival:
		w.admit(w.next)
		w.expect()
	case onReach:
		w.arrive(i)
	case onFreed:
		w.freed(i)
	case onCopied:
		w.copied(i)
	case onTimeout:
		w.timedOut(i)
	case onOpening:
		w.opening()
	case onScan:
		w.scan()
		w.push(w.now+int64(w.mover.Period()), phaseScans, onScan, 0)
	case onTail:
		lookAtTail(w)
		w.push(w.now+tailEvery, phaseScans, onTail, 0)
	case onAgain:
		w.widened = true
		w.push(w.now+w.again, phaseScans, onAgain, 0)
	case onReminder:
		w.reminded()
	case onDetect:
		if h := &w.hosts[i]; h.unseen {
			w.detect(i, h)
		}
	case onDay:
		w.settle()
		if i == 1 {
			w.begin()
		} else {
			w.tally.dawn(w.now)
		}
	}
}

// expect puts the next arrival on the agenda.
func (w *world) expect() {
	var ok bool
	if w.next, ok = w.source.next(); ok {
		w.push(int64(w.next.at), phaseArrivals, onArrival, 0)
	}
}

// opening is when saturated classes open. A refill tells whether one is open.
func (w *world) opening() {
	for i := range w.scenario.Workload.Classes {
		if c := &w.scenario.Workload.Classes[i]; c.Arrival == Saturated {
			w.saturated, w.widened = true, true
		}
	}
	if at, ok := w.source.opens(time.Duration(w.now)); ok {
		w.push(int64(at), phaseArrivals, onOpening, 0)
	}
}

// admit is a task's arrival. It returns the task, or none if no host could ever
// run it: if it needs more memory than a host lends, or no host is ever there.
// How long it is does not matter: the thesis places tasks that are longer than
// any stay, and loses them.
func (w *world) admit(a arrival) int32 {
	k := w.tasks.take()
	t := &w.tasks.slots[k]
	*t = simTask{} // in place, where a literal would be made elsewhere and copied
	t.id, t.arrived, t.placed = w.born, w.now, -1
	t.work, t.memory, t.state, t.class = max(1, int64(a.work)), a.memory, a.state, a.class
	t.savedHost, t.host, t.twin, t.origin, t.to = none, none, none, none, none
	t.child, t.sib, t.hnext, t.hprev = none, none, none, none
	w.born++
	w.tally.enters(w.now)
	w.tally.arrived++
	if w.classes != nil {
		w.classes.tallies[w.classes.number(t)].arrived++
	}
	if w.watch != nil {
		w.decided(k, "arrived", none, none, "")
	}
	if w.hopeless || a.memory > w.memory {
		w.tally.impossible++
		if w.watch != nil {
			why := "it needs more memory than any host lends"
			if w.hopeless {
				why = "no host is ever available"
			}
			w.decided(k, "impossible", none, none, why)
		}
		w.over(k)
		return none
	}
	w.wait(k)
	return k
}

// refill brings a task of a saturated class, if one is open whose tasks some
// host could run. Tasks of the others are counted once.
func (w *world) refill() int32 {
	if !w.saturated {
		return none
	}
	for range 2 * len(w.barred) {
		a, ok := w.source.refill(time.Duration(w.now))
		if !ok {
			return none
		}
		if w.barred[a.class] {
			continue
		}
		if k := w.admit(a); k != none {
			w.widened = false // it is being looked at
			return k
		}
		w.barred[a.class] = true
	}
	return none
}

// settle brings all hosts' clocks to now and books their time.
func (f *farm) settle() {
	for i := range f.hosts {
		f.advance(&f.hosts[i])
	}
	f.tally.flush(f.now)
}

// begin ends the warm-up: host time before it is in no sum.
func (w *world) begin() {
	w.tally.usedAll, w.tally.availableAll, w.tally.useful, w.tally.wasted = 0, 0, 0, 0
	for k := range w.tasks.slots {
		t := &w.tasks.slots[k]
		if t.status == taskFree {
			continue
		}
		t.savedTime, t.extra = 0, 0
		if t.status == taskRunning {
			t.begunTime = w.hosts[t.host].timeClock
		}
	}
	w.judge = migrate.Judge{}
}
