package sim

import (
	"time"

	"godwit/trace"
)

// A Workload is what arrives. Classes and the log go side by side.
type Workload struct {
	Classes []Class
	// Log, if not nil, is replayed: one task for each processor of each job, at
	// its submission. LogFrom is the log's time, in seconds, at Start.
	Log     *trace.Workload
	LogFrom float64
	// Requeue puts a lost task back at the end of the queue, to be run again from
	// its last checkpoint or from the beginning; otherwise it is gone.
	Requeue bool
	// InOrder puts it back before what came later instead, and Redraw draws its work
	// anew if it has no checkpoint. Both are for Rates and policies that go by them,
	// and change nothing elsewhere.
	InOrder, Redraw bool
}

// A Class is one stream of alike jobs.
type Class struct {
	Name string
	// Arrival says when jobs come: Interval or Times go with it.
	Arrival  Arrival
	Interval time.Duration   // of Every; the mean of Poisson and Renewal
	Gaps     Law             // of the times between jobs; of Renewal alone
	Times    []time.Duration // after Start, for AtTimes; must not decrease
	From, To time.Duration   // after Start: all but AtTimes hold in [From, To); To 0 is the end
	Tasks    int             // of each job, a sweep's points; 0 is 1
	// Work is the time of a task on the reference core, exactly or as a mean.
	Work    time.Duration
	WorkLaw Law
	Memory  int64 // bytes that a task may need
	// Weight is the part of its jobs beside others of their priority, for policies of
	// fair shares; 0 is 1. Run refuses others, as it has no such policy.
	Weight int
	// Slots is the largest number of slots that each of its jobs takes at once; 0 for no limit.
	Slots int
	State int64 // bytes of a checkpoint; 0 is Memory
}

// Arrival is how jobs of a class come.
type Arrival uint8

// The kinds of arrival.
const (
	// Saturated: a job always waits. Interval must be 0.
	Saturated Arrival = iota
	// Every: a job each Interval, the first at From.
	Every
	// Poisson: exponential times between jobs.
	Poisson
	// AtTimes: at Times.
	AtTimes
	// Renewal: independent times between jobs, by Gaps; the first after one of them.
	Renewal
)
