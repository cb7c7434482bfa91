package place

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/internal/spec"
	"godwit/scheduler/place/allot"
	"godwit/task"
)

func init() {
	Register("lpas", Kind{
		Params: "resolve arrivals rates check tau server patience",
		Does: "as gcmu, of the classes that a linear program over arrivals, rates and members allots to the member " +
			"(LPAS_DG)",
		Make: func(ps *spec.Params) Policy { return newLPAS(ps) },
	})
}

// LPAS is LPAS_DG (Al-Azzoni and Down 2008; Kokaly 2008, section 4.4.6): a linear
// program divides the members among the classes (package allot), and a member that
// is idle gets, of the classes with a part of it, the one that Gc-mu would choose.
// Only which parts are not 0 matters. The program is solved again whenever a member
// comes or goes, and by the parameters, all of which are off unless given:
//
//   - resolve: every so often, with what availability then is (the thesis's system
//     resolution time);
//   - arrivals, rates: when a class's arrival rate, or its execution rate at a
//     member, is another than in the last solution by more than this part of it
//     (section 8.1.2, improvements 3 and 4), which is looked at each check;
//   - tau: rates are discounted for so much delay of each task, by (1/mu) / (1/mu +
//     tau) (equation 8.1);
//   - server=fastest: of the idle members that may run it the one with the highest
//     age times rate goes first, instead of the one that was idle longest (section
//     8.1.2, improvement 1).
//
// Of a class whose arrival rate is not known, or which no member is known to be able
// to run, the program says nothing, and any member may be given it. So it is of all
// classes before rates are told, and where the program has no solution.
type LPAS struct {
	patience            float64 // see Traits
	resolve, check, tau time.Duration
	arrivals, measured  float64
	rule                rule
	pull                pulling

	solved  bool
	version uint64 // of the Rates that were solved
	at      time.Time
	why     string    // it was solved then
	looked  time.Time // when drift was looked for last

	peers    []task.PeerID // of problem's machines
	names    []string      // of problem's classes
	problem  allot.Problem
	answer   *allot.Solution
	unsolved error // why there is no answer
	masks    map[task.PeerID]uint64
	others   uint64 // classes of which the answer says nothing
}

// driftCheck is how often rates are looked at that are tracked.
const driftCheck = time.Minute

func newLPAS(ps *spec.Params) *LPAS {
	p := &LPAS{
		patience: patience(ps),
		arrivals: ps.Number("arrivals", 0, 0, mostDrift),
		measured: ps.Number("rates", 0, 0, mostDrift),
	}
	if p.arrivals > 0 || p.measured > 0 || ps.Pass("check") != "" {
		p.check = ps.Duration("check", driftCheck)
	}
	if ps.Pass("resolve") != "" {
		p.resolve = ps.Duration("resolve", 0)
	}
	if ps.Pass("tau") != "" {
		p.tau = ps.Duration("tau", 0)
	}
	p.rule = rule{may: p.may, words: lpasWords, fastest: ps.Choice("server", "idle", "fastest") == 1}
	return p
}

// mostDrift bounds thresholds: rates that are off a thousandfold.
const mostDrift = 1000

// Traits implements Policy.
func (p *LPAS) Traits() Traits { return Traits{Patience: p.patience, Rate: p.rate} }

func (p *LPAS) rate(now time.Time, r Rates) bool {
	p.pull.rates = r
	if !p.due(now, r) {
		return false
	}
	p.read(r)
	p.solved, p.version, p.at, p.looked = true, r.Version(), now, now
	return p.solve()
}

// due says whether it is time to solve the program.
func (p *LPAS) due(now time.Time, r Rates) bool {
	switch {
	case !p.solved:
		p.why = "it was the first time"
		return true
	case p.version != r.Version():
		p.why = "members or classes changed, or twice as much was known of a class"
		return true
	case p.resolve > 0 && now.Sub(p.at) >= p.resolve:
		p.why = fmt.Sprintf("it is solved every %v", p.resolve)
		return true
	}
	if p.arrivals == 0 && p.measured == 0 || now.Sub(p.looked) < p.check {
		return false
	}
	p.looked = now
	return p.drifted(r)
}

