package p2p

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"godwit/p2p/cost"
	"godwit/task"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	ma "github.com/multiformats/go-multiaddr"
)

// A Host is a node's place in the swarm. All methods are safe for concurrent
// use.
type Host struct {
	*endpoint     // ID, Peers, AddAddrs
	*overlays     // Join, Leave, Recheck, Shared, SetAdvert, EnterCell, SaySummary
	*outboxes     // Send, Greet
	*requests     // Request
	*handOvers    // HandOver
	*transfers    // AskBlocks, SetRates
	*reachability // Reach
	*ranking      // Rank, Class, Debit
	*keeper       // Keep
	*daily        // SetRelayed
	*dialer       // Named, Name, Unname
	*recall       // Met
	*table        // Provide, Find

	adverts  *adverts
	links    *links
	greeter  *greeter
	upgrader *upgrader
	relays   *relays
	relay    *relay.Relay // nil where the owner wants none
}

// New makes a host that listens. It takes part in the swarm when Run is called. When
// New fails, nothing is left behind.
func New(cfg Config) (*Host, error) {
	return NewWith(cfg, libp2p.EnableNATService()) // dials back for others, as they do for us
}

// NewWith is New with further libp2p options. It exists for
// internal/testnet, which puts hosts on a simulated network, where nobody dials
// back.
func NewWith(cfg Config, extra ...libp2p.Option) (*Host, error) {
	set, err := cfg.check()
	if err != nil {
		return nil, err
	}
	ep, err := newEndpoint(set, extra)
	if err != nil {
		return nil, err
	}
	h := &Host{endpoint: ep, adverts: newAdverts(ep), links: newLinks(ep)}
	h.adverts.learned, ep.blame = h.learned, h.Blame
	h.costs = cost.New(h.adverts.fellow)
	h.keeper = newKeeper(ep)
	h.ranking = &ranking{endpoint: ep, keeper: h.keeper}
	guests := h.keeper.lets
	ep.gate.lets.Store(&guests)
	h.daily = &daily{peers: ep.costs, most: set.Relaying.Daily, circuits: make(chan struct{}, maxCircuits)}
	h.outboxes = newOutboxes(ep, h.links.lose, func(ctx context.Context, p peer.ID) { h.greeter.introduce(ctx, p) })
	h.requests = &requests{endpoint: ep, adverts: h.adverts}
	h.handOvers = newHandOvers(ep, h.adverts)
	h.reachability = &reachability{endpoint: ep, changed: func() { h.relays.poke() },
		nats: map[network.NATTransportProtocol]NAT{}}
	from := &seeds{}
	h.recall = newRecall(ep, h.adverts, from)
	h.table = newTable(ep, h.adverts, h.reachability)
	h.dialer, h.relays = newDialer(ep, h.adverts, from), newRelays(ep, h.adverts, h.reachability)
	gossip, err := openGossip(ep, h.adverts, func(p peer.ID) { h.greeter.welcome(p) })
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.greeter = newGreeter(ep, h.adverts, gossip)
	h.transfers = &transfers{endpoint: ep, adverts: h.adverts, greeter: h.greeter}
	h.upgrader = &upgrader{ep, h.relays.isHidden, h.outboxes, h.greeter}
	h.overlays = &overlays{endpoint: ep, adverts: h.adverts, gossip: gossip, greeter: h.greeter}
	if h.relay, err = openRelay(ep, members{h.adverts, h.relays, h.daily}); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.listen()
	return h, nil
}

// listen serves all protocols and follows connections.
func (h *Host) listen() {
	h.handle(ProtocolFrame, (&inboxes{h.endpoint, h.links, h.adverts}).receiveFrames)
	h.handle(ProtocolRequest, h.answer)
	if h.set.Urgent != "" {
		h.handle(ProtocolUrgent, h.answerUrgent)
	}
	h.handle(ProtocolHello, h.greeter.receiveHello)
	h.handle(ProtocolHello2, h.greeter.receiveHello)
	h.handle(ProtocolCompare, h.greeter.receiveCompare)
	if h.set.OnBlocks != nil {
		h.handle(ProtocolBlocks, h.receiveBlocks)
	}
	if h.set.OnHandOver != nil {
		h.handle(ProtocolHandOver, h.receiveHandOver)
	}
	h.links.opened, h.links.ended = h.opened, h.ended
	h.net.Network().Notify(h.links)
}

// learned follows an advert that was news, of a member that is told what we know when it was not
// there before and gossip has not told it: in a closed overlay, and through a relay.
func (h *Host) learned(m *membership, p task.PeerID, anew bool) {
	h.dialer.poke()
	id, err := peer.Decode(string(p))
	if err == nil && anew && (m.Closed || h.greeter.unreached(m, id, time.Now())) {
		h.greeter.welcome(id)
	}
}

