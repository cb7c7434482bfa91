package member

import (
	"godwit/scheduler/authority"
	"godwit/scheduler/message"
	"godwit/task"
)

// received gives a message to the machine that it is for, if who says it may.
func (m *Member) received(from task.PeerID, msg *message.Message) {
	if from != m.p.cfg.Self {
		m.claimedBy(from, msg)
		judged, err := authority.Check(from, msg, knows{m})
		if err != nil {
			m.notice(Debug, "a message is not heard", "peer", from, "message", msg.Kind(), "reason", err)
			return
		}
		msg = judged
		if (msg.Report != nil || msg.Known != nil) && !m.cell.Whole() && !m.ofCell(from) {
			m.tellWhere(from) // it takes this member for its leader
		}
	}
	m.heard = message.Received{From: from, Message: msg}
	ev := message.Event(&m.heard)
	switch {
	case msg.Place != nil || msg.Ack != nil || msg.Wrong != nil:
		m.step(m.worker, ev)
	case msg.Accepted != nil || msg.Progress != nil:
		m.step(m.submitter, ev)
	case msg.Got != nil && msg.Got.Asks && m.worker.HasResults(msg.Got.Job):
		m.step(m.worker, ev)
		m.step(m.Role(), ev)
	default:
		m.step(m.Role(), ev)
	}
}

// wake does what time has made due.
func (m *Member) wake() {
	now := m.p.now
	m.expire(now)
	m.wakeCells(now)
	if !m.nextAdvert.After(now) {
		m.Advertise()
	}
	tellFree(m, now)
	m.foundIfAlone(now)
	if m.lookedAt() && !lookDue(m).After(now) {
		m.regroup(now)
	}
	if m.lookedAt() && !m.lease.Next().After(now) {
		m.obey(m.lease.Tick(now))
	}
	for _, to := range []Machine{m.Role(), m.worker, m.submitter} {
		if at, ok := to.NextWake(); ok && !at.After(now) {
			m.step(to, message.Wake{})
		}
	}
}

// nextWake takes in each time at which wake has something to do. It is asked after each turn.
func (m *Member) nextWake(first *soonest) {
	first.by(m.nextAdvert, !m.nextAdvert.IsZero())
	first.by(m.freeDue, !m.freeDue.IsZero())
	first.by(m.expiry, !m.expiry.IsZero())
	first.by(m.foundAt, !m.foundAt.IsZero())
	first.by(m.busy, !m.busy.IsZero())
	first.by(m.lookAt, m.inCells())
	if !m.leaseAsked { // it is asked after each change of it
		m.leaseAsked, m.looked = true, m.lookedAt()
		if m.looked {
			m.leaseAt = m.lease.Next()
		}
	}
	if m.looked {
		first.by(lookDue(m), true)
		first.by(m.leaseAt, true)
	}
	if m.coordinator != nil {
		first.by(m.coordinator.NextWake())
	} else {
		first.by(m.replica.NextWake())
	}
	first.by(m.worker.NextWake())
	first.by(m.submitter.NextWake())
}
