package node

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/task"
)

// leaseKey is where a membership keeps the highest epoch that this node has led
// in, and the group of the time.
const leaseKey = "l/lease"

const (
	// regroupGap is the least time between two looks at who should coordinate, so
	// that a burst of adverts costs one.
	regroupGap = 200 * time.Millisecond
	// regroupEvery is how often to look though no advert came: forecasts change
	// with the hour.
	regroupEvery = time.Minute
	// foundWaitLAN is how long a node that only asks the local network waits for
	// an answer before it leads alone: one there takes well under a second.
	foundWaitLAN = time.Second
)

// A part is a membership's part in coordinating. Exactly one of coordinator and
// replica is not nil.
type part struct {
	lease       *overlay.Lease
	levels      overlay.Levels
	coordinator *scheduler.Coordinator // while this node leads
	replica     *scheduler.Replica     // while it does not
	followers   []task.PeerID          // as the coordinator last heard
	regroupAt   time.Time
	regrouped   time.Time
	counts      scheduler.LedgerCounts // of the ledger here, at digestAt
	digest      [32]byte
	digestAt    time.Time
	foundAt     time.Time // when to lead without having heard of anybody; zero for never
}

// leaseRecord is a lease on disk.
type leaseRecord struct {
	Epoch uint64        `json:"epoch"`
	Group []task.PeerID `json:"group"`
}

// restorePart brings the copy of the ledger and the highest epoch back.
func (m *membership) restorePart(ctx context.Context, cfg scheduler.Config) error {
	n := m.n
	kept, err := n.store.load(ctx, m.prefix, "l/")
	if err != nil {
		return err
	}
	var last leaseRecord
	if b, ok := kept[leaseKey]; ok {
		if err := json.Unmarshal(b, &last); err != nil {
			m.log.Error("the last epoch cannot be read", "err", err)
		}
	}
	pairs, err := n.store.load(ctx, m.prefix, "c/")
	if err != nil {
		return err
	}
	m.replica = scheduler.NewReplica(n.self, cfg)
	effects, err := m.replica.Restore(pairs)
	if err != nil {
		m.log.Error("part of the ledger cannot be read; other coordinators and the submitters have those jobs", "err", err)
	}
	m.do(m.replica, effects)
	now := n.now()
	m.lease = overlay.NewLease(n.self, max(last.Epoch, m.replica.Epoch()), now)
	m.regroupAt = now
	alone := len(last.Group) == 0 || slices.Equal(last.Group, []task.PeerID{n.self})
	switch {
	case !alone || len(n.cfg.Bootstrap) > 0: // the lease says how long to wait
	case n.cfg.MDNS:
		m.foundAt = now.Add(foundWaitLAN)
	default:
		m.foundAt = now
	}
	return nil
}

// foundIfAlone leads when there was nobody to hear of.
func (m *membership) foundIfAlone(now time.Time) {
	if m.foundAt.IsZero() || m.foundAt.After(now) || m.advertised.Seq == 0 {
		return
	}
	m.foundAt = time.Time{}
	if leader, _ := m.lease.Leader(); leader == "" && len(m.view.Members()) <= 1 {
		m.log.Info("no other member found: leading the overlay")
		m.obey(m.lease.Found(now))
	}
}

// regroup looks at who should coordinate.
func (m *membership) regroup(now time.Time) {
	m.regroupAt, m.regrouped = now.Add(regroupEvery), now
	members := m.view.Members()
	forecasts := make(map[task.PeerID]overlay.Forecast, len(members))
	m.n.refreshPool(now)
	for i := range members {
		forecasts[members[i].Peer] = overlay.ForecastOf(&members[i], m.n.past.pool, now)
	}
	m.yieldIfUnfit(members, now)
	candidates := m.levels.Candidates(members, forecasts, now)
	k := m.manifest.Group()
	if m.lease.Leads() {
		m.obey(m.lease.GroupChanged(overlay.Regroup(m.id, m.lease.Group(), candidates, k), now))
		return
	}
	m.obey(m.lease.GroupChanged(overlay.Group(m.id, candidates, k), now))
}

// regroupSoon has the group looked at again because a member came, went or
// changed.
func (m *membership) regroupSoon() {
	at := m.n.now()
	if next := m.regrouped.Add(regroupGap); at.Before(next) {
		at = next
	}
	if at.Before(m.regroupAt) {
		m.regroupAt = at
	}
}

