package scheduler

import (
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// bring brings a submitter results of its job that it does not hold and this copy has. It asks, with a Got, where
// the leader has brought nothing for long: a leader that holds results back would else hold up the job for as
// long as it leads. What this copy has was told by that leader, or by one before, and is signed by workers:
// the submitter sees for itself. Who leads now, and what else is to be done, is not this copy's to say.
func (r *Replica) bring(from task.PeerID, g *message.Got) {
	j := r.ledger.Jobs[g.Job]
	if r.session.state != following || j == nil || j.Submitter != from || g.Final {
		return
	}
	held, err := ledger.MakeSet(g.Have)
	if err != nil {
		return
	}
	r.readJob(g.Job)
	p := &message.Progress{Job: g.Job}
	p.Summary.State, p.Summary.Total = message.JobRunning, j.Spec.Sweep.Count()
	size := 0
	for _, i := range slices.Sorted(maps.Keys(j.Rows)) {
		row := j.Rows[i]
		if held.Contains(i) || j.Delivered(i) || row.Verdict(j.Rule()) == ledger.Open {
			continue
		}
		t := summaryOf(j, i, row)
		size += summaryBytes(&t)
		if n := len(p.Tasks); n == message.MaxProgress || size > message.BatchBytes && n > 0 {
			break
		}
		p.Tasks = append(p.Tasks, t)
	}
	if len(p.Tasks) > 0 {
		r.emit(message.Send{To: from, Message: message.Message{Progress: p}})
	}
}
