package p2p

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/p2p/cost"
	"godwit/task"

	dht "github.com/libp2p/go-libp2p-kad-dht"
	pb "github.com/libp2p/go-libp2p-kad-dht/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// The distributed hash table is Kademlia as libp2p has it, of our own: it says where members of an
// overlay are, to who knows the overlay. https://github.com/libp2p/specs/tree/master/kad-dht
const (
	dhtPrefix = "/godwit"
	// ProtocolDHT is what its servers speak.
	ProtocolDHT = dhtPrefix + "/kad/1.0.0"

	// dhtServes is how long a node must be up to serve: what it is told is lost when it goes.
	dhtServes = 24 * time.Hour
	// dhtLook is how often it is looked whether to serve or to provide.
	dhtLook = time.Minute
	// provideEvery is how often keys are provided again: three times before they are forgotten.
	provideEvery = 8 * time.Hour
	provideTime  = time.Minute
	// tableNear is how many servers are asked and told: k of Kademlia.
	tableNear = 20
)

// A Key is what overlays are found by.
type Key [32]byte

// A table is this node's part in the distributed hash table.
type table struct {
	*endpoint
	adverts  *adverts
	reach    *reachability
	provided *providers
	least    int           // dhtLeast
	serves   time.Duration // dhtServes
	began    time.Time
	wake     chan struct{} // holds at most one token

	mu      sync.Mutex
	dht     *dht.IpfsDHT // nil while none is needed
	server  bool
	finding int       // look-ups that use dht
	keys    []Key     // to provide
	due     time.Time // when to provide
}

func newTable(ep *endpoint, as *adverts, r *reachability) *table {
	return &table{
		endpoint: ep, adverts: as, reach: r, provided: newProviders(ep.networkOf), least: dhtLeast,
		serves: dhtServes, began: time.Now(), wake: make(chan struct{}, 1),
	}
}

// Provide says which keys this node is to be found by, in place of those before. It is found by
// them while others can dial it, and the swarm is large enough to have a table.
func (t *table) Provide(keys []Key) {
	t.mu.Lock()
	news := slices.ContainsFunc(keys, func(k Key) bool { return !slices.Contains(t.keys, k) })
	t.keys = slices.Clone(keys)
	if news {
		t.due = time.Time{}
	}
	t.mu.Unlock()
	if news {
		t.look()
	}
}

// look has run look what to do.
func (t *table) look() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// keep takes part in the table as far as that is of use, until ctx ends.
func (t *table) keep(ctx context.Context) {
	defer t.shut()
	tick := time.NewTicker(dhtLook)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-t.wake:
		case <-ctx.Done():
			return
		}
		now := time.Now()
		large := len(t.adverts.members(now)) >= t.least
		public := t.reach.Reach() == overlay.ReachPublic
		t.become(large && public, large && public && (t.set.Guide || now.Sub(t.began) >= t.serves))
		t.provideIfDue(ctx, now)
	}
}

// become opens or closes the table, or changes sides.
func (t *table) become(there, serving bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.finding > 0 && !there, t.dht != nil && there && serving == t.server:
		return
	case t.dht != nil:
		if err := t.dht.Close(); err != nil {
			t.set.Log.Debug("ending the hash table", "error", err)
		}
		t.dht = nil
	}
	if there {
		if err := t.open(serving); err != nil {
			t.set.Log.Warn("this node takes no part in the hash table", "error", err)
		}
	}
}

// shut ends this node's part for good.
func (t *table) shut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dht != nil {
		_ = t.dht.Close() // look-ups that are under way end with an error
		t.dht = nil
	}
}

// open begins to take part; t.mu is held.
func (t *table) open(serving bool) error {
	mode := dht.ModeClient
	if serving {
		mode = dht.ModeServer
	}
	opts := []dht.Option{
		dht.ProtocolPrefix(dhtPrefix), dht.Mode(mode), dht.BucketSize(tableNear), dht.ProviderStore(t.provided),
		dht.DisableValues(), dht.AddressFilter(t.dialled), dht.OnRequestHook(t.charge),
	}
	if !t.set.local {
		const perLevel, perTable = 2, 3 // of one network, as in the public table of IPFS
		opts = append(opts, dht.RoutingTablePeerDiversityFilter(dht.NewRTPeerDiversityFilter(t.net, perLevel, perTable)))
	}
	if !serving {
		opts = append(opts, dht.DisableAutoRefresh())
	}
	d, err := dht.New(t.life, t.net, opts...)
	if err != nil {
		return fmt.Errorf("p2p: opening the hash table: %w", err)
	}
	t.dht, t.server = d, serving
	return nil
}

