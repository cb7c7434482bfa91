package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	scenarioLAN = "lan"
	lanNodes    = 2
	// lanLimit is how long two machines of one network may take to find each other.
	lanLimit = 10 * time.Second
)

// lan puts two nodes into network namespaces on one bridge, as machines at one switch, and tells
// neither of the other: they are to meet by multicast DNS. Told not to, they do not.
func lan(ctx context.Context, t *trial) error {
	if os.Geteuid() != 0 {
		return skip("network namespaces need root")
	}
	if err := addLAN(ctx, t); err != nil {
		return err
	}
	begun := time.Now()
	for _, n := range t.nodes {
		n.mdns = true
		if err := t.startKnowing(ctx, n, nil); err != nil {
			return err
		}
		t.watching.Go(func() { t.watch(ctx, n.index, n.ask) })
	}
	err := t.awaitWhole(ctx, lanLimit)
	what := fmt.Sprintf("two nodes of one network that are told nothing are one swarm within %v", lanLimit)
	if t.report.must(what, err) {
		t.report.show("from the first start to one swarm", fmt.Sprintf("at most %v", lanLimit), "%.2f s",
			time.Since(begun).Seconds())
	}
	for _, n := range t.nodes {
		if err := n.stop(); err != nil {
			return err
		}
		n.dir += "-quiet" // that has met nobody
		n.ask = newAsker(n.dir)
		n.mdns = false
		if err := t.startKnowing(ctx, n, nil); err != nil {
			return err
		}
	}
	met := until(ctx, lanLimit/2, func() string {
		for _, n := range t.nodes {
			if v, err := n.ask.overlay(ctx); err == nil && v.Members > 1 {
				return ""
			}
		}
		return "they do not meet"
	})
	t.report.expect("with --no-mdns they do not meet", met != nil, "they met")
	return ctx.Err()
}

// addLAN makes two nodes, each in a namespace with a cable to one bridge.
func addLAN(ctx context.Context, t *trial) error {
	bridge := fmt.Sprintf("chaos%d", os.Getpid()%100_000)
	if err := ip(ctx, "link", "add", bridge, "type", "bridge"); err != nil {
		return skip("no bridge can be made: " + err.Error())
	}
	t.undo = append(t.undo, func() { _ = ip(context.Background(), "link", "del", bridge) })
	if err := ip(ctx, "link", "set", bridge, "up"); err != nil {
		return err
	}
	for i := range lanNodes {
		n := &namespace{name: fmt.Sprintf("%s-%d", bridge, i), addr: [4]byte{192, 168, 77, byte(1 + i)}}
		if err := ip(ctx, "netns", "add", n.name); err != nil {
			return skip("no network namespace can be made: " + err.Error())
		}
		t.undo = append(t.undo, n.remove)
		inner, outer := fmt.Sprintf("%si%d", bridge, i), fmt.Sprintf("%so%d", bridge, i)
		for _, line := range []string{
			"link add " + outer + " type veth peer name " + inner + " netns " + n.name,
			"link set " + outer + " master " + bridge + " up",
			"-n " + n.name + " link set lo up",
			"-n " + n.name + " addr add " + n.ip() + "/24 dev " + inner,
			"-n " + n.name + " link set " + inner + " up",
		} {
			if err := ip(ctx, strings.Fields(line)...); err != nil {
				return err
			}
		}
		t.addNode(n.listen(), n.launch()...)
	}
	return nil
}
