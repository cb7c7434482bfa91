package p2p

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"time"

	"godwit/overlay"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	topicPrefix = "/godwit/adverts/1/" // then the overlay's name

	// seenTime is how long gossip remembers a message. Publishing the same advert
	// again has an effect only after it, hence republishTime.
	seenTime      = 30 * time.Second
	republishTime = 60 * time.Second

	// maxGossip bounds one gossip message: some adverts and the control
	// messages between them.
	maxGossip = 64 << 10

	waitingAdverts = 256 // checked, not yet told to the handler
	validators     = 16  // adverts checked at a time; a check takes 60 us
)

// Scores below which a peer is no longer told of adverts, published to, or
// heard. One invalid advert costs the square of the invalid adverts remembered:
// after 4 a peer gets no gossip, after 10 nothing is accepted from it.
const (
	scoreGossip   = -16
	scorePublish  = -64
	scoreGraylist = -100
	scoreDecay    = 0.9 // per minute: ten invalid adverts are forgotten in half an hour
)

// gossip spreads adverts through the overlay by GossipSub.
type gossip struct {
	h     *Host
	topic *pubsub.Topic
	sub   *pubsub.Subscription
}

func openGossip(h *Host) (*gossip, error) {
	g := &gossip{h: h}
	name := topicPrefix + h.set.Overlay
	params, thresholds := scoring(name)
	ps, err := pubsub.NewGossipSub(h.life, h.net,
		pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign), // adverts carry their own
		pubsub.WithMessageIdFn(messageID),
		pubsub.WithMaxMessageSize(maxGossip),
		pubsub.WithSeenMessagesTTL(seenTime),
		pubsub.WithFloodPublish(true), // our own advert goes to every neighbour at once
		pubsub.WithPeerScore(params, thresholds),
		pubsub.WithSubscriptionFilter(pubsub.NewAllowlistSubscriptionFilter(name)),
		pubsub.WithValidateWorkers(1),
		pubsub.WithLogger(slog.New(slog.DiscardHandler)),
	)
	if err != nil {
		return nil, fmt.Errorf("p2p: starting gossip: %w", err)
	}
	if err := ps.RegisterTopicValidator(name, g.validate, pubsub.WithValidatorConcurrency(validators)); err != nil {
		return nil, fmt.Errorf("p2p: starting gossip: %w", err)
	}
	if g.topic, err = ps.Join(name); err != nil {
		return nil, fmt.Errorf("p2p: joining %q: %w", name, err)
	}
	if g.sub, err = g.topic.Subscribe(pubsub.WithBufferSize(waitingAdverts)); err != nil {
		return nil, fmt.Errorf("p2p: joining %q: %w", name, err)
	}
	return g, nil
}

// messageID is the digest of the advert, so that an advert is one message
// whoever publishes it.
func messageID(m *pb.Message) string {
	sum := sha256.Sum256(m.Data)
	return string(sum[:])
}

// scoring counts invalid adverts and nothing else: adverts are too few to judge
// a peer by how many it delivers.
func scoring(topic string) (*pubsub.PeerScoreParams, *pubsub.PeerScoreThresholds) {
	params := &pubsub.PeerScoreParams{
		SkipAtomicValidation: true,
		Topics: map[string]*pubsub.TopicScoreParams{topic: {
			SkipAtomicValidation:           true,
			TopicWeight:                    1,
			TimeInMeshQuantum:              time.Second, // weighs nothing, but the library divides by it
			TimeInMeshCap:                  1,
			InvalidMessageDeliveriesWeight: -1,
			InvalidMessageDeliveriesDecay:  scoreDecay,
		}},
		AppSpecificScore: func(peer.ID) float64 { return 0 },
		DecayInterval:    time.Minute,
		DecayToZero:      0.1,
		RetainScore:      10 * time.Minute,
	}
	return params, &pubsub.PeerScoreThresholds{
		GossipThreshold:   scoreGossip,
		PublishThreshold:  scorePublish,
		GraylistThreshold: scoreGraylist,
	}
}

// validate decides, before an advert is relayed, whether it is worth it.
func (g *gossip) validate(_ context.Context, _ peer.ID, m *pubsub.Message) pubsub.ValidationResult {
	a, v := g.h.adverts.judge(m.Data, time.Now())
	switch v {
	case isNew:
		m.ValidatorData = a
		return pubsub.ValidationAccept
	case isKnown:
		return pubsub.ValidationAccept
	case isStale:
		return pubsub.ValidationIgnore
	default:
		return pubsub.ValidationReject
	}
}

// receive takes what was validated to the handler.
func (g *gossip) receive(ctx context.Context) {
	defer g.sub.Cancel()
	for {
		m, err := g.sub.Next(ctx)
		if err != nil {
			return
		}
		if a, ok := m.ValidatorData.(overlay.Advert); ok {
			g.h.adverts.learn(a, m.Data)
		}
	}
}

// publish sends an advert to the neighbours. What fails is made good by hello
// and by republish.
func (g *gossip) publish(b []byte) {
	if err := g.topic.Publish(g.h.life, b); err != nil {
		g.h.set.Log.Debug("advert not published", "error", err)
	}
}

// republish reaches those whose neighbours missed it.
func (g *gossip) republish(ctx context.Context) {
	tick := time.NewTicker(republishTime)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		g.h.adverts.mu.Lock()
		own := g.h.adverts.own
		g.h.adverts.mu.Unlock()
		if own != nil {
			g.publish(own)
		}
	}
}
