package p2p

import (
	"context"

	"godwit/overlay"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
)

// Reach says whether others can dial this host, as far as they have told it:
// AutoNAT asks peers to dial back.
func (h *Host) Reach() overlay.Reach { return overlay.Reach(h.reach.Load()) }

// watchReach keeps Reach up to date.
func (h *Host) watchReach(ctx context.Context) {
	sub, err := h.net.EventBus().Subscribe(new(event.EvtLocalReachabilityChanged), eventbus.Name("reach"))
	if err != nil {
		h.set.Log.Error("reachability stays unknown", "error", err)
		return
	}
	defer sub.Close()
	for {
		select {
		case e, ok := <-sub.Out():
			if !ok {
				return
			}
			now := reachOf(e.(event.EvtLocalReachabilityChanged).Reachability)
			if before := overlay.Reach(h.reach.Swap(uint32(now))); before != now {
				h.relays.poke()
				h.addrsChanged()
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

// addrsChanged has the node say where it can be reached now.
func (h *Host) addrsChanged() {
	if h.set.OnAddrs != nil {
		h.set.OnAddrs()
	}
}
