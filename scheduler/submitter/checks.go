package submitter

import (
	"errors"
	"iter"

	"godwit/credibility"
	"godwit/scheduler/durable"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// checks are the results of one job that wants them checked: see task.Verify.
//
// Invariants: no task is in two of due, right, wrong, open and the sets of by. doubted is part of
// due. Results of this node itself are in none.
type checks struct {
	due     ledger.Set // to be run again here
	doubted ledger.Set // of a worker that was wrong elsewhere
	right   ledger.Set
	wrong   ledger.Set // what this node made is held in place of them
	open    ledger.Set // it could not be told
	// by are the results that nobody has run again, by who signed them.
	by map[task.PeerID]*ledger.Set
}

// A checked is the durable form of what is known of one result.
type checked struct {
	Index uint64  `cbor:"1,keyasint"` // of the task
	State verdict `cbor:"2,keyasint"`
	// Doubted is set of one that is due because its worker was wrong elsewhere.
	Doubted bool `cbor:"3,keyasint,omitempty"`
}

// A verdict says how a result stands.
type verdict uint8

const (
	verdictDue verdict = iota + 1
	verdictRight
	verdictWrong
	verdictOpen
)

func checkKey(id task.TaskID) string { return durable.TaskKey(submitterChecks, id) }

// note keeps what is known of a task's result.
func (a *audits) note(j *submitted, c checked) {
	j.checks.put(c)
	id := task.TaskID{Job: j.id, Index: c.Index}
	a.s.save(checkKey(id), id, &c)
}

// put moves a task to the set that is its own now.
func (c *checks) put(to checked) {
	i := to.Index
	for _, set := range []*ledger.Set{&c.due, &c.doubted, &c.right, &c.wrong, &c.open} {
		if set.Contains(i) {
			*set = set.Minus(only(i))
		}
	}
	switch to.State {
	case verdictDue:
		if c.due.Add(i); to.Doubted {
			c.doubted.Add(i)
		}
	case verdictRight:
		c.right.Add(i)
	case verdictWrong:
		c.wrong.Add(i)
	case verdictOpen:
		c.open.Add(i)
	}
}

// known reports whether something is known of a task's result, or is to be.
func (c *checks) known(i uint64) bool {
	return c.due.Contains(i) || c.right.Contains(i) || c.wrong.Contains(i) || c.open.Contains(i)
}

// trust adds a result that is not run again.
func (c *checks) trust(worker task.PeerID, i uint64) {
	if c.by[worker] == nil {
		c.by[worker] = new(ledger.Set)
	}
	c.by[worker].Add(i)
}

// check decides whether a result that is now held is run again here. The worker has signed it
// before, and does not know the key of the draw: it cannot choose.
func (a *audits) check(j *submitted, t *message.TaskSummary) {
	if j.checks == nil || len(t.Results) == 0 || t.Results[0].Worker == a.s.self || j.checks.known(t.Index) {
		return
	}
	r := &t.Results[0]
	credit := a.credits[r.Worker]
	share := a.share(j.spec.Verify, credit)
	key := task.DrawKey(a.s.key, j.spec.Nonce)
	if len(credibility.Draw(key, t.Index, r.Digest(), 1, share)) == 0 {
		j.checks.trust(r.Worker, t.Index)
		return
	}
	a.note(j, checked{Index: t.Index, State: verdictDue, Doubted: credit != nil && credit.Faults > 0})
}

// share is how much of a worker's tasks is run again; credit is nil for one of whom nothing is
// known.
func (a *audits) share(v *task.Verify, credit *credibility.Credit) float64 {
	if credit == nil {
		credit = &credibility.Credit{}
	}
	least := max(v.Share(), a.s.cfg.Pool.Least)
	switch {
	case credit.Faults > 0:
		return 1
	case v.Wrong == 0:
		return least
	}
	terms := credibility.Terms{Prior: a.s.cfg.Pool.Prior, Target: v.Target(), Least: least}
	return terms.Share(credit.Right(a.s.now))
}

// distrust has every result of a worker run again that was not: it was wrong once.
func (a *audits) distrust(worker task.PeerID) {
	for _, j := range a.s.jobs {
		if j.checks == nil || j.checks.by[worker] == nil {
			continue
		}
		for _, r := range *j.checks.by[worker] {
			for i := r.From; i < r.To; i++ {
				a.note(j, checked{Index: i, State: verdictDue, Doubted: true})
			}
		}
		delete(j.checks.by, worker)
		a.s.emit(message.JobChanged{Job: j.id})
	}
}

// restoreJob takes in what is known of a job's results, once those are.
func (a *audits) restoreJob(j *submitted, scan func(string) iter.Seq2[string, []byte], errs *durable.Errors) {
	if j.checks == nil {
		return
	}
	for key, value := range scan(submitterChecks + string(j.id) + "/") {
		errs.Note(key, j.restoreCheck(key, value))
	}
	for key, value := range scan(ResultsPrefix + string(j.id) + "/") {
		var t struct {
			Index   uint64 `cbor:"1,keyasint"`
			Results []struct {
				Worker task.PeerID `cbor:"2,keyasint"`
			} `cbor:"3,keyasint"`
		}
		if err := task.Decode(value, &t); err != nil || len(t.Results) == 0 || ResultKey(j.id, t.Index) != key {
			continue // told where the results are taken in
		}
		if w := t.Results[0].Worker; w != a.s.self && j.have.Contains(t.Index) && !j.checks.known(t.Index) {
			j.checks.trust(w, t.Index)
		}
	}
}

func (j *submitted) restoreCheck(key string, value []byte) error {
	var c checked
	if err := task.Decode(value, &c); err != nil {
		return err
	}
	if c.Index >= j.total || checkKey(task.TaskID{Job: j.id, Index: c.Index}) != key ||
		c.State < verdictDue || c.State > verdictOpen {
		return errors.New("it is no verdict on that result")
	}
	if j.have.Contains(c.Index) {
		j.checks.put(c)
	}
	return nil
}

// checkCounts tells how far the checks of a job are; nil for a job that wants none.
func (j *submitted) checkCounts() *message.Checks {
	c := j.checks
	if c == nil {
		return nil
	}
	return &message.Checks{Verify: j.spec.Verify.String(), Due: c.due.Count(), Doubted: c.doubted.Count(),
		Right: c.right.Count(), Wrong: c.wrong.Count(), Open: c.open.Count()}
}
