package main

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"
)

// A link is a network between ports, one for each node: it delays packets, loses
// some, lets so much through, and can be cut in two. It is a pure machine: time is an
// argument.
type link struct {
	delay time.Duration // of every packet
	loss  float64       // share of packets that are lost
	rate  float64       // bytes a second from each port; 0: no bound
	rng   *rand.Rand

	ports map[[4]byte]int // by IPv4 address
	side  []int           // by port; packets between different sides are lost
	free  []time.Time     // by port: when what it sent before has left it
	sent  []int           // by port: bytes
	queue []transit       // invariant: by due time
	bytes int             // in the queue

	passed, lost, cut, full int // packets so far
}

// A transit is a packet on its way.
type transit struct {
	due    time.Time
	port   int
	packet []byte
}

const (
	// queueMost bounds what is on its way, in bytes: a second of 100 Mbit/s.
	queueMost = 12_500_000
	// waitMost is how long a packet may wait for those before it to leave a port that
	// has a rate, before it is lost: a small router's buffer.
	waitMost = 50 * time.Millisecond
	// headerIPv4 is the least that an IPv4 header takes, in bytes, and
	// destination where its destination begins (RFC 791).
	headerIPv4, destination = 20, 16
)

func newLink(delay time.Duration, loss float64, seed uint64) *link {
	const stream = 1 // of random numbers; the scenario's own choices are drawn from 0
	return &link{delay: delay, loss: loss, rng: rand.New(rand.NewPCG(seed, stream)), ports: map[[4]byte]int{}}
}

// attach adds a port for an address and returns it.
func (l *link) attach(addr [4]byte) int {
	port := len(l.side)
	l.ports[addr] = port
	l.side, l.free, l.sent = append(l.side, 0), append(l.free, time.Time{}), append(l.sent, 0)
	return port
}

// offer takes a packet, which it keeps, from a port. What is no IPv4 packet for
// another port is dropped: a system also looks for IPv6 routers.
func (l *link) offer(now time.Time, from int, packet []byte) {
	const versionShift, version4 = 4, 4
	if len(packet) < headerIPv4 || packet[0]>>versionShift != version4 {
		return
	}
	var addr [4]byte
	binary.BigEndian.PutUint32(addr[:], binary.BigEndian.Uint32(packet[destination:]))
	port, ok := l.ports[addr]
	switch {
	case !ok || port == from:
	case l.side[port] != l.side[from]:
		l.cut++
	case l.rng.Float64() < l.loss:
		l.lost++
	case l.bytes+len(packet) > queueMost || l.free[from].Sub(now) > waitMost:
		l.full++
	default:
		l.passed++
		l.bytes += len(packet)
		l.sent[from] += len(packet)
		l.enqueue(transit{l.leaves(now, from, len(packet)).Add(l.delay), port, packet})
	}
}

// leaves returns when so many bytes have left a port.
func (l *link) leaves(now time.Time, from, bytes int) time.Time {
	if l.rate == 0 {
		return now
	}
	if l.free[from].Before(now) {
		l.free[from] = now
	}
	l.free[from] = l.free[from].Add(time.Duration(float64(bytes) / l.rate * float64(time.Second)))
	return l.free[from]
}

// enqueue keeps the queue in order, and what is due at once in the order in which it
// came. Nearly all packets belong near its end.
func (l *link) enqueue(t transit) {
	i := len(l.queue)
	for i > 0 && l.queue[i-1].due.After(t.due) {
		i--
	}
	l.queue = slices.Insert(l.queue, i, t)
}

// next returns when the next packet is due.
func (l *link) next() (time.Time, bool) {
	if len(l.queue) == 0 {
		return time.Time{}, false
	}
	return l.queue[0].due, true
}

// arrive takes out the next packet if it is due.
func (l *link) arrive(now time.Time) (transit, bool) {
	if len(l.queue) == 0 || l.queue[0].due.After(now) {
		return transit{}, false
	}
	p := l.queue[0]
	l.queue[0] = transit{} // the packet is not kept alive by the slice
	l.queue, l.bytes = l.queue[1:], l.bytes-len(p.packet)
	return p, true
}

// divide puts ports on the other side than all others; none makes it one network
// again. What is on its way already arrives.
func (l *link) divide(other []int) {
	clear(l.side)
	for _, port := range other {
		l.side[port] = 1
	}
}
