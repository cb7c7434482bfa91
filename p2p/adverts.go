package p2p

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/peer"
)

// maxAdverts bounds the members of an overlay that are remembered, about 2 KiB each.
const maxAdverts = 4096

// Reasons for which an advert is dropped, as Stats counts them.
const (
	dropSize     = "size"
	dropInvalid  = "invalid" // bytes, bounds or signature
	dropExpired  = "expired"
	dropOverlay  = "overlay"  // gossiped in another overlay than its own
	dropStranger = "stranger" // whom its overlay does not admit
	dropOlder    = "older"    // than the one that is known
	dropRivals   = "rivals"   // two adverts with the same number: the peer is lying
	dropFuture   = "future"   // issued in it
	dropFull     = "full"
	dropFlood    = "flood" // more newcomers than one neighbour may tell of
	dropCrowd    = "crowd" // more newcomers than all neighbours together may
	dropOften    = "often" // a member that renews its advert without pause
	dropOwnEcho  = "own"
	dropNotHello = "hello" // a hello that breaks off or is too long
)

// verdict says what to do with an advert that arrived.
type verdict int

const (
	isNew     verdict = iota // keep, tell, pass on
	isRenewal                // the same, without hurry: it says nothing new
	isKnown                  // the very advert that is known: pass on
	isStale                  // harmless: drop
	isBad                    // the sender should have seen it: drop
)

// adverts holds what is known of each overlay that this node is in, and who of its
// neighbours misbehaved, in whichever.
type adverts struct {
	h *Host

	mu       sync.Mutex
	joined   map[overlay.ID]*membership
	dropped  map[string]uint64
	blame    blame
	welcomed map[peer.ID]time.Time // when last, or next; at most maxBlamed

	// telling is held while the handler is told, so that it hears of one peer's
	// adverts in order.
	telling sync.Mutex
}

type known struct {
	overlay.Advert
	since    time.Time // when the member was first heard of
	renewals bucket
	bytes    []byte
}

func newAdverts(h *Host) *adverts {
	return &adverts{h: h, joined: map[overlay.ID]*membership{}, dropped: map[string]uint64{}, welcomed: map[peer.ID]time.Time{}}
}

// judge checks an advert's bytes and compares them with what is known. What is
// wrong with it is counted, and held against the neighbour it came from. An advert
// of gossip belongs to its topic's overlay; topic is "" for one of a hello, where
// those of overlays that we are not in are left out: nobody knew.
func (as *adverts) judge(b []byte, topic overlay.ID, from peer.ID, now time.Time) (overlay.Advert, verdict) {
	a, reason := as.open(b, topic, now)
	switch {
	case reason == dropExpired:
		return a, as.drop(reason, isStale)
	case reason != "":
		as.accuse(from, blameInvalid, now)
		return a, as.drop(reason, isBad)
	}
	m := as.member(a.Overlay)
	switch {
	case m == nil:
		return a, isStale
	case a.Peer == as.h.id:
		return a, as.judgeOwn(m, b)
	}
	subject, err := peer.Decode(string(a.Peer))
	if err != nil {
		as.accuse(from, blameInvalid, now)
		return a, as.drop(dropInvalid, isBad)
	}
	as.mu.Lock()
	last, have := m.known[a.Peer]
	as.mu.Unlock()
	switch {
	case have && a.Seq < last.Seq:
		return a, as.drop(dropOlder, isStale)
	case have && a.Seq == last.Seq && bytes.Equal(b, last.bytes):
		return a, isKnown
	case have && a.Seq == last.Seq:
		return a, as.drop(dropRivals, isStale)
	case m.Admit != nil && m.Admit(&a) != nil:
		return a, as.judgeStranger(from == subject, from, now)
	case have:
		return a, as.judgeRenewal(m, a, from == subject, from, now)
	}
	return a, as.judgeNewcomer(m, subject, from, now)
}

// judgeStranger decides about an advert that the overlay's rule does not admit.
// Who relays it may know an older rule, or a newer one. Who says so of itself is
// told by silence; it tells us again now and then, which costs it less than what
// it is forgiven meanwhile.
func (as *adverts) judgeStranger(itself bool, from peer.ID, now time.Time) verdict {
	if itself {
		as.accuse(from, blameStranger, now)
	}
	return as.drop(dropStranger, isStale)
}

