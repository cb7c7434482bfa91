package p2p

import (
	"math"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Identities cost nothing, so a peer can invent members without end and sign
// each advert well. What it cannot do is have us hear of many at once.
//
// The rates follow from honest swarms. A relay passes on what it has taken in
// itself, which hostNewcomers bounds, and the renewals of members that it knows
// and we do not: maxAdverts of them in a quarter of an hour are 4.6 a second.
// neighbourNewcomers is above either, so an honest neighbour is never blamed.
// memberRenewals lets a node that starts announce what it finds out as it does.
var (
	neighbourNewcomers = allowance{burst: 1536, perSecond: 6}
	hostNewcomers      = allowance{burst: 1024, perSecond: 4}
	memberRenewals     = allowance{burst: 16, perSecond: 0.5}
)

// maxPurses bounds the neighbours whose budgets are remembered, ten times as
// many as are connected. With more, the least spent is forgotten: no neighbour pays for what others spent, and a name
// gains by it what a new name has anyway.
const maxPurses = 1024

// An allowance is what a token bucket allows.
type allowance struct {
	burst     float64 // tokens it holds when full
	perSecond float64 // tokens that it gains
}

// A bucket of tokens. The zero bucket is full.
type bucket struct {
	spent float64 // tokens that were missing at the time
	at    time.Time
}

// missing returns how many tokens the bucket lacks to be full. A clock that goes
// back gives none.
func (r allowance) missing(b bucket, now time.Time) float64 {
	return math.Max(0, b.spent-r.perSecond*math.Max(0, now.Sub(b.at).Seconds()))
}

// take takes a token. It reports false, and takes none, when there is none.
func (r allowance) take(b *bucket, now time.Time) bool {
	spent := r.missing(*b, now) + 1
	if spent > r.burst {
		return false
	}
	b.spent, b.at = spent, now
	return true
}

// A budget limits the members that a host hears of for the first time, from
// each neighbour and altogether. The zero budget is untouched.
type budget struct {
	host       bucket
	neighbours map[peer.ID]*bucket
}

// spend asks for one newcomer, told by a neighbour. It returns dropFlood when
// the neighbour has told too many, dropCrowd when all of them together have, and
// "" otherwise.
func (bu *budget) spend(from peer.ID, now time.Time) string {
	if !neighbourNewcomers.take(bu.purse(from, now), now) {
		return dropFlood
	}
	if !hostNewcomers.take(&bu.host, now) {
		return dropCrowd
	}
	return ""
}

// purse returns a neighbour's bucket. It outlives the connection until it is
// full again, so that reconnecting gains nothing.
func (bu *budget) purse(p peer.ID, now time.Time) *bucket {
	if bu.neighbours == nil {
		bu.neighbours = map[peer.ID]*bucket{}
	}
	if b := bu.neighbours[p]; b != nil {
		return b
	}
	if len(bu.neighbours) >= maxPurses {
		forgetBuckets(bu.neighbours, func(b *bucket) float64 { return neighbourNewcomers.missing(*b, now) })
	}
	b := &bucket{}
	bu.neighbours[p] = b
	return b
}

// forgetBuckets removes the peers whose buckets are full, or else one whose bucket lacks least.
func forgetBuckets[B any](of map[peer.ID]B, missing func(B) float64) {
	before := len(of)
	var least peer.ID
	for p, b := range of {
		switch lacks := missing(b); {
		case lacks == 0:
			delete(of, p)
		case least == "" || lacks < missing(of[least]):
			least = p
		}
	}
	if len(of) == before {
		delete(of, least)
	}
}
