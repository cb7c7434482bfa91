package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// movingOverlay is the overlay in which tasks move.
const movingOverlay = "moving"

// found has all nodes leave the overlay that they began with for one whose rules
// let tasks move, with a group of that size.
func (t *trial) found(ctx context.Context, policy string, coordinators int) error {
	const before = "commons"
	id, err := t.nodes[0].verb(ctx, "overlay", "create", movingOverlay, "--migration", policy, "--coordinators",
		fmt.Sprint(coordinators))
	if err != nil {
		return err
	}
	for _, n := range t.nodes[1:] {
		if _, err := n.verb(ctx, "overlay", "join", id); err != nil {
			return err
		}
	}
	for _, n := range t.nodes {
		if _, err := n.verb(ctx, "overlay", "leave", before); err != nil {
			return err
		}
	}
	t.groupSize = coordinators
	if err := t.awaitWhole(ctx, gatherLimit); err != nil {
		return err
	}
	t.tally.begin()
	l, v := t.tally.Leader()
	t.say("overlay %s, migration %s; node %d leads; the group: %s", movingOverlay, policy, l, t.groupNames(v))
	return nil
}

// ruled writes the rules of owners who also say how long a stopped task waits before
// it goes, and how many cores there are to lend.
func (t *trial) ruled(name string, cores int) (string, error) {
	file, text := filepath.Join(t.dir, name),
		strings.Replace(rules, "max_cores: 100\n", fmt.Sprintf("max_cores: %d\n", cores), 1)
	return file, os.WriteFile(file, fmt.Appendf(nil, "%sgrace: %v\n", text, t.grace), 0o600)
}