// dialled leaves those of some addresses that may be dialled on the word of anybody.
func (t *table) dialled(addrs []ma.Multiaddr) []ma.Multiaddr {
	return slices.DeleteFunc(slices.Clone(addrs), func(a ma.Multiaddr) bool {
		s := scopeOf(a)
		return isCircuit(a) || s != everywhere && !(t.set.local && (s == localNet || s == thisMachine))
	})
}

// charge has a peer pay for what it asks, as for any request; beyond its budget it is not heard.
func (t *table) charge(_ context.Context, s network.Stream, _ *pb.Message) {
	if t.costs.Ask(task.PeerID(s.Conn().RemotePeer().String()), cost.Requests) != nil {
		s.Reset()
	}
}

// ErrNoTable is returned by Find where no peer that is connected serves the table: it is there in
// large swarms alone.
var ErrNoTable = errors.New("p2p: no peer serves the hash table")

// use returns the table for as long as the returned function is not called.
func (t *table) use() (*dht.IpfsDHT, func(), error) {
	if !slices.ContainsFunc(t.net.Network().Peers(), t.isServer) {
		return nil, nil, ErrNoTable
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.life.Err() != nil {
		return nil, nil, ErrClosed
	}
	if t.dht == nil {
		if err := t.open(false); err != nil {
			return nil, nil, err
		}
	}
	t.finding++
	return t.dht, func() {
		t.mu.Lock()
		t.finding--
		t.mu.Unlock()
		t.look()
	}, nil
}

// isServer says that a peer serves the table.
func (t *table) isServer(p peer.ID) bool {
	speaks, err := t.net.Peerstore().SupportsProtocols(p, protocolID(ProtocolDHT))
	return err == nil && len(speaks) > 0
}

// provideIfDue tells the servers which keys this node is found by.
func (t *table) provideIfDue(ctx context.Context, now time.Time) {
	t.mu.Lock()
	d, keys := t.dht, t.keys
	wanted := d != nil && len(keys) > 0 && !t.due.After(now) && t.reach.Reach() == overlay.ReachPublic
	if wanted {
		t.due = now.Add(jitter(provideEvery))
		t.finding++
	}
	t.mu.Unlock()
	if !wanted {
		return
	}
	t.spawn(func(ctx context.Context) {
		told := 0
		for _, k := range keys {
			told += t.provide(ctx, d, k)
		}
		t.mu.Lock()
		t.finding--
		if told == 0 {
			t.due = time.Now().Add(jitter(dhtLook)) // nobody was there
		}
		t.mu.Unlock()
	})
}

// provide tells the servers that are nearest to a key, and returns how many heard it.
func (t *table) provide(ctx context.Context, d *dht.IpfsDHT, k Key) (told int) {
	ctx, cancel := context.WithTimeout(ctx, provideTime)
	defer cancel()
	msg := pb.NewMessage(pb.Message_ADD_PROVIDER, k.multihash(), 0)
	self := peer.AddrInfo{ID: t.net.ID(), Addrs: t.dialled(t.ownAddrs())}
	if len(self.Addrs) == 0 {
		return 0
	}
	msg.ProviderPeers = pb.RawPeerInfosToPBPeers([]peer.AddrInfo{self})
	near, err := d.GetClosestPeers(ctx, string(k.multihash()))
	if err != nil && len(near) == 0 {
		return 0
	}
	t.provided.add(string(k.multihash()), self, "", time.Now()) // who serves answers for itself, too
	for _, p := range near {
		if p == t.net.ID() {
			continue
		}
		if t.say(ctx, p, msg) == nil || t.say(ctx, p, msg) == nil { // a connection may just have been closed
			told++
		}
	}
	return told
}
