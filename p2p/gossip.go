package p2p

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"godwit/overlay"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	topicPrefix = "/godwit/adverts/1/" // then the overlay's name

	heartbeat    = 4 * time.Second
	meshPeers    = 4
	lazyPeers    = 2
	historyBeats = 5 // heartbeats for which a message can still be asked for

	// unwantedBytes is the size from which a message is worth telling that it is
	// here. It must be above what telling all neighbours takes, or a small message
	// would set off a larger answer.
	unwantedBytes = 256

	// relayTick is how often a node relays renewals, those that say nothing new.
	// They then share packets, of which each costs some 60 bytes and its
	// acknowledgement as much. And what its neighbours have meanwhile told that
	// they have it does not send: without that, two that hear of an advert at once
	// send it to each other. News is relayed at once.
	relayTick = 2 * time.Second

	// seenTime is how long gossip remembers a message: longer than it takes to
	// reach everyone and be offered by the last, or it would go round again.
	seenTime = 2 * time.Minute

	// maxGossip bounds one gossip message: some adverts and the control
	// messages between them.
	maxGossip = 64 << 10

	waitingAdverts = 256  // checked, not yet told to the handler
	validators     = 1024 // adverts checked, or delayed, at a time: 4,000 a second
)

// Scores below which a peer is no longer told of adverts, published to, or
// heard: after 2, 7 and 11 invalid adverts.
const (
	scoreGossip   = -16
	scorePublish  = -64
	scoreGraylist = -100
)

// gossip spreads adverts through the overlay by GossipSub.
type gossip struct {
	h     *Host
	topic *pubsub.Topic
	sub   *pubsub.Subscription
	tick  time.Time // renewals are relayed whole relayTicks after it
}

func openGossip(h *Host) (*gossip, error) {
	g := &gossip{h: h, tick: time.Now().Add(-rand.N(relayTick))}
	name := topicPrefix + h.set.Overlay
	params, thresholds := scoring(h.adverts.score)
	ps, err := pubsub.NewGossipSub(h.life, gossipHost{h.net, h.adverts},
		pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign), // adverts carry their own
		pubsub.WithMessageIdFn(messageID),
		pubsub.WithMaxMessageSize(maxGossip),
		pubsub.WithSeenMessagesTTL(seenTime),
		pubsub.WithGossipSubParams(mesh()),
		pubsub.WithFloodPublish(floodPublish),
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

// floodPublish has our own advert go to every neighbour at once, so that those
// who relay nothing cannot keep it from the swarm. Only tests change it.
var floodPublish = true

// mesh has each node relay to 3 to 5 neighbours, where the library takes 5 to 12:
// adverts are the traffic of an idle node, and each neighbour costs. A node that
// has a message tells its neighbours by ID that it needs no other copy. What the
// mesh withholds, neighbours outside it offer (lazyPeers of them in each of two
// heartbeats), and hello and the next advert repair. The figures are in
// docs/protocol.md.
func mesh() pubsub.GossipSubParams {
	p := pubsub.DefaultGossipSubParams()
	p.D, p.Dlo, p.Dhi = meshPeers, meshPeers-1, meshPeers+1
	p.Dscore, p.Dout = meshPeers/2, 1
	p.Dlazy, p.GossipFactor = lazyPeers, 0
	p.HistoryGossip, p.HistoryLength = 2, historyBeats
	p.HeartbeatInterval = heartbeat
	p.IDontWantMessageThreshold = unwantedBytes
	return p
}

// idBytes of an advert's digest are its ID in gossip: enough that nobody finds
// a second advert of the same ID.
const idBytes = 16

// messageID is the beginning of the advert's digest, so that an advert is one
// message whoever publishes it.
func messageID(m *pb.Message) string {
	sum := sha256.Sum256(m.Data)
	return string(sum[:idBytes])
}

// scoring judges a peer by its offences alone: adverts are too few to judge it
// by how many it delivers.
func scoring(score func(peer.ID) float64) (*pubsub.PeerScoreParams, *pubsub.PeerScoreThresholds) {
	params := &pubsub.PeerScoreParams{
		SkipAtomicValidation: true,
		AppSpecificScore:     score,
		AppSpecificWeight:    1,
		DecayInterval:        time.Minute,
		DecayToZero:          0.1,
		RetainScore:          10 * time.Minute,
	}
	return params, &pubsub.PeerScoreThresholds{
		GossipThreshold:   scoreGossip,
		PublishThreshold:  scorePublish,
		GraylistThreshold: scoreGraylist,
	}
}

// validate decides, before an advert is relayed, whether it is worth it.
func (g *gossip) validate(ctx context.Context, from peer.ID, m *pubsub.Message) pubsub.ValidationResult {
	a, v := g.h.adverts.judge(m.Data, from, time.Now())
	switch v {
	case isNew, isRenewal:
		m.ValidatorData = a
		if v == isRenewal && from != g.h.net.ID() {
			g.awaitTick(ctx)
		}
		return pubsub.ValidationAccept
	case isKnown:
		return pubsub.ValidationAccept
	case isStale:
		return pubsub.ValidationIgnore
	default:
		return pubsub.ValidationReject
	}
}

// awaitTick waits until renewals are relayed next. Nodes differ in when.
func (g *gossip) awaitTick(ctx context.Context) {
	wait := time.NewTimer(relayTick - time.Since(g.tick)%relayTick)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
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
// and by the next advert.
func (g *gossip) publish(b []byte) {
	if err := g.topic.Publish(g.h.life, b); err != nil {
		g.h.set.Log.Debug("advert not published", "error", err)
	}
}
