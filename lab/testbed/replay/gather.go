package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"godwit/lab/progress"
	"godwit/lab/testbed"
	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/plan"
	"godwit/owner"
	"godwit/task"
	"godwit/trace"
)

// ratesName is the file, in a replay's directory, of the rates that its nodes are
// told.
const ratesName = "imposed.csv"

// equip prepares the nodes of a test-bed: each takes on its machine's rates and knows
// those of all. An owner who never comes is played to them, so that their sensors do
// not take each other, and what else this machine does, for the use of theirs.
func (r *replay) equip(dir string, args []string) error {
	var peers []task.PeerID
	for _, p := range r.players {
		peers = append(peers, p.peer)
	}
	known := filepath.Join(dir, ratesName)
	window := r.plan.Scenario.End.Sub(r.plan.Scenario.Start)
	if err := os.WriteFile(known, r.plan.Bed.RatesFile(peers, window, r.plan.Speedup), 0o600); err != nil {
		return fmt.Errorf("writing the rates: %w", err)
	}
	away, err := testbed.WriteOwner(dir, ownerAway(time.Now()))
	if err != nil {
		return err
	}
	for i, p := range r.players {
		p.setup.Rules = owner.Everything()
		p.setup.Args = append(args[:len(args):len(args)], "--rates", known, "--replay", away)
		if speeds := r.plan.Bed.Speeds(i); speeds != "" {
			p.setup.Args = append(p.setup.Args, "--impose", speeds)
		}
		p.setup.Args = append(p.setup.Args, r.peersOf(p)...)
	}
	return nil
}

// ownerAway is the history of an owner who is away, by a wide margin around the
// longest replay from now on.
func ownerAway(now time.Time) *trace.History {
	const margin = 24 * time.Hour
	h := &trace.History{Host: "machine"}
	clock.Note(h, now.Add(-margin).Truncate(time.Second), trace.Available, 1)
	h.Extend(now.Add(plan.MaxMinutes*time.Minute + margin).Truncate(time.Second))
	return h
}

// gather starts the nodes of a test-bed, all of them, has them found an overlay with
// the plan's rules, and sets the clock when they know who leads it: a test-bed's
// machines are there before its jobs.
func (r *replay) gather(ctx context.Context, p *progress.Progress) error {
	p.Note("starting %d nodes", len(r.players))
	errs := make([]error, len(r.players))
	var wg sync.WaitGroup
	for i, pl := range r.players {
		wg.Go(func() { errs[i] = pl.again(ctx) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	sw := r.swarm()
	if err := sw.AwaitMembers(ctx); err != nil {
		return err
	}
	if r.plan.Founds() {
		if err := errors.Join(r.associate(ctx, sw), sw.AwaitMembers(ctx)); err != nil {
			return fmt.Errorf("founding the overlay: %w", err)
		}
	}
	r.clock = clock.Clock{Start: r.plan.Scenario.Start, Begun: time.Now().Add(lead), Speedup: r.plan.Speedup}
	for _, p := range r.players {
		p.clock = r.clock
	}
	return nil
}

// swarm are the nodes that are up.
func (r *replay) swarm() *testbed.Swarm {
	sw := &testbed.Swarm{}
	for _, p := range r.players {
		if n := p.up(); n != nil {
			sw.Nodes = append(sw.Nodes, n)
		}
	}
	return sw
}
