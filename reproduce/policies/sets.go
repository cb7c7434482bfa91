package policies

import (
	"fmt"
	"math/rand/v2"
	"time"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

// A Set is hosts that a Grid draws from.
type Set struct {
	Name     string       // "relays", "ucb-like"
	Kind     string       // of trace.Synthesize, where nothing is measured
	Measured *trace.Trace // nil: hosts of that kind are made
}

// LikeSets are the sets that need no files: made in the likeness of the
// thesis's, and called so.
func LikeSets() []Set {
	var out []Set
	for _, kind := range reproduce.Sets {
		out = append(out, Set{Name: kind + "-like", Kind: kind})
	}
	return out
}

// A draw is the hosts of one seed, on which all contenders run.
type draw struct {
	trace      *trace.Trace
	start, end time.Time
	seed       uint64
	cores      float64 // mean number available while tasks come, but for the saturated workload
}

// drawing keeps the drawing of a grid's hosts apart from other uses of a seed.
const drawing = 0x706f6c2d64726177 // "pol-draw"

// draw draws the hosts of a seed. Of a measured set also the days are drawn, and
// only hosts are taken that are available at some time of them.
func (s *Set) draw(hosts, days int, seed uint64) (*draw, error) {
	d := &draw{seed: seed}
	if s.Measured == nil {
		t, err := trace.Synthesize(s.Kind, trace.SynthConfig{Hosts: hosts, Days: days, Seed: seed})
		if err != nil {
			return nil, err
		}
		d.trace, d.start, d.end = t.Assume(trace.Unavailable), t.Start, t.End
	} else {
		d.pick(s.Measured, hosts, days)
	}
	if d.end.Sub(d.start) <= gridWarmup+gridSettle {
		return nil, fmt.Errorf("it has %v: more than %v are needed, for the first %v and the last %v are not counted",
			d.end.Sub(d.start), gridWarmup+gridSettle, gridWarmup, gridSettle)
	}
	from, to := d.start.Add(gridWarmup), d.end.Add(-gridSettle)
	up := time.Duration(0)
	for _, h := range d.trace.Hosts {
		up += available(h.History, from, to)
	}
	if d.cores = up.Seconds() / to.Sub(from).Seconds(); !(d.cores > 0) {
		return nil, fmt.Errorf("no host of seed %d is available while tasks come", seed)
	}
	return d, nil
}

// pick draws days and hosts of a measured set.
func (d *draw) pick(t *trace.Trace, hosts, days int) {
	rng := rand.New(rand.NewPCG(d.seed, drawing))
	d.start, d.end = t.Start, t.End
	if spare := t.End.Sub(t.Start) - time.Duration(days)*reproduce.Day; spare > 0 {
		d.start = t.Start.Add(time.Duration(rng.IntN(int(spare/reproduce.Day)+1)) * reproduce.Day)
		d.end = d.start.Add(time.Duration(days) * reproduce.Day)
	}
	some := *t
	some.Hosts = nil
	for _, i := range rng.Perm(len(t.Hosts)) {
		if len(some.Hosts) == hosts {
			break
		}
		if available(t.Hosts[i].History, d.start, d.end) > 0 {
			some.Hosts = append(some.Hosts, t.Hosts[i])
		}
	}
	d.trace = some.Assume(trace.Unavailable)
}

// available is for how long a host is available between two times.
func available(h *trace.History, from, to time.Time) time.Duration {
	sum := time.Duration(0)
	for i := max(0, h.Find(from)); i < h.Len(); i++ {
		s := h.Spell(i)
		if !s.Start.Before(to) {
			break
		}
		if s.State != trace.Available {
			continue
		}
		begin, end := s.Start, s.End
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		sum += max(0, end.Sub(begin))
	}
	return sum
}

// describe says in a line what a set's draws are.
func (s *Set) describe(draws []*draw) string {
	cores, least, most := 0., draws[0], draws[0]
	for _, d := range draws {
		cores += d.cores / float64(len(draws))
		if len(d.trace.Hosts) < len(least.trace.Hosts) {
			least = d
		}
		if len(d.trace.Hosts) > len(most.trace.Hosts) {
			most = d
		}
	}
	hosts := fmt.Sprint(len(most.trace.Hosts))
	if most != least {
		hosts = fmt.Sprintf("%d to %d", len(least.trace.Hosts), len(most.trace.Hosts))
	}
	days := draws[0].end.Sub(draws[0].start).Hours() / reproduce.Day.Hours()
	what := fmt.Sprintf("synthetic (generator %s), %s hosts made anew by seed, %.1f days", s.Kind, hosts, days)
	if s.Measured != nil {
		what = fmt.Sprintf("measured, %s hosts of %d and their %.1f days drawn by seed", hosts, len(s.Measured.Hosts), days)
	}
	return fmt.Sprintf("%s: %s, %.1f hosts available in the mean", s.Name, what, cores)
}

// scenario is one run: of a job size and a workload under a contender.
func (d *draw) scenario(size time.Duration, level Level, c Contender) *sim.Scenario {
	class := sim.Class{Name: "task", Work: size, State: gridState, From: gridWarmup}
	if level.Load > 0 {
		class.Arrival = sim.Poisson
		class.Interval = time.Duration(float64(size) / (level.Load * d.cores))
		class.To = d.end.Sub(d.start) - gridSettle
	}
	return &sim.Scenario{
		Trace: d.trace, Start: d.start, End: d.end, Warmup: gridWarmup, Seed: d.seed,
		Placement: c.Placement, Migration: c.Migration,
		Workload:    sim.Workload{Classes: []sim.Class{class}, Requeue: true},
		Hosts:       sim.HostRules{Owner: sim.Kill},
		Network:     sim.Network{Delay: gridDelay, Detect: gridDetect, Upload: gridUpload},
		Checkpoints: sim.Checkpoints{Auto: c.Auto, Pause: gridPause, Away: true},
	}
}
