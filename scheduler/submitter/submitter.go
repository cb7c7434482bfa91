// Package submitter is the machine that keeps the jobs of a node's owner until it holds
// every result.
package submitter

import (
	"crypto/ed25519"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/timer"
	"godwit/task"
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
	// additions are the jobs that add tasks to others, by those, the oldest first.
	additions map[task.JobID][]task.JobID
	// toOffer are jobs that a new leader has not been offered, sorted.
	toOffer []task.JobID
	audits  audits
	pace    pace
	gifts   gifts
	unaided unaided
	// followed is what the submitter knows of leaders itself: see evidence.
	followed followed
	lender
	now     time.Time
	effects []message.Effect
	room    message.Room // of effects
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
	// removed are tasks that the owner removed.
	removed ledger.Set
	// failures are those of which was heard last, at most message.MaxFailures.
	failures []message.FailedTask
	// fetching counts the tasks in Submitter.fetches; lacking are those of them
	// whose blocks were not to be had, time and again.
	fetching int
	lacking  ledger.Set
	// rejected are the tasks whose ends did not count, by who delivered them, until it is told.
	rejected map[task.PeerID]*ledger.Set
	refusal  string // the leader's, who takes the job later; "" for none
	disputed dispute
	said     lastWord
	// next is when to offer, ask or cancel again; pause is how long after that.
	// While armed, a timer goes off at alarm, so that hearing of a job a thousand
	// times a second, or of many leaders, leaves no heap of timers behind.
	next  time.Time
	pause time.Duration
	alarm time.Time
	armed bool
	over  farewell
	// checks is nil for a job whose results are not checked. againTold is set once the leader heard
	// all that others are to run again.
	checks    *checks
	againTold bool
	lending   *lending // nil while there are no other cells
	staged    *staged  // nil of a job without stages
	reusing   reusing
	recalling bool // a Recall is under way
	withheld  withholding
}

// A farewell is what a leader was told of a job that is over here.
type farewell struct {
	heard  bool // the leader says that the job is over, so nothing need be repeated
	n      int  // how often it was said unasked
	leader task.PeerID
	epoch  uint64
	at     time.Time // when it was last said
}

// A forgottenJob is one that its owner dropped after it was over.
type forgottenJob struct {
	left  ledger.Set // results that are still to be deleted
	until time.Time  // when the forgetting is forgotten
	// checked is set of a job whose results were checked.
	checked bool
	others  bool      // others ran some of its tasks again
	said    time.Time // when the leader was last told
}

// A resultFetch is a result that was verified and whose blocks are not here.
type resultFetch struct {
	job     *submitted
	summary message.TaskSummary
	instead *message.TaskSummary // another end of the task that came since, tried next
	by      task.PeerID          // the leader that brought it
	holders []task.PeerID
	tries   int           // that failed
	pause   time.Duration // before the next try
	waiting bool          // between tries
}

func (s *Submitter) emit(e message.Effect) { s.effects = append(s.effects, e) }

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

func (j *submitted) keep(i uint64, failed bool) {
	if !j.have.Add(i) {
		return
	}
	if failed {
		j.failed++
	}
	j.staged.keeps(j, i, failed)
}

// Key returns the submitter's public key, by which its cancels are checked.
func (s *Submitter) Key() ed25519.PublicKey {
	pub, _ := s.key.Public().(ed25519.PublicKey)
	return pub
}

func only(i uint64) ledger.Set { return ledger.Set{{From: i, To: i + 1}} }
