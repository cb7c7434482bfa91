package testnet

import (
	"maps"
	"net"
	"sync"

	"github.com/marcopolo/simnet"
)

// A NAT is the router that a host is behind, by what it lets in. The host keeps its
// address, so that others know where to send what does not arrive.
type NAT int

// The kinds of NAT.
const (
	// NoNAT lets everything in.
	NoNAT NAT = iota
	// PortRestricted lets in what answers: packets from where the host has sent some.
	// Two hosts that send at once reach each other.
	PortRestricted
	// Symmetric is as such a router to hosts without NAT. Nothing comes from those
	// behind one: they do not know which port would be theirs.
	Symmetric
)

func (net *Net) nat(i int) NAT {
	if net.opts.NAT == nil {
		return NoNAT
	}
	return net.opts.NAT(i)
}

// holes are where a host has sent packets.
type holes struct {
	mu sync.Mutex
	to map[string]bool
}

func (h *holes) punch(to net.Addr) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.to == nil {
		h.to = map[string]bool{}
	}
	h.to[to.String()] = true
}

func (h *holes) close(of func(to string) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.to, func(to string, _ bool) bool { return of(to) })
}

func (h *holes) leads(from net.Addr) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.to[from.String()]
}

// lets says whether a packet comes through the router.
func (l *link) lets(from net.Addr) bool {
	nat := NAT(l.nat.Load())
	if nat == NoNAT {
		return true
	}
	return l.holes.leads(from) && (nat != Symmetric || !l.net.behind(from))
}

// SetNAT puts the node behind another router, until it is started again. Where it has
// sent packets to hosts behind a router itself is forgotten.
func (n *Node) SetNAT(nat NAT) {
	n.link.nat.Store(int32(nat))
	n.link.holes.close(func(to string) bool {
		addr, err := net.ResolveUDPAddr("udp", to)
		return err == nil && n.net.behind(addr)
	})
}

// behind says that an address is of a host that has a NAT.
func (n *Net) behind(addr net.Addr) bool {
	udp, ok := addr.(*net.UDPAddr)
	for i := range n.size {
		if ok && simnet.IntToPublicIPv4(i).Equal(udp.IP) {
			return n.nat(i) != NoNAT
		}
	}
	return false
}
