package submitter

import (
	"errors"
	"fmt"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A verifier checks the ends of tasks that a leader tells.
type verifier struct {
	leader   task.PeerID // who tells, on its own connection
	signed   bool        // signatures are checked: the leader is another node
	receipts bool        // each result has to show that its worker had the lease
}

// check refuses an end that is not what the job asked for.
func (v verifier) check(j *submitted, t *message.TaskSummary) error {
	if !t.Failed && len(t.Results) < j.spec.Replicas {
		return fmt.Errorf("%d results, the job wants %d that agree", len(t.Results), j.spec.Replicas)
	}
	if t.Refuted != nil || t.From != nil || t.Original != nil {
		return errors.New("it is said to be wrong, or another job's, which its submitter alone can say")
	}
	workers := map[task.PeerID]bool{}
	for i := range t.Results {
		r := &t.Results[i]
		switch {
		case r.Task != task.TaskID{Job: j.id, Index: t.Index}:
			return fmt.Errorf("the result is of task %v", r.Task)
		case t.Failed:
		case r.Outcome != task.Completed:
			return fmt.Errorf("outcome %v of a task said to be done", r.Outcome)
		case workers[r.Worker]:
			return fmt.Errorf("two results of the same worker %s", r.Worker)
		case i > 0 && r.Digest() != t.Results[0].Digest():
			return errors.New("the results do not agree")
		}
		workers[r.Worker] = true
		if err := j.spec.CheckResult(r); err != nil {
			return err
		}
		if err := v.result(r, t.Signed); err != nil {
			return err
		}
	}
	if t.Failed {
		return v.failed(j, t)
	}
	if j.spec.Replicas > 1 && !task.Independent(t.Results) {
		return errors.New("a worker answers for two of the results: they agree for nothing")
	}
	return nil
}

// result checks what is signed in a result; seen says that the driver has seen that it verifies.
func (v verifier) result(r *task.Result, seen bool) error {
	if !v.signed {
		return nil
	}
	if !seen {
		if err := r.Verify(); err != nil {
			return err
		}
	}
	switch {
	case !v.receipts:
		return nil
	case r.Receipt == nil:
		return fmt.Errorf("nothing shows that %s had the lease of the task", r.Worker)
	case r.Receipt.Leader == v.leader: // whose word it is, signed or not
		return r.Receipt.Valid()
	}
	return r.Receipt.Verify(r.Task, r.Worker)
}

// failed refuses that a task has failed unless its results show it: more failures of its
// own than the job's retries, each of another lease; two of other leases and workers that show that it cannot come
// out otherwise; or as many completed runs as are made in the hope that enough of them agree. Of results too large for
// one message the first are enough.
func (v verifier) failed(j *submitted, t *message.TaskSummary) error {
	switch {
	case !v.signed:
		return nil
	case len(t.Results) == 0:
		return errors.New("a task said to have failed, and nobody signed that")
	case !v.receipts:
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
			return errors.New("a task said to have failed, and enough of its runs agree")
		}
	}
	if len(failures) > rule.Retries || len(completed) >= rule.Most() || size > message.BatchBytes/2 ||
		rule.Certain(apart) {
		return nil
	}
	return fmt.Errorf("a task said to have failed, with %d failures of its own and %d runs that do not agree: it has %d "+
		"retries",
		len(failures), len(completed), rule.Retries)
}

// rule is what the job asks of its tasks' results.
func (j *submitted) rule() ledger.Rule {
	return ledger.Rule{Replicas: j.spec.Replicas, Retries: j.spec.Retries, Own: j.record.Submitter()}
}
