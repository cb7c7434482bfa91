package scheduler

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/replication"
	"godwit/task"
)

// A term is the time for which a coordinator leads in one epoch, and how it began.
type term struct {
	c *Coordinator

	epoch    uint64    // this term; larger than that of any lease given before it
	outran   uint64    // the last that the driver was told of by Outrun
	outranAt time.Time // when
	seq      uint64    // attempts numbered in this term
	// RecoverGrace runs from the first Step after a Restore, or a Lead, that found
	// open jobs.
	recovering bool
	placeFrom  time.Time
	// inherited says who ran what under the last leader, until the first Step.
	// led says that this is by Lead: blocks may be missing here.
	inherited map[task.TaskID][]message.LiveLease
	begun     bool
	led       bool
	since     time.Time // of the first Step
}

// Begin makes the coordinator go on in a later epoch, as its overlay.Lease says:
// workers that obeyed another may not obey it before. The effects are carried
// out before anything else.
func (c *Coordinator) Begin(epoch uint64) []message.Effect {
	if epoch <= c.term.epoch {
		return nil
	}
	c.term.epoch, c.term.seq, c.effects = epoch, 0, nil
	c.term.persistEpoch()
	c.replicas.Begin() // sessions are of one epoch
	effects := c.effects
	c.effects = nil
	return effects
}

// outrunEvery is how often the driver is told of the same later epoch: it may not have
// heeded who said so.
const outrunEvery = 10 * time.Second

// outrun tells the driver of an epoch that is higher than this coordinator's: whoever
// obeys it does not listen to us. It happens when another leads, and when this node lost
// its disk.
func (t *term) outrun(from task.PeerID, epoch uint64) {
	if epoch > t.epoch && (epoch != t.outran || !t.c.now.Before(t.outranAt.Add(outrunEvery))) {
		t.outran, t.outranAt = epoch, t.c.now
		t.c.emit(message.Outrun{From: from, Epoch: epoch})
	}
}

// neverGiven looks at an attempt that somebody names. One of this epoch that was not
// given in it is of a former life of this node, which led, lost its disk, heard of
// nobody and so leads in the same epoch again. Epochs fence only where each is led
// in once: the driver is asked for a later one.
func (t *term) neverGiven(from task.PeerID, a message.Attempt) {
	if a.Epoch == t.epoch && a.Seq > t.seq {
		t.outrun(from, t.epoch+1)
	}
}

// Digest stands for what the ledger knows: see ledger.Ledger.Digest.
func (c *Coordinator) Digest() [32]byte { return c.ledger.Digest() }

// A FollowerStatus is a replica as the leader sees it.
type FollowerStatus = replication.FollowerStatus

// Followers lists the group without the leader, by rank.
func (c *Coordinator) Followers() []FollowerStatus { return c.replicas.Followers() }

// takeUp makes a ledger current that was held, not led. The rest, which needs
// the time, is for the first Step.
func (t *term) takeUp(l *ledger.Ledger, live map[task.TaskID][]message.LiveLease) {
	t.c.ledger = l
	for _, id := range slices.Sorted(maps.Keys(l.Jobs)) {
		t.c.table.reopen(id, l.Jobs[id])
	}
	t.inherited = live
}

// bookInherited books the leases that the copy names, so that what runs is not
// started again. What the last leader told of a task counts before the log of
// its row, which says nothing of leases given up.
func (t *term) bookInherited() {
	for _, id := range slices.Sorted(maps.Keys(t.c.table.jobs)) {
		j := t.c.table.jobs[id]
		if j.state != jobOpen {
			continue
		}
		for _, i := range slices.Sorted(maps.Keys(j.ledger.Rows)) {
			name := task.TaskID{Job: id, Index: i}
			if _, told := t.inherited[name]; told || j.ledger.Verdict(i) != ledger.Open {
				continue
			}
			for _, l := range j.ledger.Rows[i].Log {
				if l.End.IsZero() {
					t.book(j, i, message.LiveLease{Worker: l.Worker, Attempt: l.Attempt, Start: l.Start})
				}
			}
		}
	}
	for _, name := range message.SortedTasks(t.inherited) {
		for _, l := range t.inherited[name] {
			if j := t.c.reports.current(name); j != nil {
				t.book(j, name.Index, l)
			}
		}
	}
	t.inherited = nil
}

// book takes a lease of a former term on the books.
func (t *term) book(j *job, i uint64, l message.LiveLease) {
	if j.state != jobOpen || j.ledger.Verdict(i) != ledger.Open || slices.Contains(j.workersOf(i), l.Worker) ||
		j.wants(i) == 0 || l.Worker == "" || j.leaseOn(i, l.Worker, l.Attempt) != nil {
		return
	}
	given := t.c.addLease(j, t.c.members.host(l.Worker), i, l.Attempt, "given by the leader before", nil)
	given.start = l.Start.Time
	given.take(leasing.Supposes) // it is not to be taken back
	if l.To != "" && l.To != l.Worker && l.Attempt.Less(l.As) && j.mayResume() {
		t.c.transfers.bookMove(given, t.c.members.host(l.To), l.As)
		given.move.awaited = false // as far as is known
	}
}

// secureAll has this node fetch what it may lack of the blocks that its copy of
// the ledger stands on: only the second coordinator held them so far.
func (s *seeker) secureAll() {
	for _, id := range slices.Sorted(maps.Keys(s.c.table.jobs)) {
		j := s.c.table.jobs[id]
		if j.state != jobOpen {
			continue
		}
		s.secure(message.HoldName{Task: task.TaskID{Job: id}, Kind: message.HoldJob})
		for _, i := range slices.Sorted(maps.Keys(j.ledger.Rows)) {
			if n := (message.HoldName{Task: task.TaskID{Job: id, Index: i},
				Kind: message.HoldOutputs}); j.ledger.Verdict(i) == ledger.Done && s.c.hasBlocks(n) {
				s.secure(n)
			}
		}
	}
}

// begin does what a new term needs and the time is needed for.
func (t *term) begin() {
	t.begun, t.since = true, t.c.now
	if !t.recovering {
		return
	}
	t.placeFrom = t.c.now.Add(t.c.cfg.RecoverGrace)
	t.c.timers.Set(t.placeFrom, reminder{})
	t.bookInherited()
	if t.led {
		t.c.seeker.secureAll()
	}
}

func (t *term) persistEpoch() {
	t.c.emit(message.Persist{Key: epochKey, Value: strconv.AppendUint(nil, t.epoch, 10)})
}
