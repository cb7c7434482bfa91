package member

import (
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/authority"
	"godwit/scheduler/message"
	"godwit/task"
)

// claimed takes in what an advert says of leading.
func (m *Member) claimed(a *overlay.Advert) {
	chief, _ := m.lease.Leader()
	if a.Peer == m.p.cfg.Self || a.Epoch == 0 && a.Peer != chief && !m.lease.Noted(a.Peer) {
		return
	}
	m.catchUp()
	if a.Epoch > 0 {
		group := append([]task.PeerID{a.Peer}, a.Group...)
		m.obey(m.lease.Claimed(a.Peer, overlay.Renewal{Epoch: a.Epoch, Group: group}, m.p.now))
		return
	}
	m.lease.StoodDown(a.Peer, m.p.now)
	m.obey(nil)
}

// candidates are the members that may coordinate.
func (m *Member) candidates(members []overlay.Advert, forecasts map[task.PeerID]overlay.Forecast) []overlay.Candidate {
	out := m.levels.Candidates(members, forecasts, m.p.now)
	return slices.DeleteFunc(out, func(c overlay.Candidate) bool { return !m.manifest.MayCoordinate(c.Peer) })
}

// forecasts are what the records of members say of their stays.
func (m *Member) forecasts(members []overlay.Advert, now time.Time) map[task.PeerID]overlay.Forecast {
	forecasts := make(map[task.PeerID]overlay.Forecast, len(members))
	pooled := m.p.RefreshPool(now)
	for i := range members {
		a := &members[i]
		f := m.foreseen[a.Peer]
		if f == nil && len(m.foreseen) < maxForeseen {
			if m.foreseen == nil {
				m.foreseen = map[task.PeerID]*overlay.Foreseen{}
			}
			f = &overlay.Foreseen{}
			m.foreseen[a.Peer] = f
		}
		if f == nil {
			forecasts[a.Peer] = overlay.ForecastOf(a, m.p.cfg.Pool, now)
		} else {
			forecasts[a.Peer] = f.Of(a, m.p.cfg.Pool, pooled, now)
		}
	}
	return forecasts
}

// maxForeseen bounds the members whose records are kept read, of about a kilobyte each: as many as a cell has
// before it divides.
const maxForeseen = 512

// A roll is a member as its lease asks it about others.
type roll struct{ m *Member }

// MayLead implements overlay.Roll. One that was lost is a member until its advert expires:
// the network may have parted it from this peer alone. Who has known of no leader yet
// believes the first that speaks to it: that one's advert may be on its way.
func (r roll) MayLead(peer task.PeerID) bool {
	return (!r.m.lease.Settled() || r.m.ofCell(peer)) && r.m.manifest.MayCoordinate(peer)
}

// Settled implements overlay.Roll.
func (r roll) Settled(peer task.PeerID) bool { return r.m.levels.Known(peer, r.m.p.now) }

// Before implements overlay.Roll: whom this member has known for a while comes first, and
// then the draw says it.
func (r roll) Before(a, b task.PeerID) bool {
	if known := r.Settled(a); known != r.Settled(b) {
		return known
	}
	i, stands := rank(r.m, a)
	j, other := rank(r.m, b)
	return stands && (!other || i < j)
}

var _ overlay.Roll = roll{}

// claimedBy takes in that who gives leases, or answers for them, in a later epoch leads in
// it: its advert may be on its way still.
func (m *Member) claimedBy(from task.PeerID, msg *message.Message) {
	var epoch uint64
	switch {
	case msg.Place != nil:
		epoch = msg.Place.Epoch
	case msg.Ack != nil:
		epoch = msg.Ack.Epoch
	case msg.Wanted != nil:
		epoch = msg.Wanted.Epoch
	case msg.Copy != nil:
		epoch = msg.Copy.Epoch
	}
	if _, known := m.lease.Leader(); epoch > known {
		m.catchUp()
		m.obey(m.lease.Claimed(from, overlay.Renewal{Epoch: epoch}, m.p.now))
	}
}

// knows is a member as authority asks it about others.
type knows struct{ m *Member }

// Self implements authority.Knows.
func (k knows) Self() task.PeerID { return k.m.p.cfg.Self }

// Member implements authority.Knows.
func (k knows) Member(peer task.PeerID) bool {
	return k.m.ofCell(peer) || k.m.Visits(peer)
}

// Leads implements authority.Knows.
func (k knows) Leads(peer task.PeerID) (epoch uint64, leads bool) {
	leader, epoch := k.m.lease.Leader()
	return epoch, leader == peer
}

// Coordinates implements authority.Knows.
func (k knows) Coordinates(peer task.PeerID) bool { return slices.Contains(k.m.Group(), peer) }

// LeadsCell implements authority.Knows.
func (k knows) LeadsCell(peer task.PeerID) bool {
	s, ok := k.m.others.Leader(peer)
	return ok && s.Holds(k.m.p.now) && (k.m.manifest.Admission == overlay.Open || k.Member(peer))
}

// Submitter implements authority.Knows.
func (k knows) Submitter(id task.JobID) (task.PeerID, bool) {
	if k.m.coordinator == nil {
		return "", false
	}
	peer, _, known := k.m.coordinator.Submitter(id)
	return peer, known
}

// Submits implements authority.Knows.
func (k knows) Submits(r *task.Record) task.PeerID { return k.m.opened.Submitter(r) }

// Leased implements authority.Knows.
func (k knows) Leased(id task.TaskID, a message.Attempt, worker task.PeerID) (*task.Receipt, bool) {
	if k.m.coordinator == nil {
		return nil, false
	}
	return k.m.coordinator.Leased(id, a, worker)
}

// Led implements authority.Knows.
func (k knows) Led(peer task.PeerID, epoch uint64) bool { return k.m.lease.Led(peer, epoch) }

// Receipts implements authority.Knows.
func (k knows) Receipts() bool { return !k.m.p.cfg.Unsigned }

var _ authority.Knows = knows{}
