package testnet

import (
	"errors"
	"net"
	"sync/atomic"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/p2p/transport/quicreuse"
	"github.com/marcopolo/simnet"
	"github.com/quic-go/quic-go"
)

// A link is one host's connection to the network. libp2p closes neither its
// connection manager nor its socket when it was given them.
type link struct {
	quic   *quicreuse.ConnManager
	socket *simnet.SimConn
	ip     net.IP
	mute   atomic.Bool // what is written is lost
	net    *Net
	nat    atomic.Int32 // a NAT
	holes  holes
}

// Mute has all that the node sends from now on be lost, until it is started
// again: ended after it, the node goes like a machine without power, whose
// connections nobody closes.
func (n *Node) Mute() { n.link.mute.Store(true) }

// Unmute has what the node sends arrive again.
func (n *Node) Unmute() { n.link.mute.Store(false) }

// A plug is the end of a link that a host writes to.
type plug struct {
	*simnet.SimConn
	of *link
}

// WriteTo implements net.PacketConn.
func (p plug) WriteTo(b []byte, to net.Addr) (int, error) {
	if p.of.mute.Load() {
		return len(b), nil
	}
	p.of.holes.punch(to)
	return p.SimConn.WriteTo(b, to)
}

// ReadFrom implements net.PacketConn. What the router keeps out never came.
func (p plug) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := p.SimConn.ReadFrom(b)
		if err != nil || p.of.lets(from) {
			return n, from, err
		}
	}
}

// options has a host use the link.
func (l *link) options(n *Net) []libp2p.Option {
	speed := simnet.LinkSettings{BitsPerSecond: n.opts.Bandwidth}
	reuse := []quicreuse.Option{
		quicreuse.OverrideSourceIPSelector(func() (quicreuse.SourceIPSelector, error) { return l, nil }),
		quicreuse.OverrideListenUDP(func(_ string, at *net.UDPAddr) (net.PacketConn, error) {
			if l.socket != nil {
				return nil, errors.New("testnet: a host has one address")
			}
			l.ip, l.socket = at.IP, n.sim.NewEndpoint(at, simnet.NodeBiDiLinkSettings{Downlink: speed, Uplink: speed})
			return plug{l.socket, l}, nil
		}),
	}
	open := func(reset quic.StatelessResetKey, token quic.TokenGeneratorKey,
		opts ...quicreuse.Option) (*quicreuse.ConnManager, error) {
		var err error
		l.quic, err = quicreuse.NewConnManager(reset, token, opts...)
		return l.quic, err
	}
	return []libp2p.Option{
		libp2p.QUICReuse(open, reuse...),
		libp2p.DisableIdentifyAddressDiscovery(), // it would stall the bubble
	}
}

// PreferredSourceIPForDestination implements quicreuse.SourceIPSelector.
func (l *link) PreferredSourceIPForDestination(*net.UDPAddr) (net.IP, error) { return l.ip, nil }

func (l *link) close() {
	if l.quic != nil {
		l.quic.Close()
	}
}

// Wire is what went over a host's link: UDP payloads, with everything that QUIC
// adds to what it carries.
type Wire struct {
	BytesIn, BytesOut     int64
	PacketsIn, PacketsOut int64
}

// Wire returns the counts since the node was last started.
func (n *Node) Wire() Wire {
	s := n.link.socket.Stats()
	return Wire{
		BytesIn: int64(s.BytesRcvd), BytesOut: int64(s.BytesSent),
		PacketsIn: int64(s.PacketsRcvd), PacketsOut: int64(s.PacketsSent),
	}
}
