package chunk

import (
	"time"

	"godwit/internal/spec"
)

// The default costs of the divisible-load policies, in units of the time that a slot of
// speed 1 takes for a run: with them up to 1/defaultTransfer slots are worth sending to.
const (
	defaultTransfer = 0.001
	defaultLatency  = 0.01
	defaultStart    = 0.01
	leastTransfer   = 1e-6 // below it, rounds grow so fast that all but the last are empty
	mostCost        = 1e6
)

// costs is the platform of divisible-load theory. The unit is the time that a slot of speed
// 1 takes for a run, so that a plan does not depend on how long runs are. Published names
// are in parentheses.
type costs struct {
	transfer float64 // of sending one run (1/B)
	latency  float64 // of sending one chunk, whatever its size (nLat)
	start    float64 // of beginning to compute a chunk (cLat)
}

func readTransfer(ps *spec.Params) float64 {
	return ps.Number("transfer", defaultTransfer, leastTransfer, mostCost)
}

func readCosts(ps *spec.Params) costs {
	return costs{readTransfer(ps), ps.Number("latency", defaultLatency, 0, mostCost),
		ps.Number("start", defaultStart, 0, mostCost)}
}

// A worker is a member as a plan sees it.
type worker struct {
	node  Node
	speed float64 // slots times the speed that the member reports (S)
}

// A division is the installments in which workers get runs. Installments are counted from 1.
// Workers are counted from 0, in the order in which the plan's maker received them.
type division interface {
	// rounds returns the number of installments of each worker.
	rounds() int
	// through returns the runs that worker k has after installment j, a real number. It
	// does not decrease in j.
	through(k, j int) float64
}

// planned is a policy whose chunks are computed before the job begins, from speeds that
// members report. The publications know neither members that come or leave, nor runs that
// come back. Here such an event has the remaining runs planned again:
//
//   - when a member joins or leaves, at the next request;
//   - when a member that the plan leaves out asks for runs while no run is out;
//   - when nothing is out although runs are planned: the members that they are planned for
//     do not ask. The next plan is for members that asked.
//
// A member asks for one installment at a time. If it received fewer runs than planned, the
// difference is added to its next installment.
//
// Invariant: unserved is the sum of total - given over the seats of the current plan.
type planned struct {
	pool
	// divide makes a plan for these workers, 1 or more, of some or all of so many runs, 1 or
	// more. It returns the number of runs that are in the plan.
	divide func(workers []worker, runs int64) (division, int64)

	seats    []seat
	stale    bool
	plan     division
	unserved int64
	workers  []worker // of the plan
	sums     []float64
}

// A seat is a member's part of the plan.
type seat struct {
	index  int   // in workers; -1 if the plan leaves the member out
	total  int64 // runs of all its installments
	given  int64 // of total, runs given
	round  int   // installments given
	listed bool  // the next plan is for this member, too
	asked  bool  // it asked since the plan was made
}

// Join implements Policy.
func (p *planned) Join(m Member) Node {
	n := p.pool.Join(m)
	if int(n) == len(p.seats) {
		p.seats = append(p.seats, seat{})
	}
	p.seats[n] = seat{index: -1, listed: true}
	p.stale = true
	return n
}

// Leave implements Policy.
func (p *planned) Leave(n Node) {
	p.pool.Leave(n)
	p.seats[n] = seat{index: -1}
	p.stale = true
}

// Back implements Policy. The member is given the runs again with its next installment.
func (p *planned) Back(now time.Time, n Node, runs int) {
	before := p.at(n).held
	p.pool.Back(now, n, runs)
	s := &p.seats[n]
	back := min(int64(before-p.at(n).held), s.given)
	s.given -= back
	p.unserved += back
}

// request notes that the member asks, and makes a plan if there is none that applies.
func (p *planned) request(n Node, remaining int64) *seat {
	s := &p.seats[n]
	if !s.listed {
		s.listed, p.stale = true, true
	}
	if p.stale || p.plan == nil {
		p.renew(remaining)
	}
	s.asked = true
	return s
}

// stalled makes a new plan for the members that asked, because all planned runs are for
// members that do not.
func (p *planned) stalled(remaining int64) {
	for i := range p.seats {
		p.seats[i].listed = p.seats[i].asked
	}
	p.renew(remaining)
}

// renew plans the remaining runs for the members that are listed.
func (p *planned) renew(remaining int64) {
	p.stale = false
	p.workers = p.workers[:0]
	for i := range p.seats {
		s := &p.seats[i]
		*s = seat{index: -1, listed: s.listed}
		if m := &p.members[i]; m.here && s.listed {
			s.index = len(p.workers)
			p.workers = append(p.workers, worker{Node(i), float64(m.slots) * m.speed})
		}
	}
	p.plan, p.unserved = p.divide(p.workers, remaining)
	p.total()
}

// total gives each worker of the plan a whole number of runs in all. It is the difference of
// two rounded sums, so that all totals sum to the runs of the plan.
func (p *planned) total() {
	p.sums = p.sums[:0]
	sum := 0.0
	for k := range p.workers {
		sum += max(0, p.plan.through(k, p.plan.rounds()))
		p.sums = append(p.sums, sum)
	}
	before := int64(0)
	for k, w := range p.workers {
		upTo := p.unserved
		if k < len(p.workers)-1 {
			upTo = max(before, min(p.unserved, floor(p.sums[k]/sum*float64(p.unserved)+0.5)))
		}
		p.seats[w.node].total, before = upTo-before, upTo
	}
}

// next returns the number of runs of the member's next installment that has any, 0 after
// the last.
func (p *planned) next(s *seat) int64 {
	if s.index < 0 {
		return 0
	}
	all := p.plan.through(s.index, p.plan.rounds())
	for s.given < s.total {
		s.round = min(s.round+1, p.plan.rounds())
		upTo := s.total
		if s.round < p.plan.rounds() {
			upTo = min(s.total, floor(float64(s.total)*p.plan.through(s.index, s.round)/all+0.5))
		}
		if upTo > s.given {
			return upTo - s.given
		}
	}
	return 0
}

// serve gives the member so many runs of its installment.
func (p *planned) serve(now time.Time, n Node, want int64, ask Ask) int {
	runs := p.give(now, n, want, ask)
	s := &p.seats[n]
	of := min(int64(runs), s.total-s.given)
	s.given += of
	p.unserved -= of
	return runs
}

// Size implements Policy.
func (p *planned) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	if ask.Remaining <= 0 {
		return 0, Reason{}
	}
	s := p.request(n, ask.Remaining)
	want := p.next(s)
	if want == 0 && p.out == 0 {
		p.stalled(ask.Remaining)
		want = p.next(s)
	}
	if want == 0 && p.out > 0 {
		return 0, p.nothing(s)
	}
	return p.serve(now, n, want, ask), p.installment(s)
}

// installment returns the reason of a chunk that the plan has.
func (p *planned) installment(s *seat) Reason {
	return because("installment %g of %g; the plan gives it %.4g runs in all", float64(s.round),
		float64(p.plan.rounds()), float64(s.total))
}

// nothing returns the reason why a member gets no chunk.
func (p *planned) nothing(s *seat) Reason {
	if s.index < 0 || s.total == 0 {
		return because("the plan leaves it out: its %g runs are for other members", float64(p.unserved))
	}
	return because("it had its %g installments; the %g runs that remain are planned for other members",
		float64(p.plan.rounds()), float64(p.unserved))
}
