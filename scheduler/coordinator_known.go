package scheduler

import (
	"fmt"
	"maps"
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

// known takes in what a replica has, and asks for what is lacking here.
func (c *Coordinator) known(from task.PeerID, k *message.Known) {
	if k.Epoch > c.epoch {
		c.outrun(k.Epoch)
		return
	}
	f := c.followers[from]
	if f == nil {
		if c.tellers() >= maxTellers {
			return // it repeats
		}
		f = c.follower(from)
	}
	switch {
	case k.Epoch < c.epoch || k.Session != f.session && k.Seq != 1 || k.Session == f.session && k.Seq > f.known+1:
		c.askToBegin(f)
		return
	case k.Session != f.session:
		f.reset()
		c.holdsAnew(from)
		f.session, f.phase, f.digests = k.Session, listening, map[task.JobID][message.DigestLen]byte{}
	case k.Seq <= f.known:
		if k.Seq == f.known && f.answer != nil {
			c.emit(message.Send{To: from, Message: message.Message{Wanted: f.answer}})
		}
		return
	}
	c.heardOf(f)
	if k.Last && !f.grouped && !c.mayForget(f) {
		return // it repeats
	}
	f.known = k.Seq
	f.answer = &message.Wanted{Epoch: c.epoch, Session: f.session, Seq: k.Seq}
	c.absorb(f, k.Pairs)
	for _, d := range k.Jobs {
		f.digests[d.Job] = d.Digest
		c.jobs[d.Job].heldBy(f.peer)
		if j := c.ledger.Jobs[d.Job]; j == nil || shortDigest(j) != d.Digest {
			f.answer.Jobs = append(f.answer.Jobs, d.Job)
		}
	}
	if k.Last {
		c.toldAll(f)
	}
	c.emit(message.Send{To: from, Message: message.Message{Wanted: f.answer}})
}

// heldBy notes that a replica may hold the blocks of a job; j may be nil.
func (j *job) heldBy(peer task.PeerID) {
	if j != nil && len(j.tellers) < message.MaxHolders/2 && !slices.Contains(j.tellers, peer) {
		j.tellers = append(j.tellers, peer)
	}
}

// mayForget says whether a replica outside the group may forget what it told:
// the followers have it too, and this node the blocks.
func (c *Coordinator) mayForget(f *follower) bool {
	if !f.last {
		f.last, f.marks = true, c.marks()
	}
	return c.reached(f.marks) && !c.seeksFrom(f.peer)
}

// seeksFrom says whether blocks are sought that the replica may hold.
func (c *Coordinator) seeksFrom(peer task.PeerID) bool {
	for n := range c.sought {
		if j := c.jobs[n.Task.Job]; j != nil && slices.Contains(j.tellers, peer) {
			return true
		}
	}
	return false
}

func (c *Coordinator) tellers() int {
	n := 0
	for _, f := range c.followers {
		if !f.grouped {
			n++
		}
	}
	return n
}

// toldAll ends a replica's telling. To one of the group goes what it lacks or
// has otherwise; it is in sync when it has that.
func (c *Coordinator) toldAll(f *follower) {
	f.answer.Done, f.answer.Follow = true, f.grouped || f.refused
	f.phase = told
	if !f.grouped {
		f.digests = nil
		return
	}
	f.phase, f.waiting = copying, map[copyKey]bool{}
	for _, id := range slices.Sorted(maps.Keys(f.digests)) {
		if c.ledger.Jobs[id] == nil {
			f.push(copyKey{job: id, kind: copyGone})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.ledger.Jobs)) {
		j := c.ledger.Jobs[id]
		if d, ok := f.digests[id]; !ok || d != shortDigest(j) {
			pushJob(f, id, j)
		}
		for _, i := range slices.Sorted(maps.Keys(c.jobs[id].live)) {
			f.push(copyKey{id, i, copyLive})
			c.shared[task.TaskID{Job: id, Index: i}] = true
		}
	}
	f.digests, f.need = nil, f.queued
	f.maySync()
}

// pushJob has a follower told all of a job.
func pushJob(f *follower, id task.JobID, j *ledger.Job) {
	f.push(copyKey{job: id, kind: copyRecord})
	f.push(copyKey{job: id, kind: copyFacts})
	for _, i := range slices.Sorted(maps.Keys(j.Rows)) {
		if !j.Delivered(i) {
			f.push(copyKey{id, i, copyRow})
		}
	}
}

// absorb merges what a replica told. It is believed as far as it is signed, and
// where it is not, as one coordinator believes another.
func (c *Coordinator) absorb(f *follower, pairs []message.Pair) {
	for _, p := range pairs {
		id, err := c.absorbPair(f, p)
		if err != nil {
			f.refused = true
			c.decided(task.TaskID{Job: id}, "refused", f.peer, task.ClipMessage(fmt.Sprintf("merging %s: %v", p.Key, err)))
		}
	}
}

func (c *Coordinator) absorbPair(f *follower, p message.Pair) (task.JobID, error) {
	kind, rest, _ := strings.Cut(p.Key, "/")
	name, _, _ := strings.Cut(rest, "/")
	id := task.JobID(name)
	if kind == "j" {
		return id, c.absorbRecord(f, id, p.Value)
	}
	j := c.jobs[id]
	if j == nil || j.state == jobFetching {
		return id, fmt.Errorf("its job is not known")
	}
	if kind == "f" {
		facts, err := ledger.DecodeFacts(p.Value)
		if err == nil {
			err = vetFacts(j.ledger, facts, c.now)
		}
		if err == nil {
			c.absorbFacts(j, facts)
		}
		return id, err
	}
	i, row, err := decodeRow(j.ledger, p)
	if err == nil {
		err = verifyRow(row, task.TaskID{Job: id, Index: i})
	}
	if err == nil && !j.ledger.Delivered(i) {
		c.absorbRow(j, i, row)
	}
	return id, err
}

// verifyRow checks what workers signed in a row of a task.
func verifyRow(row *ledger.Row, id task.TaskID) error {
	verify := func(r *task.Result, completed bool) error {
		if r.Task != id || (r.Outcome == task.Completed) != completed {
			return fmt.Errorf("a result of task %v that %v", r.Task, r.Outcome)
		}
		return r.Verify()
	}
	for i := range row.Results {
		if err := verify(&row.Results[i], true); err != nil {
			return err
		}
	}
	for i := range row.Failures {
		if err := verify(&row.Failures[i].Result, false); err != nil {
			return err
		}
	}
	return nil
}

// absorbRecord takes in a job that a replica knows. Its submitter is asked
// before anything of it is placed.
func (c *Coordinator) absorbRecord(f *follower, id task.JobID, value []byte) error {
	if j := c.jobs[id]; j != nil && j.state != jobFetching {
		return nil
	}
	if len(c.jobs) >= 2*c.cfg.MaxJobs { // as many as two sides of a split have
		return fmt.Errorf("the leader has %d jobs", len(c.jobs))
	}
	l, err := addRecord(c.ledger, id, value)
	if err != nil {
		return err
	}
	delete(c.fetches, coordinatorPrefix+ledger.JobKey(id)) // if its submitter had offered it
	j := c.newJob(id, l)
	j.state = jobOpen
	c.persistRecord(j)
	c.armDeadline(j)
	j.moveCursor(0)
	j.askedUntil = c.now.Add(askFor)
	c.timers.Set(j.askedUntil, reminder{job: id})
	j.asked, j.credit = true, true
	j.heldBy(f.peer)
	c.secure(message.HoldName{Task: task.TaskID{Job: id}, Kind: message.HoldJob})
	c.decided(task.TaskID{Job: id}, "taken up", f.peer, "a replica knows the job; its submitter is asked whether it is over")
	c.touch(j)
	return nil
}

// absorbFacts merges facts of a job.
func (c *Coordinator) absorbFacts(j *job, f *ledger.Facts) {
	ours := &j.ledger.Facts
	before, delivery := string(ours.Encode()), ours.Delivery
	was := ours.Done.Count() + ours.Failed.Minus(ours.Done).Count()
	for _, i := range slices.Sorted(maps.Keys(j.live)) {
		if f.Done.Contains(i) || f.Failed.Contains(i) {
			c.endLeases(j, i, message.DropSuperseded)
		}
	}
	ours.Merge(f)
	if string(ours.Encode()) == before {
		return
	}
	c.persistFacts(j)
	if ours.Delivery != delivery {
		c.redelivered(j)
	} else if ours.Done.Count()+ours.Failed.Minus(ours.Done).Count() > was {
		c.recount(j)
	}
	if j.state == jobOpen && (ours.Cancelled() || ours.Expired) {
		c.end(j, message.DropCancelled)
	}
	c.touch(j)
	c.endIfOver(j)
}

// recount makes a job's counters anew after tasks were found to be delivered.
func (c *Coordinator) recount(j *job) {
	keep := func(id task.TaskID) bool { return id.Job == j.id }
	c.kept = slices.DeleteFunc(c.kept, keep)
	for _, i := range j.ledger.Compact() {
		c.emit(message.Persist{Key: coordinatorPrefix + ledger.RowKey(task.TaskID{Job: j.id, Index: i})})
		c.unweigh(j, i)
	}
	gone := func(i uint64) bool { return j.ledger.Rows[i] == nil }
	j.sent, j.ready = slices.DeleteFunc(j.sent, gone), slices.DeleteFunc(j.ready, gone)
	f := &j.ledger.Facts
	j.done, j.failed = f.Done.Count(), f.Failed.Minus(f.Done).Count()
	for _, row := range j.ledger.Rows {
		switch row.Verdict(j.ledger.Rule()) {
		case ledger.Done:
			j.done++
		case ledger.Failed:
			j.failed++
		}
	}
	j.moveCursor(j.wait.cursor)
}

// absorbRow merges what a replica knows of a task that is not delivered.
func (c *Coordinator) absorbRow(j *job, i uint64, theirs *ledger.Row) {
	for k := range theirs.Log {
		c.neverGiven(theirs.Log[k].Attempt)
	}
	row := j.row(i)
	before := row.Verdict(j.ledger.Rule())
	useful, wasted := costOfLog(row)
	if !row.Merge(theirs) {
		c.waitAgain(j, i)
		return
	}
	u, w := costOfLog(row)
	j.useful, j.wasted = j.useful+u-useful, j.wasted+w-wasted
	after := row.Verdict(j.ledger.Rule())
	switch {
	case before == ledger.Open:
		c.conclude(j, i, row)
	case before == ledger.Failed && after == ledger.Done:
		j.failed--
		j.done++
		j.ready = append(j.ready, i)
	case before == ledger.Done && after == ledger.Open: // voided elsewhere
		c.reopenVoided(j, i)
	}
	c.persistRow(j, i)
	if after == ledger.Done && len(row.Agreed()) > 0 && len(message.RemoteOutputs(&row.Agreed()[0])) > 0 {
		c.secure(message.HoldName{Task: task.TaskID{Job: j.id, Index: i}, Kind: message.HoldOutputs})
	}
	c.touch(j)
	c.endIfOver(j)
}

// answered says that the submitter of a job has spoken: it is not over, unless
// it said so.
func (c *Coordinator) answered(j *job) {
	if j.askedUntil.IsZero() {
		return
	}
	j.askedUntil = time.Time{}
	c.enqueue(j)
	c.widened = true
}
