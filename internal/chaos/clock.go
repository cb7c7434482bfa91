package main

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"godwit/internal/pause"
)

const (
	// clockJump is how far a clock jumps, forward and then back.
	clockJump = time.Hour
	// jumpedFor is how long it stays there: some times what leases and adverts
	// need to be renewed.
	jumpedFor = 20 * time.Second
)

// aboutClock is what a node may be expected to say of a clock that jumps.
var aboutClock = regexp.MustCompile(`(?i)\bclock\b`)

// clock has the time of day jump an hour forward, and back, first on the leader
// and then on a node that does not coordinate, while jobs run.
func clock(ctx context.Context, t *trial) error {
	if err := t.addLocal(t.options.nodes); err != nil {
		return err
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	leader, v := t.tally.Leader()
	first := t.nodes[leader]
	rest := t.others(append(t.group(v), first))
	for i, victim := range []*node{first, rest[0]} {
		c, err := divert(victim.proc.cmd.Process.Pid)
		if err != nil {
			return skip(fmt.Sprintf("a node's clock cannot be moved: %v", err))
		}
		if err := t.jump(ctx, victim, c, rest[1], fmt.Sprintf("job%d", i+1)); err != nil {
			return err
		}
	}
	err := t.awaitWhole(ctx, healLimit)
	t.report.must(fmt.Sprintf("there is one swarm within %v of the last jump", healLimit), err)
	if err := t.settle(ctx, settleLimit); err != nil {
		return err
	}
	return t.afterwards(ctx)
}

// jump moves a node's clock forward and back, with a job under way and one handed
// in meanwhile.
func (t *trial) jump(ctx context.Context, victim *node, c *wallClock, submitter *node, name string) error {
	if _, err := t.submit(ctx, submitter, name, sideTasks, acceptLimit); err != nil {
		return err
	}
	if err := pause.For(ctx, underWay); err != nil {
		return err
	}
	for _, way := range []struct {
		name  string
		later time.Duration
	}{{"forward", clockJump}, {"back", 0}} {
		said, begun := victim.logSize(), time.Now()
		if err := c.set(way.later); err != nil {
			return err
		}
		t.say("the clock of node %d jumps %v %s", victim.index, clockJump, way.name)
		_, err := t.submit(ctx, submitter, name+"-"+way.name, sideTasks/2, acceptLimit)
		t.report.must(fmt.Sprintf("node %d's clock jumps %s: the swarm goes on accepting jobs", victim.index, way.name), err)
		t.report.must(fmt.Sprintf("node %d says that its clock jumped %s", victim.index, way.name),
			t.says(ctx, victim, said, aboutClock))
		if err := pause.For(ctx, jumpedFor-time.Since(begun)); err != nil {
			return err
		}
	}
	return nil
}
