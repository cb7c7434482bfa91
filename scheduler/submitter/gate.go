package submitter

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Every result of another node passes checkEnd or checkResult before it counts, whether the leader, the leader of another
// cell, a queried member or a member that runs a task again delivered it. docs/protocol.md has the table of the rules,
// and gate_test.go has a test for each row.

// Evidence gives a submitter this node's own evidence about leaders and workers. Its methods are called only during Step.
type Evidence interface {
	// Led reports whether this node saw a peer lead or stand by in an epoch. The epoch must bear the peer's tag.
	Led(peer task.PeerID, epoch uint64) bool
	// Followed reports whether this node itself followed a peer in an epoch, or led in it.
	Followed(peer task.PeerID, epoch uint64) bool
	// MayHaveLed reports whether a peer can have led in an epoch that this node could not see: the epoch bears the peer's
	// tag, and its term lies between that of the last leader that this node followed before it was away and that of the
	// first leader afterwards.
	MayHaveLed(peer task.PeerID, epoch uint64) bool
	// Tagged reports whether an epoch bears a peer's tag.
	Tagged(peer task.PeerID, epoch uint64) bool
	// Met reports whether this node had an advert of a worker at a time, or was away at that time and has one now.
	Met(worker task.PeerID, at time.Time) bool
}

// followed is the Evidence of a submitter without a driver that has any: the leaders that the submitter itself has
// followed. It assumes that every worker is a member.
type followed struct {
	leaders []task.PeerID // the latest is last, at most maxFollowed
}

// maxFollowed bounds the leaders that followed remembers: the same number as a member remembers.
const maxFollowed = 64

func (f *followed) add(leader task.PeerID) {
	if leader == "" || slices.Contains(f.leaders, leader) {
		return
	}
	f.leaders = append(f.leaders, leader)
	f.leaders = f.leaders[max(0, len(f.leaders)-maxFollowed):]
}

// Led implements Evidence.
func (f *followed) Led(peer task.PeerID, _ uint64) bool { return slices.Contains(f.leaders, peer) }

// Followed implements Evidence.
func (f *followed) Followed(peer task.PeerID, epoch uint64) bool { return f.Led(peer, epoch) }

// MayHaveLed implements Evidence.
func (f *followed) MayHaveLed(task.PeerID, uint64) bool { return false }

// Tagged implements Evidence.
func (f *followed) Tagged(task.PeerID, uint64) bool { return true }

// Met implements Evidence.
func (f *followed) Met(task.PeerID, time.Time) bool { return true }

var _ Evidence = (*followed)(nil)

// evidence returns the driver's evidence, or the submitter's own if the driver has none.
func (s *Submitter) evidence() Evidence {
	if s.cfg.Evidence != nil {
		return s.cfg.Evidence
	}
	return &s.followed
}

// checkEnd returns nil if the end of a task counts as from delivered it, else the rule that it breaks.
func (s *Submitter) checkEnd(from task.PeerID, j *submitted, t *message.TaskSummary) error {
	if !t.Failed && len(t.Results) < j.spec.Replicas {
		return fmt.Errorf("%d results, want %d that agree", len(t.Results), j.spec.Replicas)
	}
	if t.Refuted != nil || t.From != nil || t.Original != nil || t.Faulty {
		return errors.New("the end is marked as refuted or reused, which only its submitter may do")
	}
	workers := map[task.PeerID]bool{}
	for i := range t.Results {
		r := &t.Results[i]
		switch {
		case r.Task.Index != t.Index:
			return fmt.Errorf("the result is of task %v, want index %d", r.Task, t.Index)
		case t.Failed:
		case r.Outcome != task.Completed:
			return fmt.Errorf("outcome %v of a task that is reported as done", r.Outcome)
		case workers[r.Worker]:
			return fmt.Errorf("two results of the same worker %s", r.Worker)
		case i > 0 && r.Digest() != t.Results[0].Digest():
			return errors.New("the results do not agree")
		}
		workers[r.Worker] = true
		if err := s.checkResult(from, j, r, t.Signed); err != nil {
			return err
		}
	}
	if t.Failed {
		return s.checkFailed(from, j, t)
	}
	return s.checkReplicas(j, t)
}

