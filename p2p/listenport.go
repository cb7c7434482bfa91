package p2p

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-reuseport"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// A tcpDialer dials by TCP from a port on which the host listens, where that opens a way to it: a router
// that keeps one port for all has then the same one for those whom the host dials and for those who dial
// it, so that others tell where that is, and holes can be punched (RFC 5128, section 3.4).
//
// Elsewhere it dials from any port. Two hosts that dial each other from their own ports at the same
// moment share one connection, which each of them takes for its own: that is wanted where they agree on
// it, and no hand-shake comes of it where they do not. So it is done towards public addresses alone, by
// a host whose own is private: nobody can dial back at the same moment. Nor is it done to peers that are
// reached through relays: a router remembers such a try, and has packets of the next one, which is to
// punch the hole, for forged.
type tcpDialer struct {
	host atomic.Pointer[host.Host] // nil until it is there
}

// A tcpTransport is libp2p's TCP that tells the dialer whom it dials.
type tcpTransport struct{ *tcp.TcpTransport }

// newTCP makes one that dials so.
func (d *tcpDialer) newTCP(u transport.Upgrader, r network.ResourceManager) (*tcpTransport, error) {
	t, err := tcp.NewTCPTransport(u, r, nil,
		tcp.WithDialerForAddr(func(ma.Multiaddr) (tcp.ContextDialer, error) { return d, nil }))
	return &tcpTransport{t}, err
}

// dialled is the key of a context under which the peer is that is dialled.
type dialled struct{}

// Dial implements transport.Transport.
func (t *tcpTransport) Dial(ctx context.Context, to ma.Multiaddr, p peer.ID) (transport.CapableConn, error) {
	return t.TcpTransport.Dial(context.WithValue(ctx, dialled{}, p), to, p)
}

// DialWithUpdates implements transport.DialUpdater.
func (t *tcpTransport) DialWithUpdates(ctx context.Context, to ma.Multiaddr, p peer.ID,
	tell chan<- transport.DialUpdate) (transport.CapableConn, error) {
	return t.TcpTransport.DialWithUpdates(context.WithValue(ctx, dialled{}, p), to, p, tell)
}

const (
	// punchReason is libp2p's for direct dials of its own before it punches holes.
	punchReason = "hole-punching"
	// lookTime is how long such a dial may take by TCP, from behind a router: a round trip around the world
	// takes a third of it, with a packet that is sent again.
	lookTime = 1500 * time.Millisecond
)

// DialContext implements tcp.ContextDialer.
func (d *tcpDialer) DialContext(ctx context.Context, how, to string) (net.Conn, error) {
	var any net.Dialer
	self, public := sourceOf(how, to)
	punching, _, _ := network.GetSimultaneousConnect(ctx)
	outwards := self != nil && public && self.IsPrivate()
	if _, why := network.GetForceDirectDial(ctx); outwards && !punching && why == punchReason {
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		return any.DialContext(ctx, how, to)
	}
	var from *net.TCPAddr
	if punching || outwards && !d.behindRelay(ctx) {
		from = d.listening(self)
	}
	if from == nil {
		return any.DialContext(ctx, how, to)
	}
	own := net.Dialer{LocalAddr: from, Control: reuseport.Control}
	c, err := own.DialContext(ctx, how, to)
	if err == nil || ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.ECONNREFUSED) {
		return c, err
	}
	return any.DialContext(ctx, how, to) // such as one that just ended, to the same address, leaves the port in use
}

// behindRelay reports whether the peer that is dialled is reached through relays: nobody can dial it.
func (d *tcpDialer) behindRelay(ctx context.Context) bool {
	h := d.host.Load()
	p, known := ctx.Value(dialled{}).(peer.ID)
	return h != nil && known && slices.ContainsFunc((*h).Peerstore().Addrs(p), isCircuit)
}

// listening is where the host listens at one of this machine's addresses; nil for nowhere.
func (d *tcpDialer) listening(self net.IP) *net.TCPAddr {
	h := d.host.Load()
	if h == nil || self == nil || self.IsLoopback() {
		return nil
	}
	for _, a := range (*h).Network().ListenAddresses() {
		at, port := tcpOf(a)
		if at == nil || (at.To4() == nil) != (self.To4() == nil) || !at.IsUnspecified() && !at.Equal(self) {
			continue
		}
		return &net.TCPAddr{IP: at, Port: port}
	}
	return nil
}

// sourceOf returns the address that this machine has towards another, and whether the other is a public one.
func sourceOf(how, to string) (self net.IP, public bool) {
	family := "udp4"
	if how == "tcp6" {
		family = "udp6"
	}
	c, err := net.Dial(family, to) // which sends nothing
	if err != nil {
		return nil, false
	}
	defer c.Close()
	a, err := manet.FromNetAddr(c.RemoteAddr())
	return c.LocalAddr().(*net.UDPAddr).IP, err == nil && manet.IsPublicAddr(a)
}

// tcpOf is the address and port at which a host listens by TCP; nil for another way.
func tcpOf(a ma.Multiaddr) (net.IP, int) {
	at, err := manet.ToIP(a)
	if err != nil {
		return nil, 0
	}
	text, err := a.ValueForProtocol(ma.P_TCP)
	if err != nil {
		return nil, 0
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, 0
	}
	return at, port
}

// vacant says which port that is to be listened on somebody has: a port from which a host may also dial is
// one that several programs could share, each of which would get some of the other's connections.
func vacant(listen []ma.Multiaddr) error {
	for _, a := range listen {
		at, port := tcpOf(a)
		if at == nil || port == 0 {
			continue
		}
		how := "tcp4"
		if at.To4() == nil {
			how = "tcp6"
		}
		l, err := net.ListenTCP(how, &net.TCPAddr{IP: at, Port: port})
		if err != nil {
			return fmt.Errorf("listening on %s: %w", a, err)
		}
		l.Close()
	}
	return nil
}
