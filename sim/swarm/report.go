package swarm

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"godwit/scheduler/place"
	"godwit/scheduler/submitter"
	"godwit/sim"
)

// report reads the books at the end.
func (w *world) report() *sim.Report {
	for _, n := range w.nodes {
		if n.host != nil {
			n.bookSpell()
		}
		for _, r := range n.runs {
			r.settle()
		}
	}
	w.inside(0)
	r := &sim.Report{
		Setup: sim.Setup{Policy: cmp.Or(w.s.Placement, w.cfg.Placement, place.Default),
			Migration: cmp.Or(w.s.Migration, w.cfg.Migration, "none"), Fairness: w.s.Fairness, Chunking: w.s.Chunking,
			Trace: w.s.Trace.Name, Synthetic: w.s.Trace.Synthetic,
			Depth: "machines", Hosts: len(w.s.Trace.Hosts), Seed: w.s.Seed, Predictor: cmp.Or(w.s.Predictor, w.cfg.Predictor),
			Days: (w.traced(w.span) - w.traced(w.warm)).Hours() / 24},
		BytesMoved: w.moved, Checkpoints: w.checkpoints, Events: w.changes,
	}
	var useful, wasted, pending time.Duration
	var response, makespan []float64
	held := w.chains()
	for _, t := range w.tasks {
		kept := held[t]
		switch {
		case t.ended >= 0 && !t.failed:
			useful, wasted = useful+t.useful, wasted+t.spent-t.useful
		default:
			pending, wasted = pending+kept, wasted+t.spent-kept
		}
		if t.begun >= 0 && t.begun < w.warm {
			continue // of the time that is left out
		}
		r.Arrived++
		r.Allocated += t.starts
		r.Failed += t.losses
		r.Returned += t.returns
		r.Migrations += t.moves
		switch {
		case t.impossible:
			r.Impossible++
		case t.ended >= 0 && !t.failed:
			r.Succeeded++
			response = append(response, w.seconds(t.ended-t.arrived))
			makespan = append(makespan, w.seconds(t.ended-t.begun))
		default:
			r.Unfinished++
		}
	}
	r.Response, r.Makespan = spread(response), spread(makespan)
	r.SuccessPct = percent(float64(r.Succeeded), float64(r.Succeeded+r.Failed))
	r.ProcessPct = percent(float64(r.Succeeded+r.Failed), float64(r.Allocated))
	slots := float64(w.slots)
	r.UsefulS, r.WastedS, r.PendingS = w.seconds(useful)/slots, w.seconds(wasted)/slots, w.seconds(pending)/slots
	r.IdleS = w.seconds(w.available-useful-wasted-pending) / slots
	r.Utilisation = percent(float64(useful+wasted+pending), float64(w.available))
	w.reportDays(r)
	r.Differences = w.differences()
	return r
}

// chains is the host time in the states that unfinished tasks go on from.
func (w *world) chains() map[*taskBook]time.Duration {
	held := map[*taskBook]time.Duration{}
	for _, t := range w.tasks {
		held[t] = t.saved
	}
	for _, n := range w.nodes {
		for _, r := range n.runs {
			held[r.t] = max(held[r.t], r.useful)
		}
	}
	return held
}

func (w *world) reportDays(r *sim.Report) {
	whole := int(math.Ceil(float64(w.traced(w.span)) / float64(aDay)))
	slots := float64(w.slots)
	for _, d := range w.perDay[:min(whole, len(w.perDay))] {
		r.PerDay = append(r.PerDay, sim.Day{
			Allocated: d.allocated, Succeeded: d.succeeded, Failed: d.failed,
			UsedS: w.seconds(d.used) / slots, AvailableS: w.seconds(d.available) / slots,
		})
	}
}

// differences are what a live overlay of these hosts would have otherwise.
func (w *world) differences() []string {
	out := []string{
		"all nodes are dialled directly, and all are on one network",
		"transfers do not share a host's bandwidth",
		"a job's files have no size, and tasks are as long as they say",
	}
	if w.opt.Speedup != 1 {
		out = append(out, fmt.Sprintf("the trace's time runs %g times as fast as the machines' clocks", w.opt.Speedup))
	}
	return out
}

func percent(part, of float64) *float64 {
	if of == 0 {
		return nil
	}
	p := 100 * part / of
	return &p
}

// spread sorts times and describes them: percentiles by nearest rank.
func spread(times []float64) sim.Spread {
	if len(times) == 0 {
		return sim.Spread{}
	}
	slices.Sort(times)
	var sum float64
	for _, t := range times {
		sum += t
	}
	n := len(times)
	rank := func(p float64) float64 { return times[min(n-1, max(0, int(math.Ceil(p*float64(n)))-1))] }
	return sim.Spread{N: uint64(n), Mean: sum / float64(n), P50: rank(.5), P95: rank(.95), P99: rank(.99), Max: times[n-1]}
}

// balance checks Little's law, and that no time was lost or made: both hold of
// any run whose books are right.
func (w *world) balance(r *sim.Report) {
	const tolerance = 1e-9
	residence := w.residence
	for _, t := range w.tasks {
		if !t.impossible && t.ended < 0 {
			residence += float64(w.span - t.arrived)
		}
	}
	if math.Abs(residence-w.area) > tolerance*max(1, w.area) {
		w.note(fmt.Errorf("little's law does not hold: %v task-seconds in the system, the tasks were there for %v",
			w.area/1e9, residence/1e9))
	}
	if r.IdleS < -tolerance*float64(w.available) || r.WastedS < -tolerance*r.UsefulS {
		w.note(fmt.Errorf("host time does not add up: %v s useful, %v s wasted, %v s pending, %v s idle", r.UsefulS,
			r.WastedS, r.PendingS, r.IdleS))
	}
}

// undelivered counts the results that did not reach their submitters.
func (w *world) undelivered() {
	for id, j := range w.jobs {
		for i, t := range j.tasks {
			if _, held := j.giver.disk[submitter.ResultKey(id, uint64(i))]; held || t.ended < 0 || t.failed {
				continue
			}
			if j.giver.up {
				w.stats.Undelivered++
			} else {
				w.stats.Kept++
			}
		}
	}
}
