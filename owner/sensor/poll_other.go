//go:build windows || darwin

package sensor

import (
	"context"
	"time"
)

// A polled sensor asks one question of the system again and again, and reports
// each answer that differs from the one before.
type polled struct {
	name  string
	kind  Kind
	every time.Duration
	ask   func() (Reading, error)
}

// Name returns the sensor's name.
func (p polled) Name() string { return p.name }

// Kinds returns the one kind that it tells.
func (p polled) Kinds() []Kind { return []Kind{p.kind} }

// Run watches until ctx ends.
func (p polled) Run(ctx context.Context, report func(Reading)) {
	watch(ctx, p, report, func(ctx context.Context) error {
		var last Reading
		return Poll(ctx, p.every, func() error {
			r, err := p.ask()
			if err != nil {
				return err
			}
			moved := r.Touched.Sub(last.Touched) >= step
			if last.At.IsZero() || moved || r.On != last.On || r.Gauged != last.Gauged || r.Value != last.Value ||
				r.Detail != last.Detail {
				r.Sensor, r.Kind, r.At = p.name, p.kind, time.Now()
				last = r
				report(r)
			}
			return nil
		})
	})
}

const (
	// inputPoll is how often the system is asked for the last input: the
	// owner's wait for a stop is this at the most.
	inputPoll = 250 * time.Millisecond
	// slowPoll is for what may change within minutes.
	slowPoll = 2 * time.Second
)

// A never is a sensor of what this system does not tell, or not yet to us.
type never struct {
	name     string
	kind     Kind
	why, fix string
}

// Name returns the sensor's name.
func (n never) Name() string { return n.name }

// Kinds returns the one kind that it would tell.
func (n never) Kinds() []Kind { return []Kind{n.kind} }

// Run says that it is blind.
func (n never) Run(ctx context.Context, report func(Reading)) {
	reportBlind(n, report, blind(n.why, n.fix))
	<-ctx.Done()
}
