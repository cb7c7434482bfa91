package submitter

import (
	"fmt"
	"time"

	"godwit/credibility"
)

// Config holds the numbers that a Submitter alone goes by. The zero
// value is not valid: begin with DefaultSubmitter.
type Config struct {
	// AskEvery is how long a submitter waits for news of a job before it asks,
	// in case the leader has restarted. It doubles while there is no news, up
	// to RetryMax. Default 10 s.
	AskEvery time.Duration
	// Receipts has each result show that its worker had the lease of the task. Default
	// false: a simulation's leaders sign nothing.
	Receipts bool
	// Liars is the share of the overlay's workers that may err or lie, 0 to below 1, and
	// LeastAudits the part of the tasks that is run again at least, of jobs that want their
	// results checked: see task.Verify and package credibility. Default 0.1 and 0.03, which
	// are an open pool's.
	Liars, LeastAudits float64
	// Signs has the submitter sign what it holds of its jobs, so that others than the leader
	// believe it. Default false.
	Signs bool
}

// Default returns the configuration described at each field.
func Default() Config { return Config{AskEvery: 10 * time.Second, Liars: .1, LeastAudits: .03} }

// Validate says what is wrong with a configuration.
func (c *Config) Validate() error {
	if c.AskEvery <= 0 {
		return fmt.Errorf("scheduler: AskEvery is %v, want more than 0", c.AskEvery)
	}
	terms := credibility.Terms{Prior: c.Liars, Target: 1, Least: c.LeastAudits}
	if err := terms.Check(); err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	return nil
}
