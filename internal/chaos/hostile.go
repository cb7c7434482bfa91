package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"godwit/internal/chaos/hostile"
	"godwit/task"
)

const scenarioHostile = "hostile"

// attacked is what is asked of the scenario in which strangers attack nodes.
type attacked struct {
	rows      string // with commas between them; "" is all
	times     int    // variations of each attack
	strangers int    // of a crowd
	virtual   bool   // variations in virtual time only
	only      int    // number of the single such variation to play, from 1; 0 for all
}

// names returns the rows that were asked for, none for all.
func (a attacked) names() []string {
	return strings.FieldsFunc(a.rows, func(r rune) bool { return r == ',' || r == ' ' })
}

func (a attacked) validate() error {
	if a.times < 1 || a.strangers < 1 {
		return errors.New("--times and --strangers must be at least 1")
	}
	if err := hostile.Check(a.names()); err != nil {
		return fmt.Errorf("--rows: %w", err)
	}
	return nil
}

// A prize is a node as those see it who attack it.
type prize struct{ n *node }

// Peer implements hostile.Node.
func (p prize) Peer() task.PeerID { return task.PeerID(p.n.peer) }

// Addr implements hostile.Node.
func (p prize) Addr() string { return p.n.addr }

// Dir implements hostile.Node.
func (p prize) Dir() string { return p.n.dir }

// PID implements hostile.Node.
func (p prize) PID() int { return p.n.pid }

// Ended implements hostile.Node.
func (p prize) Ended() bool { return p.n.exited() }

// Said implements hostile.Node.
func (p prize) Said() string { return p.n.saidSince(0) }

// Verb implements hostile.Node.
func (p prize) Verb(ctx context.Context, dir string, args ...string) (string, error) {
	return p.n.verbIn(ctx, dir, args...)
}

// Get implements hostile.Node.
func (p prize) Get(ctx context.Context, path string, into any) error {
	return p.n.ask.get(ctx, path, into)
}

// Kill implements hostile.Node.
func (p prize) Kill() { p.n.kill() }

// Stop implements hostile.Node.
func (p prize) Stop() error { return p.n.stop() }

// Again implements hostile.Node.
func (p prize) Again(ctx context.Context, flags ...string) error {
	first := p.n.flags
	defer func() { p.n.flags = first }()
	p.n.flags = append(slices.Clone(first), flags...)
	return p.n.start(ctx, nil)
}

// Feed implements hostile.Node.
func (p prize) Feed(ctx context.Context, text string, args ...string) (string, error) {
	return p.n.verbFed(ctx, "", text, args...)
}

// besieged has strangers attack nodes, and tells what held.
func besieged(ctx context.Context, t *trial) error {
	report, err := hostile.Run(ctx, hostile.Options{
		Rows: t.names(), Times: t.times, Strangers: t.strangers, Seed: t.seed, Only: t.only,
		VirtualOnly: t.virtual, Dir: t.dir, Say: t.say,
		Start: func(ctx context.Context, s hostile.Spec) (hostile.Node, error) { return t.raise(ctx, s) },
	})
	t.report.Rows = report
	for _, row := range report.Rows {
		t.report.expect(row.ID, row.Holds(), "%.500s", strings.Join(row.Broken, "; "))
	}
	return err
}

// raise starts a node as it is asked for.
func (t *trial) raise(ctx context.Context, s hostile.Spec) (hostile.Node, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	n := t.addNode(fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port))
	n.runner, n.flags, n.rules = "wasm", s.Flags, n.dir+".yaml"
	t.report.Nodes = len(t.nodes)
	if err := os.WriteFile(n.rules, []byte(s.Rules), 0o600); err != nil {
		return nil, fmt.Errorf("writing an owner's rules: %w", err)
	}
	if err := n.start(ctx, s.Peers); err != nil {
		return nil, err
	}
	return prize{n}, nil
}
