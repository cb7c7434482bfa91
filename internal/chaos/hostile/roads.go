package hostile

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"

	"godwit/internal/pause"
)

// roads are about the ways between peers.
func roads() []attack {
	return []attack{
		{id: "S22", play: playTraps, before: "any address of a signed advert was dialled, as often as it was told: " +
			"scans and " +
			"floods by proxy"},
		{id: "S24", play: playRelay, before: "every node relayed for strangers of the open pool: 4 MiB/s, 345 GB a day"},
	}
}

// A trap counts who connects.
type trap struct {
	net.Listener
	came atomic.Int64
}

func setTrap() (*trap, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &trap{Listener: l}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.came.Add(1)
			c.Close()
		}
	}()
	return t, nil
}

// playTraps has members go who said that they are at addresses of somebody else.
func playTraps(ctx context.Context, f *field, row *Row) error {
	const traps = 8
	var addrs []string
	var set []*trap
	for range traps {
		t, err := setTrap()
		if err != nil {
			return err
		}
		defer t.Close()
		set, addrs = append(set, t), append(addrs, fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", t.Addr().(*net.TCPAddr).Port))
	}
	gone := max(4, min(f.Times/4, f.Strangers))
	for range gone {
		s, err := f.prepare(fellow)
		if err != nil {
			return err
		}
		s.offer.Addrs = addrs
		err = s.begin(ctx)
		s.end()
		if err != nil {
			return err
		}
	}
	if err := pause.For(ctx, 10*time.Second); err != nil {
		return err
	}
	came := int64(0)
	for _, t := range set {
		came += t.came.Load()
	}
	row.tried(gone*traps, "addresses of others in adverts of %d members that go", gone)
	row.now("%d connections were made there", came)
	if most := int64(gone * traps * len(f.nodes)); came > most {
		row.broke("%d connections were made to others for %d addresses, at most one of each node", came, gone*traps)
	}
	return f.hunted(ctx, row, openName, 2, "", func(*prey) error { return nil })
}

// playRelay asks a node to carry bytes for peers that have done nothing for it.
func playRelay(ctx context.Context, f *field, row *Row) error {
	at, err := peer.AddrInfoFromString(f.victim().Addr())
	if err != nil {
		return err
	}
	granted := map[guise]int{}
	said := ""
	tries := max(1, min(f.Times/10, f.Strangers))
	for _, as := range []guise{passerby, fellow} {
		for range tries {
			s, err := f.stranger(ctx, as)
			if err != nil {
				return err
			}
			key, err := crypto.UnmarshalEd25519PrivateKey(s.key)
			if err != nil {
				return err
			}
			h, err := libp2p.New(libp2p.Identity(key), libp2p.NoListenAddrs, libp2p.DisableMetrics())
			if err != nil {
				return err
			}
			asking, stop := context.WithTimeout(ctx, 10*time.Second)
			r, err := client.Reserve(asking, h, *at)
			stop()
			h.Close()
			if err == nil {
				granted[as]++
				said = fmt.Sprintf(", of %d bytes and %v a circuit", r.LimitData, r.LimitDuration)
			}
		}
	}
	row.tried(2*tries, "reservations of strangers and of members of a moment")
	row.now("%d of strangers were granted, %d of members%s", granted[passerby], granted[fellow], said)
	if granted[passerby]+granted[fellow] > 0 {
		row.broke("the node carries bytes for peers that it has known for a moment")
	}
	return nil
}