// open decodes an advert and checks what can be seen from its bytes alone. The
// reason is empty when nothing is wrong.
func (as *adverts) open(b []byte, topic overlay.ID, now time.Time) (overlay.Advert, string) {
	if len(b) > overlay.MaxAdvertBytes {
		return overlay.Advert{}, dropSize
	}
	a, err := overlay.OpenAdvert(b, now)
	switch {
	case errors.Is(err, overlay.ErrExpired):
		return a, dropExpired
	case errors.Is(err, overlay.ErrFuture):
		return a, dropFuture
	case err != nil:
		return a, dropInvalid
	case topic != "" && a.Overlay != topic:
		return a, dropOverlay
	}
	return a, ""
}

// judgeNewcomer decides about a member not known so far. One that is connected
// to us is always let in: there are few of those.
func (as *adverts) judgeNewcomer(m *membership, subject, from peer.ID, now time.Time) verdict {
	connected := as.h.direct(subject) // through a relay anybody can seem to be
	as.mu.Lock()
	full := len(m.known) >= maxAdverts
	reason := ""
	if from != as.h.net.ID() {
		reason = m.budget.spend(from, now)
	}
	if reason == dropFlood && from != subject {
		as.blame.add(from, blameFlood, now)
	}
	as.mu.Unlock()
	switch {
	case connected:
		return isNew
	case reason != "":
		return as.drop(reason, isStale)
	case full && !as.forget(m, now):
		return as.drop(dropFull, isStale)
	}
	return isNew
}

// judgeRenewal decides about a newer advert of a known member. A relay is not to
// blame for too many, as each sees others of them first.
func (as *adverts) judgeRenewal(m *membership, a overlay.Advert, itself bool, from peer.ID, now time.Time) verdict {
	as.mu.Lock()
	k, have := m.known[a.Peer]
	ok := !have || memberRenewals.take(&k.renewals, now)
	if have && ok {
		m.known[a.Peer] = k
	}
	if !ok && itself {
		as.blame.add(from, blameFlood, now)
	}
	as.mu.Unlock()
	if !ok {
		return as.drop(dropOften, isStale)
	}
	if have && sameOffer(k.Advert, a) {
		return isRenewal
	}
	return isNew
}

// sameOffer says that two adverts of a member differ in nothing that anyone is
// waiting for: in their numbers and times, and in its history.
func sameOffer(a, b overlay.Advert) bool {
	for _, x := range []*overlay.Advert{&a, &b} {
		x.Seq, x.Issued, x.Expires, x.Record, x.Spells, x.Signature = 0, time.Time{}, time.Time{}, nil, nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// accuse holds an offence against a peer.
func (as *adverts) accuse(p peer.ID, points float64, now time.Time) {
	if p == as.h.net.ID() {
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

// judgeOwn lets our own advert pass through gossip, but never one that we have
// replaced, nor one from before a restart.
func (as *adverts) judgeOwn(m *membership, b []byte) verdict {
	as.mu.Lock()
	same := bytes.Equal(b, m.own)
	as.mu.Unlock()
	if same {
		return isKnown
	}
	return as.drop(dropOwnEcho, isStale)
}

// learn keeps an advert that judge found new and tells the handler. It reports
// false when a newer one has come meanwhile, or we have left its overlay.
func (as *adverts) learn(a overlay.Advert, b []byte) bool {
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
		last.since = time.Now()
		if len(m.known) >= maxAdverts {
			newer = as.evict(m)
		}
	}
	silent := have && !last.Expires.After(time.Now())
	if newer {
		last.Advert, last.bytes = a, bytes.Clone(b)
		m.known[a.Peer] = last
	}
	as.mu.Unlock()
	if !newer {
		return false
	}
	as.h.AddAddrs(a.Peer, a.Addrs, time.Until(a.Expires))
	as.h.set.Handler.Advert(a)
	as.h.dialer.poke()
	if p, err := peer.Decode(string(a.Peer)); err == nil && m.Closed && (!have || silent) {
		as.h.welcome(p)
	}
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
	for _, p := range as.h.net.Network().Peers() {
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

// members returns the peers whose adverts, in any overlay, have not expired, in
// any order.
func (as *adverts) members(now time.Time) []task.PeerID {
	as.mu.Lock()
	defer as.mu.Unlock()
	var ids []task.PeerID
	for _, m := range as.joined {
		for id, k := range m.known {
			if k.Expires.After(now) {
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
		for _, k := range m.known {
			if k.Expires.After(now) {
				others = append(others, k.bytes)
			}
		}
	}
	rand.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	return append(own, others[:min(n, len(others), maxHello-len(own))]...)
}
