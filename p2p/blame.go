package p2p

import (
	"maps"
	"math"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// What a peer's offences count. Honest nodes check before they relay, so one
// offence may be a fault, ten are not.
const (
	blameInvalid = 10 // an advert that anyone can see is wrong, a hello that breaks off
	blameSize    = 50 // bytes that no node of ours sends
	blameFlood   = 1  // one newcomer, or one renewal of itself, too many

	// blameCost is for going on long after a budget was spent: three times, and a peer is not
	// heard for a while.
	blameCost = 40

	// blameStranger is for saying that one is in an overlay that does not admit one.
	// An honest node's reminders, one a minute at most, come to 10 points at a time.
	blameStranger = 1

	blameDecay = 0.9  // a minute: ten invalid adverts are forgotten in half an hour
	maxBlamed  = 1024 // peers that are remembered; the least blamed are forgotten first
)

// Scores below which a peer is no longer told of adverts, published to, or
// heard: after 2, 7 and 11 invalid adverts.
const (
	scoreGossip   = -16
	scorePublish  = -64
	scoreGraylist = -100
)

// A ledger of blame holds what peers did wrong, to be forgotten with time. The
// zero ledger is empty.
type blame struct{ peers map[peer.ID]offence }

type offence struct {
	points float64
	at     time.Time
}

func (o offence) now(now time.Time) float64 {
	return o.points * math.Pow(blameDecay, math.Max(0, now.Sub(o.at).Minutes()))
}

func (b *blame) add(p peer.ID, points float64, now time.Time) {
	if b.peers == nil {
		b.peers = map[peer.ID]offence{}
	}
	if _, have := b.peers[p]; !have && len(b.peers) >= maxBlamed {
		b.shrink(now)
	}
	b.peers[p] = offence{b.peers[p].now(now) + points, now}
}

// score is the peer's score in gossip: 0 or less.
func (b *blame) score(p peer.ID, now time.Time) float64 { return -b.peers[p].now(now) }

// shrink makes room for at least one.
func (b *blame) shrink(now time.Time) {
	maps.DeleteFunc(b.peers, func(_ peer.ID, o offence) bool { return o.now(now) < 1 })
	if len(b.peers) < maxBlamed {
		return
	}
	var least peer.ID
	for p, o := range b.peers {
		if least == "" || o.now(now) < b.peers[least].now(now) {
			least = p
		}
	}
	delete(b.peers, least)
}
