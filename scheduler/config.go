package scheduler

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"godwit/migrate"
	"godwit/scheduler/learning"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/scheduler/worker"
	"godwit/task"
)

// Config holds the numbers that the machines go by. All machines of a node
// share one; each reads what concerns it. The zero value is not valid: begin
// with Default.
type Config struct {
	// Timing is what all machines go by when they speak to each other.
	message.Timing

	// Worker and Submitter are what only these go by.
	Worker    worker.Config
	Submitter submitter.Config

	// LeaseTTL is how long a lease lives without being reported. A worker that
	// is cut off is given up after it, so it bounds what a silent crash costs;
	// five reports may be lost before. Default 10 s.
	LeaseTTL time.Duration
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
	// far, where the rules name no policy of chunks: jobs that come meanwhile wait behind it. Of
	// tasks up to that long each slot has one ahead, while many wait.
	// Default 1 s: ten lookaheads, so that what is said of a chunk is little beside it.
	LongestAhead time.Duration
	// RecallWorth is the least expected wait for which a task given ahead is
	// taken back for an idle worker. Default 20 ms: about what it costs.
	RecallWorth time.Duration

	// KeepRows is how many tasks, of all jobs, the coordinator keeps the story
	// of after their submitters hold it. Default 4096.
	KeepRows int
	// MaxUndelivered is how many bytes of results, as the ledger keeps them, may
	// lie at the coordinator because their submitters do not fetch them. Beyond it
	// those submitters' jobs get no placements. Default 32 MiB.
	MaxUndelivered int64
	// MaxJobs bounds the jobs that a coordinator has open. Default 10,000.
	MaxJobs int
	// Placement names the coordinator's policy; "" means place.Default.
	Placement string
	// PlacementParams are the policy's parameters; nil means its defaults.
	PlacementParams map[string]string

	// Predictor is what gives the forecasts, as predictor.Parse reads it; "" is what each policy was published with.
	Predictor string

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

	// Rules are the overlay's; see Coordinator.Govern.
	Rules Rules
	// Overlay is the ID of the overlay: jobs that were handed to another are refused. With ""
	// none is, as in a simulation of one.
	Overlay string

	// Opened opens the records of jobs. Default nil: each signature is checked anew.
	Opened *task.Opened
	// Key signs the receipts of the leases that a coordinator gives. With nil it gives none,
	// and asks for none: a simulation checks no signatures.
	Key ed25519.PrivateKey
	// Signed has which tasks were delivered count at copies with the signature of the job's
	// submitter alone. Default false: a simulation's submitters sign nothing.
	Signed bool
}

// KnownRates are rates that are known before any is measured, as of an experiment.
type KnownRates = learning.Known

// newLedger returns an empty ledger.
func (c *Config) newLedger() *ledger.Ledger {
	l := ledger.New()
	l.Opened = c.Opened
	return l
}

// Default returns the configuration described at each field.
func Default() Config {
	return Config{
		Timing:    message.DefaultTiming(),
		Worker:    worker.Default(),
		Submitter: submitter.Default(),

		LeaseTTL:       10 * time.Second,
		LostGrace:      time.Second,
		RecoverGrace:   time.Second,
		Lookahead:      100 * time.Millisecond,
		MaxAhead:       256,
		LongestAhead:   time.Second,
		RecallWorth:    20 * time.Millisecond,
		KeepRows:       4096,
		MaxUndelivered: 32 << 20,
		MaxJobs:        10_000,
		Migration:      migrate.Default,
		MoveWithin:     30 * time.Second,
	}
}

// Validate says what is wrong with a configuration, all of it.
func (c *Config) Validate() error {
	errs := []error{c.Timing.Validate(), c.Worker.Validate(), c.Submitter.Validate()}
	if c.LeaseTTL <= 0 || c.MoveWithin <= 0 {
		errs = append(errs, fmt.Errorf("scheduler: LeaseTTL is %v and MoveWithin %v, want more than 0", c.LeaseTTL,
			c.MoveWithin))
	}
	if c.LeaseTTL < 2*c.ReportEvery {
		errs = append(errs, fmt.Errorf(
			"scheduler: LeaseTTL %v is under two ReportEvery of %v: one lost report would end a lease",
			c.LeaseTTL, c.ReportEvery))
	}
	if c.LostGrace < 0 || c.RecoverGrace < 0 || c.Lookahead < 0 || c.LongestAhead < 0 || c.RecallWorth < 0 {
		errs = append(errs, errors.New(
			"scheduler: LostGrace, RecoverGrace, Lookahead, LongestAhead and RecallWorth must not be negative"))
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
