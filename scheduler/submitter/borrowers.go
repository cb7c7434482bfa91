package submitter

import (
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// What is said to the leaders of other cells, and what they say.

// askBorrower offers a job to who borrows of it, which also asks for results.
func (s *Submitter) askBorrower(j *submitted, peer task.PeerID, l *loan) {
	held := j.wantedOf(l)
	s.pace.offers++
	s.pace.bytes += len(j.record.Job) + bytesPerRange*len(held)
	s.emit(message.Send{To: peer, Message: message.Message{Submit: &message.Submit{Record: j.record, Have: held,
		Accepted: true, Delivery: l.state.Delivery, Signature: s.signSet(j.id, l.state.Delivery, held),
		Refused: s.audits.refused(j)}}})
	l.told = true
	l.next = s.now.Add(max(l.pause, s.timing.RetryMin))
	l.pause = min(max(2*l.pause, s.timing.RetryMin), lendEvery)
}

// tellBorrower says what is wanted of a borrower now.
func (s *Submitter) tellBorrower(j *submitted, peer task.PeerID, l *loan) {
	held := j.wantedOf(l)
	l.told = true
	s.emit(message.Send{To: peer, Message: message.Message{Got: &message.Got{Job: j.id, Have: held,
		Lacking: slices.Clone(j.lacking), Delivery: l.state.Delivery, Held: s.signSet(j.id, l.state.Delivery, held),
		Refused: s.audits.refused(j)}}})
}

// sayOver tells a borrower that the job is over.
func (s *Submitter) sayOver(id task.JobID, peer task.PeerID) {
	s.emit(message.Send{To: peer, Message: message.Message{Got: &message.Got{Job: id, Final: true,
		Signature: signEnd(s.key, id)}}})
}

// signSet signs that a set of tasks is held; nil where nothing is signed.
func (s *Submitter) signSet(id task.JobID, delivery uint64, held ledger.Set) []byte {
	if !s.cfg.Signs || len(s.key) == 0 {
		return nil
	}
	h, err := ledger.HeldOf(delivery, held)
	if err != nil {
		s.emit(message.Decided{Task: task.TaskID{Job: id}, Action: "not signed", Reason: task.ClipMessage(err.Error())})
		return nil
	}
	h.Sign(id, s.key)
	return h.Signature
}

// fromBorrower takes in what the leader of another cell says.
func (s *Submitter) fromBorrower(from task.PeerID, m *message.Message) {
	if _, leads := s.cells.load(from); !leads {
		return
	}
	var id task.JobID
	switch {
	case m.Accepted != nil:
		id = m.Accepted.Job
	case m.Progress != nil:
		id = m.Progress.Job
	}
	j := s.jobs[id]
	switch {
	case j == nil && s.forgotten[id] == nil:
		return
	case j == nil || j.state.Final:
		s.sayOver(id, from)
		return
	}
	if j.lending == nil || j.lending.loans[from] == nil {
		// It has the job of a time when its cell and this one were one: nothing more is wanted of it.
		l := j.borrower(from)
		l.open, l.moved = true, s.now
		s.tellAnew(j, l)
		s.keepLoan(j, from, l)
	}
	l := j.lending.loans[from]
	l.heard, l.pause = s.now, lendEvery
	l.next = s.now.Add(lendEvery)
	if m.Accepted != nil {
		s.acceptedBy(from, j, l, m.Accepted)
		return
	}
	s.broughtBy(from, j, l, m.Progress)
}

func (s *Submitter) acceptedBy(from task.PeerID, j *submitted, l *loan, a *message.Accepted) {
	switch {
	case a.Error != "":
		l.rests = s.now.Add(max(a.RetryAfter, lendSilence))
		s.takeBack(j, from, "the cell's leader does not take them: "+task.ClipMessage(a.Error))
	case a.Held != nil && a.Held.Delivery >= l.state.Delivery && a.Held.Delivery < ledger.MaxDelivery &&
		a.Held.Verify(j.id, s.Key()):
		if now, err := ledger.HeldOf(l.state.Delivery, j.wantedOf(l)); err != nil ||
			a.Held.Delivery == now.Delivery && a.Held.Count == now.Count && a.Held.Digest == now.Digest {
			return
		}
		j.state.Lent = max(j.state.Lent, a.Held.Delivery) // of before two cells became one
		s.tellAnew(j, l)
		s.keepLoan(j, from, l)
		s.askBorrower(j, from, l)
	}
}

// broughtBy takes the results that a borrower brings, whether it was lent these tasks or not.
func (s *Submitter) broughtBy(from task.PeerID, j *submitted, l *loan, p *message.Progress) {
	had, told := l.tasks().Count(), j.told().Count()
	l.runs = int(min(p.Summary.Running, message.MaxProgress<<8))
	for i := range p.Tasks {
		if !j.state.Final {
			s.take(from, j, &p.Tasks[i])
		}
	}
	if s.finish(j, false) {
		return
	}
	if now := l.tasks().Count(); now < had {
		l.moved = s.now
		if now == 0 {
			s.succeed(from)
		}
	}
	if l.open && (l.runs == 0 || s.now.Sub(l.moved) >= j.stalls()) {
		l.open, l.told = false, false
	}
	if len(p.Tasks) > 0 || !l.told || !l.open && len(l.tasks()) == 0 && !message.FinalState(p.Summary.State) {
		s.tellBorrower(j, from, l)
	}
	if j.told().Count() > told { // the home may be at these, too
		s.got(j)
	}
	s.lendMore(j)
	s.emit(message.JobChanged{Job: j.id})
}

// atHome takes in what the home says of a job, and corrects it: to the home, tasks that are
// lent have ended.
func (s *Submitter) atHome(j *submitted, sum message.JobSummary) message.JobSummary {
	if j.lending == nil {
		if len(s.cells.others) == 0 {
			return sum
		}
		j.lending = &lending{loans: map[task.PeerID]*loan{}}
	}
	open := j.total - min(j.total, j.told().Count()) // what it says may be of before the last word
	j.lending.waits, j.lending.known = min(sum.Waiting, open-min(open, sum.Running)), true
	lent, runs := j.lent().Count(), uint64(0)
	for _, l := range j.lending.loans {
		runs += min(uint64(max(0, l.runs)), l.tasks().Count())
	}
	if lent == 0 {
		return sum
	}
	sum.Done -= min(sum.Done, lent)
	sum.Running += min(runs, lent)
	if sum.State == message.JobDone || sum.State == message.JobPartly || sum.State == message.JobFailed {
		sum.State = message.JobRunning
	}
	return sum
}

// took notes how long a task took.
func (j *submitted) took(t *message.TaskSummary, now time.Time) {
	if j.lending != nil && !t.Failed && len(t.Results) > 0 {
		// Nothing took longer than the job is there: who says so gains no more time than that.
		j.lending.wall = max(j.lending.wall, min(t.Results[0].Wall, now.Sub(j.spec.Submitted.Time)))
	}
}
