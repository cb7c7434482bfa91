package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"godwit/internal/pause"
)

const (
	// healLimit is how long two halves may take to become one swarm again.
	healLimit = 30 * time.Second
	// askAgain is how long somebody waits whose job was not accepted.
	askAgain = 500 * time.Millisecond
)

// split puts every node into a network namespace of its own, with a slow and
// lossy network between them, cuts that in two with coordinators on both sides,
// has jobs handed in on both, and heals it.
func split(ctx context.Context, t *trial) error {
	if err := canSplit(); err != nil {
		return err
	}
	r, err := t.addRouted(ctx)
	if err != nil {
		return err
	}
	t.say("%d namespaces, %v apart, %.3g %% of the packets lost", len(t.nodes), t.delay, 100*t.loss)
	if err := t.startAll(ctx); err != nil {
		return err
	}
	if _, err := t.submit(ctx, t.nodes[t.rng.IntN(len(t.nodes))], "before", 2*sideTasks, acceptLimit); err != nil {
		return err
	}
	if err := pause.For(ctx, underWay); err != nil {
		return err
	}
	if err := t.inTwo(ctx, r); err != nil {
		return err
	}
	healed := time.Now()
	t.say("the network is one again")
	if t.report.must(fmt.Sprintf("healed, there is one swarm within %v", healLimit), t.awaitWhole(ctx, healLimit)) {
		t.report.show("until all name one leader again, with a whole group", fmt.Sprintf("at most %v", healLimit), "%.2f s",
			time.Since(healed).Seconds())
	}
	if err := t.settle(ctx, settleLimit); err != nil {
		return err
	}
	if err := t.afterwards(ctx); err != nil {
		return err
	}
	return r.ask(ctx, func(l *link) {
		t.report.show("packets carried, lost, cut, refused", "", "%d, %d, %d, %d", l.passed, l.lost, l.cut, l.full)
	})
}

// addRouted makes every node, in a namespace of its own, and the network between.
func (t *trial) addRouted(ctx context.Context) (*router, error) {
	l := newLink(t.delay, t.loss, t.seed)
	l.rate = t.linkRate
	var ports []*os.File
	for i := range t.options.nodes {
		n, err := newNamespace(ctx, i)
		if err != nil {
			for _, p := range ports {
				p.Close()
			}
			return nil, err
		}
		t.undo = append(t.undo, n.remove)
		l.attach(n.addr)
		ports = append(ports, n.tun)
		t.addNode(n.listen(), n.launch()...)
	}
	r := route(ctx, l, ports)
	t.undo = append(t.undo, r.wait)
	return r, nil
}

// inTwo keeps the network in two for as long as was asked for, and has a job
// handed in on each side.
func (t *trial) inTwo(ctx context.Context, r *router) error {
	_, v := t.tally.Leader()
	group := t.group(v)
	large, small := sides(t.rng, group, t.others(group))
	var cut []int
	for _, n := range small {
		cut = append(cut, n.index)
	}
	if err := r.ask(ctx, func(l *link) { l.divide(cut) }); err != nil {
		return err
	}
	begun := time.Now()
	t.say("the network is in two: %s | %s; the group was %s", indices(large), indices(small), t.groupNames(v))
	for _, side := range []struct {
		name  string
		nodes []*node
	}{{"large", large}, {"small", small}} {
		err := t.submitOnSide(ctx, side.nodes, side.name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		t.report.must(fmt.Sprintf("the %s side accepts a job within %v", side.name, acceptLimit), err)
	}
	if err := pause.For(ctx, t.split-time.Since(begun)); err != nil {
		return err
	}
	t.report.must("each side has a leader of its own", errorOf(t.leaderless(large)+t.leaderless(small)))
	return r.ask(ctx, func(l *link) { l.divide(nil) })
}

// sides divides nodes in two so that the group's are on both, and the larger
// side has one more at most.
func sides[N any](rng *rand.Rand, group, rest []N) (large, small []N) {
	mix := func(s []N) []N {
		s = append([]N(nil), s...)
		rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		return s
	}
	group, rest = mix(group), mix(rest)
	most := (len(group) + len(rest)) / 2 // nodes of the small side
	with := 0                            // coordinators among them
	if len(group) > 1 {
		with = min(most, 1+rng.IntN(len(group)-1))
	}
	without := min(most-with, len(rest))
	small = append(small, group[:with]...)
	small = append(small, rest[:without]...)
	large = append(large, group[with:]...)
	return append(large, rest[without:]...), small
}

// submitOnSide hands a job in at a node of a side, the last: one that is no
// coordinator where there is one. It asks again while it is not accepted.
func (t *trial) submitOnSide(ctx context.Context, side []*node, name string) error {
	at, end := side[len(side)-1], time.Now().Add(acceptLimit)
	for {
		_, err := t.submit(ctx, at, name, sideTasks, time.Until(end))
		if err == nil || time.Now().After(end) || ctx.Err() != nil {
			return err
		}
		if err := pause.For(ctx, askAgain); err != nil {
			return err
		}
	}
}

// leaderless says that no node of a side leads; "" where one does.
func (t *trial) leaderless(side []*node) string {
	sights := t.tally.Sights()
	for _, n := range side {
		if s := sights[n.index]; s.view.Leader != "" && s.view.Leader == s.peer {
			return ""
		}
	}
	return fmt.Sprintf("none of %s leads; ", indices(side))
}

// indices writes nodes by their numbers.
func indices(nodes []*node) string {
	var list []int
	for _, n := range nodes {
		list = append(list, n.index)
	}
	return fmt.Sprint(list)
}
