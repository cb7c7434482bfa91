package submitter

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// A leader may hold results back, for as long as it leads: it says that tasks run, and nothing shows that they
// ended. So a submitter to which nothing new was brought for long asks the other coordinators, one after the other,
// what they have of the job: they have copies of what the leader acknowledged to workers. Where it gave them none,
// members that ran tasks have the results themselves, for a while: a few are asked, and all where these bring
// something, or nothing comes still. A leader that brings a little now and then is found by a few that are asked all
// the same, every two hours. What they bring is signed by workers, and is checked as what a leader brings; what else
// they say counts for nothing.

const (
	// withheldAfter is for how long nothing new may be brought before another coordinator is asked, where nobody knows
	// how long tasks take; withheldRuns is how many times as long as they do, withheldLeast at least: short tasks that
	// nobody brings are seen soon. The pause doubles from there, up to withheldMost.
	withheldAfter = 10 * time.Minute
	withheldRuns  = 32
	withheldLeast = time.Minute
	withheldMost  = 2 * time.Hour
	// sampleAfter and roundAfter are how many coordinators are asked in vain before a few members are, and all.
	sampleAfter, roundAfter = 2, 3
	// sampled is how many a few are.
	sampled = 8
	// roundEvery is after what pause those are asked again of which one brought something: it may have more.
	roundEvery = 10 * time.Second
	// askedAtOnce is how many members are asked at once, and askPause how long after it the next are.
	askedAtOnce = 16
	askPause    = time.Second
)

// withheldTimer begins the keys of the timers that remind of it. A leader that talks much is no less watched.
const withheldTimer = "withheld/"

// A withholding is what a submitter does about a leader that brings nothing of a job. The zero value is of one
// that has just brought something.
type withholding struct {
	next   time.Time // when another coordinator is asked; zero while nothing is waited for
	pause  time.Duration
	vain   int                  // how many were asked since something came
	n      int                  // how many were, ever
	asked  map[task.PeerID]bool // who may answer
	sample time.Time            // when a few members are asked, whatever comes
	first  int                  // of the members, of whom these are
	round  time.Time            // when all are; zero for not
	toAsk  []task.PeerID        // those that are still to be asked
	askAt  time.Time            // when the next of them are
	takes  time.Duration        // about what a task takes; 0 for not known
	armed  bool                 // a timer is set
	alarm  time.Time            // for when
	pool   pool
	own    ownRuns // what the submitter runs itself, of which nothing comes
}

// backups are the members beside the leader, as a submitter asks them.
type backups struct{ s *Submitter }

// brought takes in that something new came of a job, that took a worker so long.
func (w *withholding) brought(took time.Duration) {
	const weight = 8
	if took = max(took, 0); w.takes == 0 {
		w.takes = took // the first tells most
	}
	w.takes += (took - w.takes) / weight
	w.next, w.pause, w.vain = time.Time{}, 0, 0
}

// patience is for how long nothing may come of a job at first.
func (b backups) patience(j *submitted) time.Duration {
	takes := b.s.unaided.takes(j)
	if takes == 0 {
		return withheldAfter
	}
	return min(max(withheldRuns*min(takes, withheldAfter), withheldLeast), withheldAfter)
}

// watch has others be asked for a job if nothing new comes.
func (b backups) watch(j *submitted) {
	w := &j.withheld
	b.s.unaided.watch(j)
	if b.s.cfg.Coordinators == nil || j.state.Final || !w.next.IsZero() {
		return
	}
	w.pause = b.patience(j)
	w.next = b.s.now.Add(w.pause)
	if w.sample.IsZero() {
		w.sample = b.s.now.Add(withheldMost)
	}
	b.arm(j)
}

