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
	// maxSeeds bounds them: a cache of peers that is full, and a few lists.
	maxSeeds = MaxRecalled + 256
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
	addrs map[peer.ID][]ma.Multiaddr
	order []peer.ID // whom to dial first
}

// add takes in peers, after those that are there. It reports whether any is new.
func (s *seeds) add(peers []peer.AddrInfo) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.addrs == nil {
		s.addrs = map[peer.ID][]ma.Multiaddr{}
	}
	for _, p := range peers {
		if _, have := s.addrs[p.ID]; !have {
			if len(s.order) >= maxSeeds {
				break
			}
			s.order, news = append(s.order, p.ID), true
		}
		s.addrs[p.ID] = p.Addrs
	}
	return news
}

// list returns the seeds, the best first.
func (s *seeds) list() []peer.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order)
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
