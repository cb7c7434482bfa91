package p2p

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"

	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

const (
	// MaxRecalled bounds the peers that are recalled: enough that some are still where they were
	// after a month, and 60 kB on disk.
	MaxRecalled = 200
	// RecallTime is how long a peer is recalled after it was last met.
	RecallTime = 30 * 24 * time.Hour
	// maxRecalledAddrs bounds the addresses of one; a node has two or three, and as many of IPv6.
	maxRecalledAddrs = 6
	// maxRecalledAddr bounds one of them, in bytes of text: twice one through a relay.
	maxRecalledAddr = 256
	// recalledNetwork is how many of one network go before those of others. One owner's names,
	// however many, do not take the places of all others.
	recalledNetwork = MaxRecalled / 4
)

// A MetPeer is a member to which this node was connected without a relay.
type MetPeer struct {
	Peer    task.PeerID `json:"peer"`
	Addrs   []string    `json:"addrs"`             // without /p2p/ID
	Met     time.Time   `json:"met"`               // the last time
	Dialled bool        `json:"dialled,omitempty"` // this node has dialled it: so may others
}

// A recall remembers the members that this node has met, for its next start.
type recall struct {
	*endpoint
	adverts *adverts
	seeds   *seeds

	mu  sync.Mutex
	met map[task.PeerID]MetPeer // at most MaxRecalled, but while Met runs
}

func newRecall(ep *endpoint, as *adverts, to *seeds) *recall {
	r := &recall{endpoint: ep, adverts: as, seeds: to, met: map[task.PeerID]MetPeer{}}
	for _, m := range ep.set.Met {
		r.met[m.Peer] = m
	}
	return r
}

// Met returns the members that this node has met, of whom another start of it may ask the way:
// the best first, at most MaxRecalled, those of before among them. They are its seeds from now on.
func (r *recall) Met() []MetPeer {
	now := time.Now().UTC().Truncate(time.Second)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range r.net.Network().Peers() {
		name := task.PeerID(id.String())
		if !r.adverts.fellow(name, now) {
			continue
		}
		if m, ok := r.look(id, name, now); ok {
			r.met[name] = m
		}
	}
	all := make([]MetPeer, 0, len(r.met))
	for _, m := range r.met {
		all = append(all, m)
	}
	all = bestMet(all, now)
	clear(r.met)
	for _, m := range all {
		r.met[m.Peer] = m
	}
	r.seeds.recall(infosOf(all))
	return slices.Clone(all)
}

// look says where a connected peer is: where it was dialled, then where it says.
func (r *recall) look(id peer.ID, name task.PeerID, now time.Time) (MetPeer, bool) {
	m := MetPeer{Peer: name, Met: now, Dialled: r.met[name].Dialled}
	direct := false
	var addrs []ma.Multiaddr
	for _, c := range r.net.Network().ConnsToPeer(id) {
		if isRelayed(c) {
			continue
		}
		direct = true
		if c.Stat().Direction == network.DirOutbound {
			m.Dialled = true
			addrs = append(addrs, c.RemoteMultiaddr())
		}
	}
	said := r.net.Peerstore().Addrs(id)
	slices.SortFunc(said, func(a, b ma.Multiaddr) int {
		return cmp.Or(reach(a)-reach(b), cmp.Compare(a.String(), b.String()))
	})
	for _, a := range append(addrs, said...) {
		text := a.String()
		if len(m.Addrs) < maxRecalledAddrs && len(text) <= maxRecalledAddr && !slices.Contains(m.Addrs, text) {
			m.Addrs = append(m.Addrs, text)
		}
	}
	return m, direct && len(m.Addrs) > 0
}

// bestMet returns the peers worth remembering, the best first: who was dialled before who was
// not, of many networks before many of one, and who was met last.
func bestMet(all []MetPeer, now time.Time) []MetPeer {
	all = slices.DeleteFunc(all, func(m MetPeer) bool { return now.Sub(m.Met) > RecallTime })
	slices.SortFunc(all, func(a, b MetPeer) int {
		return cmp.Or(-compareBool(a.Dialled, b.Dialled), b.Met.Compare(a.Met), cmp.Compare(a.Peer, b.Peer))
	})
	before := map[netip.Prefix]int{} // of the network, better ones
	rank := map[task.PeerID]int{}
	for _, m := range all {
		n := m.network()
		rank[m.Peer] = before[n]
		before[n]++
	}
	slices.SortStableFunc(all, func(a, b MetPeer) int {
		many := compareBool(rank[a.Peer] >= recalledNetwork, rank[b.Peer] >= recalledNetwork)
		return cmp.Or(many, -compareBool(a.Dialled, b.Dialled), cmp.Compare(rank[a.Peer], rank[b.Peer]))
	})
	return all[:min(len(all), MaxRecalled)]
}

// network is the network of a peer's first public address; the zero one where it has none.
func (m *MetPeer) network() netip.Prefix {
	for _, text := range m.Addrs {
		a, err := ma.NewMultiaddr(text)
		if err != nil {
			continue
		}
		if n, ok := network16(a); ok {
			return n
		}
	}
	return netip.Prefix{}
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// checkMet returns what of a list that was kept can be used, the best first: it may be damaged,
// or of a node whose clock was wrong.
func checkMet(list []MetPeer, now time.Time) []MetPeer {
	var good []MetPeer
	seen := map[task.PeerID]bool{}
	for _, m := range list {
		if len(good) >= 2*MaxRecalled {
			break
		}
		id, err := peer.Decode(string(m.Peer))
		if err != nil || id.String() != string(m.Peer) || seen[m.Peer] {
			continue
		}
		if m.Met.After(now) {
			m.Met = now
		}
		m.Addrs = slices.DeleteFunc(slices.Clone(m.Addrs[:min(len(m.Addrs), maxRecalledAddrs)]), func(text string) bool {
			_, err := ma.NewMultiaddr(text)
			return err != nil || len(text) > maxRecalledAddr
		})
		if len(m.Addrs) > 0 {
			seen[m.Peer] = true
			good = append(good, m)
		}
	}
	return bestMet(good, now)
}

// infosOf are peers as libp2p names them.
func infosOf(met []MetPeer) []peer.AddrInfo {
	var infos []peer.AddrInfo
	for _, m := range met {
		id, err := peer.Decode(string(m.Peer))
		if err != nil {
			continue
		}
		info := peer.AddrInfo{ID: id}
		for _, text := range m.Addrs {
			if a, err := ma.NewMultiaddr(text); err == nil {
				info.Addrs = append(info.Addrs, a)
			}
		}
		infos = append(infos, info)
	}
	return infos
}
