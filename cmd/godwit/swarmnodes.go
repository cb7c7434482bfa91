package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"godwit/api"
	"godwit/lab/table"
	"godwit/owner"
)

const (
	// startTimeout bounds one node's start; it takes a fraction of a second.
	startTimeout = 30 * time.Second
	// gatherTimeout bounds how long all may take to know each other.
	gatherTimeout = time.Minute
	// gatherPoll is how often that is looked at.
	gatherPoll = 20 * time.Millisecond
	// stopTimeout is how long a node may take to end before it is killed: two
	// seconds for its goodbye, and what a busy machine makes of them.
	stopTimeout = 30 * time.Second
)

// A swarm is a set of real nodes, each a process of this program.
type swarm struct {
	dir   string
	nodes []*swarmNode
}

type swarmNode struct {
	dir   string
	ready ready
	cmd   *exec.Cmd
	log   *os.File
}

// startSwarm starts n nodes below dir: one that founds the overlay, then the
// others, which know it as their first peer. If one fails all are ended.
func startSwarm(ctx context.Context, dir string, n int, args []string) (*swarm, error) {
	return startUnequal(ctx, dir, slices.Repeat([][]string{args}, n), 0)
}

// startUnequal is startSwarm with arguments for each node, and with so many processors that
// each may use at once; 0 for all.
func startUnequal(ctx context.Context, dir string, args [][]string, procs int) (_ *swarm, err error) {
	n := len(args)
	sw := &swarm{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, sw.stop())
		}
	}()
	// Nobody's desktop: these nodes share one machine with whoever watches them.
	set := nodeSetup{dir: filepath.Join(dir, "node0"), listen: anyPort, rules: owner.Everything(), args: args[0], procs: procs}
	first, err := set.start(ctx)
	if err != nil {
		return nil, err
	}
	sw.nodes = append(sw.nodes, first)
	others := make([]*swarmNode, n-1)
	errs := make([]error, n-1)
	var wg sync.WaitGroup
	for i := range others {
		wg.Go(func() {
			set := set
			set.dir = filepath.Join(dir, fmt.Sprintf("node%d", i+1))
			set.args = append(slices.Clone(args[i+1]), "--peer", first.ready.Addrs[0])
			others[i], errs[i] = set.start(ctx)
		})
	}
	wg.Wait()
	for _, o := range others {
		if o != nil {
			sw.nodes = append(sw.nodes, o)
		}
	}
	return sw, errors.Join(errs...)
}

// anyPort is where a node listens that nobody has to find by itself.
const anyPort = "/ip4/127.0.0.1/tcp/0"

// A nodeSetup says how a node of a swarm is started, each time.
type nodeSetup struct {
	dir    string // made if absent
	listen string
	rules  owner.Rules
	args   []string // of `godwit up`, beside those that every node has
	procs  int      // that it may use at once; 0 for all
}

// start starts the node and waits until it says that it is ready.
func (s nodeSetup) start(ctx context.Context) (*swarmNode, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a node's directory: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, rulesName), []byte(s.rules.Text()), 0o600); err != nil {
		return nil, fmt.Errorf("writing a node's rules: %w", err)
	}
	n := &swarmNode{dir: s.dir}
	if n.log, err = os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("making a node's log: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a pipe: %w", err), n.log.Close())
	}
	defer read.Close()
	n.cmd = exec.Command(exe, append([]string{
		"up", "--data-dir", s.dir, "--config", filepath.Join(s.dir, rulesName), "--listen", s.listen, "--no-mdns", "--api", "", "--ready-fd", "3",
	}, s.args...)...)
	n.cmd.Stdout, n.cmd.Stderr = n.log, n.log
	n.cmd.ExtraFiles = []*os.File{write}
	n.cmd.SysProcAttr = dieWithParent()
	if s.procs > 0 {
		n.cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", s.procs))
	}
	err = n.cmd.Start()
	write.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a node: %w", err), n.log.Close())
	}
	if err := n.awaitReady(ctx, read); err != nil {
		return nil, errors.Join(err, n.kill())
	}
	return n, nil
}

func (n *swarmNode) awaitReady(ctx context.Context, r *os.File) error {
	deadline := time.Now().Add(startTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	r.SetReadDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { r.SetReadDeadline(time.Now()) })
	defer stop()
	if err := json.NewDecoder(r).Decode(&n.ready); err != nil {
		said, _ := os.ReadFile(filepath.Join(n.dir, "log"))
		return fmt.Errorf("a node did not become ready: %w; it said:\n%s", err, table.Tail(string(said), 2000))
	}
	return nil
}

// awaitMembers waits until every node knows every other and the leader.
func (sw *swarm) awaitMembers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, gatherTimeout)
	defer cancel()
	for _, n := range sw.nodes {
		client := api.Dial(n.dir)
		err := sw.awaitView(ctx, client)
		client.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (sw *swarm) awaitView(ctx context.Context, client *api.Client) error {
	tick := time.NewTicker(gatherPoll)
	defer tick.Stop()
	for {
		s, err := client.Status(ctx)
		if err != nil {
			return fmt.Errorf("waiting for the nodes to find each other: %w", err)
		}
		if o := s.Overlays[0]; o.Members == len(sw.nodes) && o.Leader != "" {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the nodes to find each other: %w", ctx.Err())
		}
	}
}

// stop asks every node to end and waits for it.
func (sw *swarm) stop() error {
	errs := make([]error, len(sw.nodes))
	var wg sync.WaitGroup
	for i, n := range sw.nodes {
		wg.Go(func() { errs[i] = n.stop() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (n *swarmNode) stop() error {
	defer n.log.Close()
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending a node: %w", err)
	}
	killer := time.AfterFunc(stopTimeout, func() { n.cmd.Process.Kill() })
	defer killer.Stop()
	if err := n.cmd.Wait(); err != nil {
		return fmt.Errorf("a node did not end cleanly (%s): %w", n.dir, err)
	}
	return nil
}

func (n *swarmNode) kill() error {
	defer n.log.Close()
	n.cmd.Process.Kill()
	n.cmd.Wait() // it was killed: how it ended says nothing
	return nil
}
