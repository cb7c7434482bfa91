package bags

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

// A Set is hosts that bags run on.
type Set struct {
	Name     string
	Kind     string       // of trace.Synthesize, where nothing is measured
	Measured *trace.Trace // nil: hosts of that kind are made
}

// What bags run on. The costs are those of reproduce/policies.
const (
	// Hosts is how many hosts a draw has, as far as a set has so many.
	Hosts = 100
	// drawDays is how much of the records a draw takes, and warmup how much of it passes
	// before the day in which a bag comes, in which forecasts learn.
	drawDays = 7
	warmup   = 3 * reproduce.Day

	pause  = time.Second           // of a checkpoint
	state  = 64 << 20              // bytes of a task's state
	upload = 10e6 / 8              // bytes a second
	delay  = 25 * time.Millisecond // one way
	detect = 10 * time.Second      // scheduler.Config's lease
)

// Speeds are drawn, since few records have any: lognormal about 1, with the spread of
// volunteers' floating-point speeds (Heien, Kondo and Anderson, "Correlated resource
// models of Internet end hosts", ICDCS 2011: a deviation of some .4 of the mean), and
// no more than an octave and a third off.
const (
	speedSigma = 0.4
	speedMost  = 2.5
)

// A bag is tasks that come together.
type bag struct {
	size  int
	mixed bool
}

// The bags of the table: tasks of an hour each, or as many of each of mixedWorks in no
// order.
var (
	bagSizes   = []int{50, 150, 500}
	mixedWorks = []time.Duration{15 * time.Minute, 30 * time.Minute, time.Hour, 90 * time.Minute, 3 * time.Hour}
)

const alikeWork = time.Hour

// works are the lengths of a bag's tasks in the order in which they come.
func (b *bag) works(rng *rand.Rand) []time.Duration {
	out := make([]time.Duration, b.size)
	for i := range out {
		if out[i] = alikeWork; b.mixed {
			out[i] = mixedWorks[i*len(mixedWorks)/b.size]
		}
	}
	rng.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	return out
}

// String names the bag.
func (b *bag) String() string {
	if b.mixed {
		return fmt.Sprintf("%d mixed", b.size)
	}
	return fmt.Sprintf("%d alike", b.size)
}

// A draw is the hosts of one seed, on which all contenders run all bags.
type draw struct {
	trace *trace.Trace
	from  time.Time
	span  time.Duration
	comes time.Duration // the bag, after from
	seed  uint64
}

// drawing keeps the drawing of hosts apart from other uses of a seed.
const drawing = 0x6261672d64726177 // "bag-draw"

// draw draws hosts, their days and speeds, and when a bag comes.
func (s *Set) draw(seed uint64) (*draw, error) {
	rng := rand.New(rand.NewPCG(seed, drawing))
	d := &draw{seed: seed}
	t := s.Measured
	if t == nil {
		made, err := trace.Synthesize(s.Kind, trace.SynthConfig{Hosts: Hosts, Days: drawDays, Seed: seed})
		if err != nil {
			return nil, err
		}
		t = made
	}
	d.from, d.span = t.Start, min(drawDays*reproduce.Day, t.End.Sub(t.Start))
	if d.span <= warmup+reproduce.Day {
		return nil, fmt.Errorf("it has %v: more than %v are needed", d.span, warmup+reproduce.Day)
	}
	if spare := t.End.Sub(t.Start) - d.span; spare > 0 {
		d.from = t.Start.Add(time.Duration(rng.Int64N(int64(spare))).Truncate(time.Second))
	}
	d.comes = warmup + time.Duration(rng.Int64N(int64(reproduce.Day))).Truncate(time.Second)
	some := *t
	some.Hosts = nil
	for _, i := range rng.Perm(len(t.Hosts)) {
		if len(some.Hosts) == Hosts {
			break
		}
		if h := t.Hosts[i]; comes(h.History, d.from, d.from.Add(d.span)) {
			h.GHz = math.Exp(speedSigma * rng.NormFloat64())
			h.GHz = max(1/speedMost, min(speedMost, h.GHz))
			some.Hosts = append(some.Hosts, h)
		}
	}
	d.trace = some.Assume(trace.Unavailable)
	return d, nil
}

