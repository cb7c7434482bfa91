package place

import (
	"cmp"
	"fmt"
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
		{"met", "patience", "tasks in order to the member that executes their class fastest, busy or not (minimum " +
			"execution time), and among equally fast ones to the one where they would end first",
			func(ps *spec.Params) *Push { return &Push{patience: patience(ps), percent: 0, words: metWords} }},
		{"mct", "patience", "tasks in order to the member where they would end first, behind what it was given (minimum " +
			"completion time)",
			func(ps *spec.Params) *Push { return &Push{patience: patience(ps), percent: 100, words: mctWords} }},
		{"kpb", "k patience", "as mct, of the k percent of members that execute the class fastest (k-percent best), and " +
			"those that are equally fast",
			func(ps *spec.Params) *Push {
				return &Push{patience: patience(ps), percent: ps.Number("k", kpbDefault, 0, 100), words: mctWords}
			}},
	} {
		Register(k.name, Kind{Params: k.params, Does: k.does, Make: func(ps *spec.Params) Policy { return k.make(ps) }})
	}
}

// kpbDefault is about the percentage of members at which Maheswaran and others
// (1999) saw k-percent best do best on inconsistent rates.
const kpbDefault = 20

// asFast is the ratio of two rates from which on the members count as equally fast. Measured rates of equal members differ
// by some percent, and the publications do not say which of equal members gets a task.
const asFast = 0.95

// Push gives each task as it comes to a member that may be busy: by MET, MCT or KPB (Kokaly 2008, sections 4.4.2 to
// 4.4.4). It considers the percent of members, at least one, with the highest rates mu of the task's class, and those that
// are as fast as the last of them. Among these it takes the one with the least sum of 1/mu and the backlog (4.1), and
// equals by name. MET considers only the fastest. A task for which that member has no room waits for it, or for the next
// look.
//
// Availability of processors is not looked at, as it is not where published: so met
// may overload a member while slower ones are idle.
type Push struct {
	patience float64 // see Traits
	percent  float64
	words    func(*Reason) string

	rates   Rates
	version uint64
	best    map[string]*standing // by class

	// Of a round.
	round   uint64
	peers   []task.PeerID // Rates.Peers, or nil
	at      []int32       // of peers: in hosts; none
	hosts   []Host        // by name
	backlog []float64     // of peers, in seconds, with what this round added
	bySpeed []int32       // hosts, the fastest first, where no rates are known
	lanes   pushLanes
	out     []Placement
}

// Traits implements Policy.
func (p *Push) Traits() Traits { return Traits{Patience: p.patience, Shares: true, Rate: p.rate} }

func (p *Push) rate(_ time.Time, r Rates) bool {
	if p.rates == nil || p.version != r.Version() {
		p.best = map[string]*standing{}
	}
	p.rates, p.version = r, r.Version()
	return false
}

// Place implements Policy.
func (p *Push) Place(_ time.Time, queue Queue, hosts []Host, _ Forecast, _ *rand.Rand) []Placement {
	p.hosts, p.out = append(p.hosts[:0], hosts...), p.out[:0]
	sortByName(p.hosts)
	p.lanes.begin()
	p.look()
	room := 0
	for i := range p.hosts {
		room += p.hosts[i].Free
	}
	for misses := 0; room > 0 && misses < maxMisses; {
		t, ok := queue.Next()
		if !ok {
			break
		}
		c, ok := p.first(p.lane(&t), &t)
		if !ok || c.host == none || !p.hosts[c.host].Fits(&t) {
			if misses++; !slices.ContainsFunc(p.hosts, func(h Host) bool { return h.holds(&t) }) {
				queue.SkipJob()
			}
			continue
		}
		misses = 0
		h := &p.hosts[c.host]
		p.out = append(p.out, Placement{t.ID, h.Peer, Reason{words: p.words, x: c.rate, y: c.ends}})
		h.Take(&t)
		if p.rates != nil {
			p.backlog[c.member] += 1 / c.rate
		}
		room--
	}
	return p.out
}

