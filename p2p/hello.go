package p2p

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	"godwit/overlay"

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
)

// greet tells a peer that has just connected our advert and those we know. Both
// sides do, so that two nodes know each other, and each other's friends, within
// milliseconds.
func (h *Host) greet(ctx context.Context, p peer.ID) {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	s, stop, err := h.openStream(network.WithNoDial(ctx, "hello"), p, ProtocolHello)
	if err != nil {
		return // gone again, or not one of us
	}
	defer stop()
	_ = s.SetDeadline(time.Now().Add(helloTimeout))
	if err := writeHello(s, h.adverts.newest(maxHello-1, time.Now())); err != nil {
		s.Reset()
		return
	}
	s.Close()
	h.measure(ctx, p)
}

func writeHello(s network.Stream, adverts [][]byte) error {
	w := bufio.NewWriter(s)
	for _, b := range adverts {
		if err := writeFrame(w, b); err != nil {
			return err
		}
	}
	return w.Flush()
}

// greetYoung sends hello again to the peers that gossip may miss.
func (h *Host) greetYoung() {
	for _, c := range h.net.Network().Conns() {
		if time.Since(c.Stat().Opened) < youngTime {
			p := c.RemotePeer()
			h.spawn(func(ctx context.Context) { h.greet(ctx, p) })
		}
	}
}

// receiveHello learns the adverts of a hello, and passes on by gossip those that
// are news: that is how two swarms that meet become one. The first advert that
// breaks the rules ends it.
func (h *Host) receiveHello(_ context.Context, s network.Stream) {
	_ = s.SetDeadline(time.Now().Add(helloTimeout))
	r := bufio.NewReaderSize(s, 8<<10)
	for range maxHello {
		b, err := readFrame(r, overlay.MaxAdvertBytes)
		if errors.Is(err, io.EOF) {
			s.Close()
			return
		}
		if err != nil {
			break
		}
		a, v := h.adverts.judge(b, time.Now())
		if v == isBad {
			break
		}
		if v == isNew && h.adverts.learn(a, b) {
			h.gossip.publish(b)
		}
	}
	h.adverts.drop(dropNotHello, isBad)
	s.Reset()
}
