package submitter

import (
	"fmt"
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A teller whose word counted may turn out to be untrue: a result that it showed as one that it had run and
// found right is proven wrong, or a result of its own is. Its word was no word then. What was accepted while it
// counted was accepted with fewer checks than it should have been, so all of that is run again, as what is of a
// worker that was wrong. So it is where others outvoted the teller, who has no more say. A result that it merely does
// not show proves nothing, and lets its word count for less.

// countOf lists whose words of a worker count now for what is accepted of a job: none where the job does not go
// by what is known of workers.
func (h *hearsay) countOf(j *submitted, worker task.PeerID) (out []task.PeerID) {
	if j.spec.Verify.Wrong == 0 {
		return nil
	}
	for _, said := range h.about[worker] {
		if h.weight(said.teller) > 0 {
			out = append(out, said.teller)
		}
	}
	return out
}

// toldUntruth has what was accepted by a teller's word run again.
func (h *hearsay) toldUntruth(teller task.PeerID) {
	h.a.s.emit(message.Decided{Action: "told an untruth", Peer: teller,
		Reason: "it says that it ran a result and found it right that is proven wrong: its word counts no more"})
	for _, id := range slices.Sorted(maps.Keys(h.a.s.jobs)) {
		if j := h.a.s.jobs[id]; j.checks != nil {
			h.a.doubtTold(j, teller)
		}
	}
}

// doubtTold has the results of a job run again that were accepted while a teller's word counted.
func (a *audits) doubtTold(j *submitted, teller task.PeerID) {
	of := j.checks.told[teller]
	if of == nil {
		return
	}
	n := uint64(0)
	if !(doubting{a}).doubtEach(j, of, func(both ledger.Set) { n += both.Count() }) {
		return
	}
	a.s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "doubted", Peer: teller,
		Reason: fmt.Sprintf("%d results were accepted by its word: they are run again", n)})
	a.s.emit(message.JobChanged{Job: j.id})
}

// addTo adds a task to the sets of some peers.
func addTo(sets map[task.PeerID]*ledger.Set, peers []task.PeerID, i uint64) {
	for _, p := range peers {
		of := sets[p]
		if of == nil {
			of = &ledger.Set{}
			sets[p] = of
		}
		of.Add(i)
	}
}
