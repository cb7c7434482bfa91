package node

import (
	"time"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/task"
)

// A record is what a member of an overlay says there of itself.
type record struct {
	overlay overlay.ID
	peer    task.PeerID
}

// A reading is a member's record as the newest advert has it, made ready for
// questions with the pool as it is. A round of placement asks about every member,
// and to read a record takes four times as long as to answer from it.
type reading struct {
	advert uint64 // its Seq
	reader predictor.Reader
}

// stay is the probability that a member, available now, runs tasks for d without a
// break, and whether anything is known of it in particular. The pool is as of now.
func (ps *past) stay(a *overlay.Advert, now time.Time, d time.Duration) (p float64, known bool) {
	p, known = ps.reader(a, now).Stay(now, d)
	p = ps.peer.Believed(a.Peer, p, func() float64 {
		stranger := predictor.NewReader(&predictor.Record{}, ps.pool)
		q, _ := stranger.Stay(now, d)
		return q
	})
	if !a.Until.IsZero() && a.Until.Before(now.Add(d)) {
		p = 0
	}
	return p, known
}

// reader reads a member's record, if it was not read since the pool was made.
func (ps *past) reader(a *overlay.Advert, now time.Time) *predictor.Reader {
	if a.Peer == ps.self {
		ps.recorder.Tick(now)
		r := ps.recorder.Record()
		reader := predictor.NewReader(&r, ps.pool)
		return &reader
	}
	key := record{a.Overlay, a.Peer}
	known := ps.readings[key]
	if known == nil || known.advert != a.Seq {
		var r predictor.Record
		_ = r.UnmarshalBinary(a.Record) // one that cannot be read says nothing
		known = &reading{a.Seq, predictor.NewReader(&r, ps.pool)}
		ps.readings[key] = known
	}
	return &known.reader
}
