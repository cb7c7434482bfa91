package p2p

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// maxAdverts bounds the members of an overlay that are remembered, about 2 KiB each.
const maxAdverts = 4096

// maxHello is how many adverts a hello has at most: its sender's and some others, so
// that a newcomer knows a usual swarm at once.
const maxHello = 256

// adverts holds what is known of each overlay that this node is in, and who of its
// neighbours misbehaved, in whichever.
type adverts struct {
	*endpoint
	learned func(m *membership, p task.PeerID, anew bool) // told of news, and whether the overlay has p anew

	mu      sync.Mutex
	joined  map[overlay.ID]*membership
	heard   repeats
	dropped map[string]uint64
	blame   blame
	skews   skews

	// telling is held while the handler is told, so that it hears of one peer's
	// adverts in order.
	telling sync.Mutex
}

func newAdverts(ep *endpoint) *adverts {
	return &adverts{endpoint: ep, joined: map[overlay.ID]*membership{}, heard: repeats{}, dropped: map[string]uint64{}}
}

// accuse holds an offence against a peer.
func (as *adverts) accuse(p peer.ID, points float64, now time.Time) {
	if p == as.net.ID() {
		return
	}
	as.mu.Lock()
	defer as.mu.Unlock()
	as.blame.add(p, points, now)
}

// score is what a peer's offences make of it; see the scores of gossip.
func (as *adverts) score(p peer.ID) float64 {
	now := time.Now()
	as.mu.Lock()
	defer as.mu.Unlock()
	return as.blame.score(p, now)
}

// learn keeps an advert that judge found new, from the neighbour that told it, and tells the handler. It reports
// false when a newer one has come meanwhile, or we have left its overlay.
func (as *adverts) learn(a overlay.Advert, b []byte, from peer.ID) bool {
	as.telling.Lock()
	defer as.telling.Unlock()
	as.mu.Lock()
	m := as.joined[a.Overlay]
	if m == nil {
		as.mu.Unlock()
		return false
	}
	last, have := m.known[a.Peer]
	newer := !have || a.Seq > last.Seq
	if newer && !have {
		last.since, last.number = time.Now(), overlay.CellNumber(a.Overlay, a.Peer)
		if len(m.known) >= maxAdverts {
			newer = as.evict(m)
		}
	}
	silent := have && !last.Expires.After(time.Now())
	if newer {
		last.Advert, last.bytes = a, bytes.Clone(b)
		m.known[a.Peer] = last
		as.heard.note(&a, b)
	}
	as.mu.Unlock()
	if !newer {
		return false
	}
	as.AddAddrs(a.Peer, as.mayTell(from, a.Addrs), time.Until(a.Expires))
	as.set.Handler.Advert(a)
	as.learned(m, a.Peer, !have || silent)
	return true
}

// forget makes room by removing what has expired.
func (as *adverts) forget(m *membership, now time.Time) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	before := len(m.known)
	maps.DeleteFunc(m.known, func(_ task.PeerID, k known) bool { return !k.Expires.After(now) })
	return len(m.known) < before
}

// evict makes room by removing the member heard of last, of those that are not
// connected: a flood is younger than the swarm. as.mu is held.
func (as *adverts) evict(m *membership) bool {
	connected := map[task.PeerID]bool{}
	for _, p := range as.net.Network().Peers() {
		connected[task.PeerID(p.String())] = true
	}
	var youngest task.PeerID
	for id, k := range m.known {
		if !connected[id] && (youngest == "" || k.since.After(m.known[youngest].since)) {
			youngest = id
		}
	}
	delete(m.known, youngest)
	return youngest != ""
}

func (as *adverts) drop(reason string, v verdict) verdict {
	as.mu.Lock()
	defer as.mu.Unlock()
	as.dropped[reason]++
	return v
}

