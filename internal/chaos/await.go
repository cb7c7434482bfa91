package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"godwit/internal/pause"
)

// lookAgain is how often something that is waited for is looked at.
const lookAgain = 100 * time.Millisecond

// until waits until missing returns "", which otherwise says what is not there
// yet, and fails with its last word after the limit.
func until(ctx context.Context, limit time.Duration, missing func() string) error {
	end := time.Now().Add(limit)
	for {
		what := missing()
		if what == "" {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("after %v: %s", limit, what)
		}
		if err := pause.For(ctx, lookAgain); err != nil {
			return fmt.Errorf("waiting: %w: %s", err, what)
		}
	}
}

// groupSize is how many coordinators an overlay has that nobody configured.
const groupSize = 3

// awaitWhole waits until all live nodes know all others and the same leader, and
// its group is whole.
func (t *trial) awaitWhole(ctx context.Context, limit time.Duration) error {
	live := t.runningNow()
	if err := until(ctx, limit, func() string { return whole(t.tally.Sights(), live, t.groupSize) }); err != nil {
		return fmt.Errorf("the nodes did not become one swarm: %w", err)
	}
	return nil
}

// runningNow returns how many nodes were started and not killed since.
func (t *trial) runningNow() (n int) {
	for _, o := range t.nodes {
		if o.proc != nil {
			n++
		}
	}
	return n
}

// whole says what so many live nodes lack to be one swarm with a full group of
// coordinators, of that size where there are as many, whose copies of the ledger are
// whole; "" is nothing.
func whole(sights map[int]sight, live, group int) string {
	if len(sights) < live {
		return fmt.Sprintf("%d of %d nodes run", len(sights), live)
	}
	leader := ""
	for i := range sights {
		v := sights[i].view
		switch {
		case v.Leader == "":
			return fmt.Sprintf("node %d knows no leader", i)
		case leader != "" && v.Leader != leader:
			return fmt.Sprintf("two leaders are named, %s and %s", short(leader), short(v.Leader))
		case v.Members < live:
			return fmt.Sprintf("node %d knows %d members, not %d", i, v.Members, live)
		}
		leader = v.Leader
	}
	for i, s := range sights {
		if s.peer == leader {
			return wholeGroup(sights, i, min(group, live))
		}
	}
	return fmt.Sprintf("%s leads and does not run", short(leader))
}

// wholeGroup says what the group that node leads lacks.
func wholeGroup(sights map[int]sight, leader, size int) string {
	group := sights[leader].view.Group
	if len(group) < size {
		return fmt.Sprintf("the group of node %d has %d coordinators, not %d", leader, len(group), size)
	}
	for _, peer := range group {
		found := false
		for i, s := range sights {
			if s.peer != peer {
				continue
			}
			found = true
			if v := s.view; !v.holds() || i != leader && !v.Synced {
				return fmt.Sprintf("node %d is of the group, but says role %q, synced %t", i, v.Role, v.Synced)
			}
		}
		if !found {
			return fmt.Sprintf("%s is of the group and does not run", short(peer))
		}
	}
	return ""
}

// equal says what keeps the ledgers of at least so many coordinators from being
// equal; "" is nothing.
func equal(sights map[int]sight, coordinators int) string {
	digests, holders := map[string]bool{}, 0
	var said []string
	for i, s := range sights {
		if !s.view.holds() {
			continue
		}
		holders++
		digests[s.view.Digest] = true
		said = append(said, fmt.Sprintf("node %d: %q", i, short(s.view.Digest)))
		if s.view.Digest == "" {
			return fmt.Sprintf("node %d coordinates and holds no ledger", i)
		}
	}
	slices.Sort(said)
	switch {
	case holders < coordinators:
		return fmt.Sprintf("%d nodes say that they coordinate, not %d", holders, coordinators)
	case len(digests) > 1:
		return "the copies differ: " + strings.Join(said, ", ")
	}
	return ""
}

// nameLength is how much of the end of a peer's ID or a digest tells it apart.
const nameLength = 8

// short returns the end of a name.
func short(s string) string { return s[max(0, len(s)-nameLength):] }

// groupNames writes the nodes of a group, by rank.
func (t *trial) groupNames(v view) string {
	var names []string
	for _, n := range t.group(v) {
		names = append(names, fmt.Sprintf("node %d", n.index))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// group returns the nodes of a group, by rank.
func (t *trial) group(v view) []*node {
	var out []*node
	for _, peer := range v.Group {
		for _, n := range t.nodes {
			if n.peer == peer {
				out = append(out, n)
			}
		}
	}
	return out
}

// others returns the nodes that are not among those, in order.
func (t *trial) others(not []*node) []*node {
	var out []*node
	for _, n := range t.nodes {
		if !slices.Contains(not, n) {
			out = append(out, n)
		}
	}
	return out
}

// errorOf is an error with that text, or nil without one.
func errorOf(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(text)
}
