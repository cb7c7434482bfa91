package overlay

import (
	"slices"
	"testing"

	"github.com/multiformats/go-multiaddr"
)

// Addresses through relays are few, name one relay each and end there: nothing
// else is signed, and nothing else is taken from others.
func TestAdvertCircuits(t *testing.T) {
	_, relay := someone(9)
	good := "/ip4/192.0.2.1/tcp/4001/p2p/" + string(relay) + "/p2p-circuit"
	tests := []struct {
		name  string
		addrs []string
		ok    bool
	}{
		{"one", []string{good}, true},
		{"by name", []string{"/dns4/relay.example/udp/4001/quic-v1/p2p/" + string(relay) + "/p2p-circuit"}, true},
		{"as many as may be", append(slices.Repeat([]string{good}, MaxCircuits), "/ip4/10.0.0.1/tcp/4001"), true},
		{"too many", slices.Repeat([]string{good}, MaxCircuits+1), false},
		{"no relay named", []string{"/ip4/192.0.2.1/tcp/4001/p2p-circuit"}, false},
		{"no address of the relay", []string{"/p2p/" + string(relay) + "/p2p-circuit"}, false},
		{"the protocol alone", []string{"/p2p-circuit"}, false},
		{"a relay behind a relay", []string{good + "/p2p/" + string(relay) + "/p2p-circuit"}, false},
		{"an address behind the relay", []string{good + "/ip4/10.0.0.1/tcp/4001"}, false},
		{"a peer behind the relay", []string{good + "/p2p/" + string(relay)}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := advertOf(t, 1, nil)
			a.Addrs = tt.addrs
			key, _ := someone(1)
			if err := a.Sign(key); (err == nil) != tt.ok {
				t.Errorf("signing: %v", err)
			}
			var packed [][]byte
			for _, text := range tt.addrs {
				packed = append(packed, multiaddr.StringCast(text).Bytes())
			}
			if got, err := unpackAddrs(packed); (err == nil) != tt.ok || tt.ok && !slices.Equal(got, tt.addrs) {
				t.Errorf("taken: %v, %v", got, err)
			}
			if !tt.ok {
				return
			}
			b, err := a.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := OpenAdvert(b, epoch); err != nil {
				t.Errorf("opening: %v", err)
			}
		})
	}
}
