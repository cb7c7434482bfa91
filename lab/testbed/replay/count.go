package replay

import (
	"math"
	"slices"
	"time"

	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/impose"
	"godwit/lab/testbed/measure"
	"godwit/lab/testbed/plan"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/sim"
	"godwit/task"
	"godwit/trace"
)

// played is the trace as the nodes had it: a host is there once its node is.
func (r *replay) played() *trace.Trace {
	out := *r.plan.Scenario.Trace
	out.Hosts = nil
	for i, h := range r.plan.Scenario.Trace.Hosts {
		out.Hosts = append(out.Hosts, trace.Host{History: r.players[i].played(), GHz: h.GHz})
	}
	return &out
}

// A tally adds up what became of jobs, in the trace's time, up to the window's
// end: what happened later did not.
type tally struct {
	clock    clock.Clock
	end      time.Time // real
	played   *trace.Trace
	host     map[task.PeerID]int
	rep      *sim.Report
	response []float64
	makespan []float64
	bed      *impose.Bed // nil: none
}

// count counts as the simulator does: an attempt that was given up as lost
// failed with its host; one that its host gave back was returned, unless it went
// on elsewhere with its state, which is a move; and one that was refused, or taken
// back before it began, was none.
func (r *replay) count(jobs []message.JobStatus) *sim.Report {
	s := r.plan.Scenario
	t := &tally{clock: r.clock, end: r.clock.Real(s.End), played: r.played(), bed: r.plan.Bed, host: map[task.PeerID]int{},
		rep: &sim.Report{Setup: sim.Setup{Policy: r.plan.Placement, Migration: r.plan.Migration, Fairness: s.Fairness,
			Chunking: s.Chunking,
			Trace:    s.Trace.Name, Synthetic: s.Trace.Synthetic,
			Depth: "live", Hosts: len(r.players), Days: s.End.Sub(s.Start).Hours() / 24, Seed: s.Seed}}}
	for i, p := range r.players {
		t.host[p.peer] = i
	}
	var tasks uint64
	for _, h := range r.handed {
		tasks += uint64(h.planned.Tasks)
	}
	t.rep.Arrived = tasks
	planned := r.plannedByName()
	for _, j := range jobs {
		p := planned[j.Name]
		for _, one := range j.TasksList {
			t.add(j.Submitted, one, p)
		}
	}
	rep := t.rep
	rep.Unfinished = rep.Arrived - min(rep.Arrived, rep.Succeeded)
	t.percentages()
	rep.Response, rep.Makespan = spreadOf(t.response), spreadOf(t.makespan)
	return rep
}

// plannedByName are the jobs that were handed in, by their names.
func (r *replay) plannedByName() map[string]plan.Job {
	out := make(map[string]plan.Job, len(r.handed))
	for i, h := range r.handed {
		out[jobName(i)] = h.planned
	}
	return out
}

