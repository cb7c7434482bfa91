// Package testbed runs real nodes on this machine: it starts, watches and ends them.
package testbed

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
	"godwit/task"
)

const (
	// startTimeout bounds one node's start; it takes a fraction of a second.
	startTimeout = 30 * time.Second
	// GatherTimeout bounds how long all may take to know each other.
	GatherTimeout = time.Minute
	// GatherPoll is how often that is looked at.
	GatherPoll = 20 * time.Millisecond
	// stopTimeout is how long a node may take to end before it is killed: two
	// seconds for its goodbye, and what a busy machine makes of them.
	stopTimeout = 30 * time.Second
)

// A Swarm is a set of real nodes, each a process of this program.
type Swarm struct {
	Dir   string
	Nodes []*Node
}

// A Node is a process of this program that runs as `godwit up`.
type Node struct {
	Dir   string
	Ready Ready
	cmd   *exec.Cmd
	log   *os.File
}

// Start starts n nodes below dir: one that founds the overlay, then the
// others, which know it as their first peer. If one fails all are ended.
func Start(ctx context.Context, dir string, n int, args []string) (*Swarm, error) {
	return StartUnequal(ctx, dir, slices.Repeat([][]string{args}, n), 0)
}

// StartUnequal is Start with arguments for each node, and with so many processors that
// each may use at once; 0 for all.
func StartUnequal(ctx context.Context, dir string, args [][]string, procs int) (_ *Swarm, err error) {
	n := len(args)
	sw := &Swarm{Dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, sw.Stop())
		}
	}()
	// Nobody's desktop: these nodes share one machine with whoever watches them.
	set := Setup{Dir: filepath.Join(dir, "node0"), Listen: AnyPort, Rules: owner.Everything(), Args: args[0], procs: procs}
	first, err := set.Start(ctx)
	if err != nil {
		return nil, err
	}
	sw.Nodes = append(sw.Nodes, first)
	others := make([]*Node, n-1)
	errs := make([]error, n-1)
	var wg sync.WaitGroup
	for i := range others {
		wg.Go(func() {
			set := set
			set.Dir = filepath.Join(dir, fmt.Sprintf("node%d", i+1))
			set.Args = append(slices.Clone(args[i+1]), "--peer", first.Ready.Addrs[0])
			others[i], errs[i] = set.Start(ctx)
		})
	}
	wg.Wait()
	for _, o := range others {
		if o != nil {
			sw.Nodes = append(sw.Nodes, o)
		}
	}
	return sw, errors.Join(errs...)
}

// rulesFile is the file of a node's rules in its directory.
const rulesFile = "config.yaml"

// AnyPort is where a node listens that nobody has to find by itself.
const AnyPort = "/ip4/127.0.0.1/tcp/0"

// A Setup says how a node of a swarm is started, each time.
type Setup struct {
	Program string // a file that is godwit; "" for this program
	Dir     string // made if absent
	Listen  string
	Rules   owner.Rules
	Args    []string // of `godwit up`, beside those that every node has
	procs   int      // that it may use at once; 0 for all
}

// Start starts the node and waits until it says that it is ready.
func (s Setup) Start(ctx context.Context) (*Node, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a node's directory: %w", err)
	}
	exe, err := s.program()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(s.Dir, rulesFile), []byte(s.Rules.Text()), 0o600); err != nil {
		return nil, fmt.Errorf("writing a node's rules: %w", err)
	}
	n := &Node{Dir: s.Dir}
	if n.log, err = os.OpenFile(filepath.Join(s.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("making a node's log: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a pipe: %w", err), n.log.Close())
	}
	defer read.Close()
	n.cmd = exec.Command(exe, append([]string{
		"up", "--data-dir", s.Dir, "--config", filepath.Join(s.Dir, rulesFile), "--listen", s.Listen, "--no-mdns", "--api",
		"", "--ready-fd", "3",
	}, s.Args...)...)
	n.cmd.Stdout, n.cmd.Stderr = n.log, n.log
	n.cmd.ExtraFiles = []*os.File{write}
	n.cmd.SysProcAttr = DieWithParent()
	if s.procs > 0 {
		n.cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", s.procs))
	}
	err = n.cmd.Start()
	write.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a node: %w", err), n.log.Close())
	}
	if err := n.awaitReady(ctx, read); err != nil {
		return nil, errors.Join(err, n.Kill())
	}
	return n, nil
}

func (s Setup) program() (string, error) {
	if s.Program != "" {
		return s.Program, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	return exe, nil
}

// PID is the node's process.
func (n *Node) PID() int { return n.cmd.Process.Pid }

func (n *Node) awaitReady(ctx context.Context, r *os.File) error {
	deadline := time.Now().Add(startTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	r.SetReadDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { r.SetReadDeadline(time.Now()) })
	defer stop()
	if err := json.NewDecoder(r).Decode(&n.Ready); err != nil {
		said, _ := os.ReadFile(filepath.Join(n.Dir, "log"))
		return fmt.Errorf("a node did not become ready: %w; it said:\n%s", err, table.Tail(string(said), 2000))
	}
	return nil
}

// AwaitMembers waits until every node knows every other and the leader.
func (sw *Swarm) AwaitMembers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, GatherTimeout)
	defer cancel()
	for _, n := range sw.Nodes {
		client := api.Dial(n.Dir)
		err := sw.awaitView(ctx, client)
		client.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (sw *Swarm) awaitView(ctx context.Context, client *api.Client) error {
	tick := time.NewTicker(GatherPoll)
	defer tick.Stop()
	for {
		s, err := client.Status(ctx)
		if err != nil {
			return fmt.Errorf("waiting for the nodes to find each other: %w", err)
		}
		if o := s.Overlays[0]; o.Members == len(sw.Nodes) && o.Leader != "" {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the nodes to find each other: %w", ctx.Err())
		}
	}
}

// Stop asks every node to end and waits for it.
func (sw *Swarm) Stop() error {
	errs := make([]error, len(sw.Nodes))
	var wg sync.WaitGroup
	for i, n := range sw.Nodes {
		wg.Go(func() { errs[i] = n.Stop() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Stop asks the node to end, and kills it after a while.
func (n *Node) Stop() error {
	defer n.log.Close()
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending a node: %w", err)
	}
	killer := time.AfterFunc(stopTimeout, func() { n.cmd.Process.Kill() })
	defer killer.Stop()
	if err := n.cmd.Wait(); err != nil {
		return fmt.Errorf("a node did not end cleanly (%s): %w", n.Dir, err)
	}
	return nil
}

// Kill ends the node as a machine without power goes.
func (n *Node) Kill() error {
	defer n.log.Close()
	n.cmd.Process.Kill()
	n.cmd.Wait() // it was killed: how it ended says nothing
	return nil
}

// Ready is what `godwit up` says once it serves, and writes to --ready-fd.
type Ready struct {
	PeerID task.PeerID `json:"peer_id"`
	Addrs  []string    `json:"addrs"`
	API    string      `json:"api"`
}
