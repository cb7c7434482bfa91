package scheduler

import (
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/scheduler/replication"
	"godwit/task"
)

// Step advances the machine; now never decreases. It keeps neither ev nor the
// returned slice. Its cost follows from what changes, not from how much waits
// or how many members there are.
//
// It has eight phases, each of which stands on those before it:
//
//  1. The first Step of a term books what the leader before gave, so that an event is
//     taken in by a coordinator that knows all it can know.
//  2. The event is taken in. What it says of tasks, slots and members counts at once, and
//     is persisted where it counts; what follows from it waits for the phases below.
//  3. Reminders that are due go off: leases expire, graces and pauses end. It is after the
//     event, which may be the word that a lease was waiting for.
//  4. Tasks that run on members that give notice begin to move. They come before those
//     that wait, since they would lose what they did, and idle slots may go to either.
//  5. Waiting tasks are placed. What then still waits has slots given back for it, where
//     the rules say so; and where nothing waits, tails of jobs go to idle members. So no
//     slot is asked back, or filled by a copy, that somebody could have used.
//  6. The policies hear what was lost, and the next look is arranged: after the placements,
//     to which their answers do not apply.
//  7. Tasks that wait at busy members are asked back for idle ones: those that phase 5 left.
//     Then jobs end of which no more was to begin, and nothing runs.
//  8. Followers and workers are told: of all of it, once, when nothing changes any more.
//     See flush for the order.
func (c *Coordinator) Step(now time.Time, ev message.Event) []message.Effect {
	c.now, c.effects = now, c.room.Begin()
	c.dispatch.begin()
	c.replicas.At(now, c.term.epoch)
	if !c.term.begun {
		c.term.begin()
	}
	c.take(ev)
	c.goOff()
	c.members.doubtIfDue()
	c.migration.scanIfDue()
	c.dispatch.placeWaiting()
	c.claims.settleAged()
	c.dispatch.makeRoom()
	c.migration.tailsIfDue()
	c.dispatch.teach()
	c.dispatch.askAgain()
	c.dispatch.recall()
	c.dispatch.recalling.arm()
	c.claims.armAging()
	c.migration.arm()
	c.table.endEnding()
	c.replicas.FollowFirst()
	c.seeker.seek()
	c.flush()
	c.effects = c.room.End(c.effects)
	return c.effects
}

// take takes in an event.
func (c *Coordinator) take(ev message.Event) {
	switch ev := ev.(type) {
	case *message.Received:
		c.receive(ev.From, ev.Message)
	case message.MemberSeen:
		c.members.memberSeen(&ev.Advert)
	case message.MemberLost:
		c.members.memberLost(ev.Peer, ev.Reason)
		c.replicas.Suspect(ev.Peer, ev.Reason)
	case message.GroupIs:
		c.replicas.GroupIs(ev.Followers)
	case message.Suspected:
		c.replicas.Suspect(ev.Peer, "it was silent for too long")
	case message.Fetched:
		c.table.fetched(ev)
	case message.Audited:
		c.reports.refereed(&ev)
	case message.Proven:
		c.members.proven(&ev)
	}
}

// goOff has reminders go off that are due.
func (c *Coordinator) goOff() {
	for r, ok := c.timers.Due(c.now); ok; r, ok = c.timers.Due(c.now) {
		c.remind(r)
	}
}

func (c *Coordinator) remind(r reminder) {
	switch {
	case r.host != "":
		if h := c.members.hosts[r.host]; h != nil {
			c.members.lookAt(h)
		}
	case r.job != "":
		if j := c.table.jobs[r.job]; j != nil && j.state == jobOpen {
			c.table.checkAsked(j)
			c.table.checkDeadline(j)
		}
	case r.divided != "":
		c.table.tellDivided(c.table.jobs[r.divided])
	case r.tick:
		c.replicas.Tick()
	case r.scan: // scanIfDue follows
	case r.tail:
		c.migration.tailDue = true
	case r.shares:
		c.dispatch.recalling.look()
	case r.aging:
		c.claims.age()
	case r.ask:
		c.dispatch.asking, c.dispatch.widened = false, true
	case r.sought != nil:
		c.seeker.secureAgain(*r.sought)
	case c.term.recovering && !c.now.Before(c.term.placeFrom):
		c.term.recovering, c.dispatch.widened = false, true
	}
}

