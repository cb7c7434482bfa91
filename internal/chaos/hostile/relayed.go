package hostile

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
)

const (
	// relayMost is what the owners let their nodes carry in a day for members that they do not
	// work with: little, so that an attack is at its end in seconds.
	relayMost = 8 << 20
	// relayLimit bounds one pair of members that have bytes carried.
	relayLimit = 20 * time.Second
	// pumpName is the protocol that they speak over the circuit.
	pumpName = "/pump/1"
)

// playRelay asks a node to carry bytes for peers that have done nothing for it: strangers, and
// members of the open pool that anybody can become.
func playRelay(ctx context.Context, f *field, row *Row) error {
	at, err := peer.AddrInfoFromString(f.victim().Addr())
	if err != nil {
		return err
	}
	tries := max(1, min(f.Times/10, f.Strangers))
	granted := 0
	for range tries {
		s, err := f.stranger(ctx, passerby)
		if err != nil {
			return err
		}
		h, err := s.plain()
		if err != nil {
			return err
		}
		if reserve(ctx, h, *at) == nil {
			granted++
		}
		h.Close()
	}
	carried, cut := int64(0), ""
	for range tries {
		n, err := f.pump(ctx, *at, 4*relayMost)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		carried += n
		if err != nil {
			cut = err.Error()
		}
	}
	row.tried(2*tries, "reservations of strangers, and pairs of members of a moment that send %d MiB through the node",
		4*relayMost>>20)
	row.now("%d of %d strangers were granted one; %.1f MiB were carried for all members, of %d MiB a day; the last was "+
		"told %q",
		granted, tries, float64(carried)/(1<<20), relayMost>>20, cut)
	if granted > 0 {
		row.broke("the node carries bytes for strangers")
	}
	if carried > relayMost {
		row.broke("the node carried %d MiB for members that it has known for a moment; its owner lets it carry %d",
			carried>>20, relayMost>>20)
	}
	return nil
}

// plain is a host of libp2p alone with the stranger's key: it is not bound to what our own does.
func (s *stranger) plain() (host.Host, error) {
	key, err := crypto.UnmarshalEd25519PrivateKey(s.key)
	if err != nil {
		return nil, err
	}
	return libp2p.New(libp2p.Identity(key), libp2p.NoListenAddrs, libp2p.DisableMetrics(), libp2p.EnableRelay())
}

func reserve(ctx context.Context, h host.Host, at peer.AddrInfo) error {
	ctx, stop := context.WithTimeout(ctx, relayLimit/2)
	defer stop()
	_, err := client.Reserve(ctx, h, at)
	return err
}

// pump has two new members send bytes to each other through a node, and returns how many arrived
// and what ended it.
func (f *field) pump(ctx context.Context, at peer.AddrInfo, most int64) (int64, error) {
	ctx, stop := context.WithTimeout(ctx, relayLimit)
	defer stop()
	var ends [2]host.Host
	for i := range ends {
		s, err := f.stranger(ctx, fellow)
		if err != nil {
			return 0, err
		}
		s.end() // of two hosts by one name the relay might take the other
		if ends[i], err = s.plain(); err != nil {
			return 0, err
		}
		defer ends[i].Close()
	}
	from, to := ends[0], ends[1]
	var came atomic.Int64
	to.SetStreamHandler(pumpName, func(s network.Stream) {
		defer s.Reset()
		for buf := make([]byte, 64<<10); ; {
			n, err := s.Read(buf)
			if came.Add(int64(n)); err != nil {
				return
			}
		}
	})
	if err := reserve(ctx, to, at); err != nil {
		return 0, fmt.Errorf("reserving: %w", err)
	}
	through, err := peer.AddrInfoFromString(fmt.Sprintf("%s/p2p/%s/p2p-circuit/p2p/%s", at.Addrs[0], at.ID, to.ID()))
	if err != nil {
		return 0, err
	}
	if err := from.Connect(ctx, *through); err != nil {
		return 0, fmt.Errorf("connecting: %w", err)
	}
	s, err := from.NewStream(network.WithAllowLimitedConn(ctx, "pump"), to.ID(), pumpName)
	if err != nil {
		return 0, fmt.Errorf("opening: %w", err)
	}
	defer s.Reset()
	end, _ := ctx.Deadline()
	if err := s.SetDeadline(end); err != nil {
		return 0, err
	}
	for sent, buf := int64(0), make([]byte, 16<<10); sent < most && err == nil; {
		var n int
		n, err = s.Write(buf)
		sent += int64(n)
	}
	return came.Load(), err
}
