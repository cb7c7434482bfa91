package submitter

import (
	"fmt"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// A leader may hold results back, for as long as it leads: it says that tasks run, and nothing shows that they
// ended. So a submitter to which nothing new was brought for long asks the other coordinators, one after the other,
// what they have of the job. They have copies of what the leader acknowledged to workers. What they bring is signed
// by workers, and is checked as what a leader brings; what else they say counts for nothing.

const (
	// withheldAfter is for how long nothing new may be brought before another coordinator is asked: long tasks take
	// longer, so the pause doubles from there, up to withheldMost.
	withheldAfter = 10 * time.Minute
	withheldMost  = 2 * time.Hour
)

// withheldTimer begins the keys of the timers that remind of it. A leader that talks much is no less watched.
const withheldTimer = "withheld/"

// A withholding is what a submitter does about a leader that brings nothing of a job. The zero value is of one
// that has just brought something.
type withholding struct {
	next  time.Time // when another coordinator is asked
	pause time.Duration
	n     int         // how many were asked
	asked task.PeerID // who may answer; "" for nobody
	armed bool        // a timer is set
}

// backups are the coordinators beside the leader, as a submitter asks them.
type backups struct{ s *Submitter }

// brought takes in that something new came of a job.
func (w *withholding) brought() { *w = withholding{asked: w.asked, armed: w.armed} }

// watch has others be asked for a job if nothing new comes.
func (b backups) watch(j *submitted) {
	w := &j.withheld
	if b.s.cfg.Coordinators == nil || j.state.Final || !w.next.IsZero() {
		return
	}
	w.pause, w.next = withheldAfter, b.s.now.Add(withheldAfter)
	b.arm(j)
}

func (b backups) arm(j *submitted) {
	if !j.withheld.armed {
		j.withheld.armed = true
		b.s.timers.Set(j.withheld.next, withheldTimer+string(j.id))
	}
}

// wake asks another coordinator for results of a job, if it is time. j may be nil.
func (b backups) wake(j *submitted) {
	if j == nil {
		return
	}
	s, w := b.s, &j.withheld
	w.armed = false
	switch {
	case j.state.Final || w.next.IsZero():
		return
	case s.now.Before(w.next):
		b.arm(j)
		return
	}
	w.pause = min(2*w.pause, withheldMost)
	w.next = s.now.Add(w.pause)
	b.arm(j)
	others := slices.DeleteFunc(slices.Clone(s.cfg.Coordinators.Group()), func(p task.PeerID) bool {
		return p == s.leader || p == s.self
	})
	if len(others) > 0 {
		w.n++
		b.ask(j, others[w.n%len(others)])
	}
}

func (b backups) ask(j *submitted, peer task.PeerID) {
	j.withheld.asked = peer
	g := &message.Got{Job: j.id, Have: slices.Clone(j.told()), Delivery: j.state.Delivery, Held: b.s.signHeld(j)}
	b.s.emit(message.Send{To: peer, Message: message.Message{Got: g}})
}

// bring takes results that another coordinator brings, and reports whether it was asked for them.
func (b backups) bring(from task.PeerID, m *message.Message) bool {
	s := b.s
	if m.Progress == nil {
		return false
	}
	j := s.jobs[m.Progress.Job]
	if j == nil || j.state.Final || j.withheld.asked != from {
		return false
	}
	j.withheld.asked = ""
	had := j.have.Count() + uint64(j.fetching)
	for i := range m.Progress.Tasks {
		t := &m.Progress.Tasks[i]
		if !j.state.Final && j.told().Contains(t.Index) == j.have.Contains(t.Index) { // else it runs once more
			s.take(from, j, t)
		}
	}
	news := j.have.Count() + uint64(j.fetching) - had
	if news == 0 {
		return true
	}
	s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "brought by another", Peer: from,
		Reason: fmt.Sprintf("it coordinates, too, and has %d results that the leader, %s, did not bring", news, s.leader)})
	s.emit(message.JobChanged{Job: j.id})
	if !s.finish(j, false) {
		s.got(j)
		b.ask(j, from) // it may have more
	}
	return true
}