func (as *adverts) stats(now time.Time) (int, map[string]uint64) {
	as.mu.Lock()
	defer as.mu.Unlock()
	n := 0
	for _, m := range as.joined {
		for _, k := range m.known {
			if k.Expires.After(now) {
				n++
			}
		}
	}
	return n, maps.Clone(as.dropped)
}

// members returns the peers whose adverts, in the cell of any overlay, have not expired, in
// any order.
func (as *adverts) members(now time.Time) []task.PeerID {
	as.mu.Lock()
	defer as.mu.Unlock()
	var ids []task.PeerID
	for _, m := range as.joined {
		for id, k := range m.known {
			if k.Expires.After(now) && m.told.cell.Holds(k.number) {
				ids = append(ids, id)
			}
		}
	}
	if len(as.joined) > 1 {
		slices.Sort(ids)
		ids = slices.Compact(ids)
	}
	return ids
}

// sample returns what a peer may be told: our own advert in each overlay, and up
// to n of others, at random, so that several neighbours together tell a newcomer
// of a swarm that is larger. It is at most maxHello.
func (as *adverts) sample(to peer.ID, n int, now time.Time) [][]byte {
	name := task.PeerID(to.String())
	as.mu.Lock()
	defer as.mu.Unlock()
	var own, others [][]byte
	for _, m := range as.joined {
		if m.own != nil {
			own = append(own, m.own)
		}
		if !m.tells(name, now) {
			continue
		}
		of := overlay.CellOf(overlay.CellNumber(m.ID, name), m.told.cell.Bits)
		for _, k := range m.known {
			if k.Expires.After(now) && of.Holds(k.number) { // others are nothing to it
				others = append(others, k.bytes)
			}
		}
	}
	rand.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	return append(own, others[:min(n, len(others), maxHello-len(own))]...)
}

// fellow says whether a peer is a member, admitted and with an advert that has
// not expired, of an overlay that this node is in.
func (as *adverts) fellow(p task.PeerID, now time.Time) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	for _, m := range as.joined {
		if m.known[p].Expires.After(now) {
			return true
		}
	}
	return false
}

// knows says whether a peer is fellow.
func (as *adverts) knows(p peer.ID, now time.Time) bool {
	return as.fellow(task.PeerID(p.String()), now)
}

// own returns what this node says of itself in each overlay, the overlays in order.
func (as *adverts) own() (all [][]byte) {
	as.mu.Lock()
	defer as.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(as.joined)) {
		if own := as.joined[id].own; own != nil {
			all = append(all, own)
		}
	}
	return all
}

// shared returns the overlays that this node is in and of which a peer is a member: admitted
// by the rules as they are known here, and with an advert that has not expired.
func (as *adverts) shared(p task.PeerID, now time.Time) (ids []overlay.ID) {
	as.mu.Lock()
	defer as.mu.Unlock()
	for id, m := range as.joined {
		if m.known[p].Expires.After(now) {
			ids = append(ids, id)
		}
	}
	return ids
}

// member returns what is known of an overlay, nil when we are not in it.
func (as *adverts) member(id overlay.ID) *membership {
	as.mu.Lock()
	defer as.mu.Unlock()
	return as.joined[id]
}

// inbound counts what a peer sends of its own accord. Strangers may use 40 % of what
// a peer has, and of what all have together, members 80 %: strangers, however many,
// cannot keep members from being heard. Windows grow to 50 or 60 % at most.
func (as *adverts) inbound(s network.Stream) *wire.Intake {
	from := task.PeerID(s.Conn().RemotePeer().String())
	return wire.Counted(s.Scope(), func() uint8 {
		if as.fellow(from, time.Now()) {
			return network.ReservationPriorityHigh
		}
		return network.ReservationPriorityLow
	})
}

// asked counts what we have asked for: up to all there is.
func asked(s network.Stream) *wire.Intake {
	return wire.Counted(s.Scope(), func() uint8 { return network.ReservationPriorityAlways })
}
