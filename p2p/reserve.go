package p2p

import (
	"cmp"
	"context"
	"maps"
	"math/bits"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

const (
	// wantRelays is how many relays a hidden node is reached through: one may go at
	// any time.
	wantRelays = 2
	// relayAddrs is how many addresses of one relay are announced; two relays have
	// as many as an advert may.
	relayAddrs = overlay.MaxCircuits / wantRelays

	// dialledWithin is how long a node that is connected waits to be dialled before
	// it takes itself for hidden. Members dial whom they hear of within seconds as
	// long as they have few neighbours; one that nobody needed to dial reserves
	// for nothing, which costs a request an hour.
	dialledWithin = 30 * time.Second

	reservationTime = time.Hour // until a reservation must be renewed

	reserveEvery   = 10 * time.Second // between two looks at what has expired
	reserveTimeout = 10 * time.Second
	refusedFor     = 5 * time.Minute // a relay that said no, or nothing, is not asked again
	maxDialledTo   = 1024            // peers remembered as dialled by this node
	relayTag       = "relay"         // has the connection manager keep a relay
)

// relays keeps a node that nobody can dial reachable through others: it reserves
// with members that it has dialled itself, which shows that they can be.
//
// AutoNAT's word holds where it has one. It asks public addresses alone and takes
// minutes, so that until then a node is hidden that has dialled others for a
// while and was dialled by none. Being dialled from the local network says
// nothing to those outside: it counts only where all its peers are local.
type relays struct {
	*endpoint
	adverts *adverts
	reach   *reachability
	wake    chan struct{} // holds at most one token

	mu      sync.Mutex
	to      map[peer.ID]bool // dialled by this node; at most maxDialledTo
	public  bool             // somebody at a public address dialled it
	local   bool             // somebody on the local network did
	waited  bool             // it was connected for dialledWithin, once
	unseen  bool             // hidden, when that was last looked at
	held    map[peer.ID]berth
	refused map[peer.ID]time.Time // not to be asked before
	addrs   []ma.Multiaddr        // announced: those of held, at most overlay.MaxCircuits
}

// A berth is a reservation with a relay.
type berth struct {
	renew time.Time // when to ask again
	ends  time.Time
	addrs []ma.Multiaddr // through the relay, at most relayAddrs
}

func newRelays(ep *endpoint, as *adverts, reach *reachability) *relays {
	return &relays{
		endpoint: ep, adverts: as, reach: reach, wake: make(chan struct{}, 1), to: map[peer.ID]bool{},
		held: map[peer.ID]berth{}, refused: map[peer.ID]time.Time{},
	}
}

// poke makes run look again.
func (r *relays) poke() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// opened notes what a connection says about who can dial whom. A peer that this
// node has dialled may come back through the hole that this left in the router.
func (r *relays) opened(c network.Conn) {
	if isRelayed(c) {
		return
	}
	p := c.RemotePeer()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case c.Stat().Direction == network.DirOutbound:
		if len(r.to) < maxDialledTo {
			r.to[p] = true
		}
	case r.to[p] || len(r.to) >= maxDialledTo || r.relayed(p):
	case manet.IsPublicAddr(c.RemoteMultiaddr()):
		r.public = true
	default:
		r.local = true
	}
	r.poke()
}

// hidden says whether others cannot dial this node, as far as it knows.
func (r *relays) hidden(now time.Time) bool {
	switch r.reach.Reach() {
	case overlay.ReachPublic:
		return false
	case overlay.ReachPrivate:
		return true
	}
	r.mu.Lock()
	public, local, waited := r.public, r.local, r.waited
	r.mu.Unlock()
	if public {
		return false
	}
	outside := false
	for _, c := range r.net.Network().Conns() {
		if isRelayed(c) {
			continue
		}
		outside = outside || manet.IsPublicAddr(c.RemoteMultiaddr())
		waited = waited || c.Stat().Direction == network.DirOutbound && now.Sub(c.Stat().Opened) >= dialledWithin
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waited = r.waited || waited
	return waited && (!local || outside)
}

// isHidden says whether it was hidden when that was last looked at.
func (r *relays) isHidden() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unseen
}

// run reserves, renews and drops, until ctx ends. It alone changes held.
func (r *relays) run(ctx context.Context) {
	timer := time.NewTimer(dialledWithin)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-r.wake:
		case <-ctx.Done():
			return
		}
		timer.Reset(r.round(ctx, time.Now()))
	}
}

// round brings the reservations up to date and returns how long until the next.
func (r *relays) round(ctx context.Context, now time.Time) time.Duration {
	hidden := r.hidden(now)
	r.mu.Lock()
	r.unseen = hidden
	r.mu.Unlock()
	r.expire(hidden, now)
	for p, b := range r.copyHeld() {
		if !b.renew.After(now) {
			r.reserve(ctx, p)
		}
	}
	if hidden {
		for len(r.copyHeld()) < wantRelays { // each anew, since the next is to be elsewhere
			next := r.candidates(now)
			if len(next) == 0 || ctx.Err() != nil {
				break
			}
			r.reserve(ctx, next[0]) // one that refuses is no candidate for a while
		}
	}
	r.announce()
	return jitter(reserveEvery)
}

func (r *relays) copyHeld() map[peer.ID]berth {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.held)
}

// expire drops reservations that ended, whose relay is gone, or that are not
// needed: those end by themselves at the relay.
func (r *relays) expire(hidden bool, now time.Time) {
	for p, b := range r.copyHeld() {
		if hidden && b.ends.After(now) && r.direct(p) {
			continue
		}
		r.net.ConnManager().Unprotect(p, relayTag)
		r.mu.Lock()
		delete(r.held, p)
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.refused, func(_ peer.ID, until time.Time) bool { return !until.After(now) })
}

