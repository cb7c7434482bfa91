package portmap

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"
)

// The bytes of NAT-PMP: RFC 6886, sections 3.2 and 3.3.
const (
	pmpVersion   = 0
	pmpAddress   = 0
	pmpUDP       = 1
	pmpTCP       = 2
	addressBytes = 12
	portBytes    = 16
)

// pmp speaks NAT-PMP.
type pmp struct{ router }

func (pmp) name() string { return "NAT-PMP" }

func (l pmp) open(ctx context.Context, p Port, outside uint16) (g grant, err error) {
	var at netip.Addr
	err = l.ask(ctx, []byte{pmpVersion, pmpAddress}, func(b []byte) (done bool, err error) {
		at, done, err = readAddress(b)
		return done, err
	})
	if err != nil {
		return g, err
	}
	port, life, err := l.lead(ctx, p, outside, Life)
	return grant{netip.AddrPortFrom(at, port), life}, err
}

func (l pmp) shut(ctx context.Context, p Port, _ uint16) error {
	_, _, err := l.lead(ctx, p, 0, 0)
	return err
}

// lead asks for a port for so long.
func (l pmp) lead(ctx context.Context, p Port, outside uint16, life time.Duration) (uint16, time.Duration, error) {
	b := []byte{pmpVersion, pmpOpcode(p), 0, 0}
	b = binary.BigEndian.AppendUint16(b, p.Number)
	b = binary.BigEndian.AppendUint16(b, outside)
	b = binary.BigEndian.AppendUint32(b, uint32(life/time.Second))
	var got uint16
	var granted time.Duration
	err := l.ask(ctx, b, func(b []byte) (done bool, err error) {
		got, granted, done, err = readPort(b, p)
		return done, err
	})
	return got, granted, err
}

func pmpOpcode(p Port) byte {
	if p.Protocol == UDP {
		return pmpUDP
	}
	return pmpTCP
}

// readAddress reads the router's own address.
func readAddress(b []byte) (at netip.Addr, done bool, err error) {
	if len(b) < 4 || b[0] != pmpVersion || b[1] != pmpAddress|answerBit {
		return at, false, nil
	}
	if said := binary.BigEndian.Uint16(b[2:]); said != 0 {
		return at, false, fmt.Errorf("%w: NAT-PMP says %d", ErrRefused, said)
	}
	if len(b) < addressBytes {
		return at, false, fmt.Errorf("%w: %d bytes", ErrAnswer, len(b))
	}
	return netip.AddrFrom4([4]byte(b[8:addressBytes])), true, nil
}

// readPort reads which port is led here, and for how long.
func readPort(b []byte, p Port) (outside uint16, life time.Duration, done bool, err error) {
	if len(b) < 4 || b[0] != pmpVersion || b[1] != pmpOpcode(p)|answerBit {
		return 0, 0, false, nil
	}
	if said := binary.BigEndian.Uint16(b[2:]); said != 0 {
		return 0, 0, false, fmt.Errorf("%w: NAT-PMP says %d", ErrRefused, said)
	}
	if len(b) < portBytes || binary.BigEndian.Uint16(b[8:]) != p.Number {
		return 0, 0, false, nil
	}
	return binary.BigEndian.Uint16(b[10:]), lifeOf(binary.BigEndian.Uint32(b[12:])), true, nil
}
