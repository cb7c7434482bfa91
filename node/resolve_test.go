package node

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// A node that knows nobody comes in by a ticket alone, by a name or an ID with an address, and by
// none of them where nobody is reached.
func TestJoinByPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwarm(t, 4)
		founder := s.peers[0]
		for _, p := range s.peers {
			p.start() // each alone
		}
		lab := founder.found(OverlayRules{Name: "lab", Admission: AdmitInvited})
		open := founder.found(OverlayRules{Name: "open"})
		at := founder.Addrs()[0]
		ticket := founder.invite(lab)
		read, err := overlay.ParseTicket(ticket)
		if err != nil || len(read.Places) == 0 || read.Places[0].Peer != founder.ID() {
			t.Fatalf("the ticket leads to %v, %v", read.Places, err)
		}
		s.peers[1].join(ticket)
		s.gatherIn(lab, founder, s.peers[1])
		s.peers[2].join(string(open) + "@" + at)
		s.gatherIn(open, founder, s.peers[2])
		s.peers[3].join(DefaultOverlay + "@" + at)
		s.until("the pools of one name are one", func() bool {
			return s.peers[3].status().Overlays[0].Members >= 2
		})
		founder.crash()
		nobody := "/ip4/192.0.2.1/udp/1/quic-v1/p2p/" + string(peerOf(77))
		for what, want := range map[string]error{
			DefaultOverlay + "@" + nobody:                     ErrUnknownOverlay,
			"other@" + s.peers[1].Addrs()[0]:                  ErrUnknownOverlay, // where nobody serves it
			DefaultOverlay + "@/ip4/192.0.2.1/udp/1/quic-v1":  ErrBadAddress,
			DefaultOverlay + "@" + s.peers[2].Addrs()[0]:      ErrBadAddress, // itself
			ticket[:len(ticket)-7]:                            ErrInvalidTicket,
			"godwit9" + strings.Repeat("q", 2*task.MaxName+1): ErrNewerTicket,
		} {
			if _, err := s.peers[2].JoinOverlay(context.Background(), what, 0); !errors.Is(err, want) {
				t.Errorf("join %.40s: %v", what, err)
			}
		}
	})
}

// A ticket of which nobody is left where it says is refused with what became of each place, and a
// ticket that has expired without asking anybody.
func TestJoinByTicketOfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwarm(t, 2)
		founder, late := s.peers[0], s.peers[1]
		founder.start()
		late.start()
		lab := founder.found(OverlayRules{Name: "lab", Admission: AdmitInvited})
		ticket, at := founder.invite(lab), founder.Addrs()[0]
		founder.crash()
		begun := time.Now()
		_, err := late.JoinOverlay(context.Background(), ticket, 0)
		if !errors.Is(err, ErrUnknownOverlay) || !strings.Contains(err.Error(), at) {
			t.Errorf("join: %v", err)
		}
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("that nobody is there was said after %v", took)
		}
		late.stop() // eight days of a node cost seconds
		time.Sleep(8 * 24 * time.Hour)
		late.start()
		begun = time.Now()
		_, err = late.JoinOverlay(context.Background(), ticket, 0)
		if !errors.Is(err, ErrNotAdmitted) || time.Since(begun) > 0 {
			t.Errorf("an old ticket: %v, after %v", err, time.Since(begun))
		}
	})
}

// peerOf is the ID of a test's key.
func peerOf(seed byte) task.PeerID { return task.PeerIDOf(testKey(seed).Public().(ed25519.PublicKey)) }

// A ticket names who was dialled from outside before others, of several members, and this machine
// only where there is nothing else.
func TestChoosePlaces(t *testing.T) {
	relay := "/ip4/198.51.100.9/tcp/1/p2p/" + string(peerOf(9)) + "/p2p-circuit"
	for _, c := range []struct {
		name string
		ways []entrance
		want []string
	}{
		{"alone on this machine", []entrance{{peerOf(1), true, overlay.ReachUnknown, []string{"/ip4/127.0.0.1/tcp/1"}}},
			[]string{"1 /ip4/127.0.0.1/tcp/1"}},
		{"at home", []entrance{{peerOf(1), true, overlay.ReachUnknown,
			[]string{"/ip4/192.168.1.2/udp/1/quic-v1", "/ip4/192.168.1.2/tcp/1", "/ip4/127.0.0.1/tcp/1"}}},
			[]string{"1 /ip4/192.168.1.2/tcp/1", "1 /ip4/192.168.1.2/udp/1/quic-v1"}},
		{"behind a router, by a relay and by others", []entrance{
			{peerOf(1), true, overlay.ReachPrivate, []string{"/ip4/11.0.0.1/tcp/1", relay}},
			{peerOf(2), false, overlay.ReachUnknown, []string{"/ip4/12.0.0.1/tcp/1"}},
			{peerOf(3), false, overlay.ReachPublic, []string{"/ip6/2600::1/tcp/1", "/ip4/13.0.0.1/tcp/1"}},
			{peerOf(4), false, overlay.ReachPrivate, []string{"/ip4/14.0.0.1/tcp/1"}},
		}, []string{"3 /ip4/13.0.0.1/tcp/1", "2 /ip4/12.0.0.1/tcp/1", "1 " + relay}},
		{"nothing that can be written", []entrance{{peerOf(1), true, overlay.ReachUnknown, []string{"nonsense", ""}}}, nil},
		{"nobody", nil, nil},
	} {
		var got []string
		for _, p := range choosePlaces(c.ways) {
			for n := range byte(10) {
				if p.Peer == peerOf(n) {
					got = append(got, fmt.Sprint(n, " ", p.Addr))
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
