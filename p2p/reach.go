package p2p

import (
	"context"
	"sync"
	"sync/atomic"

	"godwit/overlay"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
)

// A reachability follows whether others can dial this host.
type reachability struct {
	*endpoint
	now     atomic.Uint32 // an overlay.Reach
	changed func()        // called when it has

	mu   sync.Mutex
	nats map[network.NATTransportProtocol]NAT
}

// Reach says whether others can dial this host, as far as they have told it:
// AutoNAT asks peers to dial back.
func (r *reachability) Reach() overlay.Reach { return overlay.Reach(r.now.Load()) }

// watch keeps Reach up to date.
func (r *reachability) watch(ctx context.Context) {
	sub, err := r.net.EventBus().Subscribe([]any{new(event.EvtLocalReachabilityChanged),
		new(event.EvtNATDeviceTypeChanged)}, eventbus.Name("reach"))
	if err != nil {
		r.set.Log.Error("reachability stays unknown", "error", err)
		return
	}
	defer sub.Close()
	for {
		select {
		case e, ok := <-sub.Out():
			if !ok {
				return
			}
			switch e := e.(type) {
			case event.EvtLocalReachabilityChanged:
				now := reachOf(e.Reachability)
				if before := overlay.Reach(r.now.Swap(uint32(now))); before != now {
					r.changed()
					r.addrsChanged()
				}
			case event.EvtNATDeviceTypeChanged:
				r.told(e)
			}
		case <-ctx.Done():
			return
		}
	}
}

func reachOf(r network.Reachability) overlay.Reach {
	switch r {
	case network.ReachabilityPublic:
		return overlay.ReachPublic
	case network.ReachabilityPrivate:
		return overlay.ReachPrivate
	}
	return overlay.ReachUnknown
}
