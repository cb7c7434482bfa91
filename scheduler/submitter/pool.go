package submitter

import (
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// mostPooled bounds the results of a pool: beyond it those that came first are forgotten with all others, and are
// asked for again.
const mostPooled = 4096

// A pool has what single workers made of tasks of which one alone does not tell the end: replicas, and failures. The
// zero value has nothing. It is in memory alone.
type pool struct {
	rows map[uint64]*ledger.Row
	n    int // results in them
}

// add adds the results that a worker made of a task and that pass checkResult. It returns the end of the task that all
// results so far amount to, or nil if they do not end it yet.
func (p *pool) add(s *Submitter, from task.PeerID, j *submitted, t *message.TaskSummary) *message.TaskSummary {
	if p.n >= mostPooled {
		*p = pool{}
	}
	row := p.rows[t.Index]
	if row == nil {
		row = &ledger.Row{}
	}
	rule := j.rule()
	for i := range t.Results {
		r := &t.Results[i]
		if r.Worker != from || r.Task != (task.TaskID{Job: j.id, Index: t.Index}) || len(row.Results) >= rule.Most() ||
			len(row.Failures) > rule.Retries || s.checkResult(from, j, r, t.Signed) != nil {
			continue
		}
		if row.AddResult(ledger.Attempt{Seq: uint64(len(row.Failures))}, *r) { // a receipt has the attempt
			p.keep(t.Index, row)
		}
	}
	end := &message.TaskSummary{Index: t.Index, Signed: true}
	switch row.Verdict(rule) {
	case ledger.Done:
		end.Results = row.Agreed()
	case ledger.Failed:
		end.Failed, end.Reason = true, row.Why(rule)
		for _, f := range row.Failures {
			end.Results = append(end.Results, f.Result)
		}
		end.Results = append(end.Results, row.Said()...)
	default:
		return nil
	}
	p.n -= len(row.Results) + len(row.Failures)
	delete(p.rows, t.Index)
	return end
}

// keep notes that a row has one more result.
func (p *pool) keep(i uint64, row *ledger.Row) {
	if p.rows == nil {
		p.rows = map[uint64]*ledger.Row{}
	}
	p.rows[i] = row
	p.n++
}
