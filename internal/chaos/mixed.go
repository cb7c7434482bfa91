package main

import (
	"context"
	"fmt"
	"time"

	"godwit/internal/pause"
)

const (
	// mostKills bounds how many leaders are killed until one of each side was.
	mostKills = 10
	// afterKill is how long a swarm runs between two kills.
	afterKill = 5 * time.Second
)

// mixed runs a swarm of which every other node is of an earlier version. Leaders are
// killed until one of each version was, while jobs of both sides run. At the end nodes
// of the earlier version start again as the new one, with the data that they have.
func mixed(ctx context.Context, t *trial) error {
	if t.options.before == "" {
		return skip("an earlier version is needed: --before BINARY, or scripts/chaos mixed COMMIT")
	}
	if err := t.addLocal(t.options.nodes); err != nil {
		return err
	}
	old := func(n *node) bool { return n.index%2 == 1 }
	for _, n := range t.nodes {
		if old(n) {
			n.binary = t.options.before
		}
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	for i, name := range []string{"new", "old"} {
		if _, err := t.submit(ctx, t.nodes[len(t.nodes)-1-i], "job-"+name, t.tasks/2, acceptLimit); err != nil {
			return err
		}
	}
	killed, err := t.killLeaders(ctx, old)
	if err != nil {
		return err
	}
	t.report.expect("a leader of each version was killed, and the other side went on", killed[false] > 0 &&
		killed[true] > 0,
		"%d of the new one, %d of the earlier", killed[false], killed[true])
	if err := t.settle(ctx, settleLimit); err != nil {
		return err
	}
	if err := t.upgrade(ctx, old); err != nil {
		return err
	}
	return t.afterwards(ctx)
}

// killLeaders kills leaders, which come back, until one of each version was. No
// submitter is killed: what it holds is another scenario's.
func (t *trial) killLeaders(ctx context.Context, old func(*node) bool) (killed map[bool]int, err error) {
	killed = map[bool]int{}
	for range mostKills {
		if killed[false] > 0 && killed[true] > 0 {
			return killed, nil
		}
		if err := pause.For(ctx, afterKill); err != nil {
			return nil, err
		}
		leader, v := t.tally.Leader()
		if leader == nowhere {
			continue
		}
		n := t.nodes[leader]
		t.say("kill -9 of node %d, which leads in epoch %s; it is of the earlier version: %t", leader, epochName(v.Epoch),
			old(n))
		t.tally.fell(time.Now(), leader, false)
		n.kill()
		if err := t.awaitWhole(ctx, newGroupLimit); err != nil {
			return nil, err
		}
		killed[old(n)]++
		if err := t.start(ctx, n); err != nil {
			return nil, err
		}
	}
	return killed, nil
}

// upgrade has every node of the earlier version end and start again as the new one.
func (t *trial) upgrade(ctx context.Context, old func(*node) bool) error {
	for _, n := range t.nodes {
		if !old(n) {
			continue
		}
		t.tally.fell(time.Now(), n.index, true)
		if err := n.stop(); err != nil {
			return fmt.Errorf("node %d of the earlier version: %w", n.index, err)
		}
		n.binary = t.godwit
		if err := t.start(ctx, n); err != nil {
			return fmt.Errorf("node %d with the data of the earlier version: %w", n.index, err)
		}
	}
	err := t.awaitWhole(ctx, gatherLimit)
	t.report.must("nodes of the earlier version go on as the new one, with their data", err)
	for _, j := range t.jobs {
		st, err := j.at.ask.job(ctx, j.id)
		if err == nil {
			err = j.complete(st)
		}
		t.report.must(j.name+" is whole after that", err)
	}
	return nil
}
