// Package submitter is the machine that keeps the jobs of a node's owner until it holds
// every result.
package submitter

import (
	"crypto/ed25519"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/timer"
	"godwit/task"
)

// What a submitter says to the leader is paced, so that ten thousand jobs that
// are offered again to a new leader neither hold up the loop that steps this
// machine nor fill the outbox to the leader: 3,200 offers a second, and 50 MB.
const (
	paceEvery  = 20 * time.Millisecond
	paceOffers = 64
	paceBytes  = message.BatchBytes
)

// A Submitter keeps the jobs of a node's owner until it holds every result:
// it offers them to whoever leads, again and again if need be, and fetches and
// verifies what comes back. Of results that are durable it keeps only which
// they are: see ResultKey.
type Submitter struct {
	self   task.PeerID
	timing message.Timing
	cfg    Config
	key    ed25519.PrivateKey // signs cancels and goodbyes; the node's own
	leader task.PeerID
	epoch  uint64
	jobs   map[task.JobID]*submitted
	timers timer.Queue[string] // a job's ID, or the key of a fetch or of a forgotten job
	// fetches are results whose blocks are on their way, by the key of their Fetch.
	fetches map[string]*resultFetch
	// forgotten are jobs that the owner dropped: see ForgetJob.
	forgotten map[task.JobID]*forgottenJob
	// toOffer are jobs that a new leader has not been offered, sorted.
	toOffer []task.JobID
	pace    pace
	now     time.Time
	effects []message.Effect
}

// A pace counts what was said since a moment.
type pace struct {
	from   time.Time
	offers int
	bytes  int
}

// submitted is a job offered to this node.
type submitted struct {
	id     task.JobID
	record task.Record
	spec   *task.Job
	total  uint64
	state  submittedState
	have   ledger.Set // results held durably, or in a Persist of this Step
	failed uint64     // of have
	// fetching counts the tasks in Submitter.fetches; lacking are those of them
	// whose blocks were not to be had, time and again.
	fetching int
	lacking  ledger.Set
	refusal  string // the leader's, who takes the job later; "" for none
	// next is when to offer, ask or cancel again; pause is how long after that.
	// While armed, a timer goes off at alarm, so that hearing of a job a thousand
	// times a second, or of many leaders, leaves no heap of timers behind.
	next  time.Time
	pause time.Duration
	alarm time.Time
	armed bool
	over  farewell
}

// New returns a submitter without jobs. timing and cfg must be valid; key
// is the node's own, and signs cancels and goodbyes.
func New(self task.PeerID, timing message.Timing, cfg Config, key ed25519.PrivateKey) *Submitter {
	return &Submitter{
		self: self, timing: timing, cfg: cfg, key: key, jobs: map[task.JobID]*submitted{},
		fetches: map[string]*resultFetch{}, forgotten: map[task.JobID]*forgottenJob{},
	}
}

func (s *Submitter) add(id task.JobID, spec *task.Job, st submittedState) *submitted {
	j := &submitted{id: id, record: st.Record, spec: spec, total: spec.Sweep.Count(), state: st, pause: s.timing.RetryMin}
	s.jobs[id] = j
	if !st.Final {
		s.arm(j, time.Time{})
	}
	return j
}