// checkReplicas returns an error unless as many results as the job has replicas come from workers that are independent,
// and of which this node had evidence. If the job's results are checked, fewer are enough, and audits.decide has the task
// run again. For a delegated task the leader of the other cell answers, as its owner wants no checks.
func (s *Submitter) checkReplicas(j *submitted, t *message.TaskSummary) error {
	if j.spec.Replicas > 1 && !task.Independent(t.Results) {
		return errors.New("a worker answers for two of the results, so they are not independent")
	}
	n, want := s.metOf(t.Results), max(j.spec.Replicas, 1)
	delegated := want == 1 && len(t.Results) > 0 && t.Results[0].Receipt != nil &&
		s.checkDelegated(j, &t.Results[0]) == nil
	if n < want && !delegated && j.checks == nil {
		return fmt.Errorf("results of %d workers that this node knew as members when they got their leases, want %d", n, want)
	}
	return nil
}

// checkResult returns nil if one result counts as from delivered it, else the rule that it breaks. verified is true if
// the driver has verified the worker's signature.
func (s *Submitter) checkResult(from task.PeerID, j *submitted, r *task.Result, verified bool) error {
	if r.Task.Job != j.id || r.Task.Index >= j.total {
		return fmt.Errorf("the result is of task %v, want one of job %s", r.Task, j.id)
	}
	if err := j.spec.CheckResult(r); err != nil {
		return err
	}
	by, _ := r.AnsweredBy()
	switch {
	case s.audits.anyWrong(by):
		return fmt.Errorf("a worker that answers for the result has a proven fault: %v", by)
	case j.checks != nil && slices.ContainsFunc(by, func(w task.PeerID) bool { return j.checks.excused[w] }):
		return fmt.Errorf("a worker that answers for the result is excluded from this job: %v", by)
	}
	if j.checks != nil && from != s.leader && from != s.self && j.checks.sources.refuses(from) {
		return fmt.Errorf("%s delivered a wrong result of this job before", from)
	}
	if j.checks != nil && r.Receipt != nil && r.Receipt.Leader != s.leader && r.Receipt.Leader != s.self &&
		j.checks.sources.refuses(r.Receipt.Leader) {
		return fmt.Errorf("receipt from %s, which gave a lease for a wrong result of this job", r.Receipt.Leader)
	}
	if from != s.self && !verified { // this node's own coordinator verified what it delivers
		if err := r.Verify(); err != nil {
			return err
		}
	}
	if !s.cfg.Receipts {
		return nil
	}
	return s.checkReceipt(from, j, r)
}

// checkReceipt returns nil if a result's receipt shows that a leader of this overlay gave its worker the lease.
func (s *Submitter) checkReceipt(from task.PeerID, j *submitted, r *task.Result) error {
	receipt := r.Receipt
	if receipt == nil {
		return fmt.Errorf("no receipt shows that worker %s had the lease", r.Worker)
	}
	if err := receipt.Valid(); err != nil {
		return err
	}
	// What the leader says of its own leases is authenticated by its connection, and this node's coordinator has verified
	// the receipts that it passes on.
	if own := from == s.leader && receipt.Leader == from; !own && from != s.self {
		if err := receipt.Verify(r.Task, r.Worker); err != nil {
			return err
		}
	}
	if s.knowsLeader(from, receipt) {
		return nil
	}
	return s.checkDelegated(j, r)
}

// knowsLeader reports whether this node has evidence that the receipt's leader led in the receipt's epoch. Any member of
// the group may have led unseen for a while, in a part of the network or while this node was away. Only the leader that
// this node follows now is believed that: in a small pool every member is in the group.
func (s *Submitter) knowsLeader(from task.PeerID, r *task.Receipt) bool {
	known := s.evidence()
	led, unseen := known.Led(r.Leader, r.Epoch), known.MayHaveLed(r.Leader, r.Epoch)
	switch from {
	case s.leader, s.self:
		return led || unseen
	}
	return known.Followed(r.Leader, r.Epoch) || led && unseen
}

// checkDelegated returns nil if this node had delegated the task to the cell of the receipt's leader when the receipt
// was issued, and has not taken the task back.
func (s *Submitter) checkDelegated(j *submitted, r *task.Result) error {
	borrower, l := j.loanOf(r.Receipt.Leader)
	switch {
	case l == nil:
		return fmt.Errorf("receipt from %s, not known as leader of epoch %d", r.Receipt.Leader, r.Receipt.Epoch)
	case !s.evidence().Tagged(r.Receipt.Leader, r.Receipt.Epoch):
		return fmt.Errorf("epoch %d does not bear the tag of its leader %s", r.Receipt.Epoch, r.Receipt.Leader)
	case !l.tasks().Contains(r.Task.Index):
		return fmt.Errorf("task is not delegated to the cell of %s", r.Receipt.Leader)
	case borrower != r.Receipt.Leader && !ledger.Set(l.state.Taken).Contains(r.Task.Index):
		return fmt.Errorf("task was delegated to the cell of %s when %s led it no more", borrower, r.Receipt.Leader)
	case time.UnixMilli(r.Receipt.Issued).Add(clockSkew).Before(time.UnixMilli(l.state.Begun)):
		return fmt.Errorf("receipt from %s is older than the delegation", r.Receipt.Leader)
	}
	return nil
}