// add counts one task. An attempt that goes on where its task was moved to is no
// placement; one that goes on from a checkpoint has that much less to do.
//
// On a test-bed the time that a task takes depends on its machine.
func (t *tally) add(submitted time.Time, one message.TaskStatus, planned plan.Job) {
	slices.SortStableFunc(one.Attempts, func(a, b message.AttemptStatus) int { return a.Start.Compare(b.Start) })
	var first, done time.Time
	var useful float64       // host time that the work took
	var moved task.PeerID    // where the attempt before brought it
	var spent, state float64 // host time, and that in the furthest state that is known to be left
	for _, a := range one.Attempts {
		if a.Start.After(t.end) || a.Outcome == measure.OutcomeRefused || a.Outcome == measure.OutcomeSuperseded {
			continue // it did not begin
		}
		if moved == "" || moved != a.Worker {
			t.rep.Allocated++
		}
		t.rep.Events++
		if first.IsZero() {
			first = a.Start
		}
		ended := !a.End.IsZero() && !a.End.After(t.end)
		if ended {
			t.rep.Events++
		}
		until := t.end // it runs, or nobody who knew of its end was left
		if ended {
			until = a.End
		}
		work := t.takes(planned, a.Worker)
		saved := min(work, a.SavedCPU*t.clock.Speedup)
		had := min(work-saved, t.available(a.Worker, a.Start, until))
		moved = ""
		switch {
		case ended && a.Outcome == task.Completed.String():
			had = work - saved
			if done.IsZero() || a.End.Before(done) {
				done, useful = a.End, work
			}
		case !ended:
			state = max(state, saved+had)
		case a.Outcome == ledger.Moved:
			t.rep.Migrations++
			moved, state = a.MovedTo, max(state, saved+had)
		case a.Outcome == measure.OutcomeLost:
			t.rep.Failed++
		default:
			t.rep.Returned++
		}
		state = max(state, saved)
		spent += had
	}
	if done.IsZero() {
		state = min(state, spent)
		t.rep.PendingS += state
		t.rep.WastedS += spent - state
		return
	}
	t.rep.WastedS += max(0, spent-useful)
	t.rep.Succeeded++
	t.rep.UsefulS += useful
	t.response = append(t.response, t.seconds(submitted, done))
	t.makespan = append(t.makespan, t.seconds(first, done))
}

// takes is the host time that a task of a job takes at a peer, in seconds.
func (t *tally) takes(j plan.Job, peer task.PeerID) float64 {
	work := j.Work.Seconds()
	if host, ok := t.host[peer]; ok && t.bed != nil {
		return work / t.bed.SpeedOf(j.Class, host)
	}
	return work
}

// seconds is a real time in the trace's.
func (t *tally) seconds(from, to time.Time) float64 {
	return max(0, to.Sub(from).Seconds()*t.clock.Speedup)
}

// available is how much of a real time a host was available, in seconds of the
// trace, until it went off.
func (t *tally) available(peer task.PeerID, from, to time.Time) (sum float64) {
	i, ok := t.host[peer]
	if !ok || !to.After(from) {
		return 0
	}
	h := clock.Cut(t.played.Hosts[i].History, t.clock.Traced(from), t.clock.Traced(to))
	for k := range h.Len() {
		switch s := h.Spell(k); s.State {
		case trace.Available:
			sum += s.Length().Seconds()
		case trace.Unavailable:
			return sum
		}
	}
	return sum
}

// percentages fills in what follows from the counts and the trace.
func (t *tally) percentages() {
	rep := t.rep
	var available float64
	for _, h := range t.played.Hosts {
		available += clock.TimeIn(h.History, trace.Available).Seconds()
		rep.Events += uint64(h.History.Len())
	}
	rep.IdleS = max(0, available-rep.UsefulS-rep.WastedS-rep.PendingS)
	rep.SuccessPct = percentOf(float64(rep.Succeeded), float64(rep.Succeeded+rep.Failed))
	rep.ProcessPct = percentOf(float64(rep.Succeeded+rep.Failed), float64(rep.Allocated))
	rep.Utilisation = percentOf(available-rep.IdleS, available)
}

// percentOf is nil where there is nothing to be a part of.
func percentOf(part, whole float64) *float64 {
	if whole == 0 {
		return nil
	}
	p := 100 * part / whole
	return &p
}

// spreadOf describes numbers; quantiles are the nearest ranks.
func spreadOf(x []float64) (s sim.Spread) {
	if len(x) == 0 {
		return s
	}
	x = slices.Sorted(slices.Values(x))
	for _, v := range x {
		s.Mean += v / float64(len(x))
	}
	rank := func(p float64) float64 { return x[int(math.Ceil(p*float64(len(x))))-1] }
	s.N, s.P50, s.P95, s.P99, s.Max = uint64(len(x)), rank(.5), rank(.95), rank(.99), x[len(x)-1]
	return s
}
