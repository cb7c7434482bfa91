package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"godwit/internal/pause"
)

const (
	scenarioWide = "wide"
	// wideNodes are those of the swarm: the first is the one of which all others are told.
	wideNodes = 6
	// oneByOne is how long after one node has moved the next does.
	oneByOne = 3 * time.Second
	// islandLimit is how long a swarm may take to be one again that has lost the node by which all
	// found it, and of which all others have moved.
	islandLimit = time.Minute
	// newcomerLimit is how long somebody with a ticket and nothing else may take to its first task.
	newcomerLimit = 10 * time.Second
	// newcomerTasks is enough that some wait when the newcomer is there.
	newcomerTasks = 300
	// ticketOverlay is the overlay that the ticket is of.
	ticketOverlay = "wide"
	// usualOverlay is the one that all nodes serve by themselves.
	usualOverlay = "commons"
)

// wide has nodes all over an Internet lose the one by which they met, and move, one after the
// other. Then somebody comes in who has a ticket and knows nobody.
func wide(ctx context.Context, t *trial) error {
	if err := canSplit(); err != nil {
		return err
	}
	moves, err := addWide(ctx, t)
	if err != nil {
		return err
	}
	t.say("%d nodes in networks of their own, %v apart, %.3g %% of the packets lost", wideNodes, t.delay, 100*t.loss)
	first := t.nodes[0]
	for _, n := range t.nodes {
		var peers []string
		if n != first {
			peers = []string{first.addr}
		}
		if err := t.startKnowing(ctx, n, peers); err != nil {
			return err
		}
		t.watching.Go(func() { t.watch(ctx, n.index, n.ask) })
	}
	if err := t.awaitWhole(ctx, gatherLimit); err != nil {
		return err
	}
	t.tally.begin()
	if _, err := t.submit(ctx, t.nodes[wideNodes-1], "before", sideTasks, acceptLimit); err != nil {
		return err
	}
	if err := pause.For(ctx, oneByOne); err != nil {
		return err
	}
	if err := moveAway(ctx, t, moves); err != nil {
		return err
	}
	if err := newcomer(ctx, t, moves[len(moves)-1]); err != nil {
		return err
	}
	if err := t.settle(ctx, settleLimit); err != nil {
		return err
	}
	return t.afterwards(ctx)
}

// addWide makes the nodes and the network between them, and returns where they move to: one
// namespace for each but the first, and one for the newcomer.
func addWide(ctx context.Context, t *trial) ([]*namespace, error) {
	l := newLink(t.delay, t.loss, t.seed)
	var ports []*os.File
	var spaces []*namespace
	for i := range 2 * wideNodes {
		n, err := newNamespaceAt(ctx, i, publicAddr(i))
		if err != nil {
			for _, p := range ports {
				p.Close()
			}
			return nil, err
		}
		t.undo = append(t.undo, n.remove)
		l.attach(n.addr)
		ports, spaces = append(ports, n.tun), append(spaces, n)
	}
	r := route(ctx, l, ports)
	t.undo = append(t.undo, r.wait)
	for _, n := range spaces[:wideNodes] {
		t.addNode(n.listen(), n.launch()...).ask.of = usualOverlay
	}
	return spaces[wideNodes:], nil
}

// publicAddr is an address of a network of its own, as far as anybody can tell a public one: what
// is inside these namespaces never leaves them.
func publicAddr(i int) [4]byte {
	const first, step = 31, 7
	return [4]byte{byte(first + step*i), 1, 1, 1}
}

// moveAway kills the node by which all others met, for good, and has each of those come back at
// another address, told of nobody.
func moveAway(ctx context.Context, t *trial, to []*namespace) error {
	t.say("kill -9 of node 0, which does not come again; the others move, one after the other")
	t.tally.fell(time.Now(), 0, false)
	t.nodes[0].kill()
	for i, n := range t.nodes[1:] {
		if i%2 == 0 { // half of them without a goodbye
			t.tally.fell(time.Now(), n.index, false)
			n.kill()
		} else if err := n.stop(); err != nil {
			return err
		}
		n.listen, n.launch = to[i].listen(), to[i].launch()
		if err := t.startKnowing(ctx, n, nil); err != nil {
			return err
		}
		if i < len(t.nodes)-2 {
			if err := pause.For(ctx, oneByOne); err != nil {
				return err
			}
		}
	}
	moved := time.Now()
	err := t.awaitWhole(ctx, islandLimit)
	what := fmt.Sprintf("of those that moved there is one swarm within %v of the last", islandLimit)
	if t.report.must(what, err) {
		t.report.show("from the last move until all name one leader, with a whole group",
			fmt.Sprintf("at most %v", islandLimit), "%.2f s", time.Since(moved).Seconds())
	}
	return ctx.Err()
}

// newcomer has somebody start who knows nobody, and join by a ticket.
func newcomer(ctx context.Context, t *trial, at *namespace) error {
	founder, other := t.nodes[1], t.nodes[2]
	if _, err := founder.verb(ctx, "overlay", "create", ticketOverlay, "--admission", "invited"); err != nil {
		return err
	}
	ticket, err := founder.verb(ctx, "overlay", "invite", ticketOverlay)
	if err != nil {
		return err
	}
	file := filepath.Join(t.dir, "ticket")
	if err := os.WriteFile(file, []byte(ticket), 0o600); err != nil {
		return fmt.Errorf("writing the ticket: %w", err)
	}
	if _, err := other.verb(ctx, "overlay", "join", "@"+file); err != nil {
		return err
	}
	l, err := t.labour(ctx)
	if err != nil {
		return err
	}
	job, err := (&job{name: "waits", tasks: newcomerTasks, labour: l}).write(t.dir)
	if err != nil {
		return fmt.Errorf("writing a job: %w", err)
	}
	id, err := founder.verb(ctx, "run", job, "--overlay", ticketOverlay, "--detach")
	if err != nil {
		return err
	}
	if err := pause.For(ctx, oneByOne); err != nil {
		return err
	}
	n := t.addNode(at.listen(), at.launch()...)
	begun := time.Now()
	if err := t.startKnowing(ctx, n, nil); err != nil {
		return err
	}
	ready := time.Now()
	joined := make(chan error, 1)
	go func() { _, err := n.verb(ctx, "overlay", "join", "@"+file); joined <- err }()
	err = until(ctx, 3*newcomerLimit, func() string {
		st, err := n.ask.status(ctx)
		switch {
		case err != nil:
			return err.Error()
		case st.Tasks == 0:
			return "no task runs there"
		}
		return ""
	})
	took := time.Since(ready)
	if t.report.must("a newcomer with a ticket alone joins", <-joined); err == nil {
		t.report.show("from a newcomer's joining by a ticket to its first task", fmt.Sprintf("at most %v", newcomerLimit),
			"%.2f s (%.2f s with its start)", took.Seconds(), time.Since(begun).Seconds())
	}
	t.report.expect(fmt.Sprintf("it has a task within %v", newcomerLimit), err == nil && took <= newcomerLimit, "%v: %v",
		took, err)
	_, err = founder.verb(ctx, "cancel", id)
	return err
}
