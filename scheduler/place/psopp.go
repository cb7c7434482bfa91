package place

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/internal/spec"
	"godwit/task"
)

func init() {
	Register("psopp", Kind{
		Params: "particles iterations vmax round x y goal " + tdeParams,
		Does:   "particles search all members for the best sum of staying and speed per task (Zhang's PSOPP)",
		Make: func(ps *spec.Params) Policy {
			return &PSOPP{
				particles:  ps.Integer("particles", 10, 1, mostParticles),
				iterations: ps.Integer("iterations", 1, 1, mostIterations),
				vmax:       ps.Number("vmax", 10, 1e-3, 1e6),
				floor:      ps.Choice("round", "half-up", "floor") == 1,
				x:          ps.Number("x", 1, 0, 1e6),
				y:          ps.Number("y", 1, 0, 1e6),
				goal:       ps.Number("goal", 1, 0, 1e6),
				oracle:     tde(ps),
			}
		},
	})
}

// Most that one search may cost: their product in fitnesses.
const (
	mostParticles  = 100
	mostIterations = 1000
)

// pull is c1 and c2 of Eq 4.8.
const pull = 2

// PSOPP is particle swarm optimisation plus a predictor (Zhang section 4.2.5):
// for each task, particles fly over the numbered members that could run it, busy
// or idle, and it goes to the fittest that one was on. A task never waits while
// any member has room. One search costs at most particles times iterations
// fitnesses.
type PSOPP struct {
	particles, iterations int
	vmax                  float64
	floor                 bool // of a position, instead of rounding half up
	x, y                  float64
	goal                  float64 // a fitness above it ends the search
	oracle                string

	round round
	fit   []*Host // of those open, that the shape fits, by name
	fits  []*Host // memory of fit
	shape shape
	last  int // place in fit of the one that was given a task
	swarm []particle
}

// Traits implements Policy.
func (p *PSOPP) Traits() Traits { return Traits{Predictor: p.oracle, Shares: true} }

// Place implements Policy.
func (p *PSOPP) Place(now time.Time, queue Queue, hosts []Host, f Forecast, rng *rand.Rand) []Placement {
	r := p.round.begin(hosts)
	p.shape = shape{}
	return r.fill(queue, true, func(t *Task, open []*Host) (int, Reason, bool) {
		p.narrow(t, open)
		p.last = p.search(len(p.fit), rng, func(k int) float64 { return p.fitness(now, t, p.fit[k], f) })
		h := p.fit[p.last]
		i, _ := slices.BinarySearchFunc(open, h.Peer,
			func(o *Host, peer task.PeerID) int { return cmp.Compare(o.Peer, peer) })
		stay, known := f.Stay(h.Peer, now, h.Length(t))
		if !known {
			stay = unknownStay
		}
		return i, Reason{words: fittestWords, x: p.fitness(now, t, h, f), y: float64(h.Running), z: stay, n: int64(p.particles),
			m: int64(len(p.fit))}, true
	})
}

// narrow leaves in fit the open hosts that fit a task. Where it is of the shape of
// the last one, only the host that got that one can have changed: to look at all
// of them again for each task would cost their product.
func (p *PSOPP) narrow(t *Task, open []*Host) {
	if p.shape.same(t) {
		if !p.fit[p.last].Fits(t) {
			p.fit = without(p.fit, p.last)
		}
		return
	}
	p.shape = shape{is: true, memory: t.Memory, avoid: t.Avoid}
	p.fit = p.fits[:0]
	for _, h := range open {
		if h.Fits(t) {
			p.fit = append(p.fit, h)
		}
	}
	p.fits = p.fit
}

// unknownStay stands for the probability that a member stays of which nothing is known.
const unknownStay = -1

func fittestWords(r *Reason) string {
	stay := fmt.Sprintf("it stays for the task with probability %.3g", r.z)
	if r.z == unknownStay {
		stay = "nothing is known of its past"
	}
	return fmt.Sprintf("next in order; the fittest that %d particles found among %d members (fitness %.3g, %.0f tasks "+
		"there; %s)", r.n, r.m, r.x, r.y, stay)
}

// fitness is Eq 4.7: x times the probability of staying for the task (1 without
// history) and y times the speed that each task would have with this one there.
// A slot is a core: tasks share speed only beyond the slots. An unknown speed is
// taken for the reference core's.
func (p *PSOPP) fitness(now time.Time, t *Task, h *Host, f Forecast) float64 {
	stay, known := f.Stay(h.Peer, now, h.Length(t))
	if !known {
		stay = 1
	}
	speed := h.Speed
	if speed <= 0 {
		speed = 1
	}
	share := min(1, float64(max(1, h.Slots))/float64(h.Running+1))
	return p.x*stay + p.y*speed*share
}

// A particle has a position, 1 to the number of members, and remembers the best
// it was at. The thesis stores only the best fitness; its equations need the
// position as well.
type particle struct {
	at, velocity, best, bestFitness float64
}

// search returns the place, from 0, of the fittest of n that the particles were
// on. The goal is looked at after each full sweep.
func (p *PSOPP) search(n int, rng *rand.Rand, fitness func(int) float64) int {
	if p.swarm == nil {
		p.swarm = make([]particle, p.particles)
	}
	swarm := p.swarm
	for i := range swarm {
		at := float64(1 + rng.IntN(n))
		swarm[i] = particle{at: at, best: at, bestFitness: math.Inf(-1)}
	}
	best, bestFitness := swarm[0].at, math.Inf(-1)
	for k := range p.iterations {
		for i := range swarm {
			q := &swarm[i]
			v := fitness(p.member(q.at, n))
			if v > q.bestFitness {
				q.best, q.bestFitness = q.at, v
			}
			if v > bestFitness {
				best, bestFitness = q.at, v
			}
		}
		if bestFitness > p.goal || k+1 == p.iterations {
			break
		}
		for i := range swarm {
			swarm[i].move(best, rng.Float64(), rng.Float64(), p.vmax, n)
		}
	}
	return p.member(best, n)
}

// move is Eq 4.8 and 4.9 with r1 and r2 drawn from 0 to 1. There is no inertia
// weight. Velocity stays within vmax and the position within the members.
func (q *particle) move(best, r1, r2, vmax float64, n int) {
	q.velocity += pull*r1*(q.best-q.at) + pull*r2*(best-q.at)
	q.velocity = min(vmax, max(-vmax, q.velocity))
	q.at = min(float64(n), max(1, q.at+q.velocity))
}

// member is the member at a position: the thesis does not say how positions
// between two are read.
func (p *PSOPP) member(at float64, n int) int {
	if !p.floor {
		at += 0.5
	}
	return min(n, int(math.Floor(at))) - 1
}
