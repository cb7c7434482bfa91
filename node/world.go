package node

import (
	"time"

	"godwit/member"
	"godwit/node/exec"
	"godwit/overlay"
	"godwit/task"
	"godwit/trace"
)

// A world is what the node's peer reads of it, on the loop.
type world struct{ n *Node }

var _ member.World = world{}

// Wall implements member.World.
func (w world) Wall() time.Time { return w.n.clock.wall() }

// Describe implements member.World.
func (w world) Describe(a *overlay.Advert) {
	n := w.n
	a.Addrs, a.Reach = n.net.AdvertAddrs(overlay.MaxAddrs), n.net.Reach()
	a.Speed, a.Until, a.Version, a.Site = n.speed, n.decision.Until, n.cfg.Version, n.cfg.Site
	a.MarkTogether()
	n.record(a)
}

// Stay implements member.World.
func (w world) Stay(a *overlay.Advert, now time.Time, d time.Duration) (p float64, known bool) {
	w.n.refreshPool(now)
	state := a.State
	if a.Peer == w.n.self {
		state = w.n.owner.State // its advert may be waiting
	}
	if state != overlay.Available {
		return 0, false
	}
	return w.n.stay(a, now, d)
}

// History implements member.World.
func (w world) History() *trace.History {
	w.n.history.Extend(w.n.clock.wall())
	return w.n.history
}

// Neighbours implements member.World.
func (w world) Neighbours() []task.PeerID {
	var peers []task.PeerID
	for _, p := range w.n.net.Peers() {
		peers = append(peers, p.ID)
	}
	return peers
}

// Guests implements member.World.
func (w world) Guests(each func(*member.Member)) {
	w.n.exec.EachRunning(func(of exec.Client) { each(of.(client).m.Member) })
}

// LeaveTime implements member.World.
func (w world) LeaveTime() time.Duration { return w.n.exec.LeaveTime() }

// Withheld implements member.World.
func (w world) Withheld() int { return w.n.withheld(w.n.now()) }

// Weight implements member.World.
func (w world) Weight(m *member.Member) float64 { return m.Driver.(*membership).weight() }
