package p2p

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"godwit/task"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

const (
	// maxProvided bounds the keys of which this node remembers who provides them: of 20,000 overlays in
	// a swarm of 100 servers.
	maxProvided = 4096
	// maxProviders bounds those of one key: far more than anybody asks, 20 kB in an answer.
	maxProviders = 256
	// providersOfNetwork is how many of these come from one public network, as they are seen to.
	providersOfNetwork = 4
	// providersOfPeer is how many keys one peer provides: as many overlays as a node can be in, for
	// two weeks, and tickets.
	providersOfPeer = 64
	// maxProvidedAddrs bounds the addresses of one.
	maxProvidedAddrs = 4
	// providedFor is how long a provider is remembered that does not say it again.
	providedFor = 24 * time.Hour
)

// Providers are the peers that said that they provide a key, in memory: they say it again each few
// hours. Anybody may say so under names without end. So those of one network, as this node sees
// where they come from, share a few places, and whoever fills the list takes places from the
// largest network. It implements records.ProviderStore of go-libp2p-kad-dht.
type providers struct {
	from func(p peer.ID) string // the network that a peer comes from

	mu       sync.Mutex
	keys     map[string]map[peer.ID]provider
	count    map[peer.ID]int // number of keys by provider
	networks map[string]int  // number of entries in keys by network
	expiring time.Time       // no entry expires earlier
}

type provider struct {
	addrs   []ma.Multiaddr
	network string
	until   time.Time
}

func newProviders(from func(p peer.ID) string) *providers {
	return &providers{from: from, keys: map[string]map[peer.ID]provider{}, count: map[peer.ID]int{},
		networks: map[string]int{}}
}

// AddProvider takes in a peer's word that it provides a key.
func (ps *providers) AddProvider(_ context.Context, key []byte, p peer.AddrInfo) error {
	ps.add(string(key), p, ps.from(p.ID), time.Now())
	return nil
}

func (ps *providers) add(key string, p peer.AddrInfo, network string, now time.Time) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	x := provider{p.Addrs[:min(len(p.Addrs), maxProvidedAddrs)], network, now.Add(providedFor)}
	of := ps.keys[key]
	if before, again := of[p.ID]; again && before.network == network {
		of[p.ID] = x
		return
	} else if again { // it has moved, and is as any other there
		ps.drop(key, p.ID)
		of = ps.keys[key]
	}
	if len(x.addrs) == 0 || ps.count[p.ID] >= providersOfPeer {
		return
	}
	if of == nil {
		if len(ps.keys) >= maxProvided {
			ps.expire(now)
		}
		for len(ps.keys) >= maxProvided {
			ps.thin()
		}
		of = map[peer.ID]provider{}
		ps.keys[key] = of
	}
	same, largest := crowdOf(of, network)
	switch {
	case len(same) >= providersOfNetwork:
		ps.drop(key, same[rand.IntN(len(same))])
	case len(of) >= maxProviders:
		ps.drop(key, largest[rand.IntN(len(largest))])
	}
	of[p.ID] = x
	ps.keys[key] = of
	ps.count[p.ID]++
	ps.networks[network]++
}

// crowdOf returns those of a network, and those of the network that has most.
func crowdOf(of map[peer.ID]provider, network string) (same, largest []peer.ID) {
	by := map[string][]peer.ID{}
	for id, x := range of {
		by[x.network] = append(by[x.network], id)
		if n := by[x.network]; len(n) > len(largest) {
			largest = n
		}
	}
	return by[network], largest
}

// thin drops one provider of the network that provides most, at random: so a network with many names does not keep
// others from providing a key. ps.mu is held.
func (ps *providers) thin() {
	var largest string
	for network, n := range ps.networks {
		if n > ps.networks[largest] {
			largest = network
		}
	}
	skip := rand.IntN(ps.networks[largest])
	for key, of := range ps.keys {
		for p, x := range of {
			if x.network != largest {
				continue
			}
			if skip == 0 {
				ps.drop(key, p)
				return
			}
			skip--
		}
	}
}

// drop forgets that a peer provides a key; ps.mu is held.
func (ps *providers) drop(key string, p peer.ID) {
	network := ps.keys[key][p].network
	if ps.networks[network]--; ps.networks[network] <= 0 {
		delete(ps.networks, network)
	}
	delete(ps.keys[key], p)
	if len(ps.keys[key]) == 0 {
		delete(ps.keys, key)
	}
	if ps.count[p]--; ps.count[p] <= 0 {
		delete(ps.count, p)
	}
}

// expire drops the entries that were not renewed; ps.mu is held.
func (ps *providers) expire(now time.Time) {
	if now.Before(ps.expiring) {
		return // a full store would otherwise be searched for each new key
	}
	ps.expiring = now.Add(providedFor)
	for key, of := range ps.keys {
		for p, x := range of {
			if !x.until.After(now) {
				ps.drop(key, p)
			} else if x.until.Before(ps.expiring) {
				ps.expiring = x.until
			}
		}
	}
}

// GetProviders returns who provides a key, in any order.
func (ps *providers) GetProviders(_ context.Context, key []byte) ([]peer.AddrInfo, error) {
	now := time.Now()
	ps.mu.Lock()
	defer ps.mu.Unlock()
	var out []peer.AddrInfo
	for p, x := range ps.keys[string(key)] {
		if x.until.After(now) {
			out = append(out, peer.AddrInfo{ID: p, Addrs: x.addrs})
		}
	}
	return out, nil
}

// Close ends nothing: the providers are there for the next that serves.
func (ps *providers) Close() error { return nil }

// networkOf is the network that a peer comes from, as this node sees it: that of a connection to
// it, or for one that is in no public network, and for one that has gone meanwhile, its name.
func (e *endpoint) networkOf(p peer.ID) string {
	for _, c := range e.net.Network().ConnsToPeer(p) {
		if n, ok := network16(c.RemoteMultiaddr()); ok && !isRelayed(c) {
			return n.String()
		}
	}
	return string(task.PeerID(p.String()))
}
