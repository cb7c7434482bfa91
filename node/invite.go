package node

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"
)

// Invite makes a ticket to an overlay that this node founded, with places where members can be
// dialled. It holds for life; 0 is the usual.
func (o *overlays) Invite(ctx context.Context, nameOrID string, life time.Duration) (string, error) {
	if life == 0 {
		life = invitationLife
	}
	if life < 0 {
		return "", fmt.Errorf("%w: an invitation for %v", ErrInvalidRules, life)
	}
	var manifest overlay.Manifest
	var ways []entrance
	var err error
	if e := o.do(ctx, func() {
		var m *membership
		if m, err = o.find(nameOrID); err == nil {
			manifest, ways = *m.Manifest(), m.entrances()
		}
	}); e != nil {
		return "", e
	}
	if err != nil {
		return "", err
	}
	if manifest.Founder != o.self {
		return "", fmt.Errorf("%w: %s", ErrNotFounder, manifest.Name)
	}
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed)
	now := time.Now()
	t, err := overlay.NewTicket(&manifest, o.key, seed, now, now.Add(life))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrInvalidRules, err)
	}
	t.Places = choosePlaces(ways)
	if e := o.do(ctx, func() {
		if m := o.members[manifest.ID()]; m != nil {
			m.meetBy(t.Meeting(), now)
			err = o.saveJoined()
		}
	}); e != nil {
		return "", e
	}
	return t.Text(), err
}

// An entrance is a member by which others may come into an overlay.
type entrance struct {
	peer  task.PeerID
	self  bool
	reach overlay.Reach
	addrs []string // the most useful first
}

// entrances are this node and the members that it hears; on the loop.
func (m *membership) entrances() []entrance {
	net := m.all.net
	out := []entrance{{m.all.self, true, net.Reach(), net.AdvertAddrs(overlay.MaxAddrs)}}
	for _, a := range m.View().Members() {
		if a.Peer != m.all.self {
			out = append(out, entrance{peer: a.Peer, reach: a.Reach, addrs: a.Addrs})
		}
	}
	return out
}

// The classes of places, the best first.
const (
	placeReached  = iota // a public address of a member that others have dialled
	placePublic          // a public address of a member of which that is not known
	placeRelayed         // through a relay
	placeLocal           // of a private network
	placeDoubtful        // a public address of a member that others could not dial
	placeMachine         // of this machine, for others on it
)

// class says how useful an address of a member is to somebody elsewhere.
func (e *entrance) class(addr string) (int, bool) {
	rank, ok := p2p.RankAddr(addr)
	switch {
	case !ok:
		return 0, false
	case rank == p2p.RankPublic && e.reach == overlay.ReachPublic:
		return placeReached, true
	case rank == p2p.RankPublic && e.reach == overlay.ReachUnknown:
		return placePublic, true
	case rank == p2p.RankPublic:
		return placeDoubtful, true
	case rank == p2p.RankRelayed:
		return placeRelayed, true
	case rank == p2p.RankLocal:
		return placeLocal, true
	}
	return placeMachine, true
}

// A candidate is a place that a ticket may name.
type candidate struct {
	overlay.Place
	self  bool
	class int
	nth   int // of the member's places
}

// choosePlaces returns the places for a ticket: the best of as many members as there may be, this
// node first, and then further ones of the same. Addresses of this machine are named where there
// is nothing else.
func choosePlaces(ways []entrance) []overlay.Place {
	var all []candidate
	for i := range ways {
		all = append(all, ways[i].candidates()...)
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		first := func(c candidate) int {
			if c.self {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.nth, b.nth), cmp.Compare(a.class, b.class), first(a)-first(b),
			cmp.Compare(a.Peer, b.Peer))
	})
	var out []overlay.Place
	near := len(all) > 0 && !slices.ContainsFunc(all, func(c candidate) bool { return c.class < placeMachine })
	for _, c := range all {
		if len(out) < overlay.MaxPlaces && (near || c.class < placeMachine) {
			out = append(out, c.Place)
		}
	}
	return out
}

// candidates are the places of a member, the best first: by TCP before QUIC, which some networks do
// not let through, and by IPv4, which all have.
func (e *entrance) candidates() []candidate {
	var out []candidate
	for _, addr := range e.addrs {
		class, ok := e.class(addr)
		p, err := overlay.ParsePlace(addr + "/p2p/" + string(e.peer))
		if ok && err == nil {
			out = append(out, candidate{Place: p, self: e.self, class: class})
		}
	}
	awkward := func(c candidate) (n int) {
		for _, what := range []string{"/quic", "/ip6/"} {
			n *= 2
			if strings.Contains(c.Addr, what) {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.class, b.class), awkward(a)-awkward(b))
	})
	for i := range out {
		out[i].nth = i
	}
	return out
}
