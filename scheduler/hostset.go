package scheduler

import (
	"cmp"
	"slices"
)

// A hostSet holds hosts by name. Who comes and goes between two looks is noted,
// and sorted in at the next look: a round looks at all idle hosts in this order,
// and to sort them each time would cost more than to decide. An empty one says which
// it is.
type hostSet struct {
	which  hostSetName
	sorted []*host // members at the last look, by name
	stale  []*host // came or went since
	n      int
}

// A hostSetName tells the sets that a host may be in.
type hostSetName int

const (
	idleHosts hostSetName = iota
	allHosts
	noticedHosts
	hostSets
)

// A setPlace is a host's place in a set, as the host itself knows it.
type setPlace struct {
	in    bool // a member
	held  bool // in sorted
	stale bool // in stale
}

func (s *hostSet) len() int { return s.n }

func (s *hostSet) has(h *host) bool { return h.sets[s.which].in }

// set reports whether a host is a member.
func (s *hostSet) set(h *host, in bool) {
	p := &h.sets[s.which]
	if p.in == in {
		return
	}
	p.in = in
	if in {
		s.n++
	} else {
		s.n--
	}
	if !p.stale {
		p.stale = true
		s.stale = append(s.stale, h)
	}
}

// all returns the members by name, until the set changes.
func (s *hostSet) all() []*host {
	if len(s.stale) == 0 {
		return s.sorted
	}
	s.sorted = slices.DeleteFunc(s.sorted, func(h *host) bool {
		p := &h.sets[s.which]
		p.held = p.in
		return !p.in
	})
	s.stale = slices.DeleteFunc(s.stale, func(h *host) bool {
		p := &h.sets[s.which]
		p.stale = false
		return !p.in || p.held
	})
	slices.SortFunc(s.stale, byPeer)
	s.sorted = mergeHosts(s.sorted, s.stale)
	for _, h := range s.stale {
		h.sets[s.which].held = true
	}
	clear(s.stale)
	s.stale = s.stale[:0]
	return s.sorted
}

func byPeer(a, b *host) int { return cmp.Compare(a.peer, b.peer) }

// mergeHosts merges more into list, both by name, in the memory of list.
func mergeHosts(list, more []*host) []*host {
	i := len(list) - 1
	list = append(list, more...)
	for k, j := len(list)-1, len(more)-1; j >= 0; k-- {
		if i >= 0 && list[i].peer > more[j].peer {
			list[k], i = list[i], i-1
		} else {
			list[k], j = more[j], j-1
		}
	}
	return list
}