func metWords(r *Reason) string {
	return fmt.Sprintf("next in order; no member executes its class faster (%.3g a second)", r.x)
}

func mctWords(r *Reason) string {
	return fmt.Sprintf("next in order; it is expected to end here first, in %.3g s, behind what the member was given "+
		"(%.3g a second)", r.y, r.x)
}

// look notes what holds for a round: who is there, and what they were given before.
func (p *Push) look() {
	p.peers, p.at, p.backlog, p.bySpeed = nil, p.at[:0], p.backlog[:0], p.bySpeed[:0]
	if p.rates == nil {
		for i := range p.hosts {
			p.bySpeed = append(p.bySpeed, int32(i))
		}
		slices.SortStableFunc(p.bySpeed, func(a, b int32) int { return cmp.Compare(p.hosts[b].Speed, p.hosts[a].Speed) })
		return
	}
	p.round++
	p.peers = p.rates.Peers()
	next := 0 // of hosts: both lists go by name
	for _, peer := range p.peers {
		i, offered := next, next < len(p.hosts) && p.hosts[next].Peer == peer
		if !offered {
			i, offered = slices.BinarySearchFunc(p.hosts, peer,
				func(h Host, peer task.PeerID) int { return cmp.Compare(h.Peer, peer) })
		}
		if offered {
			p.at, next = append(p.at, int32(i)), i+1
		} else {
			p.at = append(p.at, none)
		}
		p.backlog = append(p.backlog, p.rates.Backlog(peer))
	}
}

// none is a member that was not offered.
const none = -1

// A standing is who executes a class how fast, as was last seen.
type standing struct {
	round uint64    // when that was
	rates []float64 // of peers
	order []int32   // those that can execute it, the fastest first, of equal ones by name: places in peers
}

// order is the members that execute a task's class, the fastest first: all that are
// there, as places in peers; or in hosts, those offered, where no rates are known.
func (p *Push) order(class string) []int32 {
	if p.rates == nil {
		return p.bySpeed
	}
	s := p.best[class]
	if s == nil {
		s = &standing{}
		p.best[class] = s
	}
	if s.round == p.round {
		return s.order
	}
	s.round = p.round
	same := len(s.rates) == len(p.peers)
	s.rates = slices.Grow(s.rates[:0], len(p.peers))[:len(p.peers)]
	for k, peer := range p.peers {
		mu := p.rates.Of(class, peer)
		same = same && mu == s.rates[k]
		s.rates[k] = mu
	}
	if same {
		return s.order
	}
	s.order = s.order[:0]
	for k, mu := range s.rates {
		if mu > 0 {
			s.order = append(s.order, int32(k))
		}
	}
	slices.SortStableFunc(s.order, func(a, b int32) int { return cmp.Compare(s.rates[b], s.rates[a]) })
	return s.order
}

// candidate is a member of an order, as it is for a task.
func (p *Push) candidate(t *Task, k int32) candidate {
	if p.rates == nil {
		h := &p.hosts[k]
		c := candidate{member: k, host: k, rate: guess(t, h)}
		c.ends = p.ends(&c)
		return c
	}
	c := candidate{member: k, host: p.at[k], rate: p.best[t.Class].rates[k]}
	c.ends = p.ends(&c)
	return c
}

// ends is the seconds until a candidate would have done the task. It only grows
// within a round, as others are given.
func (p *Push) ends(c *candidate) float64 {
	if p.rates == nil {
		return 1/c.rate + float64(p.hosts[c.member].Running)/c.rate
	}
	return 1/c.rate + p.backlog[c.member]
}

// suits says whether a host that was offered could ever run a task: another takes the
// place among the best of one that could not.
func (p *Push) suits(host int32, t *Task) bool {
	return host == none || t.Memory <= p.hosts[host].Memory
}

func (p *Push) peer(c *candidate) task.PeerID {
	if p.rates == nil {
		return p.hosts[c.member].Peer
	}
	return p.peers[c.member]
}
