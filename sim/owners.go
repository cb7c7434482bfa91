package sim

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/trace"
)

// A Site is a group of hosts with local users of its own, who come before all guests:
// a cluster of Grundeken 2009, section 4.1.
type Site struct {
	Name  string
	Hosts int     // at least 1
	Busy  float64 // part of its hosts' time that local users ask for: 0 to MaxBusy
}

// MaxBusy bounds what local users of a site ask for: with more of it their queue
// would hardly ever be empty.
const MaxBusy = 0.95

// Owners make histories of the hosts of sites: available, but for the times in which
// local users, or work of higher priority than guests, have them. All of it is
// given the hosts that it needs at once, of its site or of all, in the order of arrival,
// and nobody is put in before; guests are not in its way.
type Owners struct {
	Sites []Site
	// Stay is the mean time that a local job has its hosts, exponential, and Most the
	// most hosts that one asks for: 1 to Most, each as likely, no more than the site has.
	// Both are above 0 unless no site is Busy.
	Stay time.Duration
	Most int
	Load Load
	Seed uint64
}

// A Load is work of higher priority on top of local users' (Grundeken 2009, section
// 4.4.1): one job in each period, at a random time of it, that has hosts of any site.
// Its zero value is none.
type Load struct {
	Name  string
	Each  time.Duration // the period; 0: no jobs, and the other two are 0
	Hosts int           // at once, of all sites together
	Run   time.Duration
}

// maxOwnerLooks bounds the hosts that are looked at for all jobs of one trace: some
// seconds of a processor.
const maxOwnerLooks = 1e9

// An ownerJob takes hosts of a site, or of any if that is negative.
type ownerJob struct {
	at, run     time.Duration // at is after the start, and may be before it
	site, hosts int
}

// Trace makes the histories over span from start on, a host of the first site first.
// Local users have been there for a while at the start. Two that differ in Load alone
// have the same local users coming at the same times. It fails where Owners are not as
// they say, or would be more than a trace has.
func (o *Owners) Trace(start time.Time, span time.Duration) (*trace.Trace, error) {
	if err := o.check(span); err != nil {
		return nil, fmt.Errorf("owners: %w", err)
	}
	t := &trace.Trace{Name: cmp.Or(o.Load.Name, "sites"), Start: start, End: start.Add(span),
		Synthetic: fmt.Sprintf("owners of %d sites, who stay %v in the mean, seed %d", len(o.Sites), o.Stay, o.Seed)}
	busy := o.place(o.jobs(span))
	for _, s := range o.Sites {
		for k := range s.Hosts {
			h := &trace.History{Host: fmt.Sprintf("%s-%d", s.Name, k+1)}
			if err := occupy(h, busy[len(t.Hosts)], start, span); err != nil {
				return nil, fmt.Errorf("owners: making %s: %w", h.Host, err)
			}
			t.Hosts = append(t.Hosts, trace.Host{History: h})
		}
	}
	return t, nil
}

func (o *Owners) check(span time.Duration) error {
	hosts, jobs, names := 0, 0., map[string]bool{}
	if span <= 0 || span > longest {
		return fmt.Errorf("they are to be made for %v: that is above 0, at most %v", span, longest)
	}
	for _, s := range o.Sites {
		switch {
		case s.Name == "" || names[s.Name]:
			return fmt.Errorf("a site is called %q: give each a name of its own", s.Name)
		case s.Hosts < 1 || s.Hosts > trace.MaxHosts:
			return fmt.Errorf("site %s has %d hosts: write 1 to %d", s.Name, s.Hosts, trace.MaxHosts)
		case !(s.Busy >= 0 && s.Busy <= MaxBusy):
			return fmt.Errorf("site %s is busy for %v: write 0 to %v", s.Name, s.Busy, MaxBusy)
		case s.Busy > 0 && (o.Stay <= 0 || o.Most < 1):
			return fmt.Errorf("site %s has local users, who stay for %v with at most %d hosts: both are above 0", s.Name,
				o.Stay, o.Most)
		}
		names[s.Name] = true
		hosts += s.Hosts
		if s.Busy > 0 {
			jobs += float64(span+o.settling()) / float64(o.every(&s))
		}
	}
	l := &o.Load
	switch {
	case hosts < 1 || hosts > trace.MaxHosts:
		return fmt.Errorf("the sites have %d hosts: 1 to %d can be made", hosts, trace.MaxHosts)
	case l.Each < 0 || l.Each > 0 && (l.Run <= 0 || l.Run > longest || l.Hosts < 1 || l.Hosts > hosts) || l.Each == 0 &&
		(l.Run != 0 || l.Hosts != 0):
		return fmt.Errorf("load %q has a job each %v of %d hosts for %v: give all three, and no more than %d hosts, or none",
			l.Name, l.Each, l.Hosts, l.Run, hosts)
	}
	if l.Each > 0 {
		jobs += float64(span) / float64(l.Each)
	}
	if looks := jobs * float64(hosts); looks > maxOwnerLooks {
		return fmt.Errorf("some %.0f jobs of owners on %d hosts: take fewer, or a shorter time", jobs, hosts)
	}
	return nil
}

