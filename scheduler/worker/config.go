package worker

import (
	"fmt"
	"time"
)

// Config holds the numbers that a Worker alone goes by. The zero value is
// not valid: begin with DefaultWorker.
type Config struct {
	// TellWithin is how long a worker may hold a result back to tell it with others, while
	// tasks end faster than that and more are queued there. It has to be well under
	// Lookahead, for the leader sends more by what it is told. Default 40 ms: 25
	// messages a second of a worker at most, and less than a person notices.
	TellWithin time.Duration
	// IdleReportEvery is how often a worker that holds nothing says that it is
	// there. Default 10 s.
	IdleReportEvery time.Duration
	// KeepJob is how long a worker keeps a job prepared that it has no task
	// of. Default 10 min.
	KeepJob time.Duration

	// MaxUnackedBytes is how much a worker keeps, in bytes, of results that no
	// coordinator has made durable; their outputs count. With more it takes
	// nothing new. Default 1 GiB: hours of results of a usual task, and little of
	// a disk that anybody lends.
	MaxUnackedBytes int64

	// HandOver says that the driver of the Worker carries out HandOver and Expect:
	// the worker tells leaders that it can. Without it tasks move from and to it by
	// way of the leader. Default true.
	HandOver bool

	// Ahead is how many tasks for each slot are Ready, for whoever ends next; 0 for none: the driver of the Worker
	// does not carry out Ready, Begin and Unready. Default 0. A node has 8: a turn of its loop may take some
	// milliseconds, in which a slot ends that many of the shortest.
	Ahead int
}

// Default returns the configuration described at each field.
func Default() Config {
	return Config{
		TellWithin:      40 * time.Millisecond,
		IdleReportEvery: 10 * time.Second,
		KeepJob:         10 * time.Minute,
		MaxUnackedBytes: 1 << 30,
		HandOver:        true,
	}
}

// Validate says what is wrong with a configuration.
func (c *Config) Validate() error {
	switch {
	case c.IdleReportEvery <= 0 || c.KeepJob <= 0:
		return fmt.Errorf("scheduler: IdleReportEvery is %v and KeepJob %v, want more than 0", c.IdleReportEvery, c.KeepJob)
	case c.Ahead < 0:
		return fmt.Errorf("scheduler: Ahead is %d, must not be negative", c.Ahead)
	case c.TellWithin < 0:
		return fmt.Errorf("scheduler: TellWithin is %v, must not be negative", c.TellWithin)
	case c.MaxUnackedBytes <= 0:
		return fmt.Errorf("scheduler: MaxUnackedBytes is %d, want more than 0", c.MaxUnackedBytes)
	}
	return nil
}
