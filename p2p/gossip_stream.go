package p2p

import (
	"fmt"
	"time"

	"godwit/p2p/wire"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// maxGossip bounds one gossip message: some adverts and the control
// messages between them.
const maxGossip = 64 << 10

// A gossipHost is the host as gossip's library sees it. The library ends a
// stream on which a message is too long, but tells nobody, so that its sender
// could go on for ever: streams are watched on their way to it.
type gossipHost struct {
	host.Host
	adverts *adverts
}

// SetStreamHandler implements host.Host.
func (g gossipHost) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	g.Host.SetStreamHandler(id, g.watch(handle))
}

// SetStreamHandlerMatch implements host.Host.
func (g gossipHost) SetStreamHandlerMatch(id protocol.ID, match func(protocol.ID) bool, handle network.StreamHandler) {
	g.Host.SetStreamHandlerMatch(id, match, g.watch(handle))
}

func (g gossipHost) watch(handle network.StreamHandler) network.StreamHandler {
	return func(s network.Stream) {
		if g.adverts.score(s.Conn().RemotePeer()) < scoreGraylist {
			s.Reset()
			return
		}
		handle(&gossipStream{Stream: s, adverts: g.adverts})
	}
}

// A gossipStream is an inbound stream of gossip.
type gossipStream struct {
	network.Stream
	adverts *adverts
	lengths lengths
	bad     error // what ended it
}

// Read implements network.Stream. A length over the limit ends the stream and
// is held against the peer.
func (s *gossipStream) Read(b []byte) (int, error) {
	if s.bad != nil {
		return 0, s.bad
	}
	n, err := s.Stream.Read(b)
	if s.bad = s.lengths.pass(b[:n]); s.bad != nil {
		s.adverts.accuse(s.Conn().RemotePeer(), blameSize, time.Now())
		s.adverts.drop(dropSize, isBad)
		return 0, s.bad
	}
	return n, err
}

// maxLength bounds the bytes of a length: maxGossip takes 3.
const maxLength = 4

// lengths follows a stream of messages, each after its length, in pieces cut
// anywhere.
type lengths struct {
	rest   int    // bytes of the message that are still to come
	length uint64 // that part of a length that has come
	bytes  int    // and how many bytes that was
}

// pass looks at the next piece.
func (l *lengths) pass(b []byte) error {
	for len(b) > 0 {
		if l.rest > 0 {
			n := min(l.rest, len(b))
			l.rest, b = l.rest-n, b[n:]
			continue
		}
		l.length |= uint64(b[0]&0x7f) << (7 * l.bytes)
		l.bytes++
		more := b[0]&0x80 != 0
		b = b[1:]
		if l.length > maxGossip || more && l.bytes == maxLength {
			return fmt.Errorf("%w: gossip of %d bytes or more, at most %d", wire.ErrTooLarge, l.length, maxGossip)
		}
		if !more {
			*l = lengths{rest: int(l.length)}
		}
	}
	return nil
}
