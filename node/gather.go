package node

import (
	"context"
	"time"

	"godwit/internal/pause"
	"godwit/overlay"
	"godwit/task"
)

const (
	// gatherEvery is how often a leader brings the histories that it keeps of its
	// members up to date: it outlives many of them, and can tell a newcomer.
	gatherEvery = 6 * time.Hour
	// gatherPause is the time between two members, so that a large overlay is
	// asked over hours, not at once.
	gatherPause = 2 * time.Second
	// mostKept bounds the members whose histories are kept, about 15 KB each
	// when full.
	mostKept = 4096
)

// gatherHistories keeps the members' histories while this node leads.
func (ps *past) gatherHistories(ctx context.Context) {
	for pause.For(ctx, gatherEvery) == nil {
		var members []overlay.Advert
		if ps.do(ctx, func() {
			for _, m := range ps.ordered() {
				if m.Coordinator() != nil {
					members = append(members, m.View().Members()...)
				}
			}
		}) != nil {
			return
		}
		for i, a := range members {
			if a.Peer == ps.self || i >= mostKept {
				continue
			}
			ps.gather(ctx, a.Peer)
			if pause.For(ctx, gatherPause) != nil {
				return
			}
		}
		if err := ps.forgetPast(ctx); err != nil && ctx.Err() == nil {
			ps.log.Warn("old histories are not removed", "err", err)
		}
	}
}

func (ps *past) gather(ctx context.Context, peer task.PeerID) {
	if _, err := ps.History(ctx, peer, time.Time{}); err != nil && ctx.Err() == nil {
		ps.log.Debug("a member's history is not to be had", "peer", peer, "err", err)
	}
}
