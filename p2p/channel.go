package p2p

import (
	"errors"
	"fmt"

	"godwit/overlay"
	"godwit/task"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/network"
)

// A channel is a topic that this node listens to and speaks in. It never changes.
type channel struct {
	name  string
	cell  overlay.Cell // whose adverts come
	topic *pubsub.Topic
	sub   *pubsub.Subscription
	stop  func() // ends what takes from sub; nil for nothing
}

// subscribe joins a topic. buffer is how many messages wait at most for who takes from it.
func (g *gossip) subscribe(name string, validate pubsub.ValidatorEx, buffer int) (*channel, error) {
	if err := g.ps.RegisterTopicValidator(name, validate, pubsub.WithValidatorConcurrency(validators)); err != nil {
		return nil, err
	}
	c := &channel{name: name}
	var err error
	if c.topic, err = g.ps.Join(name); err == nil {
		if c.sub, err = c.topic.Subscribe(pubsub.WithBufferSize(buffer)); err != nil {
			err = errors.Join(err, c.topic.Close())
		}
	}
	if err != nil {
		return nil, errors.Join(err, g.ps.UnregisterTopicValidator(name))
	}
	return c, nil
}

// leave undoes subscribe.
func (g *gossip) leave(c *channel) error {
	if c.stop != nil {
		c.stop()
	}
	c.sub.Cancel()
	err := errors.Join(c.topic.Close(), g.ps.UnregisterTopicValidator(c.name))
	if err != nil && g.life.Err() == nil {
		return fmt.Errorf("p2p: leaving %s: %w", c.name, err)
	}
	return nil
}

// channelOf is where the adverts of this node's cell in an overlay are told.
func (as *adverts) channelOf(m *membership) *channel {
	as.mu.Lock()
	defer as.mu.Unlock()
	return m.told
}

// fits reports whether an advert may be told in a topic: who leads a cell says in it that it goes into a
// half, or the cell that this one is a half of.
func (s subject) fits(a *overlay.Advert) bool {
	if s.cell.Whole() && a.Bits <= 1 {
		return true
	}
	near := a.Bits == s.cell.Bits || a.Bits == s.cell.Bits+1 || a.Bits+1 == s.cell.Bits
	return near && s.cell.Holds(overlay.CellNumber(a.Overlay, a.Peer))
}

// EnterCell has the host tell and hear adverts of another cell of an overlay from now on, and no more
// those of the last. It returns ErrNotJoined for an overlay that the host is not in.
func (ov *overlays) EnterCell(id overlay.ID, c overlay.Cell) error {
	ov.joining.Lock()
	defer ov.joining.Unlock()
	m := ov.adverts.member(id)
	if m == nil {
		return fmt.Errorf("%w: %s", ErrNotJoined, id)
	}
	last := ov.adverts.channelOf(m)
	if last.cell == c {
		return nil
	}
	next, err := ov.gossip.join(id, c, c.Within(last.cell))
	if err != nil {
		return err
	}
	ov.adverts.mu.Lock()
	m.told = next
	ov.adverts.mu.Unlock()
	return ov.gossip.leave(last)
}

// readable returns those of adverts that whoever reads a hello can read: to nodes from before there were
// cells an advert of a cell's member is none.
func (g *greeter) readable(s network.Stream, adverts [][]byte) [][]byte {
	if s.Protocol() == ProtocolHello2 {
		return adverts
	}
	of := g.adverts.divided()
	var out [][]byte
	for _, b := range adverts {
		if len(b) > 0 && !of[&b[0]] {
			out = append(out, b)
		}
	}
	return out
}

// divided are the adverts, as they are held here, whose peers are in cells.
func (as *adverts) divided() map[*byte]bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	of := map[*byte]bool{}
	for _, m := range as.joined {
		if m.own != nil && m.ownBits > 0 {
			of[&m.own[0]] = true
		}
		for _, k := range m.known {
			if k.Bits > 0 {
				of[&k.bytes[0]] = true
			}
		}
	}
	return of
}

// readsCells reports whether a peer says that it knows of cells.
func (as *adverts) readsCells(m *membership, p task.PeerID) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	k := m.known[p]
	return k.KnowsCells()
}