// Step advances the machine; now never decreases. It keeps neither ev nor the
// returned slice.
func (s *Submitter) Step(now time.Time, ev message.Event) []message.Effect {
	s.now, s.effects = now, nil
	switch ev := ev.(type) {
	case message.Offer:
		s.offer(ev.Record)
	case message.CancelJob:
		s.cancel(ev.Job)
	case message.ForgetJob:
		s.forget(ev.Job)
	case message.LeaderChanged:
		s.follow(ev)
	case message.Received:
		s.receive(ev.From, &ev.Message)
	case message.Fetched:
		s.fetched(ev)
	}
	s.offerAgain()
	for s.maySpeak() {
		key, ok := s.timers.Due(now)
		if !ok {
			break
		}
		s.wake(key)
	}
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

func (p *pace) full() bool { return p.offers >= paceOffers || p.bytes >= paceBytes }

// maySpeak says whether the pace allows another offer now.
func (s *Submitter) maySpeak() bool {
	if s.now.Sub(s.pace.from) >= paceEvery {
		s.pace = pace{from: s.now}
	}
	return !s.pace.full()
}

func (s *Submitter) emit(e message.Effect) { s.effects = append(s.effects, e) }

// offer keeps a job and offers it to the leader. A record that does not open
// is left alone: the driver signed it, and was told when it could not.
func (s *Submitter) offer(rec task.Record) {
	id := rec.ID()
	if s.jobs[id] != nil || s.forgotten[id] != nil {
		return
	}
	spec, err := rec.Open()
	if err != nil {
		s.emit(message.Decided{Task: task.TaskID{Job: id}, Action: "refused", Peer: s.self, Reason: err.Error()})
		return
	}
	j := s.add(id, spec, submittedState{Record: rec})
	s.persist(j)
	s.emit(message.JobChanged{Job: id})
}

func (s *Submitter) cancel(id task.JobID) {
	j := s.jobs[id]
	if j == nil || j.state.Cancelled || j.state.Final {
		return
	}
	j.state.Cancelled = true
	s.persist(j)
	s.emit(message.JobChanged{Job: id})
	s.soon(j)
}

func (s *Submitter) follow(ev message.LeaderChanged) {
	if ev.Leader == s.leader && ev.Epoch == s.epoch {
		return
	}
	s.leader, s.epoch = ev.Leader, ev.Epoch
	s.toOffer = s.toOffer[:0]
	if s.leader == "" {
		return
	}
	for id, j := range s.jobs {
		if !j.state.Final {
			s.toOffer = append(s.toOffer, id)
		}
	}
	slices.Sort(s.toOffer)
}

// offerAgain offers the jobs to a new leader, as far as the pace allows.
func (s *Submitter) offerAgain() {
	for len(s.toOffer) > 0 && s.maySpeak() {
		j := s.jobs[s.toOffer[0]]
		s.toOffer = s.toOffer[1:]
		if j != nil && !j.state.Final {
			j.refusal, j.pause = "", s.timing.RetryMin // the refusal was another's
			s.speak(j)
		}
	}
}

// soon makes the job speak to the leader in this Step, or as soon as the pace
// allows.
func (s *Submitter) soon(j *submitted) {
	j.pause = s.timing.RetryMin
	s.later(j, 0)
}

// later makes it speak after a pause, unless something is heard before.
func (s *Submitter) later(j *submitted, pause time.Duration) {
	j.next = s.now.Add(pause)
	s.arm(j, j.next)
}

// arm makes a timer look at the job by then.
func (s *Submitter) arm(j *submitted, at time.Time) {
	if j.armed && !at.Before(j.alarm) {
		return
	}
	j.alarm, j.armed = at, true
	s.timers.Set(at, string(j.id))
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

// speak offers the job, which also asks for what is missing, and repeats the
// owner's wish to cancel it, and what cannot be had.
func (s *Submitter) speak(j *submitted) {
	if s.leader == "" {
		return // LeaderChanged wakes every job
	}
	s.pace.offers++
	s.pace.bytes += len(j.record.Job) + bytesPerRange*len(j.have)
	s.emit(message.Send{To: s.leader, Message: message.Message{Submit: &message.Submit{Record: j.record,
		Have: slices.Clone(j.have), Accepted: j.state.Accepted}}})
	if j.state.Cancelled {
		sig := task.SignCancel(j.id, s.key)
		s.emit(message.Send{To: s.leader, Message: message.Message{Cancel: &message.Cancel{Job: j.id, Signature: sig}}})
	}
	if len(j.lacking) > 0 {
		s.got(j)
	}
	s.later(j, j.pause)
	j.pause = min(2*j.pause, s.timing.RetryMax)
}

// bytesPerRange is about what an encoded Range takes.
const bytesPerRange = 12

// heard puts off the next asking, since the leader is well.
func (s *Submitter) heard(j *submitted, news bool) {
	if news || j.pause < s.cfg.AskEvery {
		j.pause = min(s.cfg.AskEvery, s.timing.RetryMax)
	}
	pause := j.pause
	if j.state.Cancelled {
		pause = s.timing.RetryMin // it does not count as heard until it says cancelled
	}
	s.later(j, pause)
}

// refusedForNow obeys a leader that takes the job later.
func (s *Submitter) refusedForNow(j *submitted, a *message.Accepted) {
	j.refusal = task.ClipMessage(a.Error)
	s.later(j, min(max(a.RetryAfter, s.timing.RetryMin), s.timing.RetryMax))
	s.emit(message.JobChanged{Job: j.id})
}

// Key returns the submitter's public key, by which its cancels are checked.
func (s *Submitter) Key() ed25519.PublicKey {
	pub, _ := s.key.Public().(ed25519.PublicKey)
	return pub
}
