package p2p

import (
	"bytes"
	"errors"
	"reflect"
	"time"

	"godwit/overlay"

	"github.com/libp2p/go-libp2p/core/peer"
)

// judge checks an advert's bytes and compares them with what is known. What is
// wrong with it is counted, and held against the neighbour it came from. An advert
// of gossip belongs to its topic's overlay; topic is "" for one of a hello, where
// those of overlays that we are not in are left out: nobody knew.
func (as *adverts) judge(b []byte, topic overlay.ID, from peer.ID, now time.Time) (overlay.Advert, verdict) {
	if a, known := as.repeated(b, topic, now); known {
		return a, isKnown
	}
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
	case a.Peer == as.id:
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
	}
	as.skews.note(&a, have, now)
	if have {
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
	connected := as.direct(subject) // through a relay anybody can seem to be
	as.mu.Lock()
	full := len(m.known) >= maxAdverts
	reason := ""
	if from != as.net.ID() {
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
