package p2p

import (
	"fmt"
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

	maxSubscriptions = 2 * MaxOverlays // in one message
)

func topicOf(id overlay.ID) string { return topicPrefix + string(id) }

// overlayOf is the other side of topicOf.
func overlayOf(topic string) (overlay.ID, bool) {
	id, ok := strings.CutPrefix(topic, topicPrefix)
	return overlay.ID(id), ok
}

// gossipsTo says whether others' adverts of a topic go to a peer: of a closed
// overlay only to those that it has admitted.
func (as *adverts) gossipsTo(p peer.ID, topic string) bool {
	id, ok := overlayOf(topic)
	as.mu.Lock()
	defer as.mu.Unlock()
	m := as.joined[id]
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
	_, ok := overlayOf(topic)
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
	id, ok := overlayOf(topic)
	if !ok {
		return false
	}
	if t.adverts.member(id) != nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heard[topic] {
		return true
	}
	if _, err := overlay.ParseID(string(id)); err != nil || len(t.heard) >= maxTopics {
		return false
	}
	if t.heard == nil {
		t.heard = map[string]bool{}
	}
	t.heard[topic] = true
	return true
}
