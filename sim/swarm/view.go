package swarm

import (
	"bytes"
	"time"

	"godwit/member"
	"godwit/overlay"
	"godwit/predictor"
	"godwit/task"
	"godwit/trace"
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
	pooled, state := n.peer.RefreshPool(now), a.State
	if a.Peer == n.id {
		n.recorder.Tick(now)
		state = n.owner.State
	}
	if state != overlay.Available || !a.Until.IsZero() && a.Until.Before(now.Add(d)) {
		return 0, false
	}
	reader := n.readerOf(a, pooled)
	p, known = reader.Stay(now, d)
	return n.peer.Believed(a.Peer, p, func() float64 {
		stranger := predictor.NewReader(&predictor.Record{}, n.pool)
		q, _ := stranger.Stay(now, d)
		return q
	}), known
}

// A reading is the record of a member that was read last, for the next question about it.
type reading struct {
	record []byte
	pooled time.Time // when the pool was made that it was read by
	reader predictor.Reader
}

// readerOf reads the record of a member, by a pool that was renewed last at pooled.
func (n *node) readerOf(a *overlay.Advert, pooled time.Time) *predictor.Reader {
	last := &n.read
	var r predictor.Record
	switch {
	case a.Peer == n.id:
		r = n.recorder.Record()
		last.record = nil
	case len(a.Record) == 0:
		last.record = nil
	case last.pooled.Equal(pooled) && bytes.Equal(last.record, a.Record):
		return &last.reader
	default:
		_ = r.UnmarshalBinary(a.Record) // one that cannot be read says nothing
		last.record, last.pooled = a.Record, pooled
	}
	last.reader = predictor.NewReader(&r, n.pool)
	return &last.reader
}

// History implements member.World.
func (v view) History() *trace.History {
	v.n.history.Extend(v.n.w.clock)
	return &v.n.history
}

// Neighbours implements member.World.
func (v view) Neighbours() []task.PeerID {
	var peers []task.PeerID
	for i := range v.n.neighbours() {
		peers = append(peers, v.n.w.peerAt(i).id)
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
