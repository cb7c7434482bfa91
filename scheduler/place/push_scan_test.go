package place

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/task"
)

// scanPush is Push that looks at every member for every task: what Push decides.
type scanPush struct {
	percent float64

	rates   Rates
	version uint64
	best    map[string][]task.PeerID // by class: who executes it, the fastest first
	bySpeed []task.PeerID            // of hosts, where no rates are known
	hosts   []Host                   // by name
	added   []float64                // of hosts: backlog from this round, seconds
	out     []Placement
}

// Traits implements Policy.
func (p *scanPush) Traits() Traits { return Traits{Shares: true, Rate: p.tellRates} }

func (p *scanPush) tellRates(_ time.Time, r Rates) bool {
	if p.rates == nil || p.version != r.Version() {
		p.best = map[string][]task.PeerID{}
	}
	p.rates, p.version = r, r.Version()
	return false
}

// Place implements Policy.
func (p *scanPush) Place(_ time.Time, queue Queue, hosts []Host, _ Forecast, _ *rand.Rand) []Placement {
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
		p.out = append(p.out, Placement{t.ID, h.Peer, Reason{words: mctWords, x: rate, y: end}})
		h.Take(&t)
		p.added[i] += 1 / rate
		room--
	}
	return p.out
}

// target is the host for a task, with its rate there and the seconds until its
// end; -1 if that host has no room, or was not offered.
func (p *scanPush) target(t *Task) (at int, rate, end float64) {
	at, end = -1, math.Inf(1)
	order := p.order(t)
	most := p.considered(t, order)
	for _, peer := range order {
		i, offered := slices.BinarySearchFunc(p.hosts, peer, byName)
		if slices.Contains(t.Avoid, peer) || offered && t.Memory > p.hosts[i].Memory {
			continue // another takes its place among the best
		}
		mu := p.rate(t, peer, i)
		takes := 1/mu + p.backlog(peer, i, offered, mu)
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

// considered is the number of members among which a task chooses: the percent of all, and those as fast as the last.
func (p *scanPush) considered(t *Task, order []task.PeerID) int {
	most := max(1, int(math.Ceil(p.percent/100*float64(len(order)))))
	n, last := 0, 0.0
	for _, peer := range order {
		i, offered := slices.BinarySearchFunc(p.hosts, peer, byName)
		if offered && t.Memory > p.hosts[i].Memory {
			continue
		}
		mu := p.rate(t, peer, i)
		if n >= most && mu < asFast*last {
			break
		}
		if n++; n <= most {
			last = mu
		}
	}
	return max(1, n)
}

func byName(h Host, peer task.PeerID) int { return cmp.Compare(h.Peer, peer) }

// rate is that of a task's class at a member, the host i where no rates are known.
func (p *scanPush) rate(t *Task, peer task.PeerID, i int) float64 {
	if p.rates == nil {
		return guess(t, &p.hosts[i])
	}
	return p.rates.Of(t.Class, peer)
}

// backlog is how long a member needs, in seconds, for what it was given before.
func (p *scanPush) backlog(peer task.PeerID, i int, offered bool, mu float64) float64 {
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
func (p *scanPush) order(t *Task) []task.PeerID {
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
func (p *scanPush) rank() {
	p.bySpeed = p.bySpeed[:0]
	if p.rates != nil {
		return
	}
	for i := range p.hosts {
		p.bySpeed = append(p.bySpeed, p.hosts[i].Peer)
	}
	slices.SortStableFunc(p.bySpeed, func(a, b task.PeerID) int { return cmp.Compare(p.speed(b), p.speed(a)) })
}

func (p *scanPush) speed(peer task.PeerID) float64 {
	i, _ := slices.BinarySearchFunc(p.hosts, peer, byName)
	return p.hosts[i].Speed
}

// drawnRates are rates of members, some of which are not offered.
type drawnRates struct {
	peers   []task.PeerID
	of      map[string][]float64 // by class
	backlog []float64
}

func (r *drawnRates) Version() uint64              { return 1 }
func (r *drawnRates) Classes() []Class             { return []Class{{Name: ""}, {Name: "a"}, {Name: "b"}} }
func (r *drawnRates) Peers() []task.PeerID         { return r.peers }
func (r *drawnRates) Capacity(task.PeerID) float64 { return 1 }
func (r *drawnRates) Of(class string, peer task.PeerID) float64 {
	k, _ := slices.BinarySearch(r.peers, peer)
	return r.of[class][k]
}
func (r *drawnRates) Backlog(peer task.PeerID) float64 {
	k, _ := slices.BinarySearch(r.peers, peer)
	return r.backlog[k]
}

// Members kept as a heap are chosen as by looking at all of them for each task.
func TestPushDecidesAsAScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := func(what string, of ...float64) float64 { return rapid.SampledFrom(of).Draw(t, what) }
		n := rapid.IntRange(1, 30).Draw(t, "members")
		r := &drawnRates{of: map[string][]float64{}}
		var hosts []Host
		for i := range n {
			h := member(fmt.Sprintf("%02d", i), rapid.IntRange(1, 3).Draw(t, "slots"), rapid.IntRange(1, 6).Draw(t, "room"),
				few("speed", 0, .5, 1, 3))
			h.Memory, h.MemoryFree = 100, int64(few("free", 10, 50, 100))
			h.Memory = max(h.MemoryFree, int64(few("memory", 10, 100)))
			r.peers = append(r.peers, h.Peer)
			r.backlog = append(r.backlog, few("backlog", 0, 0, 1, 2, 7, math.Inf(1)))
			for _, class := range []string{"", "a", "b"} {
				r.of[class] = append(r.of[class], few("rate", 0, .5, 1, 1, .97, .94, 2, 8))
			}
			if rapid.IntRange(0, 3).Draw(t, "offered") > 0 {
				hosts = append(hosts, h)
			}
		}
		var queue []Task
		for range rapid.IntRange(1, 60).Draw(t, "tasks") {
			var x Task
			x.ID.Index = uint64(len(queue))
			x.Class = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "class")
			x.Memory = int64(few("needs", 0, 5, 20, 60, 200))
			x.Work = time.Duration(rapid.IntRange(0, 2*mostPushLanes).Draw(t, "work")) * time.Minute
			for range rapid.IntRange(0, 2).Draw(t, "avoids") {
				x.Avoid = append(x.Avoid, r.peers[rapid.IntRange(0, n-1).Draw(t, "avoid")])
			}
			queue = append(queue, x)
		}
		percent := few("percent", 0, 20, 50, 100)
		fast, scan := &Push{percent: percent, words: mctWords}, &scanPush{percent: percent}
		if rapid.Bool().Draw(t, "rated") {
			fast.rate(time.Time{}, r)
			scan.tellRates(time.Time{}, r)
		}
		for range 3 { // memory of a round does not matter
			got := fast.Place(time.Time{}, &list{tasks: queue}, hosts, nil, nil)
			want := scan.Place(time.Time{}, &list{tasks: queue}, hosts, nil, nil)
			for class := range r.of { // measured anew, under the same version
				slices.Reverse(r.of[class])
			}
			scan.best = map[string][]task.PeerID{}
			if !slices.EqualFunc(got, want, func(a, b Placement) bool {
				return a.Task == b.Task && a.Peer == b.Peer && a.Reason.x == b.Reason.x && a.Reason.y == b.Reason.y
			}) {
				t.Fatalf("got\n%+v\nwant\n%+v", got, want)
			}
		}
	})
}
