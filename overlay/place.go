package overlay

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/multiformats/go-multiaddr"

	"godwit/task"
)

// A Place is where a member can be dialled. It says where, not who may: whoever answers there
// proves to be Peer, and what overlay it serves is asked and verified.
type Place struct {
	Peer task.PeerID
	Addr string // a multiaddr without /p2p/ID at its end
}

// String returns the place as one multiaddr, with /p2p/ID at its end.
func (p Place) String() string { return p.Addr + "/p2p/" + string(p.Peer) }

// ParsePlace reads a multiaddr with /p2p/ID at its end.
func ParsePlace(text string) (Place, error) {
	a, err := multiaddr.NewMultiaddr(text)
	if err != nil {
		return Place{}, fmt.Errorf("overlay: address %q: %w", text, err)
	}
	addr, last := multiaddr.SplitLast(a)
	if last == nil || last.Protocol().Code != multiaddr.P_P2P || len(addr) == 0 {
		return Place{}, fmt.Errorf("overlay: address %q: it does not end in /p2p/ID, or there is nothing before", text)
	}
	p := Place{Peer: task.PeerID(last.Value()), Addr: addr.String()}
	_, err = p.pack()
	return p, err
}

const (
	// MaxPlaces bounds the places in a ticket: with three of which two are gone the third still
	// leads there, and a ticket stays a text that can be copied.
	MaxPlaces = 3
	// maxPlaceAddr bounds the address of one, in bytes; one through a relay has about 55.
	maxPlaceAddr = 96
	keyBytes     = 32
)

var errPlace = errors.New("overlay: not the place of a member")

// pack returns the peer's key, the length of the address and the address.
func (p Place) pack() ([]byte, error) {
	key, err := p.Peer.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPlace, err)
	}
	a, err := multiaddr.NewMultiaddr(p.Addr)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPlace, err)
	}
	if err := checkCircuits([]multiaddr.Multiaddr{a}); err != nil {
		return nil, fmt.Errorf("%w: %w", errPlace, err)
	}
	b := a.Bytes()
	if len(b) == 0 || len(b) > maxPlaceAddr {
		return nil, fmt.Errorf("%w: its address has %d bytes, want 1 to %d", errPlace, len(b), maxPlaceAddr)
	}
	return append(append(append([]byte{}, key...), byte(len(b))), b...), nil
}

// unpackPlaces reads what pack returned, one after the other.
func unpackPlaces(b []byte) ([]Place, error) {
	var out []Place
	for len(b) > 0 {
		if len(out) == MaxPlaces || len(b) < keyBytes+1 || len(b) < keyBytes+1+int(b[keyBytes]) {
			return nil, errPlace
		}
		peer, end := task.PeerIDOf(b[:keyBytes]), keyBytes+1+int(b[keyBytes])
		a, err := multiaddr.NewMultiaddrBytes(b[keyBytes+1 : end])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errPlace, err)
		}
		p := Place{peer, a.String()}
		switch again, err := p.pack(); {
		case err != nil:
			return nil, err
		case !bytes.Equal(again, b[:end]): // an address has one way to be written here
			return nil, errPlace
		}
		out, b = append(out, p), b[end:]
	}
	return out, nil
}
