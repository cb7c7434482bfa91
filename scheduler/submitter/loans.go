package submitter

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// Loans tells which tasks of a job the leaders of other cells have, by their cells; none of a job
// that is over, or not known.
func Loans(s *Submitter, id task.JobID) (out []message.LoanStatus) {
	j := s.jobs[id]
	if j == nil || j.lending == nil || j.state.Final {
		return nil
	}
	for _, peer := range slices.Sorted(maps.Keys(j.lending.loans)) {
		if l := j.lending.loans[peer]; len(l.tasks()) > 0 {
			out = append(out, l.status(peer, j.stalls(), s.now))
		}
	}
	slices.SortStableFunc(out, func(a, b message.LoanStatus) int { return cmp.Compare(a.Cell, b.Cell) })
	return out
}

// status is what people are told of a loan of which something has to come within stalls.
func (l *loan) status(peer task.PeerID, stalls time.Duration, now time.Time) message.LoanStatus {
	st := message.LoanStatus{Cell: l.state.Cell, Leader: peer, Tasks: l.tasks().Count(),
		Since: time.UnixMilli(l.state.Since).UTC()}
	st.Running = min(uint64(max(0, l.runs)), st.Tasks)
	heard, moved := l.answered, l.moved
	if l.heard.IsZero() { // since a restart: see wake
		heard, moved = now, now
	}
	if st.Until = heard.Add(lendSilence).UTC(); moved.Add(stalls).Before(st.Until) {
		st.Until = moved.Add(stalls).UTC()
	}
	for _, r := range l.tasks() {
		st.Ranges = append(st.Ranges, message.LoanRange(r))
	}
	return st
}
