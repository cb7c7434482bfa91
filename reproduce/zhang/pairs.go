package zhang

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

// Section 7.2.4 sorts pairs of a resource's days by the correlation rho of the
// two into categories a tenth wide, and takes 20 pairs at random from each.
const (
	rhoCategories  = 20
	rhoPairs       = 20
	rhoWidth       = 2.0 / rhoCategories
	rhoStream      = 0x72686f2d70616972 // "rho-pair"
	rhoHosts       = 2000               // of a set that is made; with 680 the outer categories have few pairs
	rhoRuns        = 10                 // replications where the thesis replicates
	firstReplicate = 8                  // of the five categories from -0.2 to 0.3 ...
	lastReplicate  = 12                 // ... to here
)

// A pair is two days of a host of which neither was constant.
type pair struct {
	host   int
	first  time.Time // where the checking day's hours begin
	second time.Time
	rho    float64
}

// rhoPairsOf sorts all pairs of a set's days, the earlier one first.
func rhoPairsOf(t *trace.Trace) [rhoCategories][]pair {
	var out [rhoCategories][]pair
	length := t.Window.Length()
	for h := range t.Hosts {
		history := t.Hosts[h].History
		for a := t.Start; a.Before(t.End); a = a.Add(reproduce.Day) {
			for b := a.Add(reproduce.Day); b.Before(t.End); b = b.Add(reproduce.Day) {
				if rho, ok := trace.PMCC(history, a, history, b, length); ok {
					k := min(rhoCategories-1, int((rho+1)/rhoWidth))
					out[k] = append(out[k], pair{h, a, b, rho})
				}
			}
		}
	}
	return out
}

// compose makes a set of two days of pairs drawn from a category: the checking
// days and, a day later, the prediction days. A pair is a host.
func (s *set) compose(pairs []pair, n int, seed uint64) (*set, error) {
	rng := rand.New(rand.NewPCG(seed, rhoStream))
	t := &trace.Trace{Name: s.watched.Name + " pairs", Synthetic: s.watched.Synthetic, Window: s.watched.Window,
		Sample: s.watched.Sample}
	from := s.watched.Window.From
	t.Start = reproduce.Epoch.Add(from)
	t.End = t.Start.Add(reproduce.Day + s.watched.Window.Length())
	for i, k := range rng.Perm(len(pairs))[:min(n, len(pairs))] {
		p := pairs[k]
		h := &trace.History{Host: fmt.Sprintf("p%02d", i+1)}
		for d, start := range []time.Time{p.first, p.second} {
			if err := copyDay(h, s.watched.Hosts[p.host].History, start, t.Start.Add(time.Duration(d)*reproduce.Day),
				t.Window.Length()); err != nil {
				return nil, err
			}
		}
		t.Hosts = append(t.Hosts, trace.Host{History: h})
	}
	return &set{name: s.name, watched: t, hosts: t.Assume(trace.Unavailable), original: s.original}, nil
}

// copyDay appends a host's hours that begin at from to another history, to begin
// at to; what follows them is unobserved.
func copyDay(into, of *trace.History, from, to time.Time, length time.Duration) error {
	end := from.Add(length)
	for i := max(0, of.Find(from)); i < of.Len(); i++ {
		s := of.Spell(i)
		if !s.Start.Before(end) {
			break
		}
		at := to
		if s.Start.After(from) {
			at = to.Add(s.Start.Sub(from))
		}
		if err := into.Append(at, s.State, s.CPU); err != nil {
			return err
		}
	}
	return into.Gap(to.Add(length))
}

// events counts how often the hosts leave in the second day.
func events(t *trace.Trace) int {
	n := 0
	from := t.Start.Add(reproduce.Day)
	for _, h := range t.Hosts {
		up := false
		for i := range h.History.Len() {
			s := h.History.Spell(i)
			if up && s.State != trace.Available && s.Start.After(from) && s.Start.Before(t.End) {
				n++
			}
			up = s.State == trace.Available
		}
	}
	return n
}

// upAgain is the share of the second day's available time in which the host was
// available on the first day too, over all hosts.
func upAgain(t *trace.Trace) float64 {
	var both, up time.Duration
	for _, host := range t.Hosts {
		h := host.History
		for i := range h.Len() {
			today := h.Spell(i)
			if today.State != trace.Available || today.Start.Before(t.Start.Add(reproduce.Day)) {
				continue
			}
			up += today.Length()
			for k := range i {
				if before := h.Spell(k); before.State == trace.Available {
					from, to := before.Start.Add(reproduce.Day), before.End.Add(reproduce.Day)
					if from.Before(today.Start) {
						from = today.Start
					}
					if to.After(today.End) {
						to = today.End
					}
					both += max(0, to.Sub(from))
				}
			}
		}
	}
	return both.Seconds() / math.Max(1, up.Seconds())
}

// A category is what came of one: counts of its second day by policy.
type category struct {
	set   *set
	rho   float64 // its middle
	pairs int     // in it
	used  int     // of those
	exits int
	of    []sim.Day

	again float64 // share of the prediction days' available time in which the host was available on its checking day too
}

func (c *category) counts(k int) counts {
	d := c.of[k]
	return counts{float64(d.Allocated), float64(d.Succeeded), float64(d.Failed)}
}

// categories runs policies on pairs from each category.
func (b *bench) categories(batch *reproduce.Batch, s *set, all *[rhoCategories][]pair, seed uint64,
	specs ...string) ([]*category, error) {
	var out []*category
	for k, pairs := range all {
		c := &category{rho: -1 + (float64(k)+0.5)*rhoWidth, pairs: len(pairs), of: make([]sim.Day, len(specs))}
		out = append(out, c)
		if len(pairs) == 0 {
			continue
		}
		var err error
		if c.set, err = s.compose(pairs, rhoPairs, seed); err != nil {
			return nil, err
		}
		c.used = len(c.set.hosts.Hosts)
		c.exits, c.again = events(c.set.hosts), upAgain(c.set.watched)
		for i, spec := range specs {
			batch.Add(c.set.scenario(spec, seed), func(r *sim.Report) { c.of[i] = r.PerDay[1] })
		}
	}
	return out, nil
}
