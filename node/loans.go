package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// What people are told of tasks that other cells have. Only the submitter knows who has them, and only the
// leader of that cell what it does with them: both are asked.

// loansTimeout bounds these questions, of which some go to nodes that may be away; a person waits.
const loansTimeout = 3 * time.Second

// answerSubmitted answers a member's question about a job that this node submitted.
func (q *queries) answerSubmitted(ctx context.Context, from task.PeerID, body []byte) ([]byte, error) {
	var job jobQuery
	if err := json.Unmarshal(body, &job); err != nil {
		return nil, fmt.Errorf("reading the question: %w", err)
	}
	var st message.JobStatus
	err := ErrUnknownJob
	if e := q.doOf(ctx, from, func() {
		m := q.overlays.members[job.Overlay]
		switch {
		case m == nil:
		case !m.has(from) && !m.Visits(from):
			err = errNoMember
		default:
			var mine bool
			if st, mine = m.Submitter().Job(job.Job); mine {
				err = nil
			}
		}
	}); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(st)
}

// submitted asks the submitter of a job, which a coordinator told of, how it stands. Nil where the overlay is in
// one cell, whose leader knows all, and where the submitter does not answer.
func (q *queries) submitted(ctx context.Context, l leader, led *message.JobStatus) *message.JobStatus {
	divided := false
	if err := q.look(ctx, func() {
		m := q.overlays.members[l.overlay]
		divided = m != nil && !m.Cell().Whole()
	}); err != nil || !divided || led.Submitter == q.self {
		return nil
	}
	var own message.JobStatus
	question := jobQuery{Overlay: l.overlay, Job: led.ID}
	if err := q.askAbroad(ctx, led.Submitter, methodSubmitted, question, &own); err != nil {
		q.log.Debug("asking the submitter how its job stands", "job", led.ID, "err", err)
		return nil
	}
	if n := own.Tasks; own.ID != led.ID || max(n.Waiting, n.Running, n.Done, n.Failed) > n.Total ||
		n.Waiting+n.Running+n.Done+n.Failed != n.Total || n.Total != led.Tasks.Total {
		return nil
	}
	own.Loans = soundLoans(own.Loans, own.Tasks.Total)
	return &own
}

// bySubmitter is what a coordinator says of a job, with what its submitter says, if it does: a leader takes what
// it is not to run for held, be it at home of what is lent or elsewhere of all the rest.
func bySubmitter(led message.JobStatus, own *message.JobStatus) message.JobStatus {
	if own == nil {
		return led
	}
	led.Tasks, led.Held, led.Final, led.Loans = own.Tasks, own.Held, own.Final, own.Loans
	if !message.FinalState(own.State) && message.FinalState(led.State) {
		led.State = message.JobRunning
	}
	return led
}

// soundLoans leaves out what cannot be of what a submitter tells, of a job of so many tasks.
func soundLoans(loans []message.LoanStatus, total uint64) []message.LoanStatus {
	if len(loans) > message.MaxCells {
		loans = loans[:message.MaxCells]
	}
	var all message.Set
	return slices.DeleteFunc(loans, func(l message.LoanStatus) bool {
		set, err := l.Set()
		if err != nil || len(set) == 0 || set[len(set)-1].To > total || set.Count() != l.Tasks || l.Running > l.Tasks ||
			set.Minus(all).Count() != l.Tasks {
			return true
		}
		all.Union(set)
		return false
	})
}

