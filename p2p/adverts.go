package p2p

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// maxAdverts bounds the members that are remembered, about 2 KiB each. A flood
// of invented identities ends here.
const maxAdverts = 4096

// Reasons for which an advert is dropped, as Stats counts them.
const (
	dropSize     = "size"
	dropInvalid  = "invalid" // bytes, bounds or signature
	dropExpired  = "expired"
	dropOverlay  = "overlay" // meant for another overlay
	dropOlder    = "older"   // than the one that is known
	dropRivals   = "rivals"  // two adverts with the same number: the peer is lying
	dropFull     = "full"
	dropOwnEcho  = "own"
	dropNotHello = "hello" // a hello that breaks off or is too long
)

// verdict says what to do with an advert that arrived.
type verdict int

const (
	isNew   verdict = iota // keep, tell, pass on
	isKnown                // the very advert that is known: pass on
	isStale                // harmless: drop
	isBad                  // the sender should have seen it: drop, and think less of it
)

// adverts holds the newest advert of every member, and its own.
type adverts struct {
	h *Host

	mu      sync.Mutex
	known   map[task.PeerID]known
	own     []byte // encoded; nil before SetAdvert
	dropped map[string]uint64

	// telling is held while the handler is told, so that it hears of one peer's
	// adverts in order.
	telling sync.Mutex
}

type known struct {
	seq     uint64
	expires time.Time
	addrs   []string
	bytes   []byte
}

func newAdverts(h *Host) *adverts {
	return &adverts{h: h, known: map[task.PeerID]known{}, dropped: map[string]uint64{}}
}

// judge checks an advert's bytes and compares them with what is known. It
// changes nothing but the counts.
func (as *adverts) judge(b []byte, now time.Time) (overlay.Advert, verdict) {
	if len(b) > overlay.MaxAdvertBytes {
		return overlay.Advert{}, as.drop(dropSize, isBad)
	}
	a, err := overlay.OpenAdvert(b, now)
	switch {
	case errors.Is(err, overlay.ErrExpired):
		return a, as.drop(dropExpired, isStale)
	case err != nil:
		return a, as.drop(dropInvalid, isBad)
	case a.Overlay != as.h.set.Overlay:
		return a, as.drop(dropOverlay, isBad)
	case a.Peer == as.h.id:
		return a, as.judgeOwn(b)
	}
	as.mu.Lock()
	last, have := as.known[a.Peer]
	full := len(as.known) >= maxAdverts && !have
	as.mu.Unlock()
	switch {
	case have && a.Seq < last.seq:
		return a, as.drop(dropOlder, isStale)
	case have && a.Seq == last.seq && !bytes.Equal(b, last.bytes):
		return a, as.drop(dropRivals, isStale)
	case have && a.Seq == last.seq:
		return a, isKnown
	case full && !as.forget(now):
		return a, as.drop(dropFull, isStale)
	}
	return a, isNew
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
	newer := !have || a.Seq > last.seq
	if newer {
		as.known[a.Peer] = known{seq: a.Seq, expires: a.Expires, addrs: a.Addrs, bytes: bytes.Clone(b)}
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
	maps.DeleteFunc(as.known, func(_ task.PeerID, k known) bool { return !k.expires.After(now) })
	return len(as.known) < before
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
		if k.expires.After(now) {
			n++
		}
	}
	return n, maps.Clone(as.dropped)
}

// members returns the peers whose adverts have not expired, in order of ID.
func (as *adverts) members(now time.Time) []task.PeerID {
	as.mu.Lock()
	defer as.mu.Unlock()
	var ids []task.PeerID
	for id, k := range as.known {
		if k.expires.After(now) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// newest returns our own advert and the n longest-lived of others.
func (as *adverts) newest(n int, now time.Time) [][]byte {
	as.mu.Lock()
	defer as.mu.Unlock()
	var others []known
	for _, k := range as.known {
		if k.expires.After(now) {
			others = append(others, k)
		}
	}
	slices.SortFunc(others, func(a, b known) int {
		return cmp.Or(b.expires.Compare(a.expires), bytes.Compare(a.bytes, b.bytes))
	})
	var all [][]byte
	if as.own != nil {
		all = append(all, as.own)
	}
	for _, k := range others[:min(n, len(others))] {
		all = append(all, k.bytes)
	}
	return all
}

// SetAdvert publishes what this node says about itself: now by gossip, to every
// peer that connects, and again from time to time until it is replaced. It must
// be signed by this node and newer than the last.
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
