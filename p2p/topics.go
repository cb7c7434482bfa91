package p2p

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/task"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	// topicPrefix is followed by the overlay's ID. In version 1 messages had an
	// author and a number; see docs/rationale.md, Why do gossip messages have no author?
	topicPrefix = "/godwit/adverts/2/"

	// maxTopics bounds the overlays whose subscribers gossip remembers, beside those
	// that we are in: neighbours may be in any, and we may join theirs. It never
	// forgets one, so there is a bound for all neighbours of all times.
	maxTopics = 256

	maxSubscriptions = 3 * MaxOverlays // in one message: cells before and after, and what their leaders say
)

// summariesPrefix is followed by the overlay's ID: what leaders of cells say of them.
const summariesPrefix = "/godwit/summaries/1/"

// topicOf is the topic of the adverts of a cell: that of the whole overlay has its ID alone, as
// before there were cells, another the cell's bits after it.
func topicOf(id overlay.ID, c overlay.Cell) string {
	if c.Whole() {
		return topicPrefix + string(id)
	}
	return topicPrefix + string(id) + "/" + c.String()
}

func summariesOf(id overlay.ID) string { return summariesPrefix + string(id) }

// A subject is what a topic is about: the adverts of a cell, or what its leaders say.
type subject struct {
	id        overlay.ID
	cell      overlay.Cell // of adverts
	summaries bool
}

// subjectOf is the other side of topicOf and summariesOf. It is not ok for other topics, and those
// that none of them makes.
func subjectOf(topic string) (s subject, ok bool) {
	if id, ok := strings.CutPrefix(topic, summariesPrefix); ok {
		return subject{id: overlay.ID(id), summaries: true}, true
	}
	rest, ok := strings.CutPrefix(topic, topicPrefix)
	if !ok {
		return subject{}, false
	}
	id, bits, divided := strings.Cut(rest, "/")
	s.id = overlay.ID(id)
	if !divided {
		return s, true
	}
	if bits == "" || len(bits) > overlay.MaxCellBits || strings.Trim(bits, "01") != "" {
		return subject{}, false
	}
	prefix, err := strconv.ParseUint(bits, 2, 16)
	s.cell = overlay.Cell{Bits: uint8(len(bits)), Prefix: uint16(prefix)}
	return s, err == nil
}

// gossipsTo says whether others' adverts of a topic go to a peer: of a closed
// overlay only to those that it has admitted.
func (as *adverts) gossipsTo(p peer.ID, topic string) bool {
	s, ok := subjectOf(topic)
	as.mu.Lock()
	defer as.mu.Unlock()
	m := as.joined[s.id]
	return ok && m != nil && m.tells(task.PeerID(p.String()), time.Now())
}

// topics chooses what gossip remembers of its peers' subscriptions.
type topics struct {
	adverts *adverts

	mu    sync.Mutex
	heard map[string]bool // at most maxTopics
}

var _ pubsub.SubscriptionFilter = (*topics)(nil)

// CanSubscribe implements pubsub.SubscriptionFilter.
func (*topics) CanSubscribe(topic string) bool {
	_, ok := subjectOf(topic)
	return ok
}

// FilterIncomingSubscriptions implements pubsub.SubscriptionFilter.
func (t *topics) FilterIncomingSubscriptions(_ peer.ID, subs []*pb.RPC_SubOpts) ([]*pb.RPC_SubOpts, error) {
	if len(subs) > maxSubscriptions {
		return nil, fmt.Errorf("%w: %d, at most %d", pubsub.ErrTooManySubscriptions, len(subs), maxSubscriptions)
	}
	var kept []*pb.RPC_SubOpts
	for _, s := range subs {
		if t.knows(s.GetTopicid()) {
			kept = append(kept, s)
		}
	}
	return kept, nil
}

func (t *topics) knows(topic string) bool {
	s, ok := subjectOf(topic)
	if !ok {
		return false
	}
	if t.adverts.member(s.id) != nil { // of cells those that this node is in, or may come to be
		return s.cell.Holds(overlay.CellNumber(s.id, t.adverts.id))
	}
	if !s.cell.Whole() || s.summaries {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heard[topic] {
		return true
	}
	if _, err := overlay.ParseID(string(s.id)); err != nil || len(t.heard) >= maxTopics {
		return false
	}
	if t.heard == nil {
		t.heard = map[string]bool{}
	}
	t.heard[topic] = true
	return true
}
