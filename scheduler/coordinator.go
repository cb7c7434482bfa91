package scheduler

import (
	"strconv"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/scheduler/replication"
	"godwit/scheduler/timer"
	"godwit/task"
)

// Durable keys of the Coordinator: its epoch, and the ledger's pairs.
const (
	coordinatorPrefix = "c/"
	epochKey          = coordinatorPrefix + "epoch"
)

// A Coordinator leads an overlay: it keeps the ledger, gives out leases and
// takes in results.
type Coordinator struct {
	term      term
	outbox    outbox
	chunks    chunks
	dispatch  dispatch
	reports   reports
	table     jobTable
	members   membership
	transfers transfers
	migration migration
	claims    claims
	seeker    seeker
	self      task.PeerID
	cfg       Config

	ledger *ledger.Ledger
	timers timer.Queue[reminder]

	replicas *replication.Replicas

	learnt *rates // of classes of tasks

	// What one Step gathers.
	now     time.Time
	effects []message.Effect
	changed []*job // to be told about
}

// reminder is what a timer is for. One field is set; none means placing may
// begin.
type reminder struct {
	host   task.PeerID       // look at its leases, its grace and its pauses
	job    task.JobID        // look at its deadline, and whether its submitter answered
	tick   bool              // look after followers
	sought *message.HoldName // seek its blocks again
	scan   bool              // look whether tasks should move
	tail   bool              // look at the tails of jobs
	ask    bool              // ask the placement policy again
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
	c := &Coordinator{self: self, cfg: cfg, ledger: ledger.New()}
	c.seeker.c = c
	c.claims.c = c
	c.migration.c = c
	c.transfers.c = c
	c.members.c = c
	c.table.c = c
	c.reports.c = c
	c.dispatch.c = c
	c.chunks.c = c
	c.outbox.c = c
	c.term.c = c
	// parts
	c.term.epoch, c.outbox.mail = max(epoch, 1), map[task.PeerID]*mail{}
	c.migration.mover, c.dispatch.policy, c.dispatch.forecast = mover, policy, place.Unknown{}
	c.table.jobs, c.table.fetches, c.seeker.sought = map[task.JobID]*job{}, map[string]*fetching{}, map[message.HoldName]*seeking{}
	c.members.hosts, c.members.backlog = map[task.PeerID]*host{}, map[task.PeerID]*host{}
	c.members.roster, c.members.idle = hostSet{which: allHosts}, hostSet{which: idleHosts}
	c.learnt = newRates(c)
	c.replicas = replication.New(self, &c.cfg.Timing, book{c})
	c.claims.queue = newTurns(c.claims.comesBefore, func(cl *claimant) *int { return &cl.place })
	c.claims.fair = newFairness(cfg.Rules.Fairness)
	c.claims.queueByClass()
	return c
}

// Restore takes in what was persisted, before the first Step, and begins a new
// term. It returns effects that the driver must carry out before anything
// else; call it on a first start too, with no pairs. What cannot be read is
// left out and told in the error; the rest is good.
func (c *Coordinator) Restore(pairs map[string][]byte) ([]message.Effect, error) {
	l, last, err := restore(pairs)
	if last > 0 {
		c.term.epoch = max(c.term.epoch, last+1)
	}
	c.effects = nil
	c.term.takeUp(l, nil)
	c.term.persistEpoch()
	return c.effects, err
}

// Epoch returns the coordinator's term.
func (c *Coordinator) Epoch() uint64 { return c.term.epoch }

func (b *term) persistEpoch() {
	b.c.emit(message.Persist{Key: epochKey, Value: strconv.AppendUint(nil, b.epoch, 10)})
}

// Step advances the machine; now never decreases. It keeps neither ev nor the
// returned slice. Its cost follows from what changes, not from how much waits
// or how many members there are.
func (c *Coordinator) Step(now time.Time, ev message.Event) []message.Effect {
	c.now, c.effects, c.dispatch.touched, c.dispatch.widened = now, nil, c.dispatch.touched[:0], false
	c.dispatch.deciding.step++
	c.replicas.At(now, c.term.epoch)
	if !c.term.begun {
		c.term.begin()
	}
	switch ev := ev.(type) {
	case message.Received:
		c.receive(ev.From, &ev.Message)
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
	}
	for {
		r, ok := c.timers.Due(now)
		if !ok {
			break
		}
		c.remind(r)
	}
	c.migration.scanIfDue()
	c.dispatch.placeWaiting()
	if !c.term.recovering {
		c.dispatch.makeRoom()
	}
	if c.migration.tailDue {
		c.migration.tailDue = false
		c.migration.lookAtTails()
	}
	c.dispatch.teach()
	c.dispatch.askAgain()
	c.dispatch.recall()
	c.migration.armScan()
	c.migration.armTail()
	c.replicas.FollowFirst()
	c.seeker.seek()
	c.flush()
	return c.effects
}

// begin does what a new term needs and the time is needed for.
func (b *term) begin() {
	b.begun, b.since = true, b.c.now
	if !b.recovering {
		return
	}
	b.placeFrom = b.c.now.Add(b.c.cfg.RecoverGrace)
	b.c.timers.Set(b.placeFrom, reminder{})
	b.bookInherited()
	if b.led {
		b.c.seeker.secureAll()
	}
}

// NextWake says when time alone will make the coordinator do something.
func (c *Coordinator) NextWake() (time.Time, bool) { return c.timers.Next() }

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
	case r.tick:
		c.replicas.Tick()
	case r.scan: // scanIfDue follows
	case r.tail:
		c.migration.tailDue = true
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

func (c *Coordinator) emit(e message.Effect) { c.effects = append(c.effects, e) }

func (c *Coordinator) decided(id task.TaskID, action string, peer task.PeerID, reason string) {
	c.emit(message.Decided{Task: id, Action: action, Peer: peer, Reason: reason})
}

// flush sends what the Step has gathered. Acknowledgements come after every
// Persist, since those were emitted where the facts changed, and before new
// leases, so that what is dropped makes room first.
func (c *Coordinator) flush() {
	c.replicas.ShareUrgent()
	c.replicas.SendCopies()
	c.replicas.SendPromises()
	for _, to := range c.outbox.mailTo {
		if m := c.outbox.mail[to]; m.ack != nil {
			c.replicas.Acknowledge(to, m.ack)
		}
	}
	for _, to := range c.outbox.mailTo {
		if m := c.outbox.mail[to]; m.place != nil {
			c.emit(message.Send{To: to, Message: message.Message{Place: m.place}})
		}
	}
	clear(c.outbox.mail)
	c.outbox.mailTo = c.outbox.mailTo[:0]
	for _, j := range c.changed {
		j.changed = false
		c.sendProgress(j)
		c.emit(message.JobChanged{Job: j.id})
	}
	c.changed = c.changed[:0]
}

// touch marks a job to be told about at the end of the Step.
func (c *Coordinator) touch(j *job) {
	if !j.changed {
		j.changed = true
		c.changed = append(c.changed, j)
	}
}
