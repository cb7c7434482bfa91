package member

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// An election is a member's part in coordinating. Exactly one of coordinator and
// replica is not nil.
type election struct {
	looks
	lease       *overlay.Lease
	leaseAt     time.Time // when it wants to be ticked
	leaseAsked  bool      // leaseAt and looked hold
	looked      bool      // what lookedAt says
	levels      overlay.Levels
	coordinator *scheduler.Coordinator // while this peer leads
	replica     *scheduler.Replica     // while it does not
	leader      message.LeaderChanged  // as the machines last heard
	followers   []task.PeerID          // as the coordinator last heard
	kept        LeaseRecord            // as it is on disk
	foundAt     time.Time              // when to lead without having heard of anybody; zero for never
	unfit       time.Time              // since when it is not fit to lead, if another is; zero for that it is
}

// Leader returns who leads, as the machines last heard.
func (e *election) Leader() message.LeaderChanged { return e.leader }

// Group returns the overlay's coordinators by rank, the leader first; nil before the member is restored.
// It is read only.
func (e *election) Group() []task.PeerID {
	if e.lease == nil {
		return nil
	}
	return e.lease.Group()
}

// JobKey returns the key of a sealed job that this peer has as a coordinator; nil where it has none. It is read only.
func (e *election) JobKey(id task.JobID) []byte {
	if e.coordinator != nil {
		_, key, _ := e.coordinator.Submitter(id)
		return key
	}
	return e.replica.Key(id)
}

// catchUp lets the lease have the ticks that were left out because they would do
// nothing: the lease takes a late one for a machine that starves.
func (m *Member) catchUp() {
	m.leaseAsked = false // who catches up is about to tell it something
	if m.lookedAt() {
		return
	}
	for at := m.lease.Next(); at.Before(m.p.now); at = m.lease.Next() {
		m.lease.Tick(at)
	}
}

// FoundAt has the member lead at a time if it has heard of nobody by then.
func (m *Member) FoundAt(at time.Time) { m.foundAt = at }

// foundIfAlone leads when there was nobody to hear of.
func (m *Member) foundIfAlone(now time.Time) {
	if m.foundAt.IsZero() || m.foundAt.After(now) || m.advertised.Seq == 0 {
		return
	}
	m.foundAt = time.Time{}
	leader, _ := m.lease.Leader()
	if leader == "" && len(m.view.Members()) <= 1 && len(m.visitors.known) == 0 && m.manifest.MayCoordinate(m.p.cfg.Self) {
		m.notice(Info, "no other member found: leading the overlay")
		m.obey(m.lease.Found(now))
	}
}

// regroup looks at who should coordinate.
func (m *Member) regroup(now time.Time) {
	m.regroupAt, m.regrouped = now.Add(regroupEvery), now
	members := m.view.Members()
	forecasts := m.forecasts(members, now)
	m.catchUp()
	if m.yieldIfUnfit(members, now) {
		return // the group stays as it is for as long
	}
	candidates := m.candidates(members, forecasts)
	k := cmp.Or(m.p.cfg.Experiment.Coordinators, m.manifest.Group())
	if m.lease.Leads() {
		m.obey(m.lease.GroupChanged(overlay.Regroup(m.id, m.lease.Group(), candidates, k), now))
		return
	}
	m.obey(m.lease.GroupChanged(overlay.Group(m.id, candidates, k), now))
}

// yieldIfUnfit leaves leading to others while this machine's owner uses it, or while
// it is not likely to be there for long, if another is better: where all are alike,
// waiting for one another would only leave the overlay without a leader for longer. It reports whether a leader waits
// before it yields: see yieldAfter.
func (m *Member) yieldIfUnfit(members []overlay.Advert, now time.Time) (waits bool) {
	own := func(a *overlay.Advert) bool { return a.Peer == m.p.cfg.Self }
	self := slices.IndexFunc(members, func(a overlay.Advert) bool { return own(&a) })
	if self < 0 {
		return false
	}
	fit := func(a *overlay.Advert) bool { // nobody uses its machine, and it is likely to be there for a while
		stay, _ := m.p.world.Stay(a, now, overlay.HandOverHorizon)
		return stay >= overlay.HandOverBelow
	}
	if !fit(&members[self]) && slices.ContainsFunc(members, func(a overlay.Advert) bool { return !own(&a) && fit(&a) }) {
		if m.unfit.IsZero() {
			m.unfit = now
		}
		if at := m.unfit.Add(yieldAfter); m.lease.Leads() && now.Before(at) {
			m.regroupAt = at
			return true
		}
		m.obey(m.lease.Yield(now))
		return false
	}
	m.unfit = time.Time{}
	m.lease.Stand()
	return false
}