// drifted says whether a rate that is tracked is another than in the last
// solution.
func (p *LPAS) drifted(r Rates) bool {
	for i, c := range r.Classes() {
		if i >= len(p.problem.Arrivals) {
			break
		}
		if p.arrivals > 0 && off(sound(c.Arrival), p.problem.Arrivals[i], p.arrivals) {
			p.why = fmt.Sprintf("tasks of class %q come at another rate than before", c.Name)
			return true
		}
		for j, peer := range p.peers {
			if p.measured > 0 && off(p.rateOf(r, c.Name, peer), p.problem.Rates[i][j], p.measured) {
				p.why = fmt.Sprintf("a member executes class %q at another rate than before", c.Name)
				return true
			}
		}
	}
	return false
}

// off says whether a value is another by more than so large a part of what it was.
func off(is, was, part float64) bool { return math.Abs(is-was) > part*was }

// read makes the problem of the rates.
func (p *LPAS) read(r Rates) {
	p.peers = append(p.peers[:0], r.Peers()...)
	classes := r.Classes()
	if len(classes) > allot.MaxClasses {
		classes = classes[:allot.MaxClasses]
	}
	p.names = p.names[:0]
	p.problem = allot.Problem{Rates: make([][]float64, len(classes))}
	for _, peer := range p.peers {
		p.problem.Capacities = append(p.problem.Capacities, sound(r.Capacity(peer)))
	}
	for i, c := range classes {
		p.names = append(p.names, c.Name)
		p.problem.Arrivals = append(p.problem.Arrivals, sound(c.Arrival))
		row := make([]float64, len(p.peers))
		for j, peer := range p.peers {
			row[j] = p.rateOf(r, c.Name, peer)
		}
		p.problem.Rates[i] = row
	}
}

// rateOf is a rate, with the discount for delay.
func (p *LPAS) rateOf(r Rates, class string, peer task.PeerID) float64 {
	mu := sound(r.Of(class, peer))
	return mu / (1 + mu*p.tau.Seconds())
}

// sound keeps numbers within what allot takes: they are measured, or told by
// others.
func sound(x float64) float64 {
	const most = 1e9
	if !(x > 1/most) {
		return 0
	}
	return min(x, most)
}

// solve makes the masks, and says whether they are others.
func (p *LPAS) solve() bool {
	p.answer, p.unsolved = nil, nil
	was := p.masks
	p.masks = make(map[task.PeerID]uint64, len(p.peers))
	answer, err := allot.Solve(&p.problem)
	if err != nil {
		p.unsolved = err
		return was == nil || len(was) > 0
	}
	p.answer, p.others = answer, 0
	for i, alpha := range p.problem.Arrivals {
		if alpha == 0 || slices.Contains(answer.Idle, i) {
			p.others |= 1 << i
		}
	}
	same := len(was) == len(p.peers)
	for j, peer := range p.peers {
		mask := p.others
		for i := range answer.Share {
			if answer.Share[i][j] > 0 {
				mask |= 1 << i
			}
		}
		p.masks[peer] = mask
		old, had := was[peer]
		same = same && had && old == mask
	}
	return !same
}

// may is the classes that a host may be given.
func (p *LPAS) may(h *Host) uint64 {
	if mask, ok := p.masks[h.Peer]; ok {
		return mask
	}
	return ^uint64(0)
}

// A Solution is how members are divided among classes; see allot.Solution.
type Solution = allot.Solution

// Allocation is the last solution of the linear program, by the classes and the
// members that Rates had then, and nil before the first or where there is none, with
// the reason. Read only; it holds until the next call of Rate.
func (p *LPAS) Allocation() (classes []string, peers []task.PeerID, s *Solution, err error) {
	return p.names, p.peers, p.answer, p.unsolved
}

// Solved is when and why the linear program was solved last; the zero time before the
// first.
func (p *LPAS) Solved() (at time.Time, why string) { return p.at, p.why }

// Place implements Policy.
func (p *LPAS) Place(_ time.Time, queue Queue, hosts []Host, _ Forecast, _ *rand.Rand) []Placement {
	return p.pull.run(queue, hosts, &p.rule)
}

func lpasWords(r *Reason) string {
	return fmt.Sprintf("it was idle longest, or scores highest; of %d classes that wait and that the allocation gives "+
		"it, this has the most age times rate there (%.3g s times %.3g a second)", r.n, r.x, r.y)
}
