package overlay

import (
	"errors"

	"github.com/multiformats/go-multiaddr"
)

// MaxCircuits bounds the addresses of an advert that lead through relays: each has
// others dial a third peer.
const MaxCircuits = 4

var (
	errCircuit  = errors.New("an address through a relay is ADDRESS/p2p/RELAY/p2p-circuit")
	errCircuits = errors.New("more addresses through relays than an advert may have")
)

// checkCircuits checks the addresses that lead through relays: one relay each,
// named, with an address of its own, and nothing behind it.
func checkCircuits(addrs []multiaddr.Multiaddr) error {
	count := 0
	for _, a := range addrs {
		circuits := 0
		for _, c := range a {
			if c.Protocol().Code == multiaddr.P_CIRCUIT {
				circuits++
			}
		}
		if circuits == 0 {
			continue
		}
		n := len(a)
		if circuits > 1 || n < 3 || a[n-1].Protocol().Code != multiaddr.P_CIRCUIT ||
			a[n-2].Protocol().Code != multiaddr.P_P2P {
			return errCircuit
		}
		count++
	}
	if count > MaxCircuits {
		return errCircuits
	}
	return nil
}
