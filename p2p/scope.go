package p2p

import (
	"net/netip"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// A scope is from where an address can be reached.
type scope int

const (
	nowhere     scope = iota // a name, or nothing that anybody can dial
	everywhere               // a public address
	localNet                 // of a private network
	thisMachine              // of the machine itself
	thisLink                 // of one link; clouds tell their machines secrets there
)

// scopeOf is the scope of an address, for one through a relay that of the relay.
func scopeOf(a ma.Multiaddr) scope {
	ip, err := manet.ToIP(viaOf(a))
	if err != nil {
		return nowhere
	}
	addr, ok := netip.AddrFromSlice(ip)
	addr = addr.Unmap()
	switch {
	case !ok || addr.IsUnspecified() || addr.IsMulticast():
		return nowhere
	case addr.IsLoopback():
		return thisMachine
	case addr.IsLinkLocalUnicast():
		return thisLink
	case manet.IsPublicAddr(viaOf(a)):
		return everywhere
	case manet.IsPrivateAddr(viaOf(a)):
		return localNet
	}
	return nowhere
}

// mayTell returns which of the addresses in an advert are dialled, by whom it came from: what
// anybody can sign must not have this node knock at its own doors, or at those of its
// neighbours. Public addresses are; private ones from a private network, of which this
// machine's own are told by itself alone. A node that listens on no public address is of
// such a network whoever tells. Names are looked up for nobody.
func (e *endpoint) mayTell(from peer.ID, addrs []string) []string {
	told := e.scopeTo(from)
	var out []string
	for _, text := range addrs {
		a, err := ma.NewMultiaddr(text)
		if err != nil {
			continue
		}
		switch s := scopeOf(a); {
		case s == everywhere,
			s == localNet && (told == localNet || told == thisMachine || e.set.local),
			s == thisMachine && (told == thisMachine || e.set.local),
			s == thisLink && told == thisLink:
			out = append(out, text)
		}
	}
	return out
}

// scopeTo is the scope of the direct connections to a peer, nowhere for none: of several the
// widest.
func (e *endpoint) scopeTo(p peer.ID) scope {
	widest := nowhere
	for _, c := range e.net.Network().ConnsToPeer(p) {
		if isRelayed(c) {
			continue
		}
		if s := scopeOf(c.RemoteMultiaddr()); s != nowhere && (widest == nowhere || s < widest) {
			widest = s
		}
	}
	return widest
}

// allLocal reports whether every one of some addresses is of a private network or of this
// machine.
func allLocal(addrs []ma.Multiaddr) bool {
	for _, a := range addrs {
		if s := scopeOf(a); s != localNet && s != thisMachine {
			return false
		}
	}
	return len(addrs) > 0
}

// network16 names the network that an address is of: the /16 of an IPv4 address, the /32 of
// an IPv6 one, which one owner may well have whole. Not ok for addresses that are not public.
func network16(a ma.Multiaddr) (netip.Prefix, bool) {
	if scopeOf(a) != everywhere {
		return netip.Prefix{}, false
	}
	ip, err := manet.ToIP(viaOf(a))
	if err != nil {
		return netip.Prefix{}, false
	}
	addr, _ := netip.AddrFromSlice(ip)
	addr = addr.Unmap()
	bits := 32
	if addr.Is4() {
		bits = 16
	}
	p, err := addr.Prefix(bits)
	return p, err == nil
}
