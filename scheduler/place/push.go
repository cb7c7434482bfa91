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
	for _, k := range []struct {
		name, params, does string
		make               func(ps *spec.Params) *Push
	}{
		{"met", "", "tasks in order to the member that executes their class fastest, busy or not (minimum execution time)",
			func(*spec.Params) *Push { return &Push{percent: 0} }},
		{"mct", "", "tasks in order to the member where they would end first, behind what it was given (minimum completion time)",
			func(*spec.Params) *Push { return &Push{percent: 100, behind: true} }},
		{"kpb", "k", "as mct, of the k percent of members that execute the class fastest (k-percent best)",
			func(ps *spec.Params) *Push { return &Push{percent: ps.Number("k", kpbDefault, 0, 100), behind: true} }},
	} {
		register(k.name, kind{params: k.params, does: k.does, make: func(ps *spec.Params) Policy { return k.make(ps) }})
	}
}

// kpbDefault is about the percentage of members at which Maheswaran and others
// (1999) saw k-percent best do best on inconsistent rates.
const kpbDefault = 20

// Push gives each task as it comes to a member that may be busy: by MET, MCT or KPB
// (Kokaly 2008, sections 4.4.2 to 4.4.4). Of the percent of members, at least one,
// with the highest rates mu of the task's class, it takes the one where 1/mu is least
// or, with behind, where 1/mu and the backlog together are (4.1). Equals go by name. A
// task for which that member has no room waits for it, or for the next look.
//
// Availability of processors is not looked at, as it is not where published: so met
// may overload a member while others are idle.
type Push struct {
	percent float64
	behind  bool

	rates   Rates
	version uint64
	best    map[string][]task.PeerID // by class: who executes it, the fastest first
	bySpeed []task.PeerID            // of hosts, where no rates are known
	hosts   []Host                   // by name
	added   []float64                // of hosts: backlog from this round, seconds
	out     []Placement
}

// Shares implements Sharer.
func (p *Push) Shares() {}

// Rate implements Rated.
func (p *Push) Rate(_ time.Time, r Rates) bool {
	if p.rates == nil || p.version != r.Version() {
		p.best = map[string][]task.PeerID{}
	}
	p.rates, p.version = r, r.Version()
	return false
}

// Place implements Policy.
func (p *Push) Place(_ time.Time, queue Queue, hosts []Host, _ Forecast, _ *rand.Rand) []Placement {
	p.hosts, p.out = append(p.hosts[:0], hosts...), p.out[:0]
	sortByName(p.hosts)
	p.added = slices.Grow(p.added[:0], len(hosts))[:len(hosts)]
	clear(p.added)
	p.rank()
	room := 0
	for i := range p.hosts {
		room += p.hosts[i].Free
	}
	for misses := 0; room > 0 && misses < maxMisses; {
		t, ok := queue.Next()
		if !ok {
			break
		}
		i, rate, end := p.target(&t)
		if i < 0 {
			if misses++; !slices.ContainsFunc(p.hosts, func(h Host) bool { return h.holds(&t) }) {
				queue.SkipJob()
			}
			continue
		}
		misses = 0
		h := &p.hosts[i]
		words := metWords
		if p.behind {
			words = mctWords
		}
		p.out = append(p.out, Placement{t.ID, h.Peer, Reason{words: words, x: rate, y: end}})
		h.Take(&t)
		p.added[i] += 1 / rate
		room--
	}
	return p.out
}

func metWords(r *Reason) string {
	return fmt.Sprintf("next in order; no member executes its class faster (%.3g a second)", r.x)
}

func mctWords(r *Reason) string {
	return fmt.Sprintf("next in order; it is expected to end here first, in %.3g s, behind what the member was given (%.3g a second)", r.y, r.x)
}

// target is the host for a task, with its rate there and the seconds until its
// end; -1 if that host has no room, or was not offered.
func (p *Push) target(t *Task) (at int, rate, end float64) {
	at, end = -1, math.Inf(1)
	order := p.order(t)
	most := max(1, int(math.Ceil(p.percent/100*float64(len(order)))))
	for _, peer := range order {
		i, offered := slices.BinarySearchFunc(p.hosts, peer, byName)
		if slices.Contains(t.Avoid, peer) || offered && t.Memory > p.hosts[i].Memory {
			continue // another takes its place among the best
		}
		mu := p.rate(t, peer, i)
		takes := 1 / mu
		if p.behind {
			takes += p.backlog(peer, i, offered, mu)
		}
		if takes < end {
			if at, rate, end = -1, mu, takes; offered && p.hosts[i].Fits(t) {
				at = i
			}
		}
		if most--; most == 0 {
			break
		}
	}
	return at, rate, end
}

func byName(h Host, peer task.PeerID) int { return cmp.Compare(h.Peer, peer) }

// rate is that of a task's class at a member, the host i where no rates are known.
func (p *Push) rate(t *Task, peer task.PeerID, i int) float64 {
	if p.rates == nil {
		return guess(t, &p.hosts[i])
	}
	return p.rates.Of(t.Class, peer)
}

// backlog is how long a member needs, in seconds, for what it was given before.
func (p *Push) backlog(peer task.PeerID, i int, offered bool, mu float64) float64 {
	if p.rates == nil {
		return float64(p.hosts[i].Running) / mu // p.added is in it
	}
	behind := p.rates.Backlog(peer)
	if offered {
		behind += p.added[i]
	}
	return behind
}

// order is the members that execute a task's class, the fastest first, of equal
// ones by name: all that are there, or those offered where no rates are known.
func (p *Push) order(t *Task) []task.PeerID {
	if p.rates == nil {
		return p.bySpeed
	}
	best, ok := p.best[t.Class]
	if !ok {
		for _, peer := range p.rates.Peers() {
			if p.rates.Of(t.Class, peer) > 0 {
				best = append(best, peer)
			}
		}
		slices.SortStableFunc(best, func(a, b task.PeerID) int {
			return cmp.Compare(p.rates.Of(t.Class, b), p.rates.Of(t.Class, a))
		})
		p.best[t.Class] = best
	}
	return best
}

// rank makes bySpeed, where no rates are known.
func (p *Push) rank() {
	p.bySpeed = p.bySpeed[:0]
	if p.rates != nil {
		return
	}
	for i := range p.hosts {
		p.bySpeed = append(p.bySpeed, p.hosts[i].Peer)
	}
	slices.SortStableFunc(p.bySpeed, func(a, b task.PeerID) int { return cmp.Compare(p.speed(b), p.speed(a)) })
}

func (p *Push) speed(peer task.PeerID) float64 {
	i, _ := slices.BinarySearchFunc(p.hosts, peer, byName)
	return p.hosts[i].Speed
}
