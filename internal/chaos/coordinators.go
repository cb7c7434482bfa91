package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"godwit/internal/pause"
)

const (
	// newGroupLimit is how long the peers may be without a group after all of one
	// died at once.
	newGroupLimit = 15 * time.Second
	// sideTasks is how many tasks a job has where not their number is tested.
	sideTasks = 60
	// underWay is how long a job runs before something happens to it.
	underWay = 5 * time.Second
)

// coordinators kills the whole group at once, for good. The others form a new
// one, and the jobs that the dead had accepted end.
func coordinators(ctx context.Context, t *trial) error {
	if err := t.addLocal(t.options.nodes); err != nil {
		return err
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	_, v := t.tally.Leader()
	group := t.group(v)
	rest := t.others(group)
	if len(group) == 0 || len(rest) < 2 {
		return fmt.Errorf("the group is %s: nothing can be tried", t.groupNames(v))
	}
	for i := range 2 { // neither submitter is of the group
		if _, err := t.submit(ctx, rest[i], fmt.Sprintf("job%d", i+1), sideTasks, acceptLimit); err != nil {
			return err
		}
	}
	if err := pause.For(ctx, underWay); err != nil {
		return err
	}
	t.say("kill -9 of all coordinators: %s", t.groupNames(v))
	fell := time.Now()
	for _, n := range group {
		t.tally.fell(time.Now(), n.index, false)
	}
	for _, n := range group {
		n.kill()
	}
	err := t.awaitWhole(ctx, newGroupLimit)
	if t.report.must(fmt.Sprintf("there is a new group within %v", newGroupLimit), err) {
		_, v := t.tally.Leader()
		t.say("a new group: %s", t.groupNames(v))
		t.report.show("until a new group leads and its copies are whole", fmt.Sprintf("at most %v", newGroupLimit),
			"%.2f s", time.Since(fell).Seconds())
	}
	if err := t.settle(ctx, settleLimit); err != nil {
		return err
	}
	return t.afterwards(ctx)
}

// quietLimit is how long copies of a ledger may differ after the last job ended.
const quietLimit = 30 * time.Second

// afterwards checks what holds at the end of every scenario: the copies of the
// ledger are equal, and nobody followed what it must not.
func (t *trial) afterwards(ctx context.Context) error {
	err := until(ctx, quietLimit, func() string { return equal(t.tally.Sights(), min(groupSize, t.runningNow())) })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.report.must("the coordinators' ledgers are equal", err)
	_, broken := t.tally.Falls()
	t.report.fencing(broken)
	t.report.must("every node that was left alone still runs", t.dead())
	return nil
}

// dead says which nodes ended by themselves.
func (t *trial) dead() error {
	var errs []error
	for _, n := range t.nodes {
		if n.exited() {
			errs = append(errs, fmt.Errorf("node %d ended (%v); it said:\n%s", n.index, n.proc.err, n.said()))
		}
	}
	return errors.Join(errs...)
}
