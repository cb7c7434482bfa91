package scheduler

import (
	"cmp"
	"errors"
	"slices"

	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// savedBy brings a checkpoint of a lease here. It counts once its blocks are
// held and the row that names it is durable: it must not vanish with its worker.
func (r *reports) savedBy(h *host, s *message.SavedState) {
	j := r.current(s.Task)
	if j == nil || !s.Checkpoint.Valid() || !j.mayResume() || j.state != jobOpen ||
		j.ledger.Verdict(s.Task.Index) != ledger.Open {
		return
	}
	l := leaseOf(j, h, s.Task.Index, s.Attempt)
	if l == nil && r.c.transfers.onTheWay(j, h, s) || l != nil && l.is(leasing.Awaits) {
		r.c.transfers.strayState(j, h, s)
		return
	}
	if l != nil {
		l.saved.told = max(l.saved.told, s.Checkpoint.Fuel)
		if l.is(leasing.Hearsay) {
			l.take(leasing.Starts)
		}
	}
	if l != nil && l.is(leasing.Open) {
		r.met(l, s)
	}
	if l == nil || !l.is(leasing.Open) || !j.wantsState(s.Task.Index, &s.Checkpoint) {
		return
	}
	saved := s.Checkpoint
	if l.saved.refused == saved.Fuel {
		return
	}
	err := r.c.vouched(s.Task, &saved, h.peer)
	if err == nil && j.replicated() {
		if !l.mayBeOf(&saved) {
			err = errors.New("it is in the line of another replica")
		} else {
			l.learnLine(&saved)
		}
	}
	if err != nil {
		l.saved.refused = saved.Fuel
		r.c.refuseState(s.Task, h.peer, err)
		return
	}
	if l.saved.fetching == 0 {
		r.fetchState(l, &saved)
	} else if l.saved.fetching < saved.Fuel && (l.saved.next == nil || l.saved.next.Fuel < saved.Fuel) {
		l.saved.next = &saved // one at a time
	}
}

// vouched returns nil if a checkpoint of a task may be gone on from: a worker vouches for it
// that had the lease of a leader known here, and its work can have been done. by is that
// worker; "" for any. Where nothing is signed, all are good.
func (c *Coordinator) vouched(id task.TaskID, s *message.Checkpoint, by task.PeerID) error {
	switch v := s.Voucher; {
	case c.cfg.Key == nil:
		return nil
	case v != nil && by != "" && v.Worker != by:
		return errors.New("another's checkpoint")
	case len(s.With) > 0:
		return errors.New("what replicas agree on the leader sees itself")
	case v != nil && (c.led == nil || !c.led(v.Receipt.Leader, v.Receipt.Epoch)):
		return errors.New("nobody here knows that who gave the lease led: " + string(v.Receipt.Leader))
	}
	if j := c.table.jobs[id.Job]; j != nil && j.replicated() {
		return cmp.Or(task.CheckAgreed(j.spec, s.Before), s.VouchedWhole(id, c.now))
	}
	return s.Vouched(id, c.now)
}

// badWord returns nil if a worker that a leader known here gave a lease of a task, to go on
// from a state, says that it could not. by is that worker; "" for any.
func (c *Coordinator) badWord(id task.TaskID, v *task.Voucher, by task.PeerID) error {
	switch {
	case by != "" && v.Worker != by:
		return errors.New("another's word")
	case c.cfg.Key == nil || c.led == nil || !c.led(v.Receipt.Leader, v.Receipt.Epoch):
		return errors.New("nobody here knows that who gave the lease led: " + string(v.Receipt.Leader))
	}
	return v.Verify(ledger.BadState(id, v))
}

// badState takes in that a worker could not go on from the state that its lease names: nobody
// is offered that again. Who made it gets no task of the job for a while.
func (r *reports) badState(h *host, j *job, held *message.Held) {
	id, v := held.Task, held.Bad
	row := j.ledger.Rows[id.Index]
	if row == nil || j.ledger.Delivered(id.Index) {
		return
	}
	state, sure := row.StateNamed(v.Receipt.From), j.meetings[id.Index].sureNamed(v.Receipt.From)
	if state == nil && sure == nil {
		return
	}
	if err := r.c.badWord(id, v, h.peer); err != nil {
		r.c.refuseState(id, h.peer, err)
		return
	}
	var maker task.PeerID
	if by := cmp.Or(state, sure).Voucher; by != nil {
		maker = by.Worker
	}
	if row.VoidState(*v); sure != nil {
		j.meetings[id.Index].sure = nil
	}
	if l := leaseOf(j, h, id.Index, held.Attempt); l != nil {
		l.saved.from, l.saved.began, l.saved.base, l.saved.line = nil, 0, 0, lineage{}
	}
	r.c.table.persistRow(j, id.Index)
	r.c.decided(id, "voided", h.peer, "it could not go on from the checkpoint of "+string(maker))
	if m := r.c.members.hosts[maker]; m != nil && m != h {
		r.c.members.pauseJob(m, j, r.c.cfg.RefusalPause, "a task could not go on from its checkpoint")
	}
}

// refuseState tells that a checkpoint is not believed.
func (c *Coordinator) refuseState(id task.TaskID, from task.PeerID, err error) {
	c.decided(id, "refused", from, task.ClipMessage("its checkpoint: "+err.Error()))
}

// fetchState begins to bring a checkpoint of a lease here.
func (r *reports) fetchState(l *lease, saved *message.Checkpoint) {
	l.saved.fetching, l.saved.asked, l.saved.askedStood = saved.Fuel, r.c.now, l.host.stoodBy(r.c.now)
	key := stateKey(l.taskID(), l.attempt)
	r.c.table.fetch(&fetching{key: key, job: l.job, lease: l, saved: saved}, []task.CID{saved.CID},
		[]task.PeerID{l.host.peer})
}

// checkpointFetched goes on when a checkpoint is here, or could not be had: with
// a newer one, or with the end of the attempt that waited for it.
func (r *reports) checkpointFetched(f *fetching, failure string) {
	l, j, i := f.lease, f.job, f.lease.task.index
	l.saved.fetching = 0
	if r.c.table.jobs[j.id] != j || j.state != jobOpen || j.ledger.Verdict(i) != ledger.Open {
		return
	}
	if r.keepState(j, l.taskID(), f.saved, l.host.peer, failure) {
		l.saved.heldAt, l.saved.stood = l.saved.asked, l.saved.askedStood
	}
	if t := j.live[i]; t == nil || !slices.Contains(t.leases, l) {
		return
	}
	if n := l.saved.next; n != nil {
		l.saved.next = nil
		r.fetchState(l, n)
		return
	}
	if l.state == leasing.Bringing {
		r.accept(l.host, j, l, l.ending)
	}
}

// keepState makes a checkpoint a fact, and reports whether it is a new one. One that could not be had is forgotten:
// the worker names its newest again in its next full report.
func (r *reports) keepState(j *job, id task.TaskID, saved *message.Checkpoint, from task.PeerID, failure string) bool {
	if failure != "" {
		r.c.decided(id, "not saved", from, task.ClipMessage("fetching its checkpoint failed: "+failure))
		return false
	}
	if name, ok := nameOfReads(j, id.Index); !ok || !task.MadeOf(j.spec, id.Index, saved.Chain(), name) {
		r.c.decided(id, "not saved", from, "its checkpoint was made of other files than the task reads now")
		return false
	}
	if !j.saveState(id.Index, saved) {
		return false
	}
	r.c.table.persistRow(j, id.Index)
	r.c.replicas.Hold(message.HoldName{Task: id, Kind: message.HoldState}, false)
	r.c.decided(id, "saved", from, "a checkpoint is held here")
	r.agree(j, id.Index)
	return true
}

// met takes in marks of a lease, and the checkpoint that it tells of with them.
func (r *reports) met(l *lease, s *message.SavedState) {
	j, i := l.job, l.task.index
	if !j.replicated() || len(s.Marks) == 0 && s.Checkpoint.Voucher == nil {
		return
	}
	if j.meetings == nil {
		j.meetings = map[uint64]*meeting{}
	}
	m := j.meetings[i]
	if m == nil {
		m = &meeting{marks: map[task.PeerID][]message.Mark{}, told: map[task.PeerID][]*message.Checkpoint{}}
		j.meetings[i] = m
	}
	root, others := l.root(), j.roots(i)
	if m.marks[root] == nil {
		if len(m.marks) >= maxPartings {
			return
		}
		m.marks[root] = []message.Mark{}
	}
	for _, mark := range s.Marks {
		m.add(root, mark, j.spec.Spacing())
		for _, o := range others {
			if p := (parting{root, o, mark.Fuel}); m.differs(o, mark) && m.part(p) {
				r.c.decided(l.taskID(), "parted", l.host.peer, task.ClipMessage(p.why(j.spec.Replicas)))
				r.waitAgain(j, i)
				r.referee(j, i, p)
			}
		}
	}
	m.note(root, l.host.peer, &s.Checkpoint)
	r.agree(j, i)
}
