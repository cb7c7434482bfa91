package p2p

import (
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
)

// What the network may use on a volunteer's machine. Memory is what libp2p
// reserves for buffers and windows, and what we hold of messages; past a limit a
// new connection or stream is refused, a window stops growing, and a message is
// cut off.
const (
	networkMemory = 256 << 20                       // all peers together; reached only by fast transfers from many
	peerMemory    = 64 << 20                        // one peer: a few streams with their 16 MiB windows
	networkStream = 6144                            // all peers together: some 50 each
	peerStreams   = 256                             // one peer, both directions
	connsPerPeer  = 8                               // TCP and QUIC, dialled from both sides at once, and some more
	spareConns    = 32                              // above MaxConns, until the connection manager has trimmed
	relayStreams  = 2*maxCircuits + maxReservations // of circuits, and of those that ask
	handshakes    = 64                              // connections and streams whose peer or protocol is not known yet
)

// everybodysStreams is how many streams all peers together may open of one protocol, so
// that no protocol leaves none for the others.
const everybodysStreams = networkStream / 6

// What is carried for others, and taken over from them.
const (
	maxReservations = 64 // members that may be reached through this node at a time
	maxCircuits     = 64 // open at a time, all members together

	// maxHandOvers bounds the hand-overs that run at once, each way: a machine
	// that is emptied moves as many tasks as it has slots, and each side holds a
	// frame of each.
	maxHandOvers = 32
)

// inboundStreams limits how much one peer may ask of one protocol at a time.
var inboundStreams = map[protocol.ID]int{
	ProtocolFrame:   4,  // one in use, others ending after a reconnect
	ProtocolRequest: 32, // each occupies one call of the handler
	ProtocolUrgent:  4,  // one a second
	ProtocolHello:   4,
	ProtocolCompare: 2,
	ProtocolBlocks:  16, // one for each fetch that runs

	ProtocolHandOver: maxHandOvers,
	ProtocolDHT:      8, // one for each key that it looks for, and a few from before
}

func newLimits(maxConns int) (network.ResourceManager, error) {
	conns := maxConns + spareConns
	partial := rcmgr.PartialLimitConfig{
		System:       bounds(networkStream, conns, networkMemory),
		Transient:    bounds(2*handshakes, handshakes, networkMemory/4),
		PeerDefault:  bounds(peerStreams, connsPerPeer, peerMemory),
		Protocol:     map[protocol.ID]rcmgr.ResourceLimits{},
		ProtocolPeer: map[protocol.ID]rcmgr.ResourceLimits{},
		Stream:       rcmgr.ResourceLimits{Memory: peerMemory}, // the manifest of a hand-over is the largest
	}
	for id, n := range inboundStreams {
		all := bounds(networkStream, 0, networkMemory)
		all.StreamsInbound = rcmgr.LimitVal(min(n*conns, everybodysStreams))
		partial.Protocol[id] = all
		l := bounds(peerStreams, 0, peerMemory)
		l.StreamsInbound = rcmgr.LimitVal(n)
		partial.ProtocolPeer[id] = l
	}
	partial.Service = map[string]rcmgr.ResourceLimits{relay.ServiceName: bounds(relayStreams, 0, networkMemory/4)}
	limits := partial.Build(rcmgr.DefaultLimits.AutoScale())
	return rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(limits), rcmgr.WithMetricsDisabled())
}

// bounds limits streams and connections, no more one way than both ways.
func bounds(streams, conns int, memory int64) rcmgr.ResourceLimits {
	s, c := rcmgr.LimitVal(streams), rcmgr.LimitVal(conns)
	return rcmgr.ResourceLimits{
		Streams: s, StreamsInbound: s, StreamsOutbound: s,
		Conns: c, ConnsInbound: c, ConnsOutbound: c,
		Memory: rcmgr.LimitVal64(memory),
	}
}
