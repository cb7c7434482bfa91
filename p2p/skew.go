package p2p

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/task"
)

const (
	// maxSkews bounds the members whose clocks are compared with this one's: with more, a sample of them, which depends
	// neither on their order nor on what their keys are.
	maxSkews = 256
	// skewMemory is how long what a member's advert said of its clock is remembered: four renewals.
	skewMemory = time.Hour
	// fewClocks are too few members to say anything: two of three could err.
	fewClocks = 3
)

// A Skew says how far this machine's clock is ahead of members' clocks: the median, of so many. It is
// negative where it is behind.
type Skew struct {
	Ahead   time.Duration
	Members int // 0: too few have been heard to say
}

// skews compare the times at which members say that they issued their adverts with when those came. An
// advert that is renewed comes within seconds of that. Others may be a quarter of an hour old, which says
// nothing; but none is from the future if the clocks agree. Members may lie: most would have to, for the
// median to be wrong. Adverts that are refused, for being from more than overlay.MaxSkew ahead or over, are
// counted by Stats.
type skews struct {
	mu   sync.Mutex
	seed maphash.Seed // of the sample; made with of
	of   map[task.PeerID]skew
}

// A skew is the least time that adverts of one member took, as the two clocks have it.
type skew struct {
	least time.Duration
	at    time.Time
}

// note takes in an advert that is signed; renewed says that an earlier one was known.
func (s *skews) note(a *overlay.Advert, renewed bool, now time.Time) {
	age := now.Sub(a.Issued)
	if age >= 0 && !renewed {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.seed, s.of = maphash.MakeSeed(), map[task.PeerID]skew{}
	}
	old, have := s.of[a.Peer]
	if have && now.Sub(old.at) < skewMemory && old.least <= age {
		return
	}
	if !have && len(s.of) >= maxSkews {
		maps.DeleteFunc(s.of, func(_ task.PeerID, k skew) bool { return now.Sub(k.at) >= skewMemory })
	}
	if have || len(s.of) < maxSkews || s.replaces(a.Peer) {
		s.of[a.Peer] = skew{age, now}
	}
}

// replaces reports whether a member belongs to the sample in place of another one, which it removes. s.mu is held.
func (s *skews) replaces(newcomer task.PeerID) bool {
	rank := func(p task.PeerID) uint64 { return maphash.String(s.seed, string(p)) }
	last := newcomer
	for p := range s.of {
		if rank(p) > rank(last) {
			last = p
		}
	}
	delete(s.of, last)
	return last != newcomer
}

// told is what the members' adverts say together.
func (s *skews) told(now time.Time) Skew {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ages []time.Duration
	for _, k := range s.of {
		if now.Sub(k.at) < skewMemory {
			ages = append(ages, k.least)
		}
	}
	if len(ages) < fewClocks {
		return Skew{}
	}
	slices.SortFunc(ages, cmp.Compare[time.Duration])
	return Skew{Ahead: ages[len(ages)/2], Members: len(ages)}
}

// Skew says how far this machine's clock is from those of members, by their adverts of the last hour.
func (h *Host) Skew() Skew { return h.adverts.skews.told(time.Now()) }
