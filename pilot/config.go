package pilot

import (
	"fmt"
	"time"
)

// A Yield selects how a placeholder ends for a local job. The KOALA-CS thesis defines both names.
type Yield string

const (
	// Graceful drains the placeholder's node, so that its tasks move to other members before the placeholder ends.
	Graceful Yield = "graceful"
	// Drastic cancels the placeholder at once. Its tasks continue elsewhere from their last checkpoints.
	Drastic Yield = "drastic"
)

// Config holds the parameters of a Pilot.
type Config struct {
	Most     int           // maximum number of placeholders, at least 1
	KeepIdle int           // number of idle nodes left to local jobs
	Yield    Yield         // kind of order for running placeholders
	Grace    time.Duration // maximum drain time before a placeholder is canceled
	Quiet    time.Duration // time without waiting local jobs before the first new placeholder
	Patience time.Duration // waiting time after which idle nodes are considered unsuitable for a job
	Settle   time.Duration // time after which granted nodes that did not start a job are written off
}

// Default returns the parameters that `godwit pilot` uses unless flags change them.
func Default() Config {
	return Config{
		Most:  1,
		Yield: Graceful,
		// A poll of 2 s, a drain of 4 s and 2 s for the batch system fit into the 10 s that a local job may wait.
		Grace: 4 * time.Second,
		// Local jobs come in bursts. A placeholder that is given back within seconds costs more than it computes.
		Quiet: 30 * time.Second,
		// A batch system places a job on suitable idle nodes within a second or two.
		Patience: 2 * time.Second,
		Settle:   10 * time.Second,
	}
}

// Validate returns an error for a parameter that is out of range.
func (c *Config) Validate() error {
	switch {
	case c.Most < 1:
		return fmt.Errorf("most: %d, want at least 1", c.Most)
	case c.KeepIdle < 0:
		return fmt.Errorf("keep-idle: %d, want at least 0", c.KeepIdle)
	case c.Yield != Graceful && c.Yield != Drastic:
		return fmt.Errorf("yield: %q, want %s or %s", c.Yield, Graceful, Drastic)
	case c.Grace <= 0:
		return fmt.Errorf("grace: %v, want more than 0", c.Grace)
	case c.Quiet < 0 || c.Patience < 0 || c.Settle <= 0:
		return fmt.Errorf("quiet %v, patience %v, settle %v: none may be negative", c.Quiet, c.Patience, c.Settle)
	}
	return nil
}
