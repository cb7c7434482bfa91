package swarm

import (
	"encoding/binary"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
)

// leaseKey is where a node keeps the highest epoch that it has led in.
const leaseKey = "l/lease"

// The times between looks at who should coordinate, as of a live node.
const (
	regroupGap   = 200 * time.Millisecond
	regroupEvery = time.Minute
)

// lookedAt says whether the node's view of who should coordinate matters: to a
// leader, in its group, and where nobody is known to lead.
func (n *node) lookedAt() bool {
	leader, _ := n.lease.Leader()
	return leader == "" || leader == n.id || slices.Contains(n.lease.Group(), n.id)
}

// catchUp lets the lease have the ticks that were left out because they would do
// nothing: the lease takes a late one for a machine that starves.
func (n *node) catchUp() {
	n.leaseAgain = true // who catches up is about to tell it something
	if n.lookedAt() {
		return
	}
	for at := n.lease.Next(); at.Before(n.w.clock); at = n.lease.Next() {
		n.lease.Tick(at)
	}
}

// regroup looks at who should coordinate.
func (n *node) regroup(now time.Time) {
	n.regroupAt, n.regrouped = now.Add(regroupEvery), now
	members := n.view.Members()
	n.refreshPool(now)
	forecasts := make(map[peerID]overlay.Forecast, len(members))
	for i := range members {
		forecasts[members[i].Peer] = overlay.ForecastOf(&members[i], n.pool, now)
	}
	n.catchUp()
	n.yieldIfUnfit(members, now)
	candidates := n.levels.Candidates(members, forecasts, now)
	k := n.w.opt.Coordinators
	if n.lease.Leads() {
		n.obey(n.lease.GroupChanged(overlay.Regroup(n.w.overlay, n.lease.Group(), candidates, k), now))
		return
	}
	n.obey(n.lease.GroupChanged(overlay.Group(n.w.overlay, candidates, k), now))
}

func (n *node) regroupSoon() {
	at := n.w.clock
	if next := n.regrouped.Add(regroupGap); at.Before(next) {
		at = next
	}
	if at.Before(n.regroupAt) {
		n.regroupAt = at
	}
}

// yieldIfUnfit leaves leading to others while this machine is not the one to
// lead, if another is.
func (n *node) yieldIfUnfit(members []overlay.Advert, now time.Time) {
	self := slices.IndexFunc(members, func(a overlay.Advert) bool { return a.Peer == n.id })
	if self < 0 {
		return
	}
	fit := func(a *overlay.Advert) bool {
		p, _ := n.forecast(a, now, overlay.HandOverHorizon)
		return p >= overlay.HandOverBelow
	}
	if !fit(&members[self]) && slices.ContainsFunc(members, func(a overlay.Advert) bool { return a.Peer != n.id && fit(&a) }) {
		n.obey(n.lease.Yield(now))
		return
	}
	n.lease.Stand()
}

// obey carries out what the lease asks for.
func (n *node) obey(effects []overlay.LeaseEffect) {
	for _, e := range effects {
		switch e := e.(type) {
		case overlay.BecomeLeader:
			n.lead(e.Epoch)
		case overlay.StepDown:
			n.stepDown()
		case overlay.Follow:
			n.checkThere(e.Leader)
		case overlay.Suspect:
			n.doubt(e.Peer, "its lease fell silent")
			if n.coordinator != nil {
				n.step(n.coordinator, message.Suspected{Peer: e.Peer})
			}
		default:
			n.pending = append(n.pending, pending{lease: e})
		}
	}
	n.leaseAgain = true
	n.leaderMayHaveChanged()
}

// lead makes this node the leader in an epoch, with the copy of the ledger that
// it has.
func (n *node) lead(epoch uint64) {
	n.keepLease(epoch)
	n.w.stats.Leaders++
	n.w.led(n, epoch)
	if n.coordinator != nil {
		n.do(n.coordinator, n.coordinator.Begin(epoch))
	} else {
		n.w.stats.Takeovers++
		c, effects := n.replica.Lead(n.w.clock, epoch)
		n.coordinator, n.replica, n.followers = c, nil, nil
		c.Foresee(n)
		n.do(c, effects)
		for _, a := range n.view.Members() {
			n.step(c, message.MemberSeen{Advert: a})
		}
		n.regroupAt = n.w.clock
	}
	n.leaderMayHaveChanged()
	n.advertise()
}

// stepDown leaves leading to another.
func (n *node) stepDown() {
	if n.coordinator == nil {
		return
	}
	n.replica, n.coordinator, n.followers = n.coordinator.Retire(), nil, nil
	n.w.led(n, 0)
	n.leaderMayHaveChanged()
	n.advertise()
}

func (n *node) keepLease(epoch uint64) { n.disk[leaseKey] = binary.BigEndian.AppendUint64(nil, epoch) }

func (n *node) keptEpoch() uint64 {
	if b := n.disk[leaseKey]; len(b) == 8 {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// leaderMayHaveChanged tells the machines whom to talk to, and the coordinator
// who follows it.
func (n *node) leaderMayHaveChanged() {
	leader, epoch := n.lease.Leader()
	if now := (message.LeaderChanged{Leader: leader, Epoch: epoch}); now != n.leader {
		n.leader = now
		n.tell(now)
	}
	if n.coordinator == nil {
		return
	}
	followers := n.lease.Group()
	if len(followers) > 0 {
		followers = followers[1:]
	}
	if !slices.Equal(followers, n.followers) {
		n.followers = slices.Clone(followers)
		n.keepLease(epoch)
		n.step(n.coordinator, message.GroupIs{Followers: n.followers})
	}
}

// sendLease sends what a lease asks to be sent.
func (n *node) sendLease(e overlay.LeaseEffect) {
	switch e := e.(type) {
	case overlay.SendRenewal:
		for _, to := range e.To {
			n.sayLease(to, true, func(o *node) { o.obey(o.lease.Heard(n.id, e.Renewal, o.w.clock)) })
		}
	case overlay.SendHandOver:
		n.sayLease(e.To, false, func(o *node) { o.obey(o.lease.Handed(n.id, e.Renewal, o.w.clock)) })
	case overlay.Refuse:
		n.sayLease(e.To, false, func(o *node) { o.obey(o.lease.Refused(e.Leader, e.Epoch, o.w.clock)) })
	}
}

func (n *node) sayLease(to peerID, renewal bool, hear func(o *node)) {
	o := n.w.byID[to]
	n.request(o, overlay.RenewEvery, func() {
		o.judge(o.suspicion.Answered(n.id, o.w.clock))
		o.catchUp()
		hear(o)
	}, func(ok, _ bool) {
		switch {
		case !ok:
			n.doubt(to, "it did not take a renewal of the lease")
		case renewal:
			n.lease.Acked(to, n.w.clock)
			n.leaseAgain = true
			n.judge(n.suspicion.Answered(to, n.w.clock))
		}
	})
}
