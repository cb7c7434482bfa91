package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"godwit/internal/chaos/caller"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"
)

const (
	scenarioDHT = "dht"
	// dhtNodes is a swarm in which nodes that were built so have a hash table: scripts/chaos dht builds them.
	// One of 50 and more has it as nodes are built for use.
	dhtNodes, dhtFewest = 12, 10
	// dhtStrangers say that they are of an overlay that they are not of.
	dhtStrangers = 8
	// dhtGuides are bootstrap nodes: they serve the table without being up for a day.
	dhtGuides = 5
	// dhtMembers found the overlay that is looked for.
	dhtMembers = 2
	// dhtReady bounds how long it may take until the nodes know that others can dial them, and provide: others
	// are asked each minute and a half, and it is looked each minute.
	dhtReady = 8 * time.Minute
	// dhtFound is how long it may take to join an overlay by its ID, whoever lies.
	dhtFound = p2p.FindTime
	// soughtOverlay is what is looked for.
	soughtOverlay = "sought"
	lonelyOverlay = "lonely" // in which newcomers begin, so that nobody tells them of others
)

// A dhtTrial is a trial of the hash table.
type dhtTrial struct {
	natTrial
	spaces []*namespace // those that nobody is in yet
	id     string       // of the overlay that is looked for
	key    p2p.Key
	first  *node // the bootstrap node whose address newcomers have
}

// hashTable has a newcomer find an overlay by its ID and the address of one peer that is not of it, and
// another while strangers say that they are of it.
func hashTable(ctx context.Context, tr *trial) error {
	if err := canSplit(); err != nil {
		return err
	}
	t := &dhtTrial{natTrial: natTrial{trial: tr}}
	if err := t.addNetwork(ctx); err != nil {
		return err
	}
	if err := t.gather(ctx); err != nil {
		return err
	}
	asker, err := t.called(ctx, "an onlooker")
	if err != nil {
		return err
	}
	if err := t.awaitProvided(ctx, asker, "members of the overlay are in the hash table", func(named []task.PeerID) bool {
		return slices.ContainsFunc(t.nodes[len(t.nodes)-dhtMembers:], func(n *node) bool {
			return slices.Contains(named, task.PeerID(n.peer))
		})
	}); err != nil {
		return err
	}
	if err := t.newcomer(ctx, "a newcomer"); err != nil {
		return err
	}
	if err := t.lie(ctx, asker); err != nil {
		return err
	}
	return t.newcomer(ctx, "a newcomer among liars")
}

// addNetwork makes the nodes, and the namespaces for others.
func (t *dhtTrial) addNetwork(ctx context.Context) error {
	l := newLink(t.delay, t.loss, t.seed)
	var ports []*os.File
	for i := range t.options.nodes + t.strangers + 3 { // two newcomers and an onlooker
		n, err := newNamespaceAt(ctx, i, dhtAddr(i))
		if err != nil {
			for _, p := range ports {
				p.Close()
			}
			return err
		}
		t.undo = append(t.undo, n.remove)
		l.attach(n.addr)
		ports, t.spaces = append(ports, n.tun), append(t.spaces, n)
	}
	r := route(ctx, l, ports)
	t.undo = append(t.undo, r.wait)
	t.report.Nodes = t.options.nodes
	for i := range t.options.nodes {
		n := t.take()
		x := t.addNode(n.listen(), n.launch()...)
		x.ask.of = usualOverlay
		if i < dhtGuides {
			x.flags = []string{"--bootstrap-node"}
		}
	}
	t.first = t.nodes[0]
	return nil
}

// take returns a namespace that nobody is in.
func (t *dhtTrial) take() *namespace {
	n := t.spaces[0]
	t.spaces = t.spaces[1:]
	return n
}

// dhtAddr is an address of a network of its own, as far as anybody can tell a public one.
func dhtAddr(i int) [4]byte { return [4]byte{45, byte(1 + i), 1, 1} }

