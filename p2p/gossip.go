package p2p

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"godwit/overlay"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

const (
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

	// youngTime is how long after connecting gossip may not reach a peer yet.
	youngTime = 5 * time.Second

	waitingAdverts = 256  // checked, not yet told to the handler
	validators     = 1024 // adverts checked, or delayed, at a time: 4,000 a second
)

// gossip spreads adverts through the overlays by GossipSub, a topic each.
type gossip struct {
	*endpoint
	adverts *adverts
	joiner  func(peer.ID) // told of a neighbour that joined an overlay, other than by connecting
	ps      *pubsub.PubSub
	tick    time.Time // renewals are relayed whole relayTicks after it
}

// gossipProtocols are those whose peers we choose: to a peer that speaks
// floodsub alone everything would go, whoever it is.
var gossipProtocols = []protocol.ID{
	pubsub.GossipSubID_v13, pubsub.GossipSubID_v12, pubsub.GossipSubID_v11, pubsub.GossipSubID_v10,
}

func openGossip(ep *endpoint, as *adverts, joiner func(peer.ID)) (*gossip, error) {
	g := &gossip{endpoint: ep, adverts: as, joiner: joiner, tick: time.Now().Add(-rand.N(relayTick))}
	params, thresholds := scoring(as.score)
	var err error
	g.ps, err = pubsub.NewGossipSub(ep.life, gossipHost{ep.net, as},
		pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign), // adverts carry their own
		pubsub.WithNoAuthor(), // nor a name that none vouches for
		pubsub.WithMessageIdFn(messageID),
		pubsub.WithMaxMessageSize(maxGossip),
		pubsub.WithSeenMessagesTTL(seenTime),
		pubsub.WithGossipSubProtocols(gossipProtocols, pubsub.GossipSubDefaultFeatures),
		pubsub.WithGossipSubParams(mesh()),
		pubsub.WithFloodPublish(floodPublish),
		pubsub.WithPeerScore(params, thresholds),
		pubsub.WithPeerFilter(as.gossipsTo),
		pubsub.WithSubscriptionFilter(&topics{adverts: as}),
		pubsub.WithValidateWorkers(1),
		pubsub.WithLogger(slog.New(slog.DiscardHandler)),
	)
	if err != nil {
		return nil, fmt.Errorf("p2p: starting gossip: %w", err)
	}
	return g, nil
}

// join subscribes to the topic of an overlay's cell, and has what comes told from Run on. With mute
// the neighbours that join it within youngTime are not welcomed: they were in the same topic before.
func (g *gossip) join(id overlay.ID, cell overlay.Cell, mute bool) (*channel, error) {
	validate := func(ctx context.Context, from peer.ID, msg *pubsub.Message) pubsub.ValidationResult {
		return g.validate(ctx, subject{id: id, cell: cell}, from, msg)
	}
	c, err := g.subscribe(topicOf(id, cell), validate, waitingAdverts)
	if err != nil {
		return nil, fmt.Errorf("p2p: joining overlay %s: %w", id, err)
	}
	c.cell = cell
	events, err := c.topic.EventHandler()
	if err != nil {
		return nil, fmt.Errorf("p2p: joining overlay %s: %w", id, errors.Join(err, g.leave(c)))
	}
	from := time.Now()
	if mute {
		from = from.Add(youngTime)
	}
	ctx, stop := context.WithCancel(g.life)
	c.stop = func() {
		stop()
		events.Cancel()
	}
	if !g.spawn(func(context.Context) { g.receive(ctx, c.sub) }) ||
		!g.spawn(func(context.Context) { g.greetJoiners(ctx, events, from) }) {
		return nil, ErrClosed
	}
	return c, nil
}

// greetJoiners welcomes the neighbours that join an overlay, other than by
// connecting, from a time on.
func (g *gossip) greetJoiners(ctx context.Context, events *pubsub.TopicEventHandler, from time.Time) {
	for {
		e, err := events.NextPeerEvent(ctx)
		if err != nil {
			return
		}
		conns := g.net.Network().ConnsToPeer(e.Peer)
		if e.Type == pubsub.PeerJoin && !time.Now().Before(from) && len(conns) > 0 &&
			time.Since(conns[0].Stat().Opened) > youngTime {
			g.joiner(e.Peer)
		}
	}
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
// message whoever publishes it. It rests on the content alone: messages have
// neither author nor number. An advert says something new by its own number.
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
func (g *gossip) validate(
	ctx context.Context, topic subject, from peer.ID, m *pubsub.Message,
) pubsub.ValidationResult {
	a, v := g.adverts.judge(m.Data, topic.id, from, time.Now())
	if v != isBad && v != isStale && !topic.fits(&a) {
		g.adverts.accuse(from, blameInvalid, time.Now())
		v = g.adverts.drop(dropOverlay, isBad)
	}
	switch v {
	case isNew, isRenewal:
		m.ValidatorData = a
		if v == isRenewal && from != g.net.ID() {
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

// receive takes what was validated to the handler, once Run has begun.
func (g *gossip) receive(ctx context.Context, sub *pubsub.Subscription) {
	g.each(ctx, sub, func(m *pubsub.Message) {
		if a, ok := m.ValidatorData.(overlay.Advert); ok {
			g.adverts.learn(a, m.Data, m.ReceivedFrom)
		}
	})
}

// each calls take with what comes on a topic, once Run has begun, until ctx ends.
func (g *gossip) each(ctx context.Context, sub *pubsub.Subscription, take func(*pubsub.Message)) {
	defer sub.Cancel()
	select {
	case <-g.served:
	case <-ctx.Done():
		return
	}
	for {
		m, err := sub.Next(ctx)
		if err != nil {
			return
		}
		take(m)
	}
}

// publish sends an advert to the neighbours. What fails is made good by hello
// and by the next advert.
func (g *gossip) publish(m *membership, b []byte) {
	topic := g.adverts.channelOf(m).topic
	if err := topic.Publish(g.life, b); err != nil {
		g.set.Log.Debug("advert not published", "overlay", m.ID, "error", err)
	}
}
