package portmap

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"
)

// A Nonce shows the router that who asks again for a port, or closes it, is who opened it (RFC 6887,
// section 11). It is the same at each start of a node, and secret.
type Nonce [12]byte

// The bytes of PCP: RFC 6887, sections 7.1, 7.2 and 11.1.
const (
	pcpVersion = 2
	pcpMap     = 1
	answerBit  = 0x80
	pcpHead    = 24
	pcpBytes   = pcpHead + 36

	pcpDone             = 0
	pcpOtherVersion     = 1
	pcpAddressOfAnother = 12 // the router does not see the address that was said
)

// The numbers of the protocols (RFC 5237).
const (
	numberTCP = 6
	numberUDP = 17
)

func (p Port) protocol() byte {
	if p.Protocol == UDP {
		return numberUDP
	}
	return numberTCP
}

// pcp speaks PCP.
type pcp struct {
	router
	nonce Nonce
}

func (pcp) name() string { return "PCP" }

func (l pcp) open(ctx context.Context, p Port, outside uint16) (g grant, err error) {
	err = l.ask(ctx, l.request(p, outside, Life), func(b []byte) (done bool, err error) {
		g, done, err = readPCP(b, l.nonce, p)
		return done, err
	})
	return g, err
}

func (l pcp) shut(ctx context.Context, p Port, _ uint16) error {
	return l.ask(ctx, l.request(p, 0, 0), func(b []byte) (bool, error) {
		_, done, err := readPCP(b, l.nonce, p)
		return done, err
	})
}

// request asks for a port for so long.
func (l pcp) request(p Port, outside uint16, life time.Duration) []byte {
	b := make([]byte, 0, pcpBytes)
	b = append(b, pcpVersion, pcpMap, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(life/time.Second))
	self := l.self.As16()
	b = append(b, self[:]...)
	b = append(b, l.nonce[:]...)
	b = append(b, p.protocol(), 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, p.Number)
	b = binary.BigEndian.AppendUint16(b, outside)
	any4 := netip.IPv4Unspecified().As16()
	return append(b, any4[:]...)
}

// readPCP reads an answer. It is not done with one that is to another question.
func readPCP(b []byte, nonce Nonce, p Port) (g grant, done bool, err error) {
	const result, life, said, number, outside, addr = 3, 4, pcpHead, pcpHead + 16, pcpHead + 18, pcpHead + 20
	if len(b) >= 4 && b[0] != pcpVersion && b[1]&answerBit != 0 { // as a router answers that speaks NAT-PMP alone
		return g, false, fmt.Errorf("%w: it speaks version %d of PCP", ErrRefused, b[0])
	}
	if len(b) < pcpBytes || b[1] != pcpMap|answerBit || !bytes.Equal(b[said:said+len(nonce)], nonce[:]) ||
		b[said+len(nonce)] != p.protocol() || binary.BigEndian.Uint16(b[number:]) != p.Number {
		return g, false, nil
	}
	switch b[result] {
	case pcpDone:
	case pcpAddressOfAnother:
		return g, false, fmt.Errorf("%w: there is another router between", ErrRefused)
	default:
		return g, false, fmt.Errorf("%w: PCP says %d", ErrRefused, b[result])
	}
	g.life = lifeOf(binary.BigEndian.Uint32(b[life:]))
	at := netip.AddrFrom16([16]byte(b[addr : addr+16])).Unmap()
	g.outside = netip.AddrPortFrom(at, binary.BigEndian.Uint16(b[outside:]))
	return g, true, nil
}
