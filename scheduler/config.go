package scheduler

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"godwit/migrate"
	"godwit/task"
)

// Config holds the numbers that the machines go by. All machines of a node
// share one; each reads what concerns it. The zero value is not valid: begin
// with Default.
type Config struct {
	// LeaseTTL is how long a lease lives without being reported. A worker that
	// is cut off is given up after it, so it bounds what a silent crash costs;
	// five reports may be lost before. Default 10 s.
	LeaseTTL time.Duration
	// ReportEvery is how often a worker that holds anything says so, and how
	// long it waits before it repeats a result. Default 2 s.
	ReportEvery time.Duration
	// TellWithin is how long a worker may hold a result back to tell it with others, while
	// tasks end faster than that and more are queued there. It has to be well under
	// Lookahead, for the leader sends more by what it is told. Default 40 ms: 25
	// messages a second of a worker at most, and less than a person notices.
	TellWithin time.Duration
	// IdleReportEvery is how often a worker that holds nothing says that it is
	// there. Default 10 s.
	IdleReportEvery time.Duration
	// LostGrace is how long a worker whose connection broke may take to come
	// back before its tasks go elsewhere. Default 1 s: a reconnect on a good
	// network takes less, and a killed worker should not cost more.
	LostGrace time.Duration
	// RecoverGrace is how long a restarted coordinator waits for reports before
	// it places anything, so that what runs is taken up and not run twice.
	// Default 1 s.
	RecoverGrace time.Duration

	// Lookahead is how much work, in time, a worker is given beyond its slots
	// so that it never waits for a round trip. Default 100 ms: more than the
	// round trip of almost any two nodes on the Internet, less than a person
	// notices when it must be moved.
	Lookahead time.Duration
	// MaxAhead bounds the tasks given ahead, however short they are. Default 256.
	MaxAhead int
	// LongestAhead is how long what a member is given at once may last, by its pace so
	// far, where the rules name no policy of chunks: jobs that come meanwhile wait behind it.
	// Default 1 s: ten lookaheads, so that what is said of a chunk is little beside it.
	LongestAhead time.Duration
	// RecallWorth is the least expected wait for which a task given ahead is
	// taken back for an idle worker. Default 20 ms: about what it costs.
	RecallWorth time.Duration

	// RefusalPause is how long a worker that refused or spoiled a job without
	// naming a time gets nothing more of it. Default 5 s.
	RefusalPause time.Duration
	// KeepRows is how many tasks, of all jobs, the coordinator keeps the story
	// of after their submitters hold it. Default 4096.
	KeepRows int
	// MaxUndelivered is how many bytes of results, as the ledger keeps them, may
	// lie at the coordinator because their submitters do not fetch them. Beyond it
	// those submitters' jobs get no placements. Default 32 MiB.
	MaxUndelivered int64
	// MaxJobs bounds the jobs that a coordinator has open. Default 10,000.
	MaxJobs int
	// KeepJob is how long a worker keeps a job prepared that it has no task
	// of. Default 10 min.
	KeepJob time.Duration

	// MaxUnackedBytes is how much a worker keeps, in bytes, of results that no
	// coordinator has made durable; their outputs count. With more it takes
	// nothing new. Default 1 GiB: hours of results of a usual task, and little of
	// a disk that anybody lends.
	MaxUnackedBytes int64

	// RetryMin and RetryMax bound the pauses, doubling, between a submitter's
	// offers, fetches and cancels that were not answered. Default 1 s and 60 s.
	RetryMin, RetryMax time.Duration
	// AskEvery is how long a submitter waits for news of a job before it asks,
	// in case the leader has restarted. It doubles while there is no news, up
	// to RetryMax. Default 10 s.
	AskEvery time.Duration

	// Placement names the coordinator's policy; "" means place.Default.
	Placement string
	// PlacementParams are the policy's parameters; nil means its defaults.
	PlacementParams map[string]string

	// Rates are what is known beforehand of classes of tasks; the zero value is
	// nothing. Policies that go by rates alone look at them.
	Rates KnownRates

	// Migration is the policy that says which running tasks move, as migrate.Parse
	// reads it; "" means none. Default migrate.Default.
	Migration string
	// MoveWithin is how long a worker may take to save a task that is to be moved,
	// beside the time that the network takes. Then the task goes on elsewhere from
	// its last checkpoint. Default 30 s: a gigabyte of state is written in less.
	MoveWithin time.Duration

	// HandOver says that the driver of the Worker carries out HandOver and Expect:
	// the worker tells leaders that it can. Without it tasks move from and to it by
	// way of the leader. Default true.
	HandOver bool

	// Rules are the overlay's; see Coordinator.Govern.
	Rules Rules

	// Key signs a submitter's cancels. Other machines do not use it.
	Key ed25519.PrivateKey
}