// askAbroad asks a member that may be of another cell, which has to hear first who asks.
func (q *queries) askAbroad(ctx context.Context, to task.PeerID, method string, question, out any) error {
	ctx, cancel := context.WithTimeout(ctx, loansTimeout)
	defer cancel()
	body, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("encoding the question: %w", err)
	}
	if to == q.self {
		b, err := q.answer(ctx, q.self, method, body)
		if err != nil {
			return err
		}
		return json.Unmarshal(b, out)
	}
	if err := q.paces.wait(ctx, to); err != nil {
		return err
	}
	if err := q.net.Introduce(ctx, to); err != nil {
		return err
	}
	b, err := q.net.Request(ctx, to, method, body)
	if err != nil {
		return leaderError(err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	printTexts(out)
	return nil
}

// withLent puts the tasks of a page that other cells have in place of what a leader says of them. Leaders that
// do not answer in time have theirs left out.
func (q *queries) withLent(ctx context.Context, l leader, st message.JobStatus, page jobQuery) message.JobStatus {
	if len(st.Loans) == 0 || page.Limit <= 0 {
		return st
	}
	pages := make([]message.JobStatus, len(st.Loans))
	var asked sync.WaitGroup
	for i := range st.Loans {
		if st.Loans[i].Leader == l.peer { // who was asked
			pages[i] = st
			continue
		}
		asked.Go(func() {
			if err := q.askAbroad(ctx, st.Loans[i].Leader, methodJob, page, &pages[i]); err != nil {
				q.log.Debug("asking the leader of another cell", "cell", st.Loans[i].Cell, "err", err)
			}
		})
	}
	asked.Wait()
	st.TasksList = lentTasks(st, pages)
	if most := min(page.Limit, MaxTaskList); len(st.TasksList) > most {
		st.TasksList = st.TasksList[:most]
	}
	return st
}

// lentTasks are the tasks of a status, of which pages tell what the borrowers know of theirs, each of its own.
func lentTasks(st message.JobStatus, pages []message.JobStatus) []message.TaskStatus {
	out := slices.Clone(st.TasksList)
	for k := range st.Loans {
		loan := &st.Loans[k]
		set, err := loan.Set()
		if err != nil {
			continue
		}
		out = slices.DeleteFunc(out, func(t message.TaskStatus) bool { return set.Contains(t.Index) })
		for _, t := range pages[k].TasksList {
			if set.Contains(t.Index) {
				t.Reason = lentTo(loan)
				out = append(out, t)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b message.TaskStatus) int { return cmp.Compare(a.Index, b.Index) })
	return slices.CompactFunc(out, func(a, b message.TaskStatus) bool { return a.Index == b.Index })
}

// lentTo says who has tasks of a loan, since when, and until when.
func lentTo(l *message.LoanStatus) string {
	return fmt.Sprintf("lent to cell %s, led by %s, at %s; it comes back at %s unless something is heard of it", l.Cell,
		shortPeer(l.Leader), l.Since.Format(time.TimeOnly), l.Until.Format(time.TimeOnly))
}

// lentOf tells in which overlay a job is, and what of it other cells have; none where that is not known, or no
// overlay of this node's is divided.
func (q *queries) lentOf(ctx context.Context, id task.JobID) (of overlay.ID, loans []message.LoanStatus, err error) {
	mine, divided := false, false
	if err = q.look(ctx, func() {
		if m := q.overlays.submitted(id); m != nil {
			of, loans, mine = m.id, submitter.Loans(m.Submitter(), id), true
		}
		for _, m := range q.ordered() {
			divided = divided || !m.Cell().Whole()
		}
	}); err != nil || mine || !divided {
		return of, loans, err
	}
	var st message.JobStatus
	l, err := q.askLeaders(ctx, methodJob, func(o overlay.ID) any { return jobQuery{Overlay: o, Job: id} }, &st)
	if err != nil {
		return of, nil, err
	}
	if own := q.submitted(ctx, l, &st); own != nil {
		loans = own.Loans
	}
	return l.overlay, loans, nil
}

// Why explains where a task is, or why it waits; without an index it groups
// the reasons of the job's tasks. What other nodes say is held to what this one would say at most.
func (q *queries) Why(ctx context.Context, id task.JobID, index *uint64) (Why, error) {
	w, err := q.whole(ctx, id, index)
	w.Keep(MostWhyReasons, MostWhyPeers)
	return w, err
}

// whole is Why as it was told.
func (q *queries) whole(ctx context.Context, id task.JobID, index *uint64) (w Why, err error) {
	if taken, ok := q.whyTaken(ctx, id, index); ok {
		return taken, nil
	}
	if removed, ok := q.whyRemoved(ctx, id, index); ok {
		return removed, nil
	}
	of, loans, err := q.lentOf(ctx, id)
	if err != nil {
		return w, err
	}
	var all message.Set
	for i := range loans {
		set, err := loans[i].Set()
		if err != nil {
			return w, err
		}
		if index != nil && set.Contains(*index) {
			return q.whyLent(ctx, of, id, &loans[i], *index), nil
		}
		all.Union(set)
	}
	but := make([]message.LoanRange, 0, len(all))
	for _, r := range all {
		but = append(but, message.LoanRange(r))
	}
	_, err = q.askLeaders(ctx, methodWhy, func(o overlay.ID) any { return whyQuery{o, id, index, but} }, &w)
	if err == nil && index == nil {
		w.Reasons = append(q.whyAllTaken(ctx, id), w.Reasons...)
		for i := range loans {
			w.Reasons = append(w.Reasons, WhyReason{Reason: lentTo(&loans[i]), Tasks: loans[i].Tasks,
				First: loans[i].Ranges[0].From, Peers: []task.PeerID{loans[i].Leader}})
		}
	}
	return w, err
}

// whyLent says of a task that another cell has who that is, and what its leader says of it.
func (q *queries) whyLent(ctx context.Context, of overlay.ID, id task.JobID, l *message.LoanStatus, i uint64) Why {
	var theirs Why
	if err := q.askAbroad(ctx, l.Leader, methodWhy, whyQuery{Overlay: of, Job: id, Index: &i}, &theirs); err != nil {
		theirs.Reasons = []WhyReason{{Reason: "the cell's leader does not say more: " + task.ClipMessage(err.Error()),
			Tasks: 1, First: i}}
	}
	w := Why{Job: id, Asked: 1, Total: max(theirs.Total, i+1), Reasons: []WhyReason{{Reason: lentTo(l), Tasks: 1,
		First: i, Peers: []task.PeerID{l.Leader}}}}
	w.Reasons = append(w.Reasons, theirs.Reasons[:min(len(theirs.Reasons), mostTheirs)]...)
	return w
}

// mostTheirs bounds the reasons of another cell's leader that are passed on: a task has a handful.
const mostTheirs = 16
