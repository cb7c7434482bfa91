package member

import (
	"testing"

	"godwit/overlay"
	"godwit/task"
)

// Elsewhere is a member that may work, of another network or of none that is known.
func TestElsewhere(t *testing.T) {
	r := newRoster("lab")
	see := func(peer task.PeerID, state overlay.State, slots int, addr string) {
		r.view.Seen(overlay.Advert{Overlay: "lab", Peer: peer, Seq: 1, State: state, Slots: slots,
			Addrs: []string{addr}})
	}
	is := func(want bool) {
		t.Helper()
		if got := r.Elsewhere([]string{"198.51.0.0/16"}, "self"); got != want {
			t.Errorf("somebody is elsewhere: %v", got)
		}
	}
	see("self", overlay.Available, 1, "/ip4/203.0.1.1/tcp/1")
	see("near", overlay.Available, 1, "/ip4/198.51.100.1/tcp/1")
	see("lends nothing", overlay.Available, 0, "/ip4/203.0.1.1/tcp/1")
	see("leaves", overlay.Leaving, 1, "/ip4/203.0.1.1/tcp/1")
	is(false)
	see("home", overlay.Available, 1, "/ip4/192.168.1.1/tcp/1")
	is(true)
	r.view.Lost("home")
	is(false)
	see("far", overlay.Available, 1, "/ip4/203.0.1.1/tcp/1")
	is(true)
}
