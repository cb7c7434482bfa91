package p2p

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"godwit/internal/pause"
	"godwit/overlay"
	"godwit/p2p/wire"
	"godwit/task"
)

const (
	helloTimeout = 10 * time.Second

	// reminders is how many adverts of others go with our own.
	reminders = 5

	// welcomeEvery is the least time between two hellos that a neighbour's changes
	// of overlay make us say: 120 kB at most.
	welcomeEvery = 5 * time.Second
)

// A greeter tells neighbours the adverts that gossip has not told them.
type greeter struct {
	*endpoint
	adverts *adverts
	gossip  *gossip
	begun   time.Time

	mu       sync.Mutex
	welcomed map[peer.ID]time.Time // when last, or next; at most maxBlamed
	knowing  map[peer.ID][][]byte  // our own adverts that a connected peer has taken in; at most maxBlamed
	compared map[peer.ID]bucket    // what each has asked for in comparisons; at most maxBlamed
}

func newGreeter(ep *endpoint, as *adverts, gossip *gossip) *greeter {
	return &greeter{endpoint: ep, adverts: as, gossip: gossip, begun: time.Now(), welcomed: map[peer.ID]time.Time{},
		knowing: map[peer.ID][][]byte{}, compared: map[peer.ID]bucket{}}
}

// greet tells a peer that has just connected our advert, and asks it for those that it
// knows. Both sides do, so that two nodes know each other, and each other's friends, within
// milliseconds. What comes while gossip does not reach the peer yet is told when
// it does: nobody would tell it again for a quarter of an hour.
func (g *greeter) greet(ctx context.Context, p peer.ID) {
	g.tell(ctx, p)
	g.measure(ctx, p)
	if pause.For(ctx, youngTime) == nil && g.connected(p) {
		g.tell(ctx, p)
	}
}

// telling is how many adverts of others a peer is told in a hello: few over a
// relay, whose owner pays for them, and which tells all of them itself.
func (g *greeter) telling(p peer.ID) int {
	if g.direct(p) {
		return maxHello
	}
	return reminders
}

func (g *greeter) hello(ctx context.Context, p peer.ID, adverts [][]byte) {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	s, stop, err := g.openStream(network.WithNoDial(ctx, "hello"), p, ProtocolHello2, ProtocolHello)
	if err != nil {
		return // gone again, or not one of us
	}
	defer stop()
	adverts = g.readable(s, adverts)
	_ = s.SetDeadline(time.Now().Add(helloTimeout))
	if err := writeHello(s, adverts); err != nil {
		s.Reset()
		return
	}
	s.Close()
}

func writeHello(to io.Writer, adverts [][]byte) error {
	w := bufio.NewWriter(to)
	for _, b := range adverts {
		if err := wire.WriteFrame(w, b); err != nil {
			return err
		}
	}
	return w.Flush()
}

// greetYoung sends our advert again to the peers that gossip may miss.
func (g *greeter) greetYoung() {
	for _, c := range g.net.Network().Conns() {
		if time.Since(c.Stat().Opened) < youngTime {
			p := c.RemotePeer()
			g.spawn(func(ctx context.Context) { g.hello(ctx, p, g.adverts.sample(p, 0, time.Now())) })
		}
	}
}

// receiveHello learns the adverts of a hello, and passes on by gossip those that
// are news: that is how two swarms that meet become one. The first advert that
// breaks the rules ends it, and a peer that gossip does not hear is not heard
// here either.
func (g *greeter) receiveHello(_ context.Context, s network.Stream) {
	_ = s.SetDeadline(time.Now().Add(helloTimeout))
	from := s.Conn().RemotePeer()
	g.endHello(s, readHello(bufio.NewReaderSize(s, 8<<10), func(b []byte) error {
		_, err := g.take(b, from)
		return err
	}))
}

