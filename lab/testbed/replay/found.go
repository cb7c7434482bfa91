package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"godwit/lab/testbed"
	"godwit/lab/testbed/plan"
	"godwit/node"
	"godwit/overlay"
	machines "godwit/sim/swarm"
)

// overlaysName is the file in which a node keeps what it serves.
const overlaysName = "overlays.json"

// found has nodes below dir, with the players' keys, found an overlay with the
// plan's rules and join it. The players' nodes start later as its members, and
// with nothing else of that time.
func (r *replay) found(ctx context.Context, dir string, args []string) (err error) {
	for i := range r.players {
		if _, err := testbed.StoreKey(foundingDir(dir, i), machines.Key(r.plan.Scenario.Seed, i)); err != nil {
			return err
		}
	}
	sw, err := testbed.Start(ctx, dir, len(r.players), args)
	if err != nil {
		return err
	}
	err = r.join(ctx, sw)
	if err := errors.Join(err, sw.Stop()); err != nil {
		return fmt.Errorf("founding the overlay: %w", err)
	}
	for i, p := range r.players {
		if err := os.Rename(filepath.Join(foundingDir(dir, i), overlaysName),
			filepath.Join(p.setup.Dir, overlaysName)); err != nil {
			return fmt.Errorf("keeping a node's overlay: %w", err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing what the overlay was founded in: %w", err)
	}
	return nil
}

// foundingDir is where testbed.Start keeps a node.
func foundingDir(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("node%d", i)) }

// join has the first node found the overlay and the others join it; all leave
// the one that they began with.
func (r *replay) join(ctx context.Context, sw *testbed.Swarm) error {
	if err := sw.AwaitMembers(ctx); err != nil {
		return err
	}
	return r.associate(ctx, sw)
}

// associate is join for nodes that know each other.
func (r *replay) associate(ctx context.Context, sw *testbed.Swarm) error {
	s := r.plan.Scenario
	rules := node.OverlayRules{Name: testbed.OverlayName, Admission: node.AdmitOpen, Placement: s.Placement,
		Migration: plan.NoMigration, Predictor: s.Predictor, Fairness: s.Fairness, Chunking: s.Chunking}
	if r.plan.Moves() {
		rules.Migration = r.plan.Scenario.Migration
	}
	d, err := sw.Associate(ctx, rules)
	if err != nil {
		return err
	}
	return r.sign(&d, rules)
}

// sign makes the overlay's manifest once more, for the simulator: by its ID the
// members choose who coordinates.
func (r *replay) sign(d *node.OverlayDetail, rules node.OverlayRules) error {
	r.overlay = overlay.Manifest{Name: rules.Name, Founder: r.players[0].peer, Founded: d.Founded,
		Placement: rules.Placement, Migration: rules.Migration, Predictor: rules.Predictor, Fairness: rules.Fairness,
		Chunking: rules.Chunking}
	if err := r.overlay.Sign(machines.Key(r.plan.Scenario.Seed, 0)); err != nil {
		return fmt.Errorf("signing the overlay's rules: %w", err)
	}
	if id := r.overlay.ID(); id != d.ID {
		return fmt.Errorf("the overlay was founded as %s, and its rules make %s", d.ID, id)
	}
	return nil
}
