package wasi

import (
	"encoding/binary"
	"math"
)

// Sizes and tags of poll_oneoff.
const (
	subscriptionSize = 48
	eventSize        = 32

	eventClock = 0
	eventRead  = 1
	eventWrite = 2

	absoluteTime = 1
)

// pollOneoff answers at once: files and streams are always ready, and where a
// guest waits only for clocks the clock is moved to the first deadline.
func pollOneoff(c *call) Errno {
	n := c.u32(2)
	if n == 0 || n > maxPoll {
		return EINVAL
	}
	in, ok := c.bytes(c.u32(0), n*subscriptionSize)
	if !ok {
		return EFAULT
	}
	out, ok := c.bytes(c.u32(1), n*eventSize)
	if !ok {
		return EFAULT
	}
	// The guest may let the two overlap.
	subs := append([]byte(nil), in...)
	first, ready := c.deadline(subs)
	if !ready && first > c.Clock {
		c.advance(first - c.Clock)
	}
	events := uint32(0)
	for ; len(subs) > 0; subs = subs[subscriptionSize:] {
		if c.event(subs, out[events*eventSize:]) {
			events++
		}
	}
	return c.put32(3, events)
}

// deadline returns the earliest time waited for, and whether anything is ready
// without waiting. It also turns relative times into absolute ones, so that
// all of one poll count from the same instant.
func (c *call) deadline(subs []byte) (first int64, ready bool) {
	le := binary.LittleEndian
	first = math.MaxInt64
	for ; len(subs) > 0; subs = subs[subscriptionSize:] {
		if subs[8] != eventClock {
			ready = true
			continue
		}
		t := int64(min(le.Uint64(subs[24:]), math.MaxInt64))
		switch id, flags := le.Uint32(subs[16:]), le.Uint16(subs[40:]); {
		case id > clockThread:
			ready = true // reported as an error
			continue
		case flags&absoluteTime == 0:
			t = c.Clock + min(t, maxClock-c.Clock)
		case id == clockRealtime:
			t -= Epoch
		}
		le.PutUint64(subs[24:], uint64(max(t, 0)))
		first = min(first, max(t, 0))
	}
	return first, ready
}

// event writes the event of one subscription, if it has happened.
func (c *call) event(sub, out []byte) bool {
	le := binary.LittleEndian
	errno, size := OK, uint64(0)
	switch sub[8] {
	case eventClock:
		if le.Uint32(sub[16:]) > clockThread {
			errno = EINVAL
		} else if int64(le.Uint64(sub[24:])) > c.Clock {
			return false
		}
	case eventRead, eventWrite:
		errno, size = c.ready(le.Uint32(sub[16:]), sub[8])
	default:
		errno = EINVAL
	}
	clear(out[:eventSize])
	copy(out, sub[:8]) // the guest's own mark
	le.PutUint16(out[8:], uint16(errno))
	out[10] = sub[8]
	le.PutUint64(out[16:], size)
	return true
}

// ready says how much a descriptor would give or take now.
func (c *call) ready(fd uint32, kind byte) (Errno, uint64) {
	d := c.fd(fd)
	if d == nil {
		return EBADF, 0
	}
	if kind == eventWrite {
		return OK, 1 << 16
	}
	return OK, uint64(max(int64(len(c.Inodes[d.Ino].Data))-d.Offset, 0))
}
