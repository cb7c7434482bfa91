package scheduler

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// askFor is how long the submitter of a job that only a replica told of is given
// to say that the job is over: a stale copy must not make work. An answer takes
// a round trip; a submitter that is away costs its own job these seconds.
const askFor = 5 * time.Second

// heldBy notes that a replica may hold the blocks of a job; j may be nil.
func (j *job) heldBy(peer task.PeerID) {
	if j != nil && len(j.tellers) < message.MaxHolders/2 && !slices.Contains(j.tellers, peer) {
		j.tellers = append(j.tellers, peer)
	}
}

// absorb merges a pair that a replica told. It is believed as far as it is signed, and
// where it is not, as one coordinator believes another.
func (c *Coordinator) absorb(from task.PeerID, p message.Pair) (task.JobID, error) {
	kind, rest, _ := strings.Cut(p.Key, "/")
	name, _, _ := strings.Cut(rest, "/")
	id := task.JobID(name)
	if kind == "j" {
		return id, c.absorbRecord(from, id, p.Value)
	}
	j := c.table.jobs[id]
	if j == nil || j.state == jobFetching {
		return id, fmt.Errorf("its job is not known")
	}
	if kind == "f" {
		facts, err := ledger.DecodeFacts(p.Value)
		if err == nil {
			err = vetFacts(j.ledger, facts, c.cfg.Signed, c.now)
		}
		if err == nil {
			err = c.absorbFacts(j, facts)
		}
		return id, err
	}
	i, row, err := decodeRow(j.ledger, p)
	if err == nil {
		err = verifyRow(row, j.ledger.Rows[i], j.spec, task.TaskID{Job: id, Index: i})
	}
	if err == nil && c.cfg.Key != nil {
		c.dropUnproven(from, row, task.TaskID{Job: id, Index: i})
	}
	if err == nil && !j.ledger.Delivered(i) {
		err = c.absorbRow(from, j, i, row)
	}
	return id, err
}

// dropUnproven takes out of a row of another copy what no receipt shows to be of a worker
// that had the lease, a checkpoint too: a task of which that is all runs again.
func (c *Coordinator) dropUnproven(from task.PeerID, row *ledger.Row, id task.TaskID) {
	unproven := func(r *task.Result) bool {
		return r.Receipt == nil || c.led == nil || !c.led(r.Receipt.Leader, r.Receipt.Epoch) ||
			r.Receipt.Verify(id, r.Worker) != nil
	}
	row.Results = slices.DeleteFunc(row.Results, func(r task.Result) bool { return unproven(&r) })
	row.Failures = slices.DeleteFunc(row.Failures, func(f ledger.Failure) bool { return unproven(&f.Result) })
	if err := row.Vet(c.ledger.Jobs[id.Job].Rows[id.Index],
		func(s *message.Checkpoint) error { return c.vouched(id, s, "") },
		func(v *task.Voucher) error { return c.badWord(id, v, "") }); err != nil {
		c.refuseState(id, from, err)
	}
	if err := row.VetLines(c.ledger.Jobs[id.Job].Rows[id.Index],
		func(s *message.Checkpoint) error { return c.vouched(id, s, "") }); err != nil {
		c.refuseState(id, from, err)
	}
}

// Recognise has the coordinator believe receipts of those that led, as led reports.
func (c *Coordinator) Recognise(led func(leader task.PeerID, epoch uint64) bool) { c.led = led }

// absorbRecord takes in a job that a replica knows. Its submitter is asked
// before anything of it is placed.
func (c *Coordinator) absorbRecord(from task.PeerID, id task.JobID, value []byte) error {
	if j := c.table.jobs[id]; j != nil && j.state != jobFetching {
		return nil
	}
	if why := c.table.fullOfTold(int64(len(value))); why != "" {
		return errors.New(why)
	}
	l, err := addRecord(&c.cfg, c.ledger, id, value)
	if err != nil {
		return err
	}
	const sides = 2 // of a split, each of which may have taken in as many
	if why := c.table.beyond(l.Spec, l.Submitter, recordBytes(&l.Record), sides); why != "" {
		delete(c.ledger.Jobs, id)
		return errors.New(why)
	}
	delete(c.table.fetches, coordinatorPrefix+ledger.JobKey(id)) // if its submitter had offered it
	j := c.table.newJob(id, l)
	j.state = jobOpen
	c.table.persistRecord(j)
	c.table.armDeadline(j)
	j.moveCursor(0)
	j.askedUntil = c.now.Add(askFor)
	c.timers.Set(j.askedUntil, reminder{job: id})
	j.asked, j.credit = true, true
	j.heldBy(from)
	c.seeker.secure(message.HoldName{Task: task.TaskID{Job: id}, Kind: message.HoldJob})
	c.decided(task.TaskID{Job: id}, "taken up", from, "a replica knows the job; its submitter is asked whether it is over")
	c.touch(j)
	return nil
}

// absorbFacts merges facts of a job.
func (c *Coordinator) absorbFacts(j *job, f *ledger.Facts) error {
	ours := &j.ledger.Facts
	before, err := ours.Encode()
	if err != nil {
		return err
	}
	both := *ours
	both.Done, both.Failed = slices.Clone(ours.Done), slices.Clone(ours.Failed)
	both.Merge(f)
	if after, err := both.Encode(); err != nil || bytes.Equal(after, before) {
		return err
	}
	was, failed := ours.Held(), ours.Failed.Minus(ours.Done)
	c.table.endHeld(j, both.Held().Minus(was))
	*ours = both
	c.table.persistFacts(j)
	if now := ours.Held(); len(was.Minus(now)) > 0 {
		c.table.redelivered(j)
	} else if len(now.Minus(was)) > 0 || !slices.Equal(ours.Failed.Minus(ours.Done), failed) {
		c.table.recount(j)
	}
	if j.state == jobOpen && (ours.Cancelled() || ours.Expired) {
		c.table.end(j, message.DropCancelled)
	}
	isEnding(&c.table, j)
	c.touch(j)
	c.table.endIfOver(j)
	return nil
}

// absorbRow merges what a replica knows of a task that is not delivered, or refuses it whole.
func (c *Coordinator) absorbRow(from task.PeerID, j *job, i uint64, theirs *ledger.Row) error {
	for k := range theirs.Log {
		c.term.neverGiven(from, theirs.Log[k].Attempt)
	}
	row := j.row(i)
	before := row.Verdict(j.ledger.Rule())
	useful, wasted := costOfLog(row)
	if changed, err := row.Take(theirs, j.ledger.Rule()); !changed {
		c.reports.waitAgain(j, i)
		return err
	}
	u, w := costOfLog(row)
	j.took(u-useful, w-wasted)
	after := row.Verdict(j.ledger.Rule())
	if before == ledger.Open {
		c.reports.conclude(j, i, row)
	} else {
		c.concludeAnew(j, i, before)
	}
	c.table.persistRow(j, i)
	if after == ledger.Done && len(row.Agreed()) > 0 && len(message.RemoteOutputs(&row.Agreed()[0])) > 0 {
		c.seeker.secure(message.HoldName{Task: task.TaskID{Job: j.id, Index: i}, Kind: message.HoldOutputs})
	}
	c.touch(j)
	c.table.endIfOver(j)
	return nil
}
