package p2p

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"godwit/p2p/cost"
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

const (
	reservationsPerIP = 16       // of them behind one address: an office, not an invented crowd
	circuitsPerPeer   = 16       // open at a time, from or to one member
	circuitBuffer     = 16 << 10 // bytes, two to a circuit: 2 MiB at most
)

var errCrowded = errors.New("p2p: as many circuits as this node carries")

// openRelay serves as a relay, unless the owner does not want to.
func openRelay(ep *endpoint, acl members) (*relay.Relay, error) {
	r := ep.set.Relaying
	if r.Off {
		return nil, nil
	}
	carrier := &carrier{
		Host: ep.net, of: ep, daily: acl.daily,
		rate: rate.NewLimiter(rate.Limit(r.Rate), max(circuitBuffer, int(min(r.Rate, wire.MaxBlock)))),
	}
	service, err := relay.New(carrier,
		relay.WithResources(relay.Resources{
			Limit:           &relay.RelayLimit{Duration: r.Time, Data: r.Bytes},
			ReservationTTL:  reservationTime,
			MaxReservations: maxReservations, MaxReservationsPerIP: reservationsPerIP, MaxReservationsPerASN: maxReservations,
			MaxCircuits: circuitsPerPeer, BufferSize: circuitBuffer,
		}),
		relay.WithACL(acl),
		relay.WithReservationAddressFilter(func(a ma.Multiaddr) bool { return !isCircuit(a) }),
	)
	if err != nil {
		return nil, fmt.Errorf("p2p: starting to relay: %w", err)
	}
	return service, nil
}

// members admits to the relay those with whom this node shares an overlay. A node
// that is itself hidden would be no help.
type members struct {
	adverts *adverts
	relays  *relays
	daily   *daily
}

// AllowReserve implements relay.ACLFilter.
func (m members) AllowReserve(p peer.ID, _ ma.Multiaddr) bool {
	now := time.Now()
	name := task.PeerID(p.String())
	return m.adverts.fellow(name, now) && !m.relays.hidden(now) && m.daily.carries(now, p) &&
		m.relays.costs.Ask(name, cost.Circuits) == nil
}

// AllowConnect implements relay.ACLFilter.
func (m members) AllowConnect(from peer.ID, _ ma.Multiaddr, to peer.ID) bool {
	now := time.Now()
	name := task.PeerID(from.String())
	return m.adverts.fellow(name, now) && m.adverts.fellow(task.PeerID(to.String()), now) &&
		m.daily.carries(now, from, to) &&
		m.relays.costs.Ask(name, cost.Circuits) == nil
}

// A carrier is the host as the relay's library sees it. The library knows a limit
// for each circuit, but none for all, and no rate: streams are paced on their way
// to it and counted.
type carrier struct {
	host.Host
	of    *endpoint
	daily *daily
	rate  *rate.Limiter
}

// SetStreamHandler implements host.Host, for streams of those who ask for a
// circuit.
func (c *carrier) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	c.Host.SetStreamHandler(id, func(s network.Stream) { handle(&carried{Stream: s, by: c}) })
}

// NewStream implements host.Host, for streams to those whom a circuit leads to.
func (c *carrier) NewStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, error) {
	select {
	case c.daily.circuits <- struct{}{}:
	default:
		return nil, fmt.Errorf("%w: %d", errCrowded, maxCircuits)
	}
	leave := sync.OnceFunc(func() { <-c.daily.circuits })
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
	if !s.by.daily.take(s.Conn().RemotePeer(), n, time.Now()) {
		return errDaySpent
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
