package swarm

import (
	"time"

	"godwit/member"
	"godwit/overlay"
	"godwit/predictor"
	"godwit/task"
)

// A view is what a node's part in the overlay reads of it.
type view struct{ n *node }

var _ member.World = view{}

// Wall implements member.World.
func (v view) Wall() time.Time { return v.n.w.clock }

// Describe implements member.World.
func (v view) Describe(a *overlay.Advert) {
	n := v.n
	if a.Memory == 0 {
		a.Memory = overlay.MaxMemory
	}
	a.Speed, a.Site = n.speedUsual(), n.site
	n.recorder.Tick(n.w.clock)
	n.recorder.Declare(a.Until)
	if r := n.recorder.Record(); r.Since != 0 {
		a.Record, _ = r.MarshalBinary() // of a fixed size: it cannot fail
	}
}

// Stay implements member.World by the members' records, as far as they are believed.
func (v view) Stay(a *overlay.Advert, now time.Time, d time.Duration) (p float64, known bool) {
	n := v.n
	n.peer.RefreshPool(now)
	state := a.State
	var r predictor.Record
	if a.Peer == n.id {
		n.recorder.Tick(now)
		r, state = n.recorder.Record(), n.owner.State
	} else if len(a.Record) > 0 {
		_ = r.UnmarshalBinary(a.Record) // one that cannot be read says nothing
	}
	if state != overlay.Available || !a.Until.IsZero() && a.Until.Before(now.Add(d)) {
		return 0, false
	}
	reader := predictor.NewReader(&r, n.pool)
	p, known = reader.Stay(now, d)
	return n.peer.Believed(a.Peer, p, func() float64 {
		stranger := predictor.NewReader(&predictor.Record{}, n.pool)
		q, _ := stranger.Stay(now, d)
		return q
	}), known
}

// Neighbours implements member.World.
func (v view) Neighbours() []task.PeerID {
	var peers []task.PeerID
	for i := range v.n.neighbours() {
		peers = append(peers, v.n.w.nodes[i].id)
	}
	return peers
}

// Guests implements member.World.
func (v view) Guests(each func(*member.Member)) {
	for range v.n.runs {
		each(v.n.m)
	}
}

// leaveRounds is how often the whole state of a run is thought to travel, as of a live
// node: once, and as much again for what changes meanwhile.
const leaveRounds = 2

// LeaveTime implements member.World.
func (v view) LeaveTime() time.Duration {
	var bytes int64
	for _, r := range v.n.runs {
		bytes += leaveRounds * r.t.state
	}
	return v.n.w.transfer(bytes)
}

// Withheld implements member.World.
func (v view) Withheld() int { return v.n.withheld() }

// Weight implements member.World: there is one overlay.
func (v view) Weight(*member.Member) float64 { return 1 }
