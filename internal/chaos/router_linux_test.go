package main

import (
	"context"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// device returns what stands in for a TUN device, which takes rights to make: a
// pair of sockets that keep packets apart, the router's end and the system's.
func device(t *testing.T) (router, system *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	router, system = os.NewFile(uintptr(fds[0]), "router"), os.NewFile(uintptr(fds[1]), "system")
	t.Cleanup(func() { system.Close() })
	system.SetReadDeadline(time.Now().Add(time.Minute)) // for a test that fails
	return router, system
}

func TestRouter(t *testing.T) {
	const delay = 20 * time.Millisecond
	l := newLink(delay, 0, 1)
	var ports, systems []*os.File
	for i := range byte(2) {
		l.attach([4]byte{10, 0, 0, i + 1})
		p, s := device(t)
		ports, systems = append(ports, p), append(systems, s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := route(ctx, l, ports)
	defer func() { cancel(); r.wait() }()
	send := func(mark byte) {
		t.Helper()
		if _, err := systems[0].Write(packetTo(2, mark)); err != nil {
			t.Fatal(err)
		}
	}
	receive := func() byte {
		t.Helper()
		b := make([]byte, 100)
		n, err := systems[1].Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return b[n-1]
	}
	divide := func(other ...int) {
		t.Helper()
		if err := r.ask(ctx, func(l *link) { l.divide(other) }); err != nil {
			t.Fatal(err)
		}
	}

	sent := time.Now()
	send(1)
	if got := receive(); got != 1 {
		t.Errorf("packet %d arrived, want 1", got)
	}
	if took := time.Since(sent); took < delay {
		t.Errorf("it took %v, want at least %v", took, delay)
	}
	divide(1)
	send(2)
	for cut := 0; cut == 0; { // until the router has had it
		if err := r.ask(ctx, func(l *link) { cut = l.cut }); err != nil {
			t.Fatal(err)
		}
	}
	divide()
	send(3)
	if got := receive(); got != 3 {
		t.Errorf("packet %d arrived, want 3: the second was sent while the network was in two", got)
	}
}
