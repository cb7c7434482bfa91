package ending

import (
	"cmp"
	"time"

	"godwit/predictor"
	"godwit/task"
	"godwit/trace"
)

// A Member is one of those that may run tasks, as its advert tells.
type Member struct {
	Peer   task.PeerID
	State  trace.State // trace.Unavailable of one that was lost and is not forgotten yet
	Since  time.Time   // of State; zero: not known
	Slots  int         // tasks that it runs at once for the job's overlay
	Memory int64       // bytes that it lends, all slots together
	Speed  float64     // relative to the reference core; 0 unknown, and taken for 1
	Until  time.Time   // when it means to go; zero: not known

	Record *predictor.Record // nil: it keeps none
	Spells *trace.History    // the last of its history; nil: it tells none
}

// An Attempt is a task that runs.
type Attempt struct {
	Peer task.PeerID
	Work time.Duration // that it has done, on the reference core
}

// A Job is what is left of one.
type Job struct {
	ID      task.JobID
	Waiting uint64    // runs that are to begin yet: of a task that several must run, as many
	Running []Attempt // at most MaxRunning are looked at; others begin anew
	Memory  int64     // bytes that a task may need

	// Declared is the work of a task as its owner guessed, 0 for none; Ended that of tasks
	// that ended, of which at most MaxSamples are used.
	Declared time.Duration
	Ended    []time.Duration
	// Save is how often a running task saves its state where others can go on from it; 0:
	// never.
	Save time.Duration
	// Slots is the largest number of runs at once, those of all stages together; 0 for no limit.
	Slots int
	// Stages are those of a job that has any, of which each has what the job has else: Waiting, Running, Memory,
	// Declared and Ended are empty then.
	Stages []Stage
}

// left counts the runs that are not over.
func (j *Job) left() uint64 {
	n := j.Waiting + uint64(len(j.Running))
	for i := range j.Stages {
		n += j.Stages[i].left()
	}
	return n
}

const (
	// MaxRunning bounds the attempts that are looked at.
	MaxRunning = 4096
	// MaxSamples bounds the ended tasks that are looked at: beyond it the mean of what
	// tasks take is known far better than who will be there.
	MaxSamples = 256
	// MaxTasks bounds the runs of a job.
	MaxTasks = 1 << 40
)

// A Swarm is where the jobs run.
type Swarm struct {
	Members []Member        // each peer once, in any order
	Pool    *predictor.Pool // what is known of hosts at large; nil: nothing
	// Placement is the overlay's policy, as place.Parse reads it; "" is place.Default. It gets the forecasts of
	// predictor.Default, whatever the overlay's rules name.
	Placement string
	// Others are the other jobs that want the members' slots. Each job gets an equal part.
	Others []Job
	// Detect is how long a member that vanished is believed to be there. Grace is how long
	// a task waits for its host's owner to go, before it goes on elsewhere.
	Detect, Grace time.Duration
}

// MaxAhead is how far ahead a job is run.
const MaxAhead = 90 * 24 * time.Hour

const hoursPerDay = 24

// speedOf is that of a member, 1 where it is not known.
func speedOf(m *Member) float64 { return cmp.Or(m.Speed, 1) }

// seconds is a time in the policy's terms.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, MaxAhead.Seconds()) * float64(time.Second))
}