// settling is how long before the start local users begin to come: ten times as long
// as they stay, after which few are left of those that came before.
func (o *Owners) settling() time.Duration {
	const stays = 10
	return stays * o.Stay
}

// every is the mean time between the local jobs of a site.
func (o *Owners) every(s *Site) time.Duration {
	hosts := float64(1+min(o.Most, s.Hosts)) / 2
	return max(leastSpell, time.Duration(min(float64(longest), float64(o.Stay)*hosts/(s.Busy*float64(s.Hosts)))))
}

// jobs draws who comes when, in the order of time. Each site, and the load, draws by
// itself.
func (o *Owners) jobs(span time.Duration) (out []ownerJob) {
	for i := range o.Sites {
		s := &o.Sites[i]
		if s.Busy == 0 {
			continue
		}
		rng, step := o.rng("site "+s.Name), float64(o.every(s))
		for at := -float64(o.settling()); ; {
			if at += rng.ExpFloat64() * step; at >= float64(span) {
				break
			}
			run := min(rng.ExpFloat64()*float64(o.Stay), float64(longest))
			out = append(out, ownerJob{time.Duration(at), max(leastSpell, time.Duration(run)), i,
				1 + rng.IntN(min(o.Most, s.Hosts))})
		}
	}
	if l := &o.Load; l.Each > 0 {
		rng := o.rng("load")
		for from := time.Duration(0); from < span; from += l.Each {
			if at := from + time.Duration(rng.Int64N(int64(l.Each))); at < span {
				out = append(out, ownerJob{at, l.Run, -1, l.Hosts})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b ownerJob) int { return cmp.Compare(a.at, b.at) })
	return out
}

func (o *Owners) rng(of string) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "godwit owners %d %s", o.Seed, of))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:])))
}

// An occupation is one time that a host is an owner's.
type occupation struct{ from, to time.Duration }

// place gives the jobs their hosts: those of all that it may have that are free first,
// and of these one of the site with the most free (worst fit), of which it was free
// longest. The result is by host, in the order of time.
func (o *Owners) place(jobs []ownerJob) [][]occupation {
	var site []int // of each host
	for i, s := range o.Sites {
		for range s.Hosts {
			site = append(site, i)
		}
	}
	out, free := make([][]occupation, len(site)), make([]time.Duration, len(site))
	for h := range free {
		free[h] = math.MinInt64
	}
	idle := make([]int, len(o.Sites))
	var taken []int
	for _, j := range jobs {
		start := j.at
		for i := range idle {
			idle[i] = 0
		}
		for h, at := range free {
			if at <= j.at {
				idle[site[h]]++
			}
		}
		taken = taken[:0]
		for len(taken) < j.hosts {
			best := -1
			for h := range free {
				if j.site >= 0 && site[h] != j.site || slices.Contains(taken, h) {
					continue
				}
				if best < 0 || sooner(j.at, free[h], idle[site[h]], free[best], idle[site[best]]) {
					best = h
				}
			}
			taken = append(taken, best)
			idle[site[best]]--
			start = max(start, free[best])
		}
		for _, h := range taken {
			free[h] = start + j.run
			out[h] = append(out[h], occupation{start, free[h]})
		}
	}
	return out
}

// sooner says whether of two hosts, each free from a time on at a site with so many
// idle ones, a job that comes at at has the first.
func sooner(at, a time.Duration, idleA int, b time.Duration, idleB int) bool {
	if freeA, freeB := a <= at, b <= at; freeA != freeB {
		return freeA
	} else if freeA && idleA != idleB {
		return idleA > idleB
	}
	return a < b
}

// occupy writes a host's history.
func occupy(h *trace.History, busy []occupation, start time.Time, span time.Duration) error {
	if err := h.Append(start, trace.Available, 1); err != nil {
		return err
	}
	for _, b := range busy {
		from, to := max(0, b.from).Round(leastSpell), min(span, b.to).Round(leastSpell)
		if from >= to {
			continue
		}
		if err := h.Append(start.Add(from), trace.UserPresent, 0); err != nil {
			return err
		}
		if to < span {
			if err := h.Append(start.Add(to), trace.Available, 1); err != nil {
				return err
			}
		}
	}
	h.Extend(start.Add(span))
	return nil
}
