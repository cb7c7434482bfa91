package scheduler

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"godwit/scheduler/ledger"
	"godwit/task"
)

// Prefixes of the Submitter's durable keys.
const (
	submitterPrefix = "s/"
	submitterJob    = submitterPrefix + "j/"
	submitterTask   = submitterPrefix + "t/"
)

// A Submitter keeps the jobs of a node's owner until it holds every result:
// it offers them to whoever leads, again and again if need be, and fetches and
// verifies what comes back.
type Submitter struct {
	self   task.PeerID
	cfg    Config
	leader task.PeerID
	epoch  uint64
	jobs   map[task.JobID]*submitted
	timers timers[string] // a job's ID, or the key of a fetch
	// fetches are results whose blocks are on their way, by the key of their Fetch.
	fetches map[string]*resultFetch
	now     time.Time
	effects []Effect
}

// submitted is a job offered to this node.
type submitted struct {
	id     task.JobID
	record task.Record
	spec   *task.Job
	total  uint64
	state  submittedState
	have   ledger.Set        // results held durably
	tasks  map[uint64][]byte // their encoded TaskSummary
	failed uint64            // of have
	// fetching are tasks whose results were accepted and are not yet held.
	fetching map[uint64]bool
	// next is when to offer, ask or cancel again; pause is how long after that.
	next  time.Time
	pause time.Duration
}

// submittedState is the durable part of a job beside its results.
type submittedState struct {
	Record    task.Record `cbor:"1,keyasint"`
	Accepted  bool        `cbor:"2,keyasint,omitempty"`
	Cancelled bool        `cbor:"3,keyasint,omitempty"` // the owner's wish
	Error     string      `cbor:"4,keyasint,omitempty"` // refused for good
	Final     bool        `cbor:"5,keyasint,omitempty"` // no result is missing that will ever be
	Summary   JobSummary  `cbor:"6,keyasint"`           // the leader's last
}

type resultFetch struct {
	job     *submitted
	summary TaskSummary
	holders []task.PeerID
	pause   time.Duration // before the next try
	waiting bool          // between tries
}

// NewSubmitter returns a submitter without jobs. cfg.Key is the node's own.
func NewSubmitter(self task.PeerID, cfg Config) *Submitter {
	return &Submitter{self: self, cfg: cfg, jobs: map[task.JobID]*submitted{}, fetches: map[string]*resultFetch{}}
}

// Restore takes in what was persisted, before the first Step. What cannot be
// read is left out and told in the error; the rest is good.
func (s *Submitter) Restore(pairs map[string][]byte) error {
	var errs []error
	for _, key := range sortedKeys(pairs) { // jobs sort before their tasks
		var err error
		if id, ok := strings.CutPrefix(key, submitterJob); ok {
			err = s.restoreJob(task.JobID(id), pairs[key])
		} else if strings.HasPrefix(key, submitterTask) {
			err = s.restoreTask(key, pairs[key])
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("reading %s: %w", key, err))
		}
	}
	return errors.Join(errs...)
}

func (s *Submitter) restoreJob(id task.JobID, value []byte) error {
	var st submittedState
	if err := task.Decode(value, &st); err != nil {
		return err
	}
	spec, err := st.Record.Open()
	if err != nil {
		return err
	}
	if st.Record.ID() != id {
		return errors.New("the record is another job's")
	}
	s.add(id, spec, st)
	return nil
}

func (s *Submitter) restoreTask(key string, value []byte) error {
	id, err := ledger.ParseRowKey("r/" + strings.TrimPrefix(key, submitterTask))
	if err != nil {
		return err
	}
	var t TaskSummary
	if err := task.Decode(value, &t); err != nil {
		return err
	}
	j := s.jobs[id.Job]
	if j == nil || t.Index != id.Index || t.Index >= j.total {
		return errors.New("it belongs to no job")
	}
	j.keep(&t, value)
	return nil
}

func (s *Submitter) add(id task.JobID, spec *task.Job, st submittedState) *submitted {
	j := &submitted{
		id: id, record: st.Record, spec: spec, total: spec.Sweep.Count(), state: st,
		tasks: map[uint64][]byte{}, fetching: map[uint64]bool{}, pause: s.cfg.RetryMin,
	}
	s.jobs[id] = j
	s.timers.set(time.Time{}, string(id))
	return j
}

