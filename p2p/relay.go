package p2p

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	ma "github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"
)

// Relaying says what a node carries for members that cannot reach each other
// (circuit relay v2). The zero value relays within the defaults.
type Relaying struct {
	// Off relays nothing for anybody: the protocol is not spoken, and who asks
	// for it is told so. The node may still be reached through others.
	Off bool
	// Bytes is what one circuit carries each way before it is cut; 0 means
	// DefaultCircuitBytes.
	Bytes int64
	// Time is how long one circuit lasts, in whole seconds; 0 means
	// DefaultCircuitTime.
	Time time.Duration
	// Rate is the bytes a second that all circuits together carry, both ways
	// counted, below what the owner allows (SetRates); 0 means DefaultRelayRate.
	Rate int64
}

const (
	// DefaultCircuitBytes takes a hand-over of 256 MiB of memory that does not
	// compress, sent over four rounds, and it bounds what two peers that agree on
	// nothing but moving bytes take from a volunteer before they must ask again.
	DefaultCircuitBytes = 1 << 30
	// DefaultCircuitTime lets the longest hand-over, half an hour, begin at any
	// time of the first three quarters of a circuit's life.
	DefaultCircuitTime = 2 * time.Hour
	// DefaultRelayRate holds where the owner names no rate: 32 Mbit/s of what a
	// usual line has. A hand-over of 64 MiB takes 32 s, as its bytes count
	// when they come and when they go on.
	DefaultRelayRate = 4 << 20

	maxReservations   = 64        // members that may be reached through this node at a time
	reservationsPerIP = 16        // of them behind one address: an office, not an invented crowd
	maxCircuits       = 64        // open at a time, all members together
	circuitsPerPeer   = 16        // open at a time, from or to one member
	reservationTime   = time.Hour // until a reservation must be renewed
	circuitBuffer     = 16 << 10  // bytes, two to a circuit: 2 MiB at most
)

var errCrowded = errors.New("p2p: as many circuits as this node carries")

func (r Relaying) check() (Relaying, error) {
	switch {
	case r.Bytes < 0 || r.Rate < 0:
		return r, fmt.Errorf("p2p: relaying %d bytes a circuit, %d a second: less than nothing; to relay nothing set Off", r.Bytes, r.Rate)
	case r.Time < 0 || r.Time%time.Second != 0:
		return r, fmt.Errorf("p2p: circuits of %v: want whole seconds", r.Time)
	}
	if r.Bytes == 0 {
		r.Bytes = DefaultCircuitBytes
	}
	if r.Time == 0 {
		r.Time = DefaultCircuitTime
	}
	if r.Rate == 0 {
		r.Rate = DefaultRelayRate
	}
	return r, nil
}

// openRelay serves as a relay, unless the owner does not want to.
func openRelay(h *Host) (*relay.Relay, error) {
	r := h.set.Relaying
	if r.Off {
		return nil, nil
	}
	carrier := &carrier{
		Host: h.net, of: h, circuits: make(chan struct{}, maxCircuits),
		rate: rate.NewLimiter(rate.Limit(r.Rate), max(circuitBuffer, int(min(r.Rate, wire.MaxBlock)))),
	}
	service, err := relay.New(carrier,
		relay.WithResources(relay.Resources{
			Limit:           &relay.RelayLimit{Duration: r.Time, Data: r.Bytes},
			ReservationTTL:  reservationTime,
			MaxReservations: maxReservations, MaxReservationsPerIP: reservationsPerIP, MaxReservationsPerASN: maxReservations,
			MaxCircuits: circuitsPerPeer, BufferSize: circuitBuffer,
		}),
		relay.WithACL(members{h}),
		relay.WithReservationAddressFilter(func(a ma.Multiaddr) bool { return !isCircuit(a) }),
	)
	if err != nil {
		return nil, fmt.Errorf("p2p: starting to relay: %w", err)
	}
	return service, nil
}

// members admits to the relay those with whom this node shares an overlay. A node
// that is itself hidden would be no help.
type members struct{ h *Host }

// AllowReserve implements relay.ACLFilter.
func (m members) AllowReserve(p peer.ID, _ ma.Multiaddr) bool {
	now := time.Now()
	return m.h.adverts.fellow(task.PeerID(p.String()), now) && !m.h.relays.hidden(now)
}

// AllowConnect implements relay.ACLFilter.
func (m members) AllowConnect(from peer.ID, _ ma.Multiaddr, to peer.ID) bool {
	now := time.Now()
	return m.h.adverts.fellow(task.PeerID(from.String()), now) && m.h.adverts.fellow(task.PeerID(to.String()), now)
}

// A carrier is the host as the relay's library sees it. The library knows a limit
// for each circuit, but none for all, and no rate: streams are paced on their way
// to it and counted.
type carrier struct {
	host.Host
	of       *Host
	rate     *rate.Limiter
	circuits chan struct{} // holds a token for each that is open
}

// SetStreamHandler implements host.Host, for streams of those who ask for a
// circuit.
func (c *carrier) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	c.Host.SetStreamHandler(id, func(s network.Stream) { handle(&carried{Stream: s, by: c}) })
}

// NewStream implements host.Host, for streams to those whom a circuit leads to.
func (c *carrier) NewStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, error) {
	select {
	case c.circuits <- struct{}{}:
	default:
		return nil, fmt.Errorf("%w: %d", errCrowded, maxCircuits)
	}
	leave := sync.OnceFunc(func() { <-c.circuits })
	s, err := c.Host.NewStream(ctx, p, ids...)
	if err != nil {
		leave()
		return nil, err
	}
	return &carried{Stream: s, by: c, leave: leave}, nil
}

// carried is one of the two streams of a circuit. What is read from it and written
// to it counts against the owner's rates like the node's own blocks.
type carried struct {
	network.Stream
	by    *carrier
	leave func() // of the stream that the circuit is counted by; else nil
}

// Read implements network.Stream.
func (s *carried) Read(b []byte) (int, error) {
	n, err := s.Stream.Read(b[:min(len(b), circuitBuffer)])
	if wait := s.wait(s.by.of.pace.Down, n); wait != nil && err == nil {
		err = wait
	}
	return n, err
}

// Write implements network.Stream.
func (s *carried) Write(b []byte) (written int, err error) {
	for len(b) > 0 && err == nil {
		chunk := b[:min(len(b), circuitBuffer)]
		if err = s.wait(s.by.of.pace.Up, len(chunk)); err != nil {
			break
		}
		var n int
		n, err = s.Stream.Write(chunk)
		written, b = written+n, b[n:]
	}
	return written, err
}

func (s *carried) wait(owner *rate.Limiter, n int) error {
	if n == 0 {
		return nil
	}
	if err := s.by.rate.WaitN(s.by.of.life, n); err != nil {
		return err
	}
	return owner.WaitN(s.by.of.life, n)
}

// Close implements network.Stream.
func (s *carried) Close() error {
	s.left()
	return s.Stream.Close()
}

// Reset implements network.Stream.
func (s *carried) Reset() error {
	s.left()
	return s.Stream.Reset()
}

func (s *carried) left() {
	if s.leave != nil {
		s.leave()
	}
}

// isCircuit says that an address leads through a relay.
func isCircuit(a ma.Multiaddr) bool {
	_, err := a.ValueForProtocol(ma.P_CIRCUIT)
	return err == nil
}