// arm sets a timer for what is due first.
func (b backups) arm(j *submitted) {
	w := &j.withheld
	at := w.sample
	for _, t := range []time.Time{w.next, w.round} {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	if len(w.toAsk) > 0 && w.askAt.Before(at) {
		at = w.askAt
	}
	if w.armed && !at.Before(w.alarm) {
		return
	}
	w.armed, w.alarm = true, at
	b.s.timers.Set(at, withheldTimer+string(j.id))
}

// wake asks others for results of a job, if it is time. j may be nil.
func (b backups) wake(j *submitted) {
	if j == nil {
		return
	}
	s, w := b.s, &j.withheld
	w.armed = false
	if j.state.Final || w.sample.IsZero() {
		return
	}
	if !w.next.IsZero() && !s.now.Before(w.next) {
		b.askAnother(j)
	}
	if !s.now.Before(w.sample) {
		b.askSome(j)
	}
	if !w.round.IsZero() && !s.now.Before(w.round) {
		b.askAll(j)
	}
	if len(w.toAsk) > 0 && !s.now.Before(w.askAt) {
		n := min(len(w.toAsk), askedAtOnce)
		for _, peer := range w.toAsk[:n] {
			b.ask(j, peer)
		}
		w.toAsk, w.askAt = w.toAsk[n:], s.now.Add(askPause)
	}
	b.arm(j)
}

// askAnother asks the next coordinator, after a pause that doubles, and members in the end.
func (b backups) askAnother(j *submitted) {
	s, w := b.s, &j.withheld
	w.pause = min(2*w.pause, withheldMost)
	w.next = s.now.Add(w.pause)
	clear(w.asked)
	others := b.others(s.cfg.Coordinators.Group())
	if len(others) > 0 {
		w.n++
		b.ask(j, others[w.n%len(others)])
	}
	switch w.vain++; {
	case w.vain == sampleAfter:
		b.askSome(j)
	case w.vain >= roundAfter:
		b.askAll(j)
	}
}

// others are those of some peers that do not lead.
func (b backups) others(all []task.PeerID) []task.PeerID {
	return slices.DeleteFunc(slices.Clone(all), func(p task.PeerID) bool { return p == b.s.leader })
}

// members are all that may have run a task; nil where these are not known.
func (b backups) members() []task.PeerID {
	if b.s.cfg.Where == nil {
		return nil
	}
	return b.others(b.s.cfg.Where.Peers())
}

// askSome has a few members be asked, others each time.
func (b backups) askSome(j *submitted) {
	w, all := &j.withheld, b.members()
	w.sample = b.s.now.Add(withheldMost)
	if len(w.toAsk) > 0 { // more than these are
		return
	}
	for k := range min(sampled, len(all)) {
		w.toAsk = append(w.toAsk, all[(w.first+k)%len(all)])
	}
	w.first += sampled
	w.askAt = b.s.now
}

// askAll has all members be asked.
func (b backups) askAll(j *submitted) {
	w := &j.withheld
	w.round = time.Time{}
	if len(w.toAsk) <= sampled {
		w.toAsk, w.askAt = b.members(), b.s.now
	}
}

func (b backups) ask(j *submitted, peer task.PeerID) {
	if j.withheld.asked == nil {
		j.withheld.asked = map[task.PeerID]bool{}
	}
	j.withheld.asked[peer] = true
	g := &message.Got{Job: j.id, Have: slices.Clone(j.told()), Delivery: j.state.Delivery, Held: b.s.signHeld(j),
		Asks: true}
	b.s.emit(message.Send{To: peer, Message: message.Message{Got: g}})
}

// bring takes results that another than the leader brings, and reports whether it was asked for them.
func (b backups) bring(from task.PeerID, m *message.Message) bool {
	s := b.s
	if m.Progress == nil {
		return false
	}
	j := s.jobs[m.Progress.Job]
	if j == nil || j.state.Final || !j.withheld.asked[from] {
		return false
	}
	delete(j.withheld.asked, from)
	had, repeats := j.have.Count()+uint64(j.fetching), false
	for i := range m.Progress.Tasks {
		t := &m.Progress.Tasks[i]
		switch {
		case j.state.Final:
		case m.Progress.Made && j.checks != nil && j.checks.away.Contains(t.Index):
			repeats = s.audits.abroad.broughtBy(from, j, t) || repeats
		case j.told().Contains(t.Index) == j.have.Contains(t.Index): // else it runs once more
			b.take(from, j, t, m.Progress.Made)
		}
	}
	news := j.have.Count() + uint64(j.fetching) - had
	if news == 0 {
		if repeats && !s.finish(j, false) {
			s.got(j)
			b.ask(j, from) // it may have more
		}
		return true
	}
	action, is := "brought by a worker", "ran tasks"
	if !m.Progress.Made {
		action, is = "brought by another", "coordinates, too"
	}
	s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: action, Peer: from,
		Reason: fmt.Sprintf("it %s, and has %d results that the leader, %s, did not bring", is, news,
			cmp.Or(s.leader, "whom nobody knows"))})
	s.emit(message.JobChanged{Job: j.id})
	if !s.finish(j, false) {
		s.got(j)
		b.ask(j, from) // it may have more
		if w := &j.withheld; w.round.IsZero() {
			w.round = s.now.Add(roundEvery) // others may
			b.arm(j)
		}
	}
	return true
}

// take takes what another than the leader says of a task: the whole of it, or what it made of it itself, with made.
func (b backups) take(from task.PeerID, j *submitted, t *message.TaskSummary, made bool) {
	if made && t.Index < j.total && !j.have.Contains(t.Index) {
		if t = j.withheld.pool.add(b.s, from, j, t); t == nil {
			return
		}
	}
	b.s.take(from, j, t)
}
