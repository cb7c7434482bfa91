package p2p

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/peer"
)

// maxAdverts bounds the members that are remembered, about 2 KiB each.
const maxAdverts = 4096

// Reasons for which an advert is dropped, as Stats counts them.
const (
	dropSize     = "size"
	dropInvalid  = "invalid" // bytes, bounds or signature
	dropExpired  = "expired"
	dropOverlay  = "overlay" // meant for another overlay
	dropOlder    = "older"   // than the one that is known
	dropRivals   = "rivals"  // two adverts with the same number: the peer is lying
	dropFuture   = "future"  // issued in it
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

// adverts holds the newest advert of every member, and its own.
type adverts struct {
	h *Host

	mu      sync.Mutex
	known   map[task.PeerID]known
	own     []byte // encoded; nil before SetAdvert
	dropped map[string]uint64
	budget  budget
	blame   blame

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
	return &adverts{h: h, known: map[task.PeerID]known{}, dropped: map[string]uint64{}}
}

// judge checks an advert's bytes and compares them with what is known. What is
// wrong with it is counted, and held against the neighbour it came from.
func (as *adverts) judge(b []byte, from peer.ID, now time.Time) (overlay.Advert, verdict) {
	a, reason := as.open(b, now)
	switch {
	case reason == dropExpired:
		return a, as.drop(reason, isStale)
	case reason != "":
		as.accuse(from, blameInvalid, now)
		return a, as.drop(reason, isBad)
	case a.Peer == as.h.id:
		return a, as.judgeOwn(b)
	}
	subject, err := peer.Decode(string(a.Peer))
	if err != nil {
		as.accuse(from, blameInvalid, now)
		return a, as.drop(dropInvalid, isBad)
	}
	as.mu.Lock()
	last, have := as.known[a.Peer]
	as.mu.Unlock()
	switch {
	case !have:
		return a, as.judgeNewcomer(subject, from, now)
	case a.Seq < last.Seq:
		return a, as.drop(dropOlder, isStale)
	case a.Seq > last.Seq:
		return a, as.judgeRenewal(a, from == subject, from, now)
	case !bytes.Equal(b, last.bytes):
		return a, as.drop(dropRivals, isStale)
	}
	return a, isKnown
}

// open decodes an advert and checks what can be seen from its bytes alone. The
// reason is empty when nothing is wrong.
func (as *adverts) open(b []byte, now time.Time) (overlay.Advert, string) {
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
	case a.Overlay != as.h.set.Overlay:
		return a, dropOverlay
	}
	return a, ""
}

// judgeNewcomer decides about a member not known so far. One that is connected
// to us is always let in: there are few of those.
func (as *adverts) judgeNewcomer(subject, from peer.ID, now time.Time) verdict {
	connected := as.h.connected(subject)
	as.mu.Lock()
	full := len(as.known) >= maxAdverts
	reason := ""
	if from != as.h.net.ID() {
		reason = as.budget.spend(from, now)
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
	case full && !as.forget(now):
		return as.drop(dropFull, isStale)
	}
	return isNew
}

// judgeRenewal decides about a newer advert of a known member. A relay is not to
// blame for too many, as each sees others of them first.
func (as *adverts) judgeRenewal(a overlay.Advert, itself bool, from peer.ID, now time.Time) verdict {
	as.mu.Lock()
	k, have := as.known[a.Peer]
	ok := !have || memberRenewals.take(&k.renewals, now)
	if have && ok {
		as.known[a.Peer] = k
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
func (as *adverts) judgeOwn(b []byte) verdict {
	as.mu.Lock()
	same := bytes.Equal(b, as.own)
	as.mu.Unlock()
	if same {
		return isKnown
	}
	return as.drop(dropOwnEcho, isStale)
}

// learn keeps an advert that judge found new and tells the handler. It reports
// false when a newer one has come meanwhile.
func (as *adverts) learn(a overlay.Advert, b []byte) bool {
	as.telling.Lock()
	defer as.telling.Unlock()
	as.mu.Lock()
	last, have := as.known[a.Peer]
	newer := !have || a.Seq > last.Seq
	if newer {
		if !have && len(as.known) >= maxAdverts {
			newer = as.evict()
		}
		if !have {
			last.since = time.Now()
		}
	}
	if newer {
		last.Advert, last.bytes = a, bytes.Clone(b)
		as.known[a.Peer] = last
	}
	as.mu.Unlock()
	if !newer {
		return false
	}
	as.h.AddAddrs(a.Peer, a.Addrs, time.Until(a.Expires))
	as.h.set.Handler.Advert(a)
	as.h.dialer.poke()
	return true
}

// forget makes room by removing what has expired.
func (as *adverts) forget(now time.Time) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	before := len(as.known)
	maps.DeleteFunc(as.known, func(_ task.PeerID, k known) bool { return !k.Expires.After(now) })
	return len(as.known) < before
}

// evict makes room by removing the member heard of last, of those that are not
// connected: a flood is younger than the swarm. as.mu is held.
func (as *adverts) evict() bool {
	connected := map[task.PeerID]bool{}
	for _, p := range as.h.net.Network().Peers() {
		connected[task.PeerID(p.String())] = true
	}
	var youngest task.PeerID
	for id, k := range as.known {
		if !connected[id] && (youngest == "" || k.since.After(as.known[youngest].since)) {
			youngest = id
		}
	}
	delete(as.known, youngest)
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
	for _, k := range as.known {
		if k.Expires.After(now) {
			n++
		}
	}
	return n, maps.Clone(as.dropped)
}

// members returns the peers whose adverts have not expired, in any order.
func (as *adverts) members(now time.Time) []task.PeerID {
	as.mu.Lock()
	defer as.mu.Unlock()
	var ids []task.PeerID
	for id, k := range as.known {
		if k.Expires.After(now) {
			ids = append(ids, id)
		}
	}
	return ids
}

// sample returns our own advert and up to n of others: at random, so that several
// neighbours together tell a newcomer of a swarm that is larger.
func (as *adverts) sample(n int, now time.Time) [][]byte {
	as.mu.Lock()
	defer as.mu.Unlock()
	var others [][]byte
	for _, k := range as.known {
		if k.Expires.After(now) {
			others = append(others, k.bytes)
		}
	}
	rand.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	var all [][]byte
	if as.own != nil {
		all = append(all, as.own)
	}
	return append(all, others[:min(n, len(others))]...)
}

// SetAdvert publishes what this node says about itself: now by gossip, and to
// every peer that connects until it is replaced or expires. It must be signed by
// this node and newer than the last.
func (h *Host) SetAdvert(a overlay.Advert) error {
	if a.Peer != h.id {
		return fmt.Errorf("p2p: advert is of %s, this node is %s", a.Peer, h.id)
	}
	if a.Overlay != h.set.Overlay {
		return fmt.Errorf("p2p: advert is for overlay %q, this node gossips in %q", a.Overlay, h.set.Overlay)
	}
	b, err := a.Encode()
	if err != nil {
		return err
	}
	if _, err := overlay.OpenAdvert(b, time.Now()); err != nil {
		return fmt.Errorf("p2p: own advert: %w", err)
	}
	h.adverts.mu.Lock()
	h.adverts.own = b
	h.adverts.mu.Unlock()
	h.gossip.publish(b)
	h.greetYoung()
	return nil
}