// clockSkew is how far the clock of a cell's leader may be behind this node's: as far as adverts may be ahead.
const clockSkew = time.Minute

// metWhenLeased reports whether this node had evidence that a result's worker was a member when it got the lease.
func (s *Submitter) metWhenLeased(r *task.Result) bool {
	if !s.cfg.Receipts || r.Worker == s.self {
		return true
	}
	return r.Receipt != nil && s.evidence().Met(r.Worker, time.UnixMilli(r.Receipt.Issued))
}

// metOf returns the number of results whose workers metWhenLeased.
func (s *Submitter) metOf(results []task.Result) (n int) {
	for i := range results {
		if s.metWhenLeased(&results[i]) {
			n++
		}
	}
	return n
}

// refuseEnd reports an end that does not count, and notes to have the leader or borrower that delivered it run the task
// again.
func (s *Submitter) refuseEnd(from task.PeerID, j *submitted, i uint64, why error) {
	s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: i}, Action: "refused", Peer: from,
		Reason: task.ClipMessage(why.Error())})
	if from != s.leader && (j.lending == nil || j.lending.loans[from] == nil) {
		return // it runs no tasks of the job
	}
	if j.rejected == nil {
		j.rejected = map[task.PeerID]*ledger.Set{}
	}
	if j.rejected[from] == nil {
		j.rejected[from] = &ledger.Set{}
	}
	if set := j.rejected[from]; len(*set) < message.MaxRejected {
		set.Add(i)
	}
}

// takeRejected returns the tasks to send to a leader or borrower in Got.Rejected, and forgets them: a leader that missed
// the message delivers the ends again.
func (j *submitted) takeRejected(to task.PeerID) []message.Range {
	set := j.rejected[to]
	if set == nil {
		return nil
	}
	delete(j.rejected, to)
	return *set
}

// checkFailed refuses that a task has failed unless its results show it: more failures of its own than the job's
// retries, each of another lease; two of other leases and workers that show that it cannot come out otherwise; or as
// many completed runs as are made in the hope that enough of them agree. If the results are too large for one message,
// the first of them are enough.
func (s *Submitter) checkFailed(from task.PeerID, j *submitted, t *message.TaskSummary) error {
	switch {
	case from == s.self:
		return nil
	case len(t.Results) == 0:
		return errors.New("no worker signed that the task failed")
	case !s.cfg.Receipts:
		return nil
	}
	type lease struct{ epoch, seq uint64 }
	rule := j.rule()
	failures, completed, size := map[lease]bool{}, map[task.PeerID]bool{}, 0
	agree, apart := map[task.Digest][]task.Result{}, []task.Result(nil)
	for i := range t.Results {
		r := &t.Results[i]
		size += message.ResultBytes(r)
		switch {
		case r.Outcome == task.Completed:
			completed[r.Worker] = true
			agree[r.Digest()] = append(agree[r.Digest()], *r)
		case r.Outcome.OwnFault():
			if of := (lease{r.Receipt.Epoch, r.Receipt.Seq}); !failures[of] {
				failures[of], apart = true, append(apart, *r)
			}
		}
	}
	for _, same := range agree {
		if len(same) >= rule.Replicas && ledger.AgreeIn(same) >= rule.Replicas {
			return errors.New("the task is reported as failed, but enough of its runs agree")
		}
	}
	if len(failures) > rule.Retries || len(completed) >= rule.Most() || size > message.BatchBytes/2 ||
		rule.Certain(apart) {
		return nil
	}
	return fmt.Errorf("%d failures of the task's own and %d runs that do not agree, want more than %d failures",
		len(failures), len(completed), rule.Retries)
}

// rule is what the job asks of its tasks' results.
func (j *submitted) rule() ledger.Rule {
	return ledger.Rule{Replicas: j.spec.Replicas, Retries: j.spec.Retries, Own: j.record.Submitter()}
}
