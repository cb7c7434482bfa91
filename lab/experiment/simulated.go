package experiment

import (
	"context"
	"errors"
	"sync"
	"time"

	"godwit/lab/testbed/measure"
	"godwit/lab/testbed/replay"
	"godwit/sim"
	"godwit/trace"
)

// simulate runs each policy on the simulator. It stops when ctx ends.
func (r *run) simulate(ctx context.Context) error {
	for _, of := range r.of.grid {
		s := *of
		s.Seed = r.status.Seed
		t := newTally(&s, r.of)
		s.Watch = t.watch
		s.Stopped = func() bool { return ctx.Err() != nil }
		r.policyBegins(t.snapshot, nil)
		report, err := sim.Run(&s)
		if err != nil {
			if errors.Is(err, sim.ErrStopped) {
				return ctx.Err()
			}
			return err
		}
		t.finish()
		if err := r.report(report); err != nil {
			return err
		}
	}
	return nil
}

// tally counts tasks from the decisions of a simulated run.
type tally struct {
	of       *Definition
	scenario *sim.Scenario
	arrivals *sim.Arrivals // the same arrivals again, because decisions do not contain the class

	mu    sync.Mutex
	count *measure.Counter
	tasks map[uint64]simulated // unfinished tasks by number
	now   time.Time
}

// simulated is an unfinished task.
type simulated struct {
	class   int
	arrived time.Time
	server  int // index of the executing server, -1 if the task waits
}

func newTally(s *sim.Scenario, d *Definition) *tally {
	var classes, servers []string
	for _, c := range d.Classes {
		classes = append(classes, c.Class)
	}
	for _, server := range d.Servers {
		servers = append(servers, server.Server)
	}
	return &tally{of: d, scenario: s, arrivals: sim.NewArrivals(&s.Workload, d.end.Sub(d.start), s.Seed),
		count: measure.NewCounter("", classes, servers), tasks: map[uint64]simulated{}, now: d.start}
}

// watch updates the counts after a decision.
func (t *tally) watch(d sim.Decision) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = d.At
	if d.Action == "arrived" {
		a, ok := t.arrivals.Next()
		if !ok {
			return // not a task of a class
		}
		t.tasks[d.Task] = simulated{class: a.Class, arrived: d.At, server: -1}
		t.count.Arrive(a.Class, 1)
		return
	}
	k, ok := t.tasks[d.Task]
	if !ok {
		return
	}
	switch d.Action {
	case "placed", "moved":
		t.leave(&k)
		k.server = d.Host
		t.count.Run(k.class, d.Host)
	case "lost":
		t.leave(&k)
		if !t.scenario.Workload.Requeue {
			t.count.Refuse(k.class)
			delete(t.tasks, d.Task)
			return
		}
	case "impossible":
		t.count.Refuse(k.class)
		delete(t.tasks, d.Task)
		return
	case "completed":
		t.count.Finish(k.class, d.Host, d.At.Sub(k.arrived).Seconds()/t.of.UnitS)
		delete(t.tasks, d.Task)
		return
	default: // suspended and resumed tasks keep their server
		return
	}
	t.tasks[d.Task] = k
}

// leave returns a running task to the queue. A waiting task stays there.
func (t *tally) leave(k *simulated) {
	if k.server >= 0 {
		t.count.Return(k.class, k.server)
		k.server = -1
	}
}

// finish sets the time to the end of the run.
func (t *tally) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = t.of.end
}

// snapshot returns the current results.
func (t *tally) snapshot() measure.Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.count.Snapshot(t.now.Sub(t.of.start).Seconds()/t.of.UnitS, t.of.Length, t.state)
	for _, p := range t.of.experiment.Published {
		if p.Placement == t.scenario.Placement {
			s.Published = p.Response
		}
	}
	return s
}

// state returns the state of a server according to its trace.
func (t *tally) state(server int) string {
	h := t.scenario.Trace.Hosts[server].History
	at := t.now
	if !at.Before(h.Until()) {
		at = h.Until().Add(-time.Millisecond) // the last spell
	}
	if i := h.Find(at); i < 0 || h.Spell(i).State == trace.Unavailable {
		return replay.StateDown
	}
	return replay.StateUp
}
