package chunk

import (
	"time"

	"godwit/internal/spec"
)

// Default costs of the divisible-load policies, in units of the time of a run on a slot of speed
// 1. With these costs, sending keeps up with 1/defaultTransfer slots.
const (
	defaultTransfer = 0.001
	defaultLatency  = 0.01
	defaultStart    = 0.01
	leastTransfer   = 1e-6 // smaller values leave all rounds but the last empty
	mostCost        = 1e6
)

// costs describes the platform of divisible-load theory. The unit of time is a run on a slot of
// speed 1, so a plan is the same for short and for long runs. Published names are in parentheses.
type costs struct {
	transfer float64 // time to send one run (1/B)
	latency  float64 // additional time to send one chunk of any size (nLat)
	start    float64 // time before a worker starts to compute a chunk (cLat)
}

func readTransfer(ps *spec.Params) float64 {
	return ps.Number("transfer", defaultTransfer, leastTransfer, mostCost)
}

func readCosts(ps *spec.Params) costs {
	return costs{readTransfer(ps), ps.Number("latency", defaultLatency, 0, mostCost),
		ps.Number("start", defaultStart, 0, mostCost)}
}

// A worker is a member in a plan.
type worker struct {
	node  Node
	speed float64 // number of slots times reported speed (S)
}

// A division is a plan that divides runs into installments. Installments are numbered from 1.
// Workers are numbered from 0, in the order of the list from which the plan was made.
type division interface {
	// rounds returns the number of installments of each worker.
	rounds() int
	// through returns the sum of worker k's installments 1 to j, a real number.
	through(k, j int) float64
}

// planned is a policy that computes all chunks before the job starts, from the speeds that members
// report. The publications assume a fixed set of members and no failures. Here the remaining runs
// are planned again at the next request after one of these events:
//
//   - A member joined or left.
//   - All given runs have returned, and the remaining runs are planned for members that sent no
//     request. The new plan contains only members that sent a request.
//   - A member that the plan does not contain sends a request.
//
// A request returns one installment. If a member received fewer runs than planned, the difference
// is added to its next installment.
//
// Invariant: unserved is the sum of total - given over the seats of the current plan.
type planned struct {
	pool
	// divide makes a plan for at least one worker and at least one run. It returns the number of
	// runs in the plan, which can be less than runs.
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
	index  int   // position in workers; -1 if the plan does not contain the member
	total  int64 // sum of all installments
	given  int64 // runs given, at most total
	round  int   // number of installments given
	listed bool  // the next plan contains the member
	asked  bool  // the member sent a request since the plan was made
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

// Back implements Policy. The returned runs are added to the member's next installment.
func (p *planned) Back(now time.Time, n Node, runs int) {
	before := p.at(n).held
	p.pool.Back(now, n, runs)
	s := &p.seats[n]
	back := min(int64(before-p.at(n).held), s.given)
	s.given -= back
	p.unserved += back
}

// request records a member's request and makes a new plan if the current plan is stale.
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

// stalled makes a new plan for the members that sent a request.
func (p *planned) stalled(remaining int64) {
	for i := range p.seats {
		p.seats[i].listed = p.seats[i].asked
	}
	p.renew(remaining)
}

// renew plans the remaining runs for all listed members.
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

// total assigns a whole number of runs to each worker. The number is the difference of two rounded
// prefix sums, so all totals add up to the runs of the plan.
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

// next returns the size of the member's next installment, or 0 after the last one. Empty
// installments are skipped.
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

// serve gives the member up to want runs of its installment.
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

// installment returns the reason for a planned chunk.
func (p *planned) installment(s *seat) Reason {
	return because("installment %g of %g; this member has %.4g runs in the plan", float64(s.round),
		float64(p.plan.rounds()), float64(s.total))
}

// nothing returns the reason for no chunk.
func (p *planned) nothing(s *seat) Reason {
	if s.index < 0 || s.total == 0 {
		return because("the current plan does not use this member: %g runs are planned for other members", float64(p.unserved))
	}
	return because("all %g installments of this member are given, and the remaining %g runs are planned for other members",
		float64(p.plan.rounds()), float64(p.unserved))
}