// comes says whether a host is ever available between two times.
func comes(h *trace.History, from, to time.Time) bool {
	for i := max(0, h.Find(from)); i < h.Len(); i++ {
		s := h.Spell(i)
		if !s.Start.Before(to) {
			return false
		}
		if s.State == trace.Available && s.End.After(from) {
			return true
		}
	}
	return false
}

// works are the tasks of a bag on this draw.
func (d *draw) works(b *bag) []time.Duration {
	return b.works(rand.New(rand.NewPCG(d.seed, drawing^uint64(b.size))))
}

// scenario is one run: of a bag under a contender. Each task is a class of its own, so
// that all contenders have the same lengths in the same order.
func (d *draw) scenario(b *bag, c *Contender) *sim.Scenario {
	s := &sim.Scenario{
		Trace: d.trace, Start: d.from, End: d.from.Add(d.span), Warmup: warmup, Seed: d.seed,
		Placement: c.Placement, Migration: c.Migration, Copies: c.Copies, Predictor: c.Predictor,
		Workload:    sim.Workload{Requeue: true},
		Hosts:       sim.HostRules{Owner: sim.Kill, Speeds: sim.Traced},
		Network:     sim.Network{Delay: delay, Detect: detect, Upload: upload},
		Checkpoints: sim.Checkpoints{Auto: c.Auto, Pause: pause, Away: true},
	}
	for _, w := range d.works(b) {
		s.Workload.Classes = append(s.Workload.Classes, sim.Class{Arrival: sim.AtTimes, Times: []time.Duration{d.comes},
			Work: w, State: state})
	}
	return s
}

// ideal is a time that no schedule of a bag beats. In it, for each k, the k fastest hosts
// there are, always at work, do at least as much as its k longest tasks take: more hosts
// than that those tasks cannot use (as the level algorithm of Horvath, Lam and Sethi, JACM
// 24, 1977, has it for hosts that stay). It is cut off where the records end.
func (d *draw) ideal(b *bag) time.Duration {
	works := d.works(b)
	slices.Sort(works)
	slices.Reverse(works)
	begin := d.from.Add(d.comes)
	var changes []change
	for i := range d.trace.Hosts {
		h := &d.trace.Hosts[i]
		for k := max(0, h.History.Find(begin)); k < h.History.Len(); k++ {
			s := h.History.Spell(k)
			if s.State == trace.Available && s.End.After(begin) {
				rate := h.GHz * s.CPU
				changes = append(changes, change{max(0, s.Start.Sub(begin)), i, rate}, change{s.End.Sub(begin), i, -rate})
			}
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	left := make([]float64, len(works)) // of the k longest
	sum := 0.
	for k, w := range works {
		sum += float64(w)
		left[k] = sum
	}
	rates := make([]float64, len(d.trace.Hosts))
	var fastest []float64
	at, end := time.Duration(0), d.span-d.comes
	for _, c := range append(changes, change{at: end}) {
		if c.at = min(c.at, end); c.at > at {
			fastest = append(fastest[:0], rates...)
			slices.Sort(fastest)
			slices.Reverse(fastest)
			rate, last := 0., at
			for k := range left {
				if k < len(fastest) {
					rate += fastest[k]
				}
				if left[k] <= 0 {
					continue
				}
				if can := rate * float64(c.at-at); can < left[k] {
					left[k] -= can
					last = end
				} else {
					last = max(last, at+time.Duration(left[k]/rate))
					left[k] = 0
				}
			}
			if last < end {
				return last
			}
			at = c.at
		}
		rates[c.host] += c.rate
	}
	return end
}

// A change is of a host's rate.
type change struct {
	at   time.Duration // after the bag came
	host int
	rate float64 // more
}
