package message

import (
	"errors"
	"fmt"
	"time"
)

// Timing is how often machines speak to each other. All machines of an overlay
// should go by much the same numbers. The zero value is not valid: begin with
// DefaultTiming.
type Timing struct {
	// ReportEvery is how often a worker that holds anything says so, and how
	// long it waits before it repeats a result. Default 2 s.
	ReportEvery time.Duration
	// RefusalPause is how long a worker that refused or spoiled a job without
	// naming a time gets nothing more of it. Default 5 s.
	RefusalPause time.Duration
	// RetryMin and RetryMax bound the pauses, doubling, between a submitter's
	// offers, fetches and cancels that were not answered. Default 1 s and 60 s.
	RetryMin, RetryMax time.Duration
}

// DefaultTiming returns the timing described at each field.
func DefaultTiming() Timing {
	return Timing{
		ReportEvery:  2 * time.Second,
		RefusalPause: 5 * time.Second,
		RetryMin:     time.Second,
		RetryMax:     time.Minute,
	}
}

// Validate says what is wrong with a timing, all of it.
func (t *Timing) Validate() error {
	var errs []error
	if t.ReportEvery <= 0 || t.RefusalPause <= 0 || t.RetryMin <= 0 {
		errs = append(errs, fmt.Errorf("scheduler: ReportEvery is %v, RefusalPause %v and RetryMin %v, want more than 0",
			t.ReportEvery, t.RefusalPause, t.RetryMin))
	}
	if t.RetryMax < t.RetryMin {
		errs = append(errs, fmt.Errorf("scheduler: RetryMax %v is under RetryMin %v", t.RetryMax, t.RetryMin))
	}
	return errors.Join(errs...)
}