// A candidate is how good a relay a peer would be; less is better.
type candidate struct {
	reach   int  // of its address
	crowded bool // a relay of the same network is held: one line, or one person, would end both
	far     int  // by the round trip, in steps of a factor of two
}

func (a candidate) compare(b candidate) int {
	crowded := func(c candidate) int {
		if c.crowded {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.reach, b.reach), cmp.Compare(crowded(a), crowded(b)), cmp.Compare(a.far, b.far))
}

// farOf is how far away a peer is by its round trip, in steps of a factor of two from nearStep on;
// one that was not measured is as far as most on a continent.
func farOf(trip time.Duration) int {
	const nearStep, unmeasured = 5 * time.Millisecond, 40 * time.Millisecond
	if trip <= 0 {
		trip = unmeasured
	}
	return bits.Len(uint(trip / nearStep))
}

// candidates are members that this node has dialled and that relay: those with a
// public address first, of other networks than those that are held, near ones, and then at random.
func (r *relays) candidates(now time.Time) []peer.ID {
	ranks := map[peer.ID]candidate{}
	taken := r.networks()
	for _, c := range r.net.Network().Conns() {
		p := c.RemotePeer()
		if isRelayed(c) || c.Stat().Direction != network.DirOutbound || !r.adverts.fellow(task.PeerID(p.String()), now) {
			continue
		}
		speaks, err := r.net.Peerstore().SupportsProtocols(p, proto.ProtoIDv2Hop)
		if err == nil && len(speaks) > 0 {
			net, public := network16(c.RemoteMultiaddr())
			ranks[p] = candidate{reach: reach(c.RemoteMultiaddr()), crowded: public && taken[net],
				far: farOf(r.net.Peerstore().LatencyEWMA(p))}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(ranks, func(p peer.ID, _ candidate) bool {
		_, held := r.held[p]
		return held || r.refused[p].After(now)
	})
	found := slices.Collect(maps.Keys(ranks))
	rand.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	slices.SortStableFunc(found, func(a, b peer.ID) int { return ranks[a].compare(ranks[b]) })
	return found
}

// networks are those of the relays that are held.
func (r *relays) networks() map[netip.Prefix]bool {
	taken := map[netip.Prefix]bool{}
	for p := range r.copyHeld() {
		for _, c := range r.net.Network().ConnsToPeer(p) {
			if net, public := network16(c.RemoteMultiaddr()); public && !isRelayed(c) {
				taken[net] = true
			}
		}
	}
	return taken
}

// reserve asks a relay, for the first time or again, and waits for its answer.
func (r *relays) reserve(ctx context.Context, p peer.ID) {
	ctx, cancel := context.WithTimeout(network.WithNoDial(ctx, "reserve"), reserveTimeout)
	defer cancel()
	got, err := client.Reserve(ctx, r.net, peer.AddrInfo{ID: p})
	now := time.Now()
	var b berth
	if err == nil {
		life := min(got.Expiration.Sub(now), reservationTime)
		b = berth{renew: now.Add(life / 2), ends: now.Add(life), addrs: r.through(p, got.Addrs)}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(b.addrs) == 0 {
		r.set.Log.Debug("no reservation", "relay", p, "error", err)
		r.refused[p] = now.Add(refusedFor)
		delete(r.held, p)
		r.net.ConnManager().Unprotect(p, relayTag)
		return
	}
	r.held[p] = b
	r.net.ConnManager().Protect(p, relayTag)
}

// through returns the addresses of this node by way of a relay: over the address
// that it dialled, which works, and those that the relay names, public ones
// first. What a relay names is at most 4 KiB.
func (r *relays) through(relay peer.ID, named []ma.Multiaddr) []ma.Multiaddr {
	var all []ma.Multiaddr
	for _, c := range r.net.Network().ConnsToPeer(relay) {
		if !isRelayed(c) && c.Stat().Direction == network.DirOutbound {
			all = append(all, c.RemoteMultiaddr())
		}
	}
	dialled := len(all)
	var out []ma.Multiaddr
	for i, a := range append(all, named...) {
		bare, last := ma.SplitLast(a)
		if last != nil && last.Protocol().Code == ma.P_P2P {
			a = bare
		}
		if len(a) == 0 || isCircuit(a) || i >= dialled && reach(a) > 0 {
			continue // a private address that it did not dial may be anybody's
		}
		circuit, err := ma.NewMultiaddr(a.String() + "/p2p/" + relay.String() + "/p2p-circuit")
		if err == nil && len(circuit.Bytes()) <= overlay.MaxAddrBytes && !ma.Contains(out, circuit) {
			out = append(out, circuit)
		}
	}
	slices.SortStableFunc(out, func(a, b ma.Multiaddr) int { return reach(viaOf(a)) - reach(viaOf(b)) })
	return out[:min(len(out), relayAddrs)]
}

// announce tells when the addresses are others than before.
func (r *relays) announce() {
	r.mu.Lock()
	var addrs []ma.Multiaddr
	for _, p := range slices.Sorted(maps.Keys(r.held)) {
		addrs = append(addrs, r.held[p].addrs...)
	}
	same := slices.EqualFunc(addrs, r.addrs, func(a, b ma.Multiaddr) bool { return a.Equal(b) })
	r.addrs = addrs
	r.mu.Unlock()
	if !same {
		r.addrsChanged()
	}
}

// circuits returns the addresses that lead to this node through relays.
func (r *relays) circuits() []ma.Multiaddr {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.addrs)
}
