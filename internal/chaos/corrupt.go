package main

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"godwit/internal/pause"
)

const (
	// storeName is the directory of a node's data that its databases are in.
	storeName = "store"
	// damagedShare is how much of each file of the store is flipped.
	damagedShare = 1. / 100
	// catchUpLimit is how long a coordinator without a ledger may take to have one
	// that equals the leader's.
	catchUpLimit = 30 * time.Second
)

// aboutStore is what a node may be expected to say of a store that it cannot
// read, or that is new again.
var aboutStore = regexp.MustCompile(`(?i)corrupt|damaged|repair|unreadable|set aside|cannot be read`)

// corrupt flips bytes in the store of a coordinator that is down. Started again
// it says so, begins with what it can, and catches up.
func corrupt(ctx context.Context, t *trial) error {
	if err := t.addLocal(groupSize); err != nil { // so that all coordinate, before and after
		return err
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	leader, v := t.tally.Leader()
	rest := t.others([]*node{t.nodes[leader]})
	victim, submitter := rest[0], rest[1]
	if _, err := t.submit(ctx, submitter, "sweep", sideTasks, acceptLimit); err != nil {
		return err
	}
	if err := pause.For(ctx, underWay); err != nil {
		return err
	}
	t.say("node %d leads; kill -9 of node %d, also of the group: %s", leader, victim.index, t.groupNames(v))
	t.tally.fell(time.Now(), victim.index, false)
	victim.kill()
	bytes, err := damage(filepath.Join(victim.dir, storeName), t.rng)
	if err != nil {
		return err
	}
	t.say("%d bytes of its store are flipped", bytes)
	said := victim.logSize()
	if !t.report.must("a node with a damaged store starts", t.start(ctx, victim)) {
		return t.settle(ctx, settleLimit)
	}
	t.report.must("it says that its store is damaged", t.says(ctx, victim, said, aboutStore))
	begun := time.Now()
	err = until(ctx, catchUpLimit, func() string {
		sights := t.tally.Sights()
		if s := sights[victim.index]; !s.view.holds() || !s.view.Synced {
			return fmt.Sprintf("node %d says role %q, synced %t", victim.index, s.view.Role, s.view.Synced)
		}
		return equal(sights, groupSize)
	})
	if t.report.must("it has the leader's ledger again, under way", err) {
		t.report.show("until it has the leader's ledger again", fmt.Sprintf("at most %v", catchUpLimit), "%.2f s",
			time.Since(begun).Seconds())
	}
	if err := t.settle(ctx, settleLimit); err != nil {
		return err
	}
	return t.afterwards(ctx)
}

// damage flips bytes all over the files of a directory, at least one of each that
// is not empty, and returns how many.
func damage(dir string, rng *rand.Rand) (flipped int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) == 0 {
			return err
		}
		n := max(1, int(float64(len(b))*damagedShare))
		for range n {
			b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255)) // never nothing
		}
		flipped += n
		return os.WriteFile(path, b, 0o600)
	})
	if err != nil {
		return flipped, fmt.Errorf("damaging a store: %w", err)
	}
	return flipped, nil
}
