package p2p

import (
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// Seeds are peers that may be dialled where this node knows too few: those that it met before it
// was started again, and those of bootstrap lists. Whoever answers tells of the others.
const (
	// maxTold bounds those of which somebody told: a bootstrap list that is full.
	maxTold = 256
	// fewNeighbours is how many neighbours are few: with fewer, seeds are dialled.
	fewNeighbours = 3
	// seedDials is how many are dialled at once while there is no neighbour: 200 of which one is
	// left are through within 45 s, at seedTimeout each.
	seedDials   = 24
	seedTimeout = 5 * time.Second
	// seedBackoff is how long a seed that was not reached is left alone at most.
	seedBackoff = 30 * time.Minute
	// lookElsewhere is how often a seed is dialled that is no member here, though there are
	// neighbours enough: two swarms that have lost each other are one again.
	lookElsewhere = 5 * time.Minute
)

// seeds is safe for concurrent use.
type seeds struct {
	mu    sync.Mutex
	met   []peer.AddrInfo // the best first; at most MaxRecalled
	told  []peer.AddrInfo // by lists, tickets and the like; at most maxTold
	addrs map[peer.ID][]ma.Multiaddr
}

// recall replaces those that this node has met.
func (s *seeds) recall(met []peer.AddrInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.met = met
	s.index()
}

// tell takes in peers of whom somebody told. It reports whether any is new.
func (s *seeds) tell(peers []peer.AddrInfo) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range peers {
		i := slices.IndexFunc(s.told, func(t peer.AddrInfo) bool { return t.ID == p.ID })
		switch {
		case i >= 0:
			s.told[i].Addrs = joinAddrs(p.Addrs, s.told[i].Addrs)
		case len(s.told) < maxTold:
			s.told, news = append(s.told, p), true
		}
	}
	s.index()
	return news
}

// index finds the addresses of each anew; s.mu is held.
func (s *seeds) index() {
	s.addrs = map[peer.ID][]ma.Multiaddr{}
	for _, p := range slices.Concat(s.told, s.met) {
		s.addrs[p.ID] = joinAddrs(p.Addrs, s.addrs[p.ID])
	}
}

// joinAddrs returns what is in either list, the first before the second, as many as one may have.
func joinAddrs(first, second []ma.Multiaddr) []ma.Multiaddr {
	var out []ma.Multiaddr
	for _, a := range slices.Concat(first, second) {
		if len(out) < maxRecalledAddrs && !slices.ContainsFunc(out, a.Equal) {
			out = append(out, a)
		}
	}
	return out
}

// list returns the seeds, each once, the best first.
func (s *seeds) list() []peer.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]peer.ID, 0, len(s.addrs))
	have := make(map[peer.ID]bool, len(s.addrs))
	for _, p := range slices.Concat(s.met, s.told) {
		if !have[p.ID] {
			have[p.ID] = true
			out = append(out, p.ID)
		}
	}
	return out
}

// of returns where a seed was; nil for who is none.
func (s *seeds) of(p peer.ID) []ma.Multiaddr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addrs[p]
}

// seed dials those that are due, and shortens how long the dialer waits.
func (d *dialer) seed(now time.Time, due func(peer.ID)) {
	have := d.neighbours()
	switch {
	case have < fewNeighbours:
	case now.Before(d.elsewhere):
		return
	default:
		d.elsewhere = now.Add(jitter(lookElsewhere))
		d.lookElsewhere(now, due)
		return
	}
	all := d.seeds.list()
	slices.SortStableFunc(all, func(a, b peer.ID) int { return d.fails(a) - d.fails(b) }) // each once before any again
	for _, p := range all {
		if d.busy >= d.mayDial() {
			return
		}
		due(p)
	}
}

// fails is how often a peer was dialled in vain.
func (d *dialer) fails(p peer.ID) int {
	if t := d.tries[p]; t != nil {
		return t.fails
	}
	return 0
}

// lookElsewhere dials the first seed that is no member and has rested.
func (d *dialer) lookElsewhere(now time.Time, due func(peer.ID)) {
	for _, p := range d.seeds.list() {
		t := d.tries[p]
		if t != nil && (t.dialing || t.next.After(now)) || d.endpoint.connected(p) || d.adverts.knows(p, now) {
			continue
		}
		due(p)
		return
	}
}

// mayDial is how many dials may go on at once: more while there is nobody.
func (d *dialer) mayDial() int {
	if d.neighbours() == 0 {
		return seedDials
	}
	return dialsAtOnce
}