// yieldAfter is for how long a leader has to be unfit before it yields. Owners come back together, in the morning or from
// lunch. Without the pause, leadership hops through all of their members, each of which seemed fit a moment before.
// It is longer than AdvertGap, after which all of them have said that their owners are back.
const yieldAfter = AdvertGap + time.Second

// obey carries out what the lease asks for.
func (m *Member) obey(effects []overlay.LeaseEffect) {
	for _, e := range effects {
		switch e := e.(type) {
		case overlay.BecomeLeader:
			m.lead(e.Epoch)
		case overlay.StepDown:
			m.stepDown(e)
		case overlay.Follow:
			if e.Leader != m.p.cfg.Self {
				m.p.emit(Ping{Peer: e.Leader, Wait: pingWait})
			}
		case overlay.Suspect:
			m.suspected(e.Peer)
		case overlay.SendRenewal:
			sayLease(m, m.says(Renewal, e.Renewal), e.To...)
		case overlay.SendHandOver:
			sayLease(m, m.says(Offer, e.Renewal), e.To)
		case overlay.Refuse:
			refusal := m.says(Refusal, overlay.Renewal{Epoch: e.Epoch})
			refusal.Leader = e.Leader
			sayLease(m, refusal, e.To)
		}
	}
	m.leaseAsked = false
	m.leaderMayHaveChanged()
}

func sayLease(m *Member, l Lease, to ...task.PeerID) {
	m.p.emit(SayLease{Of: m, To: to, Lease: l, Wait: m.lease.RenewWait()})
}

// suspected asks after a coordinator that is silent; a leader does not wait for it
// meanwhile.
func (m *Member) suspected(peer task.PeerID) {
	m.notice(Info, "a coordinator is silent", "peer", peer)
	m.p.doubt(peer, "its lease fell silent")
	if m.coordinator != nil {
		m.step(m.coordinator, message.Suspected{Peer: peer})
	}
}

// outrun takes in that a peer obeys a later epoch than this coordinator's.
func (m *Member) outrun(from task.PeerID, epoch uint64) {
	m.catchUp()
	m.obey(m.lease.Refused(from, "", epoch, m.p.now))
}

// hear takes in what another's lease says.
func (m *Member) hear(from task.PeerID, l Lease) {
	m.p.judge(m.p.suspicion.Answered(from, m.p.now))
	if !m.sameCell(from, l.Bits) {
		m.tellWhere(from)
		return
	}
	m.catchUp()
	switch l.Kind {
	case Renewal:
		m.obey(m.lease.Heard(from, l.Renewal, m.p.now))
	case Offer:
		if !m.manifest.MayCoordinate(m.p.cfg.Self) {
			return
		}
		m.obey(m.lease.Handed(from, l.Renewal, m.p.now))
	case Refusal:
		m.obey(m.lease.Refused(from, l.Leader, l.Renewal.Epoch, m.p.now))
	}
}

// leaseTaken takes in what came of saying something to another's lease.
func (m *Member) leaseTaken(ev *LeaseTaken) {
	switch {
	case ev.Silent:
		m.p.doubt(ev.By, "it did not take a renewal of the lease")
	case ev.Renewal:
		m.lease.Acked(ev.By, m.p.now)
		m.leaseAsked = false
		m.p.judge(m.p.suspicion.Answered(ev.By, m.p.now))
	}
}

// Found has the member lead though others may: one of them has to be the first.
func (m *Member) Found() {
	if m.manifest.MayCoordinate(m.p.cfg.Self) {
		m.obey(m.lease.Found(m.p.now))
	}
}

// lead makes this peer the overlay's leader in an epoch, with the copy of the ledger
// that it has.
func (m *Member) lead(epoch uint64) {
	now := m.p.now
	m.keepLease(epoch)
	m.p.emit(LeadershipChanged{Of: m, Epoch: epoch, Takeover: m.coordinator == nil})
	if m.coordinator != nil {
		m.do(m.coordinator, m.coordinator.Begin(epoch))
		m.notice(Info, "leading a later term", "term", overlay.Term(epoch))
		m.leaderMayHaveChanged()
		m.Advertise()
		return
	}
	c, effects := m.replica.Lead(now, epoch)
	m.coordinator, m.replica, m.followers = c, nil, nil
	c.Foresee(foresight{m: m})
	c.Recognise(m.lease.Led)
	if err := c.Govern(m.p.cfg.Experiment.rules(&m.manifest)); err != nil { // they may have changed while it did not lead
		m.notice(Error, "this node cannot follow the overlay's policies: those before hold", "err", err)
	}
	m.do(c, effects)
	for _, a := range m.view.Members() {
		m.step(c, message.MemberSeen{Advert: a})
	}
	m.led = now
	m.lookAt = time.Time{}
	if m.orphan {
		m.divide()
		m.orphan = false
	}
	m.refuse(submitter.Proven(m.submitter, false))
	m.notice(Info, "leading the overlay", "term", overlay.Term(epoch), "epoch", epoch)
	m.regroupAt = now // whom the last leader named may be gone as well
	m.leaderMayHaveChanged()
	m.Advertise()
}

