package submitter

import (
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// A worker to whom others' runs, beyond doubt, came to something else has no more say here, for as long
// as credibility.Credit says, nor a task of a job that is checked. That proves nothing: nobody is named,
// and nobody else is told. What it had a say in before is looked at again without it.

// losers are all who had a say in a poll and are not among the winners.
func (p *poll) losers(signer task.PeerID, winners []task.PeerID) []task.PeerID {
	all := append([]task.PeerID{signer}, p.with...)
	for _, b := range p.against {
		all = append(all, b.Worker)
	}
	return slices.DeleteFunc(all, func(w task.PeerID) bool { return slices.Contains(winners, w) })
}

// outvote takes their say from workers that others outvoted.
func (a *abroad) outvote(id task.TaskID, losers []task.PeerID) {
	for _, w := range losers {
		if !a.says(w) {
			continue
		}
		a.credit(w).Outvote(a.s.now)
		a.keep(w)
		a.s.emit(message.Decided{Task: id, Action: "outvoted", Peer: w,
			Reason: "most came to something else, and this machine lends no core to see"})
		doubting{a.audits}.distrust(w, true)
	}
	a.tellRefused()
}
