package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"godwit/api"
	"godwit/node"
	"godwit/overlay"
	machines "godwit/sim/swarm"
)

// ownOverlay is the name of the overlay of a replay with rules of its own, and
// overlaysName the file in which a node keeps what it serves.
const (
	ownOverlay   = "swarm"
	overlaysName = "overlays.json"
)

// found has nodes below dir, with the players' keys, found an overlay with the
// plan's rules and join it. The players' nodes start later as its members, and
// with nothing else of that time.
func (r *replay) found(ctx context.Context, dir string, args []string) (err error) {
	for i := range r.players {
		if _, err := storeKey(foundingDir(dir, i), machines.Key(r.plan.scenario.Seed, i)); err != nil {
			return err
		}
	}
	sw, err := startSwarm(ctx, dir, len(r.players), args)
	if err != nil {
		return err
	}
	err = r.join(ctx, sw)
	if err := errors.Join(err, sw.stop()); err != nil {
		return fmt.Errorf("founding the overlay: %w", err)
	}
	for i, p := range r.players {
		if err := os.Rename(filepath.Join(foundingDir(dir, i), overlaysName), filepath.Join(p.setup.dir, overlaysName)); err != nil {
			return fmt.Errorf("keeping a node's overlay: %w", err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing what the overlay was founded in: %w", err)
	}
	return nil
}

// foundingDir is where startSwarm keeps a node.
func foundingDir(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("node%d", i)) }

// join has the first node found the overlay and the others join it; all leave
// the one that they began with.
func (r *replay) join(ctx context.Context, sw *swarm) error {
	if err := sw.awaitMembers(ctx); err != nil {
		return err
	}
	return r.associate(ctx, sw)
}

// associate is join for nodes that know each other.
func (r *replay) associate(ctx context.Context, sw *swarm) error {
	s := r.plan.scenario
	rules := node.OverlayRules{Name: ownOverlay, Admission: node.AdmitOpen, Placement: s.Placement, Migration: noMigration, Fairness: s.Fairness, Chunking: s.Chunking}
	if r.plan.moves() {
		rules.Migration = r.plan.scenario.Migration
	}
	d, err := sw.associate(ctx, rules)
	if err != nil {
		return err
	}
	return r.sign(&d, rules)
}

// associate has the first node found an overlay and the others join it; all leave the
// one that they began with.
func (sw *swarm) associate(ctx context.Context, rules node.OverlayRules) (node.OverlayDetail, error) {
	first := api.Dial(sw.nodes[0].dir)
	defer first.Close()
	d, err := first.CreateOverlay(ctx, rules)
	if err != nil {
		return d, fmt.Errorf("founding an overlay: %w", err)
	}
	errs := make([]error, len(sw.nodes))
	var wg sync.WaitGroup
	for i, n := range sw.nodes {
		wg.Go(func() {
			client := api.Dial(n.dir)
			defer client.Close()
			if i > 0 {
				_, errs[i] = client.JoinOverlay(ctx, string(d.ID), 1)
			}
			if errs[i] == nil {
				_, errs[i] = client.LeaveOverlay(ctx, node.DefaultOverlay)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return d, fmt.Errorf("joining the overlay: %w", err)
	}
	return d, nil
}

// sign makes the overlay's manifest once more, for the simulator: by its ID the
// members choose who coordinates.
func (r *replay) sign(d *node.OverlayDetail, rules node.OverlayRules) error {
	r.overlay = overlay.Manifest{Name: rules.Name, Founder: r.players[0].peer, Founded: d.Founded, Placement: rules.Placement, Migration: rules.Migration, Fairness: rules.Fairness, Chunking: rules.Chunking}
	if err := r.overlay.Sign(machines.Key(r.plan.scenario.Seed, 0)); err != nil {
		return fmt.Errorf("signing the overlay's rules: %w", err)
	}
	if id := r.overlay.ID(); id != d.ID {
		return fmt.Errorf("the overlay was founded as %s, and its rules make %s", d.ID, id)
	}
	return nil
}
