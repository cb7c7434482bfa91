package p2p

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"godwit/overlay"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

const (
	// maxHello is how many adverts a hello has at most: its sender's and some
	// others, so that a newcomer knows a usual swarm at once.
	maxHello     = 256
	helloTimeout = 10 * time.Second

	// youngTime is how long after connecting gossip may not reach a peer yet.
	youngTime = 5 * time.Second

	// welcomeEvery is the least time between two hellos that a neighbour's changes
	// of overlay make us say: 120 kB at most.
	welcomeEvery = 5 * time.Second
)

// greet tells a peer that has just connected our advert and those we know. Both
// sides do, so that two nodes know each other, and each other's friends, within
// milliseconds. What comes while gossip does not reach the peer yet is told when
// it does: nobody would tell it again for a quarter of an hour.
func (h *Host) greet(ctx context.Context, p peer.ID) {
	h.hello(ctx, p, h.adverts.sample(p, h.telling(p), time.Now()))
	h.measure(ctx, p)
	if wait(ctx, youngTime) && h.connected(p) {
		h.hello(ctx, p, h.adverts.sample(p, h.telling(p), time.Now()))
	}
}

// telling is how many adverts of others a peer is told in a hello: few over a
// relay, whose owner pays for them, and which tells all of them itself.
func (h *Host) telling(p peer.ID) int {
	if h.direct(p) {
		return maxHello
	}
	return reminders
}

func (h *Host) hello(ctx context.Context, p peer.ID, adverts [][]byte) {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	s, stop, err := h.openStream(network.WithNoDial(ctx, "hello"), p, ProtocolHello)
	if err != nil {
		return // gone again, or not one of us
	}
	defer stop()
	_ = s.SetDeadline(time.Now().Add(helloTimeout))
	if err := writeHello(s, adverts); err != nil {
		s.Reset()
		return
	}
	s.Close()
}

func writeHello(s network.Stream, adverts [][]byte) error {
	w := bufio.NewWriter(s)
	for _, b := range adverts {
		if err := wire.WriteFrame(w, b); err != nil {
			return err
		}
	}
	return w.Flush()
}

// greetYoung sends our advert again to the peers that gossip may miss.
func (h *Host) greetYoung() {
	for _, c := range h.net.Network().Conns() {
		if time.Since(c.Stat().Opened) < youngTime {
			p := c.RemotePeer()
			h.spawn(func(ctx context.Context) { h.hello(ctx, p, h.adverts.sample(p, 0, time.Now())) })
		}
	}
}

// receiveHello learns the adverts of a hello, and passes on by gossip those that
// are news: that is how two swarms that meet become one. The first advert that
// breaks the rules ends it, and a peer that gossip does not hear is not heard
// here either.
func (h *Host) receiveHello(_ context.Context, s network.Stream) {
	_ = s.SetDeadline(time.Now().Add(helloTimeout))
	from := s.Conn().RemotePeer()
	err := readHello(bufio.NewReaderSize(s, 8<<10), func(b []byte) error {
		if h.adverts.score(from) < scoreGraylist {
			return errUnheard
		}
		a, v := h.adverts.judge(b, "", from, time.Now())
		if v == isBad {
			return errUnheard
		}
		if (v == isNew || v == isRenewal) && h.adverts.learn(a, b) {
			h.passOn(a, b, from)
		}
		return nil
	})
	switch {
	case err == nil:
		s.Close()
	case errors.Is(err, errUnheard):
		s.Reset()
	default:
		h.breakHello(s, err)
	}
}

// passOn spreads an advert that came by hello: by gossip, which publishes to
// all that listen; or, in a closed overlay, by hello to the members connected.
func (h *Host) passOn(a overlay.Advert, b []byte, from peer.ID) {
	m := h.adverts.member(a.Overlay)
	if m == nil {
		return
	}
	if !m.Closed {
		h.gossip.publish(m, b)
		return
	}
	for _, p := range h.net.Network().Peers() {
		name := task.PeerID(p.String())
		if p == from || name == a.Peer || !h.adverts.gossipsTo(p, topicOf(a.Overlay)) {
			continue
		}
		h.spawn(func(ctx context.Context) { h.hello(ctx, p, [][]byte{b}) })
	}
}

// welcome tells a neighbour that has joined an overlay, or was admitted to one, what
// we know, as a hello on connecting does, which came too early for that: it would
// wait for everybody's next advert otherwise. A peer that asks for more than one in
// welcomeEvery waits, and gets one for all.
func (h *Host) welcome(p peer.ID) {
	if !h.connected(p) {
		return
	}
	now := time.Now()
	if due, ok := h.adverts.nextWelcome(p, now); ok {
		h.spawn(func(ctx context.Context) {
			if wait(ctx, due.Sub(now)) {
				h.hello(ctx, p, h.adverts.sample(p, h.telling(p), time.Now()))
			}
		})
	}
}

// nextWelcome returns when a peer is to be welcomed, and notes it; false when that
// is going to happen anyway.
func (as *adverts) nextWelcome(p peer.ID, now time.Time) (time.Time, bool) {
	as.mu.Lock()
	defer as.mu.Unlock()
	last, have := as.welcomed[p]
	if have && last.After(now) {
		return time.Time{}, false
	}
	if len(as.welcomed) >= maxBlamed {
		maps.DeleteFunc(as.welcomed, func(_ peer.ID, at time.Time) bool { return now.Sub(at) >= welcomeEvery })
	}
	if len(as.welcomed) >= maxBlamed {
		return time.Time{}, false
	}
	due := now
	if next := last.Add(welcomeEvery); have && next.After(now) {
		due = next
	}
	as.welcomed[p] = due
	return due, true
}

// errUnheard ends a hello whose sender is not worth listening to.
var errUnheard = errors.New("p2p: not heard")

// readHello reads at most maxHello adverts, until take returns an error.
func readHello(r *bufio.Reader, take func([]byte) error) error {
	for range maxHello {
		b, err := wire.ReadFrame(r, overlay.MaxAdvertBytes, nil) // one at a time
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := take(b); err != nil {
			return err
		}
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: a hello of more than %d adverts", wire.ErrTooLarge, maxHello)
	}
	return nil
}

// breakHello ends a hello that is no hello. One that merely broke off, as
// connections do, is not held against its sender.
func (h *Host) breakHello(s network.Stream, err error) {
	if errors.Is(err, wire.ErrTooLarge) {
		h.adverts.accuse(s.Conn().RemotePeer(), blameInvalid, time.Now())
	}
	h.adverts.drop(dropNotHello, isBad)
	s.Reset()
}