// stepDown leaves leading to another; this peer's ledger is merged with its.
func (m *Member) stepDown(e overlay.StepDown) {
	m.notice(Info, "leading no longer", "reason", e.Reason.String(), "to", e.To)
	if m.coordinator == nil {
		return
	}
	m.replica, m.coordinator, m.followers = m.coordinator.Retire(), nil, nil
	clear(m.gone)
	m.unsum()
	m.p.emit(LeadershipChanged{Of: m})
	m.leaderMayHaveChanged()
	m.Advertise()
}

// leaderMayHaveChanged tells the machines whom to talk to, and the coordinator who
// follows it.
func (m *Member) leaderMayHaveChanged() {
	leader, epoch := m.lease.Leader()
	if now := (message.LeaderChanged{Leader: leader, Epoch: epoch}); now != m.leader {
		m.leader = now
		m.descent.follow(leader, epoch)
		m.notice(Info, "leader", "peer", leader, "term", overlay.Term(epoch))
		m.tell(now)
		m.keepCell()
	}
	if m.coordinator == nil {
		m.keepGroup()
	}
	followers := m.lease.Group()
	if len(followers) > 0 {
		followers = followers[1:]
	}
	if slices.Equal(followers, m.followers) {
		return
	}
	m.followers = slices.Clone(followers)
	if m.coordinator != nil {
		m.keepLease(epoch)
		m.AdvertiseSoon() // outside the group, others know by it whose claims to believe
	}
	m.step(m.Role(), message.GroupIs{Followers: m.followers})
}

// LeaseKey is where a member keeps the highest epoch that it has led in, and the group
// of the time.
const LeaseKey = "l/lease"

// A LeaseRecord is a lease on disk, as JSON.
type LeaseRecord struct {
	Epoch uint64        `json:"epoch"`
	Group []task.PeerID `json:"group"`
	Led   []task.PeerID `json:"led,omitempty"` // who led or stood by before, the newest last
	// Followed are epochs that the member led or followed in, the newest last.
	Followed []uint64 `json:"followed,omitempty"`
}

// keepGroup saves the group while this member is in it, since this member may lead next, and which leaders this member has
// followed: after a restart it still has to know whose receipts count.
func (m *Member) keepGroup() {
	group := m.lease.Group()
	if !slices.Contains(group, m.p.cfg.Self) {
		group = m.kept.Group // only a coordinator waits for its group after a restart
	}
	if !slices.Equal(group, m.kept.Group) || !slices.Equal(m.lease.FollowedEpochs(), m.kept.Followed) {
		m.keep(m.kept.Epoch, group)
	}
}

func (m *Member) keepLease(epoch uint64) { m.keep(epoch, m.lease.Group()) }

func (m *Member) keep(epoch uint64, group []task.PeerID) {
	m.kept = LeaseRecord{epoch, slices.Clone(group), slices.Clone(m.lease.Remembered()),
		slices.Clone(m.lease.FollowedEpochs())}
	b, err := json.Marshal(m.kept)
	if err != nil {
		m.notice(Error, "keeping the epoch", "err", err)
		return
	}
	m.persist(LeaseKey, b)
}

func (m *Member) persist(key string, value []byte) {
	m.p.emit(&Do{Of: m, Effects: []message.Effect{message.Persist{Key: key, Value: value}}})
}

// Coordinator returns the machine that leads the overlay; nil while another does.
func (e *election) Coordinator() *scheduler.Coordinator { return e.coordinator }

// Replica returns the machine that follows the leader; nil while this peer leads.
func (e *election) Replica() *scheduler.Replica { return e.replica }

// Role returns the coordinator, or else the replica.
func (e *election) Role() Machine {
	if e.coordinator != nil {
		return e.coordinator
	}
	return e.replica
}
