package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// A trial is one run of a scenario: the swarm, what watches it, and what is found
// out. Its methods are called by one goroutine.
type trial struct {
	options
	dir    string // everything the run writes
	rng    *rand.Rand
	nodes  []*node
	tally  *tally
	report report
	jobs   []*job
	begun  time.Time

	groupSize int      // coordinators of the overlay
	linkRate  float64  // of namespaces, in bytes a second; 0: no bound
	watcher   *watcher // of guests; nil where none are watched
	poll      time.Duration

	out io.Writer // progress; nothing that scripts read

	watching sync.WaitGroup // what ends with the trial's context
	undo     []func()       // run at the end, the last first
}

// rules let the nodes work whoever uses this machine: nothing is tested about
// owners here.
const rules = `run_if_user_active: true
run_if_full_screen: true
run_on_batteries: true
suspend_cpu_usage: 0
suspend_memory_pressure: 0
max_cores: 100
max_cores_busy: 100%
max_memory_busy: 50%
`

const (
	// poll is how often every node is asked what it sees: takeovers are measured
	// to this.
	poll = 20 * time.Millisecond
	// seldomPoll is how often where takeovers are not what is measured, and answering
	// takes processor time that tasks are to have.
	seldomPoll = 250 * time.Millisecond
	// gatherLimit bounds how long the nodes may take to find each other and to
	// have a group whose copies are whole.
	gatherLimit = time.Minute
)

func newTrial(o options, out io.Writer) (*trial, error) {
	t := &trial{options: o, rng: rand.New(rand.NewPCG(o.seed, 0)), tally: newTally(), begun: time.Now(), out: out,
		groupSize: groupSize, poll: poll}
	t.report = report{Scenario: o.scenario, Seed: o.seed, Nodes: o.nodes}
	// A path with a slash is run as it is, whatever directory it is run in.
	binary, err := exec.LookPath(o.godwit)
	if err == nil {
		t.godwit, err = filepath.Abs(binary)
	}
	if err != nil {
		return nil, fmt.Errorf("finding the binary to test: %w", err)
	}
	if o.dir != "" {
		t.dir, err = filepath.Abs(o.dir)
		err = errors.Join(err, os.MkdirAll(t.dir, 0o700))
	} else {
		t.dir, err = os.MkdirTemp("", "chaos-")
	}
	if err == nil {
		err = os.WriteFile(t.rulesFile(), []byte(rules), 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("making the run's directory: %w", err)
	}
	return t, nil
}

func (t *trial) rulesFile() string { return filepath.Join(t.dir, "config.yaml") }

// say shows progress.
func (t *trial) say(format string, args ...any) {
	fmt.Fprintf(t.out, "%7.1f s  %s\n", time.Since(t.begun).Seconds(), fmt.Sprintf(format, args...))
}

// addNode makes a node that listens at that address; it is not started.
func (t *trial) addNode(listen string, launch ...string) *node {
	n := &node{index: len(t.nodes), listen: listen, launch: launch, cores: 1, binary: t.godwit, rules: t.rulesFile(),
		runner: "sleep"}
	if t.wasm {
		n.runner = "wasm"
	}
	n.dir = filepath.Join(t.dir, fmt.Sprintf("node%d", n.index))
	n.log = n.dir + ".log"
	n.ask = newAsker(n.dir)
	t.nodes = append(t.nodes, n)
	return n
}

// addLocal makes all nodes, on this machine's loopback.
func (t *trial) addLocal(number int) error {
	t.report.Nodes = number
	for range number {
		port, err := freePort()
		if err != nil {
			return err
		}
		t.addNode(fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port))
	}
	return nil
}

// freePort returns a port that is free now and that the system gives nobody who
// asks for any, so that it is free again for a node that was down for a while.
// It does not follow from the seed: two runs with one seed have ports of their own.
func freePort() (int, error) {
	const (
		first, ports = 20000, 10000 // below 32768, where Linux begins with those
		tries        = 100
	)
	var last error
	for range tries {
		port := first + rand.IntN(ports)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, l.Close()
		}
		last = err
	}
	return 0, fmt.Errorf("finding a free port: %w", last)
}

// startAll starts every node, watches them, and waits until they are a swarm.
func (t *trial) startAll(ctx context.Context) error {
	for _, n := range t.nodes {
		if err := t.start(ctx, n); err != nil {
			return err
		}
	}
	for _, n := range t.nodes {
		t.watching.Go(func() { t.watch(ctx, n.index, n.ask) })
	}
	if err := t.awaitWhole(ctx, gatherLimit); err != nil {
		return err
	}
	t.tally.begin()
	l, v := t.tally.Leader()
	t.say("%d nodes; node %d leads in epoch %s; the group: %s", len(t.nodes), l, epochName(v.Epoch), t.groupNames(v))
	return nil
}

// start starts one node, which knows how to reach every other that ever ran.
func (t *trial) start(ctx context.Context, n *node) error {
	var peers []string
	for _, o := range t.nodes {
		if o != n && o.addr != "" {
			peers = append(peers, o.addr)
		}
	}
	return t.startKnowing(ctx, n, peers)
}

// startKnowing starts one node, which is told of those peers.
func (t *trial) startKnowing(ctx context.Context, n *node, peers []string) error {
	if err := n.start(ctx, peers); err != nil {
		return err
	}
	life, ended := n.life, n.proc.ended
	if t.watcher != nil {
		t.watcher.node(n.proc.cmd.Process.Pid, n.index)
	}
	t.tally.up(n.index, life, n.peer)
	go func() { <-ended; t.tally.down(n.index, life) }()
	return nil
}

// watch asks one node all the time and tells the tally.
func (t *trial) watch(ctx context.Context, index int, ask *asker) {
	tick := time.NewTicker(t.poll)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		life, ok := t.tally.Life(index)
		if !ok {
			continue
		}
		if v, err := ask.overlay(ctx); err == nil {
			t.tally.saw(time.Now(), index, life, v)
		}
	}
}

// close ends everything that the trial began, whose context has ended. The
// directory stays where it says something about a promise that was broken.
func (t *trial) close() {
	t.watching.Wait()
	for _, n := range t.nodes {
		n.kill()
	}
	for i := len(t.undo) - 1; i >= 0; i-- {
		t.undo[i]()
	}
	if t.keep || t.options.dir != "" || t.report.broken() > 0 {
		fmt.Fprintf(t.out, "logs and data are in %s\n", t.dir)
		return
	}
	if err := os.RemoveAll(t.dir); err != nil {
		fmt.Fprintf(t.out, "removing the run's directory: %v\n", err)
	}
}