// gather starts the nodes, all told of the first, and founds the overlay.
func (t *dhtTrial) gather(ctx context.Context) error {
	for _, n := range t.nodes {
		var peers []string
		if n != t.first {
			peers = []string{t.first.addr}
		}
		if err := t.startKnowing(ctx, n, peers); err != nil {
			return err
		}
		t.watching.Go(func() { t.watch(ctx, n.index, n.ask) })
	}
	if err := t.awaitWhole(ctx, gatherLimit); err != nil {
		return err
	}
	members := t.nodes[len(t.nodes)-dhtMembers:]
	var err error
	if t.id, err = members[0].verb(ctx, "overlay", "create", soughtOverlay); err != nil {
		return err
	}
	t.key = p2p.Key(overlay.MeetingOpen(overlay.ID(t.id)))
	for _, n := range members[1:] {
		if _, err := n.verb(ctx, "overlay", "join", t.id+"@"+members[0].addr); err != nil {
			return err
		}
	}
	t.say("%d nodes; %d of them are of the overlay %s", len(t.nodes), dhtMembers, short(t.id))
	return nil
}

// called starts a host that knows the first node.
func (t *dhtTrial) called(_ context.Context, name string) (*callerHost, error) {
	return t.call(t.take().name, name, []string{t.first.addr})
}

// awaitProvided waits until the hash table names for the overlay whom is asked for.
func (t *dhtTrial) awaitProvided(ctx context.Context, asker *callerHost, what string,
	enough func([]task.PeerID) bool) error {
	begun := time.Now()
	err := until(ctx, dhtReady, func() string {
		a, err := asker.tell(caller.Order{Do: caller.Find, Key: t.key})
		switch {
		case err != nil:
			return err.Error()
		case !enough(a.Named):
			return fmt.Sprintf("the table names %d peers", len(a.Named))
		}
		return ""
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if t.report.must(what, err) {
		t.report.show("until "+what, "", "%.0f s", time.Since(begun).Seconds())
		t.say("%s", what)
	}
	return err
}

// newcomer has somebody come who knows the overlay's ID, and one peer that is not of it.
func (t *dhtTrial) newcomer(ctx context.Context, who string) error {
	at := t.take()
	n := t.addNode(at.listen(), at.launch()...)
	n.flags = []string{"--overlay", lonelyOverlay}
	if err := t.startKnowing(ctx, n, []string{t.first.addr}); err != nil {
		return err
	}
	if err := until(ctx, gatherLimit, func() string {
		s, err := n.ask.status(ctx)
		if err != nil || s.Peers == 0 {
			return fmt.Sprintf("it is not connected: %v", err)
		}
		return ""
	}); err != nil {
		return err
	}
	begun := time.Now()
	said, err := n.verb(ctx, "overlay", "join", t.id)
	took := time.Since(begun)
	if err == nil && strings.TrimSpace(said) != t.id {
		err = errors.New("it joined " + said)
	}
	t.report.must(who+" joins by the overlay's ID and one address", err)
	t.report.show("from "+who+"'s word until it has joined", fmt.Sprintf("at most %v", dhtFound), "%.2f s", took.Seconds())
	t.report.expect(fmt.Sprintf("%s has joined within %v", who, dhtFound), err == nil && took <= dhtFound, "%v: %v",
		took, err)
	if err != nil {
		return nil
	}
	err = until(ctx, gatherLimit, func() string {
		v, err := n.ask.overlayNamed(ctx, soughtOverlay)
		if err != nil || v.Leader == "" || v.Members <= dhtMembers {
			return fmt.Sprintf("it knows %d members and the leader %q: %v", v.Members, short(v.Leader), err)
		}
		return ""
	})
	t.report.must(who+" is among the members, and knows who leads", err)
	return ctx.Err()
}

// lie has strangers say that they are of the overlay, until most of them are believed by the table.
func (t *dhtTrial) lie(ctx context.Context, asker *callerHost) error {
	liars := map[task.PeerID]bool{}
	for range t.strangers {
		h, err := t.called(ctx, "a liar")
		if err != nil {
			return err
		}
		liars[h.first.ID] = true
		if _, err := h.tell(caller.Order{Do: caller.Provide, Key: t.key}); err != nil {
			return err
		}
	}
	return t.awaitProvided(ctx, asker, "most of the liars are in the hash table", func(named []task.PeerID) bool {
		n := 0
		for _, p := range named {
			if liars[p] {
				n++
			}
		}
		return n > t.strangers/2
	})
}
