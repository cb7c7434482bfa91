package p2p

import (
	"fmt"
	"time"

	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
)

// uncounted is how much of a message is not counted: what a stream's own buffers
// take too. Pings, leases and most messages are smaller, so they come through
// when memory is short.
const uncounted = 4 << 10 // bytes

// An intake counts what is held of one stream's messages against the limits of its
// peer and of all peers, as its windows are: see newLimits. What does not fit is not
// read. It belongs to one goroutine; nil counts nothing.
type intake struct {
	scope    network.ResourceScope
	priority func() uint8
	bytes    int // held
	reserved int // of them; 0 while they are few
}

// inbound counts what a peer sends of its own accord. Strangers may use 40 % of what
// a peer has, and of what all have together, members 80 %: strangers, however many,
// cannot keep members from being heard. Windows grow to 50 or 60 % at most.
func (h *Host) inbound(s network.Stream) *intake {
	from := task.PeerID(s.Conn().RemotePeer().String())
	return &intake{scope: s.Scope(), priority: func() uint8 {
		if h.adverts.fellow(from, time.Now()) {
			return network.ReservationPriorityHigh
		}
		return network.ReservationPriorityLow
	}}
}

// asked counts what we have asked for: up to all there is.
func asked(s network.Stream) *intake {
	return &intake{scope: s.Scope(), priority: func() uint8 { return network.ReservationPriorityAlways }}
}

// grow counts n bytes more, which must be given back by release, or with the stream.
// The error says that there is no room for them.
func (in *intake) grow(n int) error {
	if in == nil {
		return nil
	}
	if in.bytes+n > uncounted {
		more := in.bytes + n - in.reserved
		if err := in.scope.ReserveMemory(more, in.priority()); err != nil {
			return fmt.Errorf("p2p: no room for %d bytes more: %w", n, err)
		}
		in.reserved += more
	}
	in.bytes += n
	return nil
}

// release gives back all that was counted.
func (in *intake) release() {
	if in == nil {
		return
	}
	if in.reserved > 0 {
		in.scope.ReleaseMemory(in.reserved)
	}
	in.bytes, in.reserved = 0, 0
}