// KnownRates are rates that are known before any is measured, as of an experiment.
// Each counts as ten measurements. Read only.
type KnownRates struct {
	// Of are effective execution rates by class and then by member, in tasks a second
	// that one slot does with what others leave it of a processor; 0 is a member that
	// cannot run the class.
	Of map[string]map[task.PeerID]float64
	// Arrivals are tasks a second that come, by class.
	Arrivals map[string]float64
}

// Default returns the configuration described at each field.
func Default() Config {
	return Config{
		LeaseTTL:        10 * time.Second,
		ReportEvery:     2 * time.Second,
		TellWithin:      40 * time.Millisecond,
		IdleReportEvery: 10 * time.Second,
		LostGrace:       time.Second,
		RecoverGrace:    time.Second,
		Lookahead:       100 * time.Millisecond,
		MaxAhead:        256,
		LongestAhead:    time.Second,
		RecallWorth:     20 * time.Millisecond,
		RefusalPause:    5 * time.Second,
		KeepRows:        4096,
		MaxUndelivered:  32 << 20,
		MaxJobs:         10_000,
		KeepJob:         10 * time.Minute,
		MaxUnackedBytes: 1 << 30,
		RetryMin:        time.Second,
		RetryMax:        time.Minute,
		AskEvery:        10 * time.Second,
		Migration:       migrate.Default,
		MoveWithin:      30 * time.Second,
		HandOver:        true,
	}
}

// Validate says what is wrong with a configuration, all of it.
func (c *Config) Validate() error {
	var errs []error
	positive := func(name string, d time.Duration) {
		if d <= 0 {
			errs = append(errs, fmt.Errorf("scheduler: %s is %v, want more than 0", name, d))
		}
	}
	positive("LeaseTTL", c.LeaseTTL)
	positive("ReportEvery", c.ReportEvery)
	positive("IdleReportEvery", c.IdleReportEvery)
	positive("RefusalPause", c.RefusalPause)
	positive("KeepJob", c.KeepJob)
	positive("RetryMin", c.RetryMin)
	positive("AskEvery", c.AskEvery)
	positive("MoveWithin", c.MoveWithin)
	if c.MaxUnackedBytes <= 0 {
		errs = append(errs, fmt.Errorf("scheduler: MaxUnackedBytes is %d, want more than 0", c.MaxUnackedBytes))
	}
	if c.LeaseTTL < 2*c.ReportEvery {
		errs = append(errs, fmt.Errorf("scheduler: LeaseTTL %v is under two ReportEvery of %v: one lost report would end a lease", c.LeaseTTL, c.ReportEvery))
	}
	if c.RetryMax < c.RetryMin {
		errs = append(errs, fmt.Errorf("scheduler: RetryMax %v is under RetryMin %v", c.RetryMax, c.RetryMin))
	}
	if c.LostGrace < 0 || c.RecoverGrace < 0 || c.Lookahead < 0 || c.TellWithin < 0 || c.LongestAhead < 0 || c.RecallWorth < 0 {
		errs = append(errs, errors.New("scheduler: LostGrace, RecoverGrace, Lookahead, TellWithin, LongestAhead and RecallWorth must not be negative"))
	}
	if c.MaxAhead < 0 || c.KeepRows < 0 || c.MaxJobs <= 0 {
		errs = append(errs, errors.New("scheduler: MaxAhead and KeepRows must not be negative, and MaxJobs at least 1"))
	}
	if c.MaxUndelivered <= 0 {
		errs = append(errs, fmt.Errorf("scheduler: MaxUndelivered is %d, want more than 0", c.MaxUndelivered))
	}
	if _, err := c.policy(); err != nil {
		errs = append(errs, err)
	}
	if _, err := c.mover(); err != nil {
		errs = append(errs, err)
	}
	if err := c.Rules.check(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