// yieldIfUnfit leaves leading to others while this machine's owner uses it, or
// while it is not likely to be there for long, if another is better: where all
// are alike, waiting for one another would only leave the overlay without a
// leader for longer.
func (m *membership) yieldIfUnfit(members []overlay.Advert, now time.Time) {
	self := slices.IndexFunc(members, func(a overlay.Advert) bool { return a.Peer == m.n.self })
	if self < 0 {
		return
	}
	if !m.fit(&members[self]) && slices.ContainsFunc(members, func(a overlay.Advert) bool { return a.Peer != m.n.self && m.fit(&a) }) {
		m.obey(m.lease.Yield(now))
		return
	}
	m.lease.Stand()
}

// fit says whether a member is one to lead: nobody uses its machine, and it is
// likely to be there for a while.
func (m *membership) fit(a *overlay.Advert) bool {
	f := m.n.forecast(a, overlay.HandOverHorizon)
	return f.State == overlay.Available && f.Stay >= overlay.HandOverBelow
}

// obey carries out what the lease asks for. What must be durable is so before
// anything is sent.
func (m *membership) obey(effects []overlay.LeaseEffect) {
	for _, e := range effects {
		switch e := e.(type) {
		case overlay.BecomeLeader:
			m.lead(e.Epoch)
		case overlay.StepDown:
			m.stepDown(e)
		case overlay.Follow:
			m.n.checkThere(e.Leader)
		case overlay.Suspect:
			m.suspected(e.Peer)
		default: // to be sent
			m.n.pending = append(m.n.pending, pending{lease: e, of: m})
		}
	}
	m.leaderMayHaveChanged()
}

// suspected asks after a coordinator that is silent; a leader does not wait for
// it meanwhile.
func (m *membership) suspected(peer task.PeerID) {
	m.log.Info("a coordinator is silent", "peer", peer)
	m.n.doubt(peer, "its lease fell silent")
	if m.coordinator != nil {
		m.step(m.coordinator, message.Suspected{Peer: peer})
	}
}

// lead makes this node the overlay's leader in an epoch, with the copy of the
// ledger that it has.
func (m *membership) lead(epoch uint64) {
	n := m.n
	m.keepLease(epoch)
	if m.coordinator != nil {
		m.do(m.coordinator, m.coordinator.Begin(epoch))
		m.log.Info("leading a later term", "term", overlay.Term(epoch))
		m.leaderMayHaveChanged()
		m.advertise()
		return
	}
	c, effects := m.replica.Lead(n.now(), epoch)
	m.coordinator, m.replica, m.followers = c, nil, nil
	c.Foresee(foresight{m.n, m.view})
	if err := c.Govern(rulesOf(&m.manifest)); err != nil { // they may have changed while it did not lead
		m.log.Error("this node cannot follow the overlay's policies: those before hold", "err", err)
	}
	m.do(c, effects)
	for _, a := range m.view.Members() {
		m.step(c, message.MemberSeen{Advert: a})
	}
	m.log.Info("leading the overlay", "term", overlay.Term(epoch), "epoch", epoch)
	m.regroupAt = n.now() // whom the last leader named may be gone as well
	m.leaderMayHaveChanged()
	m.advertise()
}

// stepDown leaves leading to another; this node's ledger is merged with its.
func (m *membership) stepDown(e overlay.StepDown) {
	m.log.Info("leading no longer", "reason", e.Reason.String(), "to", e.To)
	if m.coordinator == nil {
		return
	}
	m.replica, m.coordinator, m.followers = m.coordinator.Retire(), nil, nil
	clear(m.gone)
	m.leaderMayHaveChanged()
	m.advertise()
}

func (m *membership) keepLease(epoch uint64) {
	b, err := json.Marshal(leaseRecord{epoch, m.lease.Group()})
	if err != nil {
		m.log.Error("keeping the epoch", "err", err)
		return
	}
	m.keep(leaseKey, b)
}

// leaderMayHaveChanged tells the machines whom to talk to, and the coordinator
// who follows it.
func (m *membership) leaderMayHaveChanged() {
	leader, epoch := m.lease.Leader()
	if now := (message.LeaderChanged{Leader: leader, Epoch: epoch}); now != m.leader {
		m.leader = now
		m.log.Info("leader", "peer", leader, "term", overlay.Term(epoch))
		m.tell(now)
	}
	if m.coordinator == nil {
		return
	}
	followers := m.lease.Group()
	if len(followers) > 0 {
		followers = followers[1:]
	}
	if !slices.Equal(followers, m.followers) {
		m.followers = slices.Clone(followers)
		m.keepLease(epoch)
		m.step(m.coordinator, message.GroupIs{Followers: m.followers})
	}
}