// take learns an advert that a neighbour told, and says whether it was news. It returns errUnheard
// when no more of that neighbour's is to be read.
func (g *greeter) take(b []byte, from peer.ID) (bool, error) {
	if g.adverts.score(from) < scoreGraylist {
		return false, errUnheard
	}
	a, v := g.adverts.judge(b, "", from, time.Now())
	if v == isBad {
		return false, errUnheard
	}
	if (v == isNew || v == isRenewal) && g.adverts.learn(a, b, from) {
		g.passOn(a, b, from)
		return true, nil
	}
	return false, nil
}

// endHello ends a stream of which a hello was read.
func (g *greeter) endHello(s network.Stream, err error) {
	switch {
	case err == nil:
		s.Close()
	case errors.Is(err, errUnheard):
		s.Reset()
	default:
		g.breakHello(s, err)
	}
}

const (
	// newcomer is how long a node leaves to others what is no news to a swarm.
	newcomer = 2 * time.Minute
	// goneRound is how long after it was issued an advert has gone round: some beats of gossip.
	goneRound = 30 * time.Second
)

// passOn spreads an advert that came by hello: by gossip, which publishes to
// all that listen; or, in a closed overlay, by hello to the members connected. That is how two
// swarms that meet become one. A node that has just begun is told of a whole swarm, which
// knows all that but for what was said just now, and gossip remembers no longer that it was told
// it: each of 300 that begin together would have each advert go round once more. What another swarm
// does not know it finds by comparing with this node.
func (g *greeter) passOn(a overlay.Advert, b []byte, from peer.ID) {
	m := g.adverts.member(a.Overlay)
	if m == nil || time.Since(a.Issued) > goneRound && time.Since(g.begun) < newcomer {
		return
	}
	topic := subject{id: a.Overlay, cell: g.adverts.channelOf(m).cell}
	if topic.cell.Bits != a.Bits || !topic.fits(&a) {
		return // it is in another cell, and told to this node alone
	}
	if !m.Closed {
		g.gossip.publish(m, b)
		return
	}
	for _, p := range g.net.Network().Peers() {
		name := task.PeerID(p.String())
		if p == from || name == a.Peer || a.Bits > 0 && !g.adverts.readsCells(m, name) ||
			!g.adverts.gossipsTo(p, topicOf(topic.id, topic.cell)) {
			continue
		}
		g.spawn(func(ctx context.Context) { g.hello(ctx, p, [][]byte{b}) })
	}
}

// welcome tells a neighbour that has joined an overlay, or was admitted to one, what
// we know, as a hello on connecting does, which came too early for that: it would
// wait for everybody's next advert otherwise. A peer that asks for more than one in
// welcomeEvery waits, and gets one for all.
func (g *greeter) welcome(p peer.ID) {
	if !g.connected(p) {
		return
	}
	now := time.Now()
	if due, ok := g.nextWelcome(p, now); ok {
		g.spawn(func(ctx context.Context) {
			if pause.For(ctx, due.Sub(now)) == nil {
				g.hello(ctx, p, g.adverts.sample(p, g.telling(p), time.Now()))
			}
		})
	}
}

// nextWelcome returns when a peer is to be welcomed, and notes it; false when that
// is going to happen anyway.
func (g *greeter) nextWelcome(p peer.ID, now time.Time) (time.Time, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	last, have := g.welcomed[p]
	if have && last.After(now) {
		return time.Time{}, false
	}
	if len(g.welcomed) >= maxBlamed {
		maps.DeleteFunc(g.welcomed, func(_ peer.ID, at time.Time) bool { return now.Sub(at) >= welcomeEvery })
	}
	if len(g.welcomed) >= maxBlamed {
		return time.Time{}, false
	}
	due := now
	if next := last.Add(welcomeEvery); have && next.After(now) {
		due = next
	}
	g.welcomed[p] = due
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
func (g *greeter) breakHello(s network.Stream, err error) {
	if errors.Is(err, wire.ErrTooLarge) {
		g.adverts.accuse(s.Conn().RemotePeer(), blameInvalid, time.Now())
	}
	g.adverts.drop(dropNotHello, isBad)
	s.Reset()
}

// remindEvery is the time, on average, between two reminders ([greeter.remind]). With lists of 500
// members, 256 bytes, and an advert of 469, they cost a node 2 MB a day each way.
const remindEvery = time.Minute
