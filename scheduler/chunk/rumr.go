package chunk

import (
	"math"
	"time"

	"godwit/internal/spec"
)

// defaultError is the default relative error of predicted times.
const defaultError = 0.2

func init() {
	Register("rumr", Kind{"error rounds transfer latency start",
		"robust uniform multi-round: umr for most runs, weighted factoring for a tail that grows with the prediction error",
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
// 2003). Let e be the relative error of predicted times. UMR divides (1 - e) W runs, and weighted
// factoring divides the remaining e W runs: each batch is half of the rest, in chunks by workers'
// speeds. The second phase is omitted if its computation is shorter than a round's overhead, start +
// N latency. The minimum chunk of the second phase is the one whose error equals this overhead:
//
//	S_i (start + N latency) / e
//
// As published, the first idle worker of the second phase receives the next chunk. After the start
// of the second phase all remaining runs are divided by factoring, even if members join or leave
// (ours).
type rumr struct {
	planned
	costs
	wrong float64
	tail  bool // the second phase has started
	batch batch
	speed float64 // sum of the workers' speeds when the batch was made
}

// second returns the number of remaining runs that belong to the second phase.
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

// overhead returns the constant costs of a round.
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
	if free <= 0 && p.out == 0 { // all runs are planned for members that sent no request
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

// factor gives a chunk of the second phase. Its argument free is the phase's number of remaining runs.
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