// Blame holds it against a peer that it sent what does harm, and closes the connections to
// it. It may connect again; one that goes on so is not heard in gossip.
func (h *Host) Blame(p task.PeerID) {
	if id, err := h.otherPeer(p); err == nil {
		h.adverts.accuse(id, blameSize, time.Now())
		_ = h.net.Network().ClosePeer(id)
	}
}

// opened follows each connection that opens, first for a peer's first.
func (h *Host) opened(c network.Conn, first bool) {
	h.relays.opened(c)
	h.upgrader.opened(c, first)
	if first {
		h.spawn(func(ctx context.Context) { h.greeter.greet(ctx, c.RemotePeer()) })
		h.dialer.poke()
	}
}

// ended follows connections to a peer that ended.
func (h *Host) ended(p peer.ID, how ending) {
	if how.trimmed {
		h.dialer.rest(p, time.Now())
	}
	if how.last {
		h.dropOutbox(p)
		h.greeter.forget(p)
		h.dialer.poke()
	}
	h.relays.poke()
}

// Run takes part in the swarm until ctx ends. It returns when everything the
// host started has ended; the host cannot be used again. It may be called once.
func (h *Host) Run(ctx context.Context) error {
	if !h.begin() {
		return ErrClosed
	}
	h.spawn(h.links.run)
	h.spawn(h.dialer.run)
	h.spawn(h.relays.run)
	h.spawn(h.pingPeers)
	h.spawn(h.watch)
	h.spawn(h.greeter.remind)
	h.spawn(h.ports.run)
	h.spawn(h.keep)
	mdnsErr := h.startMDNS(h.adverts)
	if mdnsErr != nil {
		h.set.Log.Warn("cannot look for peers on the local network", "error", mdnsErr)
	}
	<-ctx.Done()
	return h.Close()
}

// Close ends the host. It is needed only when Run is never called, and waits
// like Run.
func (h *Host) Close() error {
	var err error
	if h.stop() {
		if h.relay != nil {
			_ = h.relay.Close() // it has no error
		}
		if err = h.net.Close(); err != nil {
			err = fmt.Errorf("p2p: closing the network: %w", err)
		}
	}
	h.wg.Wait()
	return err
}

// Addrs returns where this node can be reached, each with /p2p/ID at its end, at
// the end those through relays.
func (h *Host) Addrs() []string {
	var addrs []string
	for _, a := range append(h.ownAddrs(), h.relays.circuits()...) {
		addrs = append(addrs, a.String()+"/p2p/"+string(h.id))
	}
	return addrs
}

// AdvertAddrs returns where this node can be reached, for its advert: the most
// useful first, without /p2p/ID, at most n. Those through relays come last, and
// none of them is left out for another.
func (h *Host) AdvertAddrs(n int) []string {
	addrs, circuits := h.ownAddrs(), h.relays.circuits()
	slices.SortStableFunc(addrs, func(a, b ma.Multiaddr) int { return reach(a) - reach(b) })
	circuits = circuits[:min(n, len(circuits))]
	var texts []string
	for _, a := range append(addrs[:min(n-len(circuits), len(addrs))], circuits...) {
		texts = append(texts, a.String())
	}
	return texts
}

// Cut closes the connections to a peer that are older than age, and says whether
// it has newer ones. Handler.Disconnected follows if it has none; after it, the
// next connection is told as any first one. It does not wait for the closing.
func (h *Host) Cut(p task.PeerID, age time.Duration) (newer bool) {
	id, err := h.otherPeer(p)
	if err != nil {
		return false
	}
	from := time.Now().Add(-age)
	var old []network.Conn
	for _, c := range h.net.Network().ConnsToPeer(id) {
		if c.Stat().Opened.Before(from) {
			old = append(old, c)
		} else {
			newer = true
		}
	}
	if len(old) > 0 {
		h.links.cut(id, old)
	}
	for _, c := range old {
		h.spawn(func(context.Context) { _ = c.Close() })
	}
	return newer
}

// Stats are counts since New.
type Stats struct {
	BytesIn, BytesOut int64 // payload of all streams, before encryption
	Conns             int   // now open
	Peers             int   // now connected
	Adverts           int   // known and not expired, of the members of all overlays
	// Protocols divides BytesIn and BytesOut; at most 32 keys, of which "other"
	// and "negotiation" are no protocols.
	Protocols map[string]Traffic
	// DroppedAdverts counts refused adverts by reason.
	DroppedAdverts map[string]uint64
}

// Stats returns the counts as they are now.
func (h *Host) Stats() Stats {
	known, dropped := h.adverts.stats(time.Now())
	return Stats{
		BytesIn: h.traffic.in.Load(), BytesOut: h.traffic.out.Load(), Protocols: h.traffic.byProtocol(),
		Conns: len(h.net.Network().Conns()), Peers: len(h.net.Network().Peers()),
		Adverts: known, DroppedAdverts: dropped,
	}
}
