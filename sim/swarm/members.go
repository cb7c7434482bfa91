package swarm

import (
	"time"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler/message"
	"godwit/task"
)

// The times of adverts, as of a live node.
const (
	advertEvery  = 15 * time.Minute
	advertJitter = 0.1
	advertLife   = 3 * advertEvery
	advertGap    = 3 * time.Second
	poolEvery    = 15 * time.Minute // between sums of the members' records
)

// advertise issues a new advert and takes it in here.
func (n *node) advertise() {
	now := n.w.clock
	n.nextAdvert = now.Add(advertEvery - time.Duration(n.w.adverts.Float64()*advertJitter*float64(advertEvery)))
	n.advertSeq = max(n.advertSeq+1, uint64(now.UnixNano()))
	memory := n.told.Memory
	if memory == 0 {
		memory = overlay.MaxMemory
	}
	a := overlay.Advert{
		Peer: n.id, Overlay: n.w.overlay, Seq: n.advertSeq, Issued: now, Expires: now.Add(advertLife),
		State: n.owner.State, Slots: n.told.Slots, Free: n.free(), Memory: memory, Speed: n.speedUsual(), Until: n.owner.Until, Site: n.site,
	}
	if n.leaving {
		a.State = overlay.Leaving
	}
	n.recorder.Tick(now)
	n.recorder.Declare(a.Until)
	if r := n.recorder.Record(); r.Since != 0 {
		a.Record, _ = r.MarshalBinary() // of a fixed size: it cannot fail
	}
	if n.coordinator != nil {
		a.Epoch = n.coordinator.Epoch()
	}
	n.advertised = a
	n.pending = append(n.pending, pending{advert: &a})
	n.seen(&a)
}

// advertiseSoon has the advert issued again because something in it changed: at
// once, or when the gap after the last one is over.
func (n *node) advertiseSoon() {
	if n.advertised.Seq == 0 {
		return
	}
	if at := n.advertised.Issued.Add(advertGap); at.Before(n.nextAdvert) {
		n.nextAdvert = at
	}
}

func (n *node) free() int {
	running, _, _ := n.worker.Load()
	return max(0, n.told.Slots-max(running, len(n.runs)))
}

// freeChanged tells the others when the last slot fills or the first empties.
func (n *node) freeChanged() {
	if (n.free() == 0) != (n.advertised.Free == 0) {
		n.advertiseSoon()
	}
}

// seen takes in an advert.
func (n *node) seen(a *overlay.Advert) {
	now := n.w.clock
	old, known := n.view.Member(a.Peer)
	if !n.view.Seen(*a) {
		return
	}
	if n.expiry.IsZero() || a.Expires.Before(n.expiry) {
		n.expiry = a.Expires
	}
	if a.Peer != n.id {
		n.judge(n.suspicion.Advertised(a.Peer, now))
	}
	n.step(n.role(), message.MemberSeen{Advert: *a})
	if a.Epoch > 0 {
		n.catchUp()
		n.obey(n.lease.Claimed(a.Peer, a.Epoch, now))
	}
	if !known || old.State != a.State {
		n.regroupSoon()
	}
}

// lost forgets a member.
func (n *node) lost(peer task.PeerID, reason string) {
	a, ok := n.view.Member(peer)
	if !ok {
		return
	}
	n.away[peer] = a
	n.view.Lost(peer)
	n.goneFrom(peer, reason)
}

func (n *node) goneFrom(peer task.PeerID, reason string) {
	n.step(n.role(), message.MemberLost{Peer: peer, Reason: reason})
	n.catchUp()
	n.lease.Lost(peer, n.w.clock)
	n.leaderMayHaveChanged()
	n.regroupSoon()
}

// returned takes in a lost member again once it is there.
func (n *node) returned(peer task.PeerID) {
	a, ok := n.away[peer]
	delete(n.away, peer)
	if ok && a.Expires.After(n.w.clock) {
		n.seen(&a)
	}
}

func (n *node) expireMembers(now time.Time) {
	if n.expiry.IsZero() || n.expiry.After(now) {
		return
	}
	for _, peer := range n.view.Expire(now) {
		n.suspicion.Forget(peer)
		n.goneFrom(peer, "its advert expired")
	}
	n.expiry, _ = n.view.NextExpiry()
}

// Stay implements place.Forecast by the members' records, as a live node does
// that believes them all.
func (n *node) Stay(peer task.PeerID, now time.Time, d time.Duration) (p float64, known bool) {
	a, ok := n.view.Member(peer)
	if !ok {
		return 0, false
	}
	return n.forecast(&a, now, d)
}

func (n *node) forecast(a *overlay.Advert, now time.Time, d time.Duration) (p float64, known bool) {
	n.refreshPool(now)
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
	return reader.Stay(now, d)
}

// refreshPool sums up the members' records again when the sum is old.
func (n *node) refreshPool(now time.Time) {
	if !n.pooled.IsZero() && now.Sub(n.pooled) < poolEvery {
		return
	}
	n.pooled = now
	var records []predictor.Record
	for _, a := range n.view.Members() {
		var r predictor.Record
		if r.UnmarshalBinary(a.Record) == nil {
			records = append(records, r)
		}
	}
	n.pool.Renew(records)
}
