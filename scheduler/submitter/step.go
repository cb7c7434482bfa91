package submitter

import (
	"strings"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// Step advances the machine; now never decreases. It keeps neither ev nor the
// returned slice.
func (s *Submitter) Step(now time.Time, ev message.Event) []message.Effect {
	s.now, s.effects = now, s.room.Begin()
	switch ev := ev.(type) {
	case message.Offer:
		s.offer(ev)
	case message.Reuse:
		takings{s}.reuse(&ev)
	case message.Recalled:
		takings{s}.recalled(&ev)
	case message.CancelJob:
		s.cancel(ev.Job, ev.Soon)
	case message.RemoveTasks:
		s.remove(ev)
	case message.CheckMore:
		s.allowMore(ev)
	case message.ForgetJob:
		s.forget(ev.Job)
	case message.LeaderChanged:
		s.follow(ev)
	case *message.Received:
		s.receive(ev.From, ev.Message)
	case message.Fetched:
		s.fetched(ev)
	case message.CellsAre:
		s.cellsAre(ev)
	case message.OwnerState:
		s.audits.abroad.lend(ev.Slots)
		s.unaided.memory = ev.Memory
	case message.Audited:
		if ev.First {
			s.unaided.ended(&ev)
		} else if !(readings{&s.audits}).readOther(&ev) {
			s.audits.answered(&ev)
		}
	case message.Proven:
		s.audits.proven(&ev)
	case message.Told:
		s.audits.heard.told(ev.Tally)
	case message.Redone:
		s.audits.heard.redone(&ev)
	case message.Examined:
		s.audits.examined(&ev)
	case message.Compared:
		readings{&s.audits}.compared(&ev)
	}
	s.offerAgain()
	for s.maySpeak() {
		key, ok := s.timers.Due(now)
		if !ok {
			break
		}
		s.wake(key)
	}
	s.audits.examine()
	readings{&s.audits}.compare()
	s.audits.abroad.ask()
	s.audits.begin()
	s.unaided.begin()
	s.effects = s.room.End(s.effects)
	return s.effects
}

// NextWake says when time alone will make the submitter do something.
func (s *Submitter) NextWake() (time.Time, bool) {
	at, ok := s.timers.Next()
	if len(s.toOffer) > 0 {
		at, ok = s.now, true
	}
	if resume := s.pace.from.Add(paceEvery); ok && at.Before(resume) && s.pace.full() {
		at = resume
	}
	return at, ok
}

// wake does what a timer reminds of.
func (s *Submitter) wake(key string) {
	if f := s.fetches[key]; f != nil {
		if f.waiting {
			f.waiting = false
			s.fetch(key, f)
		}
		return
	}
	if names, ok := strings.CutPrefix(key, byeTimer); ok {
		id, peer, _ := strings.Cut(names, "/")
		s.sayOver(task.JobID(id), task.PeerID(peer))
		return
	}
	if id, ok := strings.CutPrefix(key, lendTimer); ok {
		s.tend(s.jobs[task.JobID(id)])
		return
	}
	if id, ok := strings.CutPrefix(key, gotTimer); ok {
		gotLate(s, s.jobs[task.JobID(id)])
		return
	}
	if id, ok := strings.CutPrefix(key, withheldTimer); ok {
		backups{s}.wake(s.jobs[task.JobID(id)])
		return
	}
	if id, ok := strings.CutPrefix(key, unaidedTimer); ok {
		s.unaided.wake(s.jobs[task.JobID(id)])
		return
	}
	if id, ok := forgottenID(key); ok {
		s.forgetMore(id)
		return
	}
	j := s.jobs[task.JobID(key)]
	if j == nil || j.armed && s.now.Before(j.alarm) {
		return // an older timer
	}
	j.armed = false
	switch {
	case s.now.Before(j.next):
		s.arm(j, j.next)
	case j.state.Final:
		s.sayGoodbye(j)
	default:
		s.speak(j)
	}
}

func (s *Submitter) receive(from task.PeerID, m *message.Message) {
	if from != s.leader || m.Progress != nil && m.Progress.Made {
		if !(backups{s}).bring(from, m) {
			s.fromBorrower(from, m)
		}
		return
	}
	switch {
	case m.Accepted != nil:
		s.accepted(m.Accepted)
	case m.Progress != nil:
		s.progress(from, m.Progress)
	}
}
