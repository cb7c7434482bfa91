package chunk

import (
	"math"
	"time"

	"godwit/internal/spec"
)

// defaultError is the error of predicted times for which RUMR is planned if none is given.
const defaultError = 0.2

func init() {
	Register("rumr", Kind{"error rounds transfer latency start",
		"robust uniform multi-round: umr for the first part, weighted factoring for as much as predicted times err by",
		func(ps *spec.Params, j Job) Policy {
			p := &rumr{wrong: ps.Number("error", defaultError, 0, 1), costs: readCosts(ps)}
			rounds := readRounds(ps)
			p.job = j
			p.divide = func(workers []worker, runs int64) (division, int64) {
				first := runs - p.second(runs, workers)
				return uniformRounds(workers, float64(max(first, 1)), p.costs, rounds), first
			}
			return p
		}})
}

// rumr is RUMR (Y. Yang and H. Casanova, "RUMR: robust scheduling for divisible workloads", HPDC
// 2003). If the times of chunks differ from predicted ones by the relative error e, UMR divides
// (1 - e) W, and factoring the remaining e W: batches of half of what is left, in chunks by
// workers' speeds. There is no second phase if its computing takes less than the overhead of a
// round, start + N latency. No chunk of the second phase is smaller than one whose error is as
// long as that overhead:
//
//	S_i (start + N latency) / e
//
// As published, a worker that ends early in the second phase gets the next chunk. Once the second
// phase has begun, what remains is divided by factoring whoever joins or leaves (ours).
type rumr struct {
	planned
	costs
	wrong float64
	tail  bool // the second phase has begun
	batch batch
	speed float64 // of all slots, in the batch
}

// second returns the number of runs, of those that remain, of the second phase.
func (p *rumr) second(runs int64, workers []worker) int64 {
	if p.tail {
		return runs
	}
	speed := 0.0
	for _, w := range workers {
		speed += w.speed
	}
	second := p.wrong * float64(runs)
	if second/speed < p.overhead(len(workers)) {
		return 0
	}
	return min(runs, floor(second+0.5))
}

// overhead returns the time that a round of so many workers takes beside sending and computing
// runs.
func (p *rumr) overhead(workers int) float64 { return p.start + float64(workers)*p.latency }

// Size implements Policy.
func (p *rumr) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	if ask.Remaining <= 0 {
		return 0, Reason{}
	}
	s := p.request(n, ask.Remaining)
	if want := p.next(s); want > 0 {
		return p.serve(now, n, want, ask), p.installment(s)
	}
	free := ask.Remaining - p.unserved
	if free <= 0 && p.out == 0 { // all runs are planned for members that do not ask
		p.stalled(ask.Remaining)
		if want := p.next(s); want > 0 {
			return p.serve(now, n, want, ask), p.installment(s)
		}
		free = ask.Remaining - p.unserved
	}
	if free <= 0 && p.out > 0 {
		return 0, p.nothing(s)
	}
	return p.factor(now, n, max(free, 1), ask)
}

// factor gives a chunk of the second phase, which has so many runs left.
func (p *rumr) factor(now time.Time, n Node, free int64, ask Ask) (int, Reason) {
	p.tail = true
	m := p.at(n)
	if p.batch.slots <= 0 {
		p.speed = 0
		for _, w := range p.workers {
			p.speed += w.speed
		}
		p.batch = batch{p.slots, float64(free) / (2 * p.speed), free}
	}
	p.batch.slots -= int64(m.slots)
	w := float64(m.slots) * m.speed
	least := 0.0
	if p.wrong > 0 {
		least = w * p.overhead(len(p.workers)) / p.wrong
	}
	want := max(1, ceil(p.batch.each*w), ceil(min(least, math.MaxInt32)))
	ask.Remaining = min(ask.Remaining, free)
	return p.give(now, n, want, ask), because("its weight of %.3g, of a batch of the second phase made when %g remained", w,
		float64(p.batch.remain))
}