func (c *Coordinator) receive(from task.PeerID, m *message.Message) {
	switch {
	case m.Submit != nil:
		c.table.submit(from, m.Submit)
	case m.Got != nil:
		c.table.got(from, m.Got)
	case m.Made != nil:
		hearMade(&c.table, from, m.Made)
	case m.Cancel != nil:
		c.table.cancel(m.Cancel)
	case m.Report != nil:
		c.reports.report(from, m.Report)
	case m.Known != nil:
		c.replicas.Known(from, m.Known)
	case m.Copied != nil:
		c.replicas.Copied(from, m.Copied)
	}
}

// flush sends what the Step has gathered. Acknowledgements come after every
// Persist, since those were emitted where the facts changed, and before new
// leases, so that what is dropped makes room first.
func (c *Coordinator) flush() {
	c.replicas.ShareUrgent()
	c.replicas.SendCopies()
	c.replicas.SendPromises()
	c.outbox.sign()
	for _, m := range c.outbox.mail {
		if m.ack != nil {
			c.replicas.Acknowledge(m.to, m.ack)
		}
	}
	for _, m := range c.outbox.mail {
		for _, p := range m.full {
			c.emit(message.Send{To: m.to, Message: message.Message{Place: p}})
		}
		if m.place != nil {
			c.emit(message.Send{To: m.to, Message: message.Message{Place: m.place}})
		}
	}
	c.outbox.empty()
	for _, j := range c.changed {
		j.changed = false
		c.sendProgress(j)
		c.emit(message.JobChanged{Job: j.id})
	}
	c.changed = c.changed[:0]
}

// NewCoordinator returns a coordinator of the given term with an empty ledger.
// cfg must be valid. A node that led before calls Restore, which begins a
// later term than any persisted.
func NewCoordinator(self task.PeerID, cfg Config, epoch uint64) *Coordinator {
	policy, err := cfg.policy()
	if err != nil {
		panic("scheduler: the configuration was not validated: " + err.Error())
	}
	mover, err := cfg.mover()
	if err != nil {
		panic("scheduler: the configuration was not validated: " + err.Error())
	}
	c := &Coordinator{self: self, cfg: cfg, ledger: cfg.newLedger()}
	c.term = term{c: c, epoch: max(epoch, 1)}
	c.table = jobTable{c: c, jobs: map[task.JobID]*job{}, accounts: map[task.PeerID]*account{},
		fetches: map[string]*fetching{}}
	c.members = membership{
		c: c, hosts: map[task.PeerID]*host{}, backlog: map[task.PeerID]*host{},
		roster: hostSet{which: allHosts}, idle: hostSet{which: idleHosts},
		noticed: hostSet{which: noticedHosts},
	}
	c.reports.c, c.transfers.c, c.chunks.c, c.nearby.c = c, c, c, c
	c.replicas = replication.New(self, &c.cfg.Timing, book{c})
	c.seeker = seeker{c: c, sought: map[message.HoldName]*seeking{}}
	c.learnt = newRates(c)
	c.claims = claims{c: c, fair: fairnessOf(&cfg.Rules)}
	c.claims.queue = newTurns(c.claims.comesBefore, func(cl *claimant) *int { return &cl.place })
	c.dispatch = dispatch{c: c, forecast: place.Unknown{}}
	c.dispatch.recalling.d = &c.dispatch
	c.dispatch.goBy(policy)
	c.migration = migration{c: c, mover: mover, forecast: foretold{c}}
	c.outbox = outbox{c: c}
	c.claims.queueByClass()
	return c
}

// Restore takes in what was persisted, before the first Step, and begins a new
// term. It returns effects that the driver must carry out before anything
// else; call it on a first start too, with no pairs. What cannot be read is
// left out and told in the error; the rest is good.
func (c *Coordinator) Restore(pairs map[string][]byte) ([]message.Effect, error) {
	l, last, err := restore(pairs, c.cfg.Opened)
	if last > 0 {
		c.term.epoch = max(c.term.epoch, last+1)
	}
	c.effects = nil
	dropUnvouched(&c.cfg, l)
	c.term.takeUp(l, nil)
	c.term.persistEpoch()
	return c.effects, err
}
