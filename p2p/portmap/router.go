package portmap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/libp2p/go-netroute"
)

const (
	pmpPort  = 5351 // of PCP and NAT-PMP
	ssdpPort = 1900 // of UPnP's search

	// firstWait and lastWait are how long an answer by UDP is waited for, at first and at last: twice as
	// long each time, 1.75 s in all. A router is a millisecond away.
	firstWait, lastWait = 250 * time.Millisecond, time.Second
	// maxAnswers is how many packets are looked at in each wait.
	maxAnswers = 64
	// maxPacket bounds an answer by UDP: PCP's largest (RFC 6887, section 7).
	maxPacket = 1100
)

// A router is whom this machine sends what is for elsewhere.
type router struct {
	addr netip.Addr // its own, inside
	self netip.Addr // this machine's, as the router knows it

	pmpPort, ssdpPort uint16 // other than the usual in tests alone
}

// find looks for the router. ErrNoRouter is returned where there is none, or no need of it.
func find() (router, error) {
	r := router{pmpPort: pmpPort, ssdpPort: ssdpPort}
	routes, err := netroute.New()
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrNoRouter, err)
	}
	anywhere := net.IPv4(192, 0, 2, 1) // of no machine (RFC 5737); nothing is sent there
	_, gateway, self, err := routes.Route(anywhere)
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrNoRouter, err)
	}
	var ok bool
	if r.addr, ok = netip.AddrFromSlice(gateway.To4()); !ok {
		return r, fmt.Errorf("%w: this machine sends nothing elsewhere by IPv4", ErrNoRouter)
	}
	if r.self, ok = netip.AddrFromSlice(self.To4()); !ok {
		return r, fmt.Errorf("%w: this machine has no address towards it", ErrNoRouter)
	}
	if !r.self.IsPrivate() && !carrierGrade.Contains(r.self) {
		return r, fmt.Errorf("%w: the address of this machine, %s, is a public one", ErrNoRouter, r.self)
	}
	return r, nil
}

// ask sends the router a packet until one comes back that read takes for the answer, or that it returns
// an error for.
func (r router) ask(ctx context.Context, request []byte, read func([]byte) (done bool, err error)) error {
	to := net.UDPAddrFromAddrPort(netip.AddrPortFrom(r.addr, r.pmpPort))
	conn, err := net.DialUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(r.self, 0)), to)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSilent, err)
	}
	defer conn.Close() // nothing is lost with it
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()
	for wait := firstWait; wait <= lastWait && ctx.Err() == nil; wait *= 2 {
		if _, err := conn.Write(request); err != nil {
			return fmt.Errorf("%w: %w", ErrSilent, err)
		}
		if done, err := hear(ctx, conn, wait, read); done || err != nil {
			return err
		}
	}
	return ErrSilent
}

// hear reads answers for so long; it returns neither where none came that counts.
func hear(ctx context.Context, conn *net.UDPConn, wait time.Duration, read func([]byte) (bool, error)) (bool, error) {
	_ = conn.SetReadDeadline(time.Now().Add(wait))
	var b [maxPacket + 1]byte
	for range maxAnswers {
		if ctx.Err() != nil {
			return false, ErrSilent
		}
		n, err := conn.Read(b[:])
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return false, nil
		case err != nil: // such as that nobody listens there
			return false, fmt.Errorf("%w: %w", ErrSilent, err)
		case n > maxPacket:
			continue
		}
		if done, err := read(b[:n]); done || err != nil {
			return done, err
		}
	}
	return false, nil
}
