package submitter

import (
	"fmt"
	"time"

	"godwit/credibility"
	"godwit/task"
)

// Config holds the numbers that a Submitter alone goes by. The zero
// value is not valid: begin with DefaultSubmitter.
type Config struct {
	// AskEvery is how long a submitter waits for news of a job before it asks,
	// in case the leader has restarted. It doubles while there is no news, up
	// to RetryMax. Default 10 s.
	AskEvery time.Duration
	// Evidence is this node's own evidence about leaders and workers, by which receipts are judged. Default nil: the
	// leaders that the submitter has followed are known, and every worker counts as a member.
	Evidence Evidence
	// Receipts has each result show that its worker had the lease of the task. Default
	// false: a simulation's leaders sign nothing.
	Receipts bool
	// Pool is what the overlay assumes of its workers, for jobs that want their results
	// checked: see task.Verify. Its Target does not count, which is the job's. Default
	// credibility.OpenPool.
	Pool credibility.Terms
	// Strangers are what it assumes of keys that are new. Default credibility.OpenStrangers.
	Strangers credibility.Strangers
	// Where says which networks workers are in. Default nil: of none it is known.
	Where Map
	// Coordinators says who coordinates. Default nil: of nobody that is known.
	Coordinators Coordinators
	// Signs has the submitter sign what it holds of its jobs, so that others than the leader
	// believe it. Default false.
	Signs bool
	// Opened opens the records of jobs. Default nil: each signature is checked anew.
	Opened *task.Opened
	// Audits is how many tasks may be run again here at once, those that wait for a core among
	// them. Default 1.
	Audits int
	// OwnRuns is the share of a job's work that may run again here to check it, 0 or more; at least twice the least
	// sample may. Default .2.
	OwnRuns float64
	// FirstOfSource is the number of results of each source that are always checked. 0 has no least sample checked
	// either. Default credibility.SampleSource.
	FirstOfSource int
	// UnprovenPart is the part of a job that all leaders of other cells without results share: one in so many tasks. Each
	// has only a limit of its own otherwise, and somebody with many keys gets the whole job. Default 10; 1 for no such
	// limit.
	UnprovenPart uint64
	// Unaided has tasks run here of which nothing comes: see unaided. Default false: not every driver
	// carries out a message.Audit.
	Unaided bool
}

// Default returns the configuration described at each field.
func Default() Config {
	return Config{AskEvery: 10 * time.Second, Audits: 1, UnprovenPart: 10, OwnRuns: .2, FirstOfSource: credibility.SampleSource,
		Pool: credibility.OpenPool, Strangers: credibility.OpenStrangers}
}

// Validate says what is wrong with a configuration.
func (c *Config) Validate() error {
	if c.AskEvery <= 0 {
		return fmt.Errorf("scheduler: AskEvery is %v, want more than 0", c.AskEvery)
	}
	if c.UnprovenPart < 1 {
		return fmt.Errorf("scheduler: UnprovenPart is %d, want at least 1", c.UnprovenPart)
	}
	if c.Audits < 1 {
		return fmt.Errorf("scheduler: Audits is %d, want at least 1", c.Audits)
	}
	if c.FirstOfSource < 0 {
		return fmt.Errorf("scheduler: FirstOfSource is %d, want 0 or more", c.FirstOfSource)
	}
	if !(c.OwnRuns >= 0) {
		return fmt.Errorf("scheduler: OwnRuns is %g, want 0 or more", c.OwnRuns)
	}
	if err := c.Pool.Check(); err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	if err := c.Strangers.Check(); err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	return nil
}

// Assume has the submitter go by what the overlay assumes of its workers from now on.
func (s *Submitter) Assume(pool credibility.Terms, strangers credibility.Strangers) {
	s.cfg.Pool, s.cfg.Strangers = pool, strangers
}
