package p2p

import (
	"cmp"
	"maps"
	"slices"

	"godwit/overlay"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
)

// A NAT is how the router that a host is behind maps what it sends by UDP, or where that is not known, by
// TCP, as those that it has dialled see it (RFC 4787, section 4.1).
type NAT string

// The kinds of NAT.
const (
	UnknownNAT NAT = ""
	// EndpointIndependent is a router that has one port for all whom the host talks to: others
	// behind such a one can punch a hole to it.
	EndpointIndependent NAT = "endpoint-independent"
	// EndpointDependent is one that has another port for each: nobody knows which would be theirs.
	EndpointDependent NAT = "endpoint-dependent"
)

// A Reaching is how others reach a host, and what it does for those whom nobody can dial.
type Reaching struct {
	Reach    overlay.Reach
	Hidden   bool          // it takes itself for one whom nobody can dial
	NAT      NAT           // of its router
	Relays   []task.PeerID // through whom it is reached; sorted
	Circuits int           // that it carries for others now
	Carried  int64         // bytes that it has carried for others, read and written
	Router   RouterStatus  // what it does where it is asked to open ports
}

// natOf names a NAT as libp2p knows it.
func natOf(t network.NATDeviceType) NAT {
	switch t {
	case network.NATDeviceTypeEndpointIndependent:
		return EndpointIndependent
	case network.NATDeviceTypeEndpointDependent:
		return EndpointDependent
	}
	return UnknownNAT
}

// told takes in what kind of NAT others see.
func (r *reachability) told(e event.EvtNATDeviceTypeChanged) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nats[e.TransportProtocol] = natOf(e.NatDeviceType)
}

// nat is what is known of the router. libp2p 0.51 says TCP where it means UDP, and UDP where it means TCP.
func (r *reachability) nat() NAT {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cmp.Or(r.nats[network.NATTransportTCP], r.nats[network.NATTransportUDP])
}

// Reaching says how others reach this host.
func (h *Host) Reaching() Reaching {
	out := Reaching{Reach: h.Reach(), NAT: h.nat(), Router: h.ports.status()}
	out.Hidden = h.relays.isHidden()
	out.Circuits, out.Carried = len(h.daily.circuits), h.daily.carried.Load()
	for p := range maps.Keys(h.relays.copyHeld()) {
		out.Relays = append(out.Relays, task.PeerID(p.String()))
	}
	slices.Sort(out.Relays)
	return out
}
