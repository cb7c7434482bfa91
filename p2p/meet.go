package p2p

import (
	"context"
	"errors"
	"fmt"

	"godwit/task"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
)

// ErrNotMet is returned by Meet for an address at which a peer is not reached.
var ErrNotMet = errors.New("p2p: not reached")

// Meet connects to a peer at an address that somebody vouches for, such as one of an invitation.
// The address ends in /p2p/ID. A peer that was met is a seed from then on.
func (d *dialer) Meet(ctx context.Context, addr string) (task.PeerID, error) {
	info, err := parseNamed(addr)
	if err != nil {
		return "", err
	}
	if info.ID == d.net.ID() {
		return "", fmt.Errorf("%w: %q is this node itself", ErrBadPeer, addr)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if s, ok := d.net.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(info.ID)
	}
	d.gate.redial.pardon(info.Addrs)
	if err := d.net.Connect(allowRelayed(ctx), *info); err != nil {
		return "", fmt.Errorf("%w: %s: %s", ErrNotMet, addr, whyNot(err))
	}
	d.suggest([]peer.AddrInfo{*info})
	return task.PeerID(info.ID.String()), nil
}

// Suggest takes in addresses of peers, with /p2p/ID at their end, that may be dialled while there
// are few neighbours. What is no such address is left out.
func (d *dialer) Suggest(addrs []string) {
	var peers []peer.AddrInfo
	for _, text := range addrs {
		if info, err := parseNamed(text); err == nil && info.ID != d.net.ID() {
			peers = append(peers, *info)
		}
	}
	d.suggest(peers)
}

func (d *dialer) suggest(peers []peer.AddrInfo) {
	if d.seeds.tell(peers) {
		d.poke()
	}
}

// pardon has addresses dialled as those of which nothing is known.
func (r *redial) pardon(addrs []ma.Multiaddr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range addrs {
		delete(r.tries, doorOf(a))
	}
}

// Ranks of addresses, the most useful to somebody elsewhere first.
const (
	RankPublic = iota
	RankLocal  // of a private network
	RankMachine
	RankRelayed
)

// RankAddr says from where an address can be dialled; not ok for what is no address.
func RankAddr(text string) (rank int, ok bool) {
	a, err := ma.NewMultiaddr(text)
	if err != nil {
		return 0, false
	}
	return reach(a), true
}
