package main

import (
	"testing"
	"time"
)

const testDelay = 80 * time.Millisecond

// threePorts returns a link with the addresses 10.0.0.1, .2 and .3.
func threePorts(loss float64) *link {
	l := newLink(testDelay, loss, 1)
	for i := range byte(3) {
		l.attach([4]byte{10, 0, 0, i + 1})
	}
	return l
}

// packetTo returns an IPv4 packet of 28 bytes whose last one is mark.
func packetTo(host, mark byte) []byte {
	p := make([]byte, 28)
	p[0] = 0x45
	copy(p[destination:], []byte{10, 0, 0, host})
	p[27] = mark
	return p
}

func TestLinkDelays(t *testing.T) {
	l := threePorts(0)
	l.offer(at(0), 0, packetTo(2, 1))
	l.offer(at(5), 2, packetTo(1, 2))
	if due, ok := l.next(); !ok || !due.Equal(at(80)) {
		t.Errorf("next is due at %v, %t", due, ok)
	}
	if _, ok := l.arrive(at(79)); ok {
		t.Error("a packet arrived early")
	}
	for i, want := range []struct {
		port int
		mark byte
	}{{1, 1}, {0, 2}} {
		p, ok := l.arrive(at(85))
		if !ok || p.port != want.port || p.packet[27] != want.mark {
			t.Errorf("packet %d: %+v, %t, want port %d, mark %d", i, p, ok, want.port, want.mark)
		}
	}
	if _, ok := l.next(); ok || l.bytes != 0 {
		t.Errorf("the link is not empty: %d bytes", l.bytes)
	}
}

func TestLinkDrops(t *testing.T) {
	for name, c := range map[string]struct {
		from   int
		packet []byte
	}{
		"nothing":        {0, nil},
		"too short":      {0, packetTo(2, 0)[:headerIPv4-1]},
		"IPv6":           {0, append([]byte{0x60}, make([]byte, 39)...)},
		"for nobody":     {0, packetTo(9, 0)},
		"for its sender": {1, packetTo(2, 0)},
	} {
		l := threePorts(0)
		l.offer(at(0), c.from, c.packet)
		if _, ok := l.next(); ok {
			t.Errorf("%s: it is on its way", name)
		}
	}
}

func TestLinkLoses(t *testing.T) {
	l := threePorts(.01)
	const packets = 10_000
	for range packets {
		l.offer(at(0), 0, packetTo(2, 0))
	}
	// The spread is 10.
	if l.lost < 60 || l.lost > 140 || l.lost+l.passed != packets {
		t.Errorf("%d of %d packets lost, %d passed", l.lost, packets, l.passed)
	}
}

func TestLinkIsBounded(t *testing.T) {
	l := threePorts(0)
	for range queueMost/28 + 1 {
		l.offer(at(0), 0, packetTo(2, 0))
	}
	if l.full != 1 || l.bytes > queueMost {
		t.Errorf("%d packets refused, %d bytes queued", l.full, l.bytes)
	}
}

func TestLinkDivides(t *testing.T) {
	l := threePorts(0)
	l.offer(at(0), 0, packetTo(3, 0)) // on its way when the cut comes: it arrives
	l.divide([]int{2})
	l.offer(at(1), 0, packetTo(3, 0))
	l.offer(at(1), 2, packetTo(1, 0))
	l.offer(at(1), 0, packetTo(2, 0))
	if l.passed != 2 || l.cut != 2 {
		t.Errorf("passed %d, cut %d, want 2 and 2", l.passed, l.cut)
	}
	l.divide(nil)
	l.offer(at(2), 0, packetTo(3, 0))
	if l.passed != 3 {
		t.Errorf("healed it still drops: passed %d", l.passed)
	}
}

func TestLinkKeepsToARate(t *testing.T) {
	l := threePorts(0)
	l.rate = 28_000 // a packet a millisecond
	for range 10 {
		l.offer(at(0), 0, packetTo(2, 0))
	}
	l.offer(at(0), 2, packetTo(2, 9)) // another port's way out is free
	for i, want := range []struct {
		ms   int
		mark byte
	}{{81, 0}, {81, 9}, {82, 0}, {83, 0}} {
		due, _ := l.next()
		p, ok := l.arrive(at(want.ms))
		if !ok || !due.Equal(at(want.ms)) || p.packet[27] != want.mark {
			t.Errorf("packet %d: due %v, %t, mark %d; want %v, mark %d", i, due, ok, p.packet[27], at(want.ms), want.mark)
		}
	}
	for range 100 {
		l.offer(at(0), 0, packetTo(2, 0))
	}
	if most := int(waitMost / time.Millisecond); l.sent[0] > 28*(most+1) || l.full == 0 {
		t.Errorf("%d bytes left at once, %d packets were refused", l.sent[0], l.full)
	}
}