// Step advances the machine; now never decreases. It keeps neither ev nor the
// returned slice.
func (s *Submitter) Step(now time.Time, ev Event) []Effect {
	s.now, s.effects = now, nil
	switch ev := ev.(type) {
	case Offer:
		s.offer(ev.Record)
	case CancelJob:
		s.cancel(ev.Job)
	case LeaderChanged:
		s.follow(ev)
	case Received:
		s.receive(ev.From, &ev.Message)
	case Fetched:
		s.fetched(ev)
	}
	for {
		key, ok := s.timers.due(now)
		if !ok {
			break
		}
		s.wake(key)
	}
	return s.effects
}

// NextWake says when time alone will make the submitter do something.
func (s *Submitter) NextWake() (time.Time, bool) { return s.timers.next() }

func (s *Submitter) emit(e Effect) { s.effects = append(s.effects, e) }

// offer keeps a job and offers it to the leader. A record that does not open
// is left alone: the driver signed it, and was told when it could not.
func (s *Submitter) offer(rec task.Record) {
	id := rec.ID()
	if s.jobs[id] != nil {
		return
	}
	spec, err := rec.Open()
	if err != nil {
		s.emit(Decided{Task: task.TaskID{Job: id}, Action: "refused", Peer: s.self, Reason: err.Error()})
		return
	}
	j := s.add(id, spec, submittedState{Record: rec})
	s.persist(j)
	s.emit(JobChanged{Job: id})
}

func (s *Submitter) persist(j *submitted) {
	b, err := task.Encode(&j.state)
	if err != nil {
		panic("scheduler: " + err.Error()) // it was decoded from such bytes, or signed
	}
	s.emit(Persist{Key: submitterJob + string(j.id), Value: b})
}

func (s *Submitter) cancel(id task.JobID) {
	j := s.jobs[id]
	if j == nil || j.state.Cancelled || j.state.Final {
		return
	}
	j.state.Cancelled = true
	s.persist(j)
	s.emit(JobChanged{Job: id})
	s.soon(j)
}

func (s *Submitter) follow(ev LeaderChanged) {
	if ev.Leader == s.leader && ev.Epoch == s.epoch {
		return
	}
	s.leader, s.epoch = ev.Leader, ev.Epoch
	for _, id := range sortedKeys(s.jobs) {
		if j := s.jobs[id]; !j.state.Final {
			s.soon(j)
		}
	}
}

// soon makes the job speak to the leader in this Step.
func (s *Submitter) soon(j *submitted) {
	j.next, j.pause = s.now, s.cfg.RetryMin
	s.timers.set(s.now, string(j.id))
}

// later makes it speak after a pause, unless something is heard before.
func (s *Submitter) later(j *submitted, pause time.Duration) {
	j.next = s.now.Add(pause)
	s.timers.set(j.next, string(j.id))
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
	j := s.jobs[task.JobID(key)]
	if j == nil || j.state.Final || s.now.Before(j.next) {
		return
	}
	s.speak(j)
}

// speak offers the job, which also asks for what is missing, and repeats the
// owner's wish to cancel it.
func (s *Submitter) speak(j *submitted) {
	if s.leader == "" {
		return // LeaderChanged wakes every job
	}
	s.emit(Send{To: s.leader, Message: Message{Submit: &Submit{Record: j.record, Have: slices.Clone(j.have)}}})
	if j.state.Cancelled {
		sig := task.SignCancel(j.id, s.cfg.Key)
		s.emit(Send{To: s.leader, Message: Message{Cancel: &Cancel{Job: j.id, Signature: sig}}})
	}
	s.later(j, j.pause)
	j.pause = min(2*j.pause, s.cfg.RetryMax)
}

// heard puts off the next asking, since the leader is well.
func (s *Submitter) heard(j *submitted, news bool) {
	if news || j.pause < s.cfg.AskEvery {
		j.pause = min(s.cfg.AskEvery, s.cfg.RetryMax)
	}
	pause := j.pause
	if j.state.Cancelled {
		pause = s.cfg.RetryMin // it does not count as heard until it says cancelled
	}
	s.later(j, pause)
}

// Key returns the submitter's public key, by which its cancels are checked.
func (s *Submitter) Key() ed25519.PublicKey {
	pub, _ := s.cfg.Key.Public().(ed25519.PublicKey)
	return pub
}
