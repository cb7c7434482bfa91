package p2p

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"strconv"
	"sync/atomic"

	"godwit/p2p/portmap"

	"github.com/libp2p/go-libp2p/core/network"
	basichost "github.com/libp2p/go-libp2p/p2p/host/basic"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// A RouterStatus says what the router that this node is behind does for it.
type RouterStatus = portmap.Status

// openPorts has the router lead the ports here on which the host listens, and tells libp2p where that is:
// it implements its NATManager.
type openPorts struct {
	mapper *portmap.Mapper
	net    atomic.Pointer[network.Network] // nil until the host is there
}

// newOpenPorts returns nil where no router is to be asked: nobody elsewhere is to reach the node.
func newOpenPorts(s settings, changed func()) *openPorts {
	if !s.MapPorts || s.local {
		return nil
	}
	o := &openPorts{}
	secret := sha256.Sum256(append([]byte("godwit port mapping"), s.Key.Seed()...))
	o.mapper = portmap.New(o.listening, portmap.Nonce(secret[:]), changed, s.Log)
	return o
}

// over has the network known whose ports are to be opened.
func (o *openPorts) over(net network.Network) basichost.NATManager {
	o.net.Store(&net)
	return o
}

// run keeps the ports open until ctx ends, and closes them.
func (o *openPorts) run(ctx context.Context) {
	if o != nil {
		o.mapper.Run(ctx)
	}
}

// status says what the router does; nothing where none is asked.
func (o *openPorts) status() RouterStatus {
	if o == nil {
		return RouterStatus{Open: []portmap.Open{}}
	}
	return o.mapper.Status()
}

// listening are the ports of IPv4 on which the host listens, but for those that this machine alone reaches.
func (o *openPorts) listening() (ports []portmap.Port) {
	net := o.net.Load()
	if net == nil {
		return nil
	}
	for _, a := range (*net).ListenAddresses() {
		if p, _, ok := portOf(a); ok {
			ports = append(ports, p)
		}
	}
	return ports
}

// portOf is the port of an address at which a host listens, and what stands behind it; not ok for one to
// which a router can lead nobody.
func portOf(a ma.Multiaddr) (p portmap.Port, rest ma.Multiaddr, ok bool) {
	at, err := manet.ToIP(a)
	if err != nil || at.To4() == nil || at.IsLoopback() || !at.IsUnspecified() && !at.IsPrivate() {
		return p, nil, false
	}
	_, rest = ma.SplitFirst(a)
	port, rest := ma.SplitFirst(rest)
	if port == nil {
		return p, nil, false
	}
	switch port.Protocol().Code {
	case ma.P_TCP:
		p.Protocol = portmap.TCP
	case ma.P_UDP:
		p.Protocol = portmap.UDP
	default:
		return p, nil, false
	}
	n, err := strconv.ParseUint(port.Value(), 10, 16)
	p.Number = uint16(n)
	return p, rest, err == nil && n > 0
}

// GetMapping implements basichost.NATManager: where others reach what listens at an address; nil for
// nowhere.
func (o *openPorts) GetMapping(a ma.Multiaddr) ma.Multiaddr {
	p, rest, ok := portOf(a)
	if !ok {
		return nil
	}
	at, ok := o.mapper.Outside(p)
	if !ok {
		return nil
	}
	return outsideAddr(at, p.Protocol, rest)
}

// outsideAddr writes an address.
func outsideAddr(at netip.AddrPort, of portmap.Protocol, rest ma.Multiaddr) ma.Multiaddr {
	front, err := ma.NewMultiaddr("/ip4/" + at.Addr().String() + "/" + string(of) + "/" + strconv.Itoa(int(at.Port())))
	if err != nil {
		return nil
	}
	return front.Encapsulate(rest)
}

// mapped are the addresses at which the router leads to this host.
func (o *openPorts) mapped() (addrs []ma.Multiaddr) {
	if o == nil || o.net.Load() == nil {
		return nil
	}
	for _, a := range (*o.net.Load()).ListenAddresses() {
		if to := o.GetMapping(a); to != nil {
			addrs = append(addrs, to)
		}
	}
	return addrs
}

// HasDiscoveredNAT implements basichost.NATManager.
func (o *openPorts) HasDiscoveredNAT() bool { return o.mapper.Status().By != "" }

// Close implements basichost.NATManager. What is open is closed by run, when the host's life ends.
func (o *openPorts) Close() error { return nil }
