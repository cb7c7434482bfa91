// Package batch connects a pilot to a cluster's batch system. It reads queue snapshots, submits placeholder jobs that
// run nodes of a pool, and ends them.
package batch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"godwit/internal/pause"
	"godwit/pilot"
)

// A System is a cluster's batch system.
type System interface {
	// Snapshot returns the state of the queue.
	Snapshot(ctx context.Context) (*pilot.Snapshot, error)
	// Submit submits one placeholder and returns its ID.
	Submit(ctx context.Context) (id string, err error)
	// End ends placeholders in the given way.
	End(ctx context.Context, how pilot.Yield, ids []string) error
}

const (
	// endLimit bounds the duration of the shutdown.
	endLimit = time.Minute
	// firstFailures is the number of failed polls in a row that ends a pilot that has never succeeded.
	firstFailures = 3
	// submitTime bounds the duration of submissions between two polls, because local jobs wait meanwhile.
	submitTime = time.Second
)

// Run polls the batch system at the given interval and carries out the pilot's plans. When ctx ends, Run ends the
// placeholders and returns nil as soon as the queue contains no placeholder. Run returns an error if the first polls
// fail, or if placeholders remain in the queue.
func Run(ctx context.Context, sys System, p *pilot.Pilot, poll time.Duration, log *slog.Logger) error {
	d := driver{sys: sys, pilot: p, log: log}
	for {
		begun := time.Now()
		err := d.poll(ctx)
		switch {
		case ctx.Err() != nil:
			return d.close(context.WithoutCancel(ctx), poll)
		case err != nil && !d.works && d.failures >= firstFailures:
			return err
		}
		if pause.For(ctx, poll-time.Since(begun)) != nil {
			return d.close(context.WithoutCancel(ctx), poll)
		}
	}
}

// A driver carries out plans.
type driver struct {
	sys      System
	pilot    *pilot.Pilot
	log      *slog.Logger
	works    bool   // a poll has succeeded
	failures int    // failed polls in a row
	why      string // reason that was logged last
	left     int    // placeholders at the latest poll
}

// close ends all placeholders.
func (d *driver) close(ctx context.Context, poll time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	d.pilot.Close()
	for {
		err := d.poll(ctx)
		if err == nil && d.left == 0 {
			d.log.Info("all placeholders have ended")
			return nil
		}
		if ctx.Err() != nil || pause.For(ctx, min(poll, time.Second)) != nil {
			return errors.Join(fmt.Errorf("%d placeholders are left in the queue after %v", d.left, endLimit), err)
		}
	}
}

// poll takes one snapshot and carries out the plan for it.
func (d *driver) poll(ctx context.Context) error {
	s, err := d.sys.Snapshot(ctx)
	if err != nil {
		if d.failures++; ctx.Err() == nil {
			d.log.Warn("cannot read the queue", "err", err)
		}
		return err
	}
	d.works, d.failures, d.left = true, 0, len(s.Places)
	plan := d.pilot.Step(time.Now(), s)
	d.end(ctx, plan.Orders)
	d.submit(ctx, plan.Submit)
	if plan.Submit == 0 && plan.Why != d.why && plan.Why != "" {
		d.log.Debug("no placeholder is submitted", "because", plan.Why)
	}
	d.why = plan.Why
	return nil
}

// end executes orders, all orders of one kind with a single call.
func (d *driver) end(ctx context.Context, orders []pilot.Order) {
	ids := map[pilot.Yield][]string{}
	for i := range orders {
		o := &orders[i]
		ids[o.How] = append(ids[o.How], o.ID)
		d.log.Info("ending a placeholder", "id", o.ID, "node", o.Node, "how", o.How, "because", o.Reason)
	}
	for _, how := range []pilot.Yield{pilot.Drastic, pilot.Graceful} {
		if len(ids[how]) == 0 {
			continue
		}
		if err := d.sys.End(ctx, how, ids[how]); err != nil {
			d.log.Warn("cannot end placeholders", "ids", ids[how], "err", err)
		}
	}
}

// submit submits up to n placeholders. The next poll plans the rest.
func (d *driver) submit(ctx context.Context, n int) {
	begun := time.Now()
	for i := range n {
		if i > 0 && time.Since(begun) > submitTime {
			return
		}
		id, err := d.sys.Submit(ctx)
		if ctx.Err() != nil && err != nil {
			return
		}
		if err != nil {
			d.log.Warn("cannot submit a placeholder", "err", err)
			d.pilot.SubmitFailed(time.Now())
			return
		}
		d.pilot.Submitted(time.Now(), id)
		d.log.Info("submitted a placeholder", "id", id)
	}
}
