package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"godwit/lab/progress"
	"godwit/lab/traces"
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
	window := r.plan.scenario.End.Sub(r.plan.scenario.Start)
	if err := os.WriteFile(known, r.plan.bed.known(peers, window, r.plan.speedup), 0o600); err != nil {
		return fmt.Errorf("writing the rates: %w", err)
	}
	away := filepath.Join(dir, replayName)
	if err := writeAway(away, time.Now()); err != nil {
		return err
	}
	for i, p := range r.players {
		p.setup.rules = owner.Everything()
		p.setup.args = append(args[:len(args):len(args)], "--rates", known, "--replay", away)
		if speeds := r.plan.bed.imposed(i); speeds != "" {
			p.setup.args = append(p.setup.args, "--impose", speeds)
		}
		p.setup.args = append(p.setup.args, r.peersOf(p)...)
	}
	return nil
}

// writeAway writes the history of an owner who is away, by a wide margin around the
// longest replay from now on.
func writeAway(path string, now time.Time) error {
	const margin = 24 * time.Hour
	h := &trace.History{Host: "machine"}
	note(h, now.Add(-margin).Truncate(time.Second), trace.Available, 1)
	h.Extend(now.Add(maxMinutes*time.Minute + margin).Truncate(time.Second))
	t := &trace.Trace{Name: h.Host, Start: h.Since(), End: h.Until(), Hosts: []trace.Host{{History: h}}}
	if err := traces.Write(path, t, trace.CSV); err != nil {
		return fmt.Errorf("writing what an owner does who is away: %w", err)
	}
	return nil
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
	if err := sw.awaitMembers(ctx); err != nil {
		return err
	}
	if r.plan.founds() {
		if err := errors.Join(r.associate(ctx, sw), sw.awaitMembers(ctx)); err != nil {
			return fmt.Errorf("founding the overlay: %w", err)
		}
	}
	r.clock = clockwork{start: r.plan.scenario.Start, begun: time.Now().Add(lead), speedup: r.plan.speedup}
	for _, p := range r.players {
		p.clock = r.clock
	}
	return nil
}

// swarm are the nodes that are up.
func (r *replay) swarm() *swarm {
	sw := &swarm{}
	for _, p := range r.players {
		if n := p.up(); n != nil {
			sw.nodes = append(sw.nodes, n)
		}
	}
	return sw
}
