package scheduler

import (
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// sendProgress brings the submitter what it lacks, a batch at a time: the next
// goes out when it has answered the last. With nothing to bring, it tells how
// the job stands if that was asked for, and that it is over when it is.
func (c *Coordinator) sendProgress(j *job) {
	if j.state == jobFetching || !j.credit {
		return
	}
	p := &message.Progress{Job: j.id}
	size := 0
	held := holdBack(j)
	for len(j.ready) > 0 && len(p.Tasks) < message.MaxProgress && len(j.sent) < message.Window {
		i := j.ready[0]
		row := j.ledger.Rows[i]
		if row == nil || j.ledger.Delivered(i) {
			j.ready = j.ready[1:]
			continue
		}
		t := summarize(j, i, row)
		if size += summaryBytes(&t); size > message.BatchBytes && len(p.Tasks) > 0 {
			break
		}
		p.Tasks = append(p.Tasks, t)
		j.ready, j.sent = j.ready[1:], append(j.sent, i)
	}
	j.ready = append(j.ready, held...)
	p.Unknown = j.unknown()
	over := j.state == jobOver && len(j.ready) == 0 && len(j.sent) == 0 && !j.told
	if len(p.Tasks) == 0 && !j.asked && !over {
		return
	}
	j.credit = len(p.Tasks) == 0
	j.asked = false
	p.Summary = j.summary()
	if j.divided {
		p.Runs = j.runs()
	}
	if len(p.Tasks) == 0 && (len(j.ready) > 0 || len(j.sent) > 0) && j.state == jobOver {
		p.Summary.State = message.JobRunning // results are still on their way
	}
	c.emit(message.Send{To: j.submitter, Message: message.Message{Progress: p}})
	if over {
		j.told = true
		c.table.persistFacts(j)
		c.emit(message.Release{Job: j.id})
	}
}

// summarize tells the whole story of an ended task. Of many large agreeing
// results as many are told as a frame holds.
func summarize(j *job, i uint64, row *ledger.Row) message.TaskSummary {
	return summaryOf(j.ledger, i, row)
}

// summaryOf is summarize of a job of any copy of the ledger.
func summaryOf(j *ledger.Job, i uint64, row *ledger.Row) message.TaskSummary {
	rule := j.Rule()
	t := message.TaskSummary{Index: i, Attempts: row.Log}
	if row.Verdict(rule) == ledger.Done {
		t.Results = row.Agreed()
		return t
	}
	t.Failed, t.Reason = true, row.Why(rule)
	size := 0
	tell := func(r *task.Result) bool {
		size += message.ResultBytes(r)
		if size > message.BatchBytes && len(t.Results) > 0 {
			return false
		}
		t.Results = append(t.Results, *r)
		return true
	}
	failed := row.ByFault(rule)
	if len(failed) == 0 { // the runs that completed do not agree
		said := row.Said()
		for k := 0; k < len(said) && tell(&said[k]); k++ {
		}
		return t
	}
	for k := len(failed) - 1; k >= 0 && tell(&failed[k].Result); k-- { // the latest matter most
	}
	return t
}

func summaryBytes(t *message.TaskSummary) int {
	const perAttempt = 300
	n := perAttempt * len(t.Attempts)
	for i := range t.Results {
		n += message.ResultBytes(&t.Results[i])
	}
	return n
}
