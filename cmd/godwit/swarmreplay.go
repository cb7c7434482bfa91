package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"godwit/api"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/overlay"
	"godwit/owner"
	"godwit/p2p"
	machines "godwit/sim/swarm"
	"godwit/task"
)

// A replay is a swarm whose nodes replay a trace.
type replay struct {
	plan    *replayPlan
	clock   clockwork
	players []*player
	rng     *rand.Rand    // of the peers that jobs are handed to
	delay   time.Duration // of a message between nodes, measured; 0 until then
	// overhead is what tasks of a test-bed took beside their work, in the mean and the
	// trace's time, measured; 0 until then
	overhead time.Duration
	overlay  overlay.Manifest // with the plan's rules; zero: the usual one

	mu     sync.Mutex
	handed []handedJob // by arrival
}

// A handedJob is what became of handing a job in.
type handedJob struct {
	planned plannedJob
	peer    int        // player that was asked; -1: none was up
	id      task.JobID // "" if the peer went before it answered
	err     error
}

// lead is how long before the window the files are written: the first nodes
// start with it.
const lead = 500 * time.Millisecond

// newReplay prepares the nodes below dir, of which none runs yet. Where the rules
// are not the usual ones, an overlay is founded first.
func newReplay(ctx context.Context, p *progress.Progress, dir string, plan *replayPlan, ends string, args []string) (*replay, error) {
	r := &replay{plan: plan, rng: rand.New(rand.NewPCG(plan.scenario.Seed, uint64(len(plan.jobs))))}
	rules := owner.Everything()
	rules.RunIfUserActive = false
	// The owner's time is the trace's.
	rules.Grace = time.Duration(float64(plan.scenario.Hosts.Grace) / plan.speedup)
	ports, err := freePorts(len(plan.scenario.Trace.Hosts))
	if err != nil {
		return nil, err
	}
	for i, h := range plan.scenario.Trace.Hosts {
		p := &player{history: h.History, ends: ends}
		p.setup = nodeSetup{dir: filepath.Join(dir, fmt.Sprintf("node%d", i)), rules: rules,
			listen: fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", ports[i])}
		// Who coordinates follows from the keys: the simulator's nodes have the same.
		if p.peer, err = storeKey(p.setup.dir, machines.Key(plan.scenario.Seed, i)); err != nil {
			return nil, err
		}
		p.addr = p.setup.listen + "/p2p/" + string(p.peer)
		r.players = append(r.players, p)
	}
	if plan.founds() && plan.bed == nil {
		p.Note("founding an overlay with these policies")
		if err := r.found(ctx, filepath.Join(dir, "founding"), args); err != nil {
			return nil, err
		}
	}
	if plan.bed != nil {
		return r, r.equip(dir, args)
	}
	r.clock = clockwork{start: plan.scenario.Start, begun: time.Now().Add(lead), speedup: plan.speedup}
	for _, p := range r.players {
		p.clock = r.clock
		if err := p.writeReplay(); err != nil {
			return nil, err
		}
		p.setup.args = append(args[:len(args):len(args)], "--replay", filepath.Join(p.setup.dir, replayName))
		p.setup.args = append(p.setup.args, r.peersOf(p)...)
	}
	return r, nil
}

// peersOf are the arguments by which a player's node knows the others.
func (r *replay) peersOf(p *player) (args []string) {
	for _, o := range r.players {
		if o != p {
			args = append(args, "--peer", o.addr)
		}
	}
	return args
}

// minutes is how long the replay takes, in real time.
func (r *replay) minutes() float64 {
	return r.plan.scenario.End.Sub(r.plan.scenario.Start).Minutes() / r.plan.speedup
}

// storeKey makes a node's directory, where there must be none with a key, and
// gives it its key.
func storeKey(dir string, key ed25519.PrivateKey) (task.PeerID, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making a node's directory: %w", err)
	}
	if err := p2p.StoreKey(filepath.Join(dir, "identity.key"), key); err != nil {
		return "", fmt.Errorf("giving a node its key (does --dir hold an earlier swarm?): %w", err)
	}
	return task.PeerIDOf(key.Public().(ed25519.PublicKey)), nil
}

// freePorts finds n ports of this machine that nobody uses now.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, e := net.Listen("tcp", "127.0.0.1:0")
		if e != nil {
			return nil, fmt.Errorf("finding a free port: %w", e)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// run plays the window through and hands in the jobs; it ends with the window.
// Nodes may be up when it returns: see stop.
func (r *replay) run(ctx context.Context, p *progress.Progress) error {
	all := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	errs := make([]error, len(r.players))
	for i, pl := range r.players {
		wg.Go(func() {
			if errs[i] = pl.play(ctx); errs[i] != nil {
				cancel() // the others too
			}
		})
	}
	end := r.clock.real(r.plan.scenario.End)
	jobs, stop := context.WithDeadline(ctx, end)
	defer stop()
	wg.Go(func() { r.handIn(jobs) })
	wg.Go(func() { r.tell(jobs, p, end) })
	wg.Wait()
	if all.Err() != nil {
		return errors.New("interrupted")
	}
	return errors.Join(errs...)
}

// tell shows how it goes until ctx ends.
func (r *replay) tell(ctx context.Context, p *progress.Progress, end time.Time) {
	v := runWatch{p: p, dirs: r.dirsUp, head: func() string {
		r.mu.Lock()
		defer r.mu.Unlock()
		return fmt.Sprintf("%d of %d nodes up, %d jobs handed in, %s to go", len(r.dirsUp()), len(r.players), len(r.handed), table.Rough(time.Until(end)))
	}}
	if !r.overlay.IsZero() {
		v.overlay = string(r.overlay.ID())
	}
	v.run(ctx)
}

// dirsUp are the directories of the nodes that are up.
func (r *replay) dirsUp() (dirs []string) {
	for _, pl := range r.players {
		if pl.up() != nil {
			dirs = append(dirs, pl.setup.dir)
		}
	}
	return dirs
}

// handIn hands each job to a peer drawn from those that are up, when it
// arrives, and returns when all have been answered or ctx ends.
func (r *replay) handIn(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, j := range r.plan.jobs {
		if !sleepUntil(ctx, r.clock.real(r.clock.start.Add(j.at))) {
			return
		}
		h := handedJob{planned: j, peer: r.somebody(ctx)}
		r.mu.Lock()
		r.handed = append(r.handed, h)
		r.mu.Unlock()
		if h.peer < 0 {
			return
		}
		wg.Go(func() {
			id, err := r.submit(ctx, i, j, r.players[h.peer])
			r.mu.Lock()
			defer r.mu.Unlock()
			r.handed[i].id, r.handed[i].err = id, err
		})
	}
}

// upPoll is how often it is looked whether somebody is up.
const upPoll = 10 * time.Millisecond

// somebody draws one of the players that are up, and waits if none is; -1 when
// ctx ends.
func (r *replay) somebody(ctx context.Context) int {
	tick := time.NewTicker(upPoll)
	defer tick.Stop()
	for {
		var up []int
		for i, p := range r.players {
			if p.up() != nil {
				up = append(up, i)
			}
		}
		if len(up) > 0 {
			return up[r.rng.IntN(len(up))]
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return -1
		}
	}
}

// submit hands a job to one peer. It is not handed to another when the peer
// goes: it may have kept the job, and offers it when it is back.
func (r *replay) submit(ctx context.Context, i int, j plannedJob, p *player) (task.JobID, error) {
	text := fmt.Sprintf("name: %s\nmodule: noop.wasm\nwork: %s\nmemory: 1MiB\ncheckpoint: %s\nsweep:\n  task: {from: 1, to: %d}\n",
		jobName(i), max(1, time.Duration(float64(j.work)/r.clock.speedup)), r.plan.checkpoint(), j.tasks)
	if j.class != "" {
		text += fmt.Sprintf("class: %q\n", j.class)
	}
	sub, err := submission.New("swarm.yaml", text, noop)
	if err != nil {
		return "", fmt.Errorf("making a job: %w", err)
	}
	client := api.Dial(p.setup.dir)
	defer client.Close()
	if !r.overlay.IsZero() {
		sub.Overlay = string(r.overlay.ID())
	}
	return submission.Submit(ctx, client, sub)
}

// checkpoint is what jobs say of checkpoints. Those of tasks that move have some,
// if only when they are wanted: never on their way.
func (p *replayPlan) checkpoint() string {
	switch every := p.every(); {
	case every > 0:
		return every.String()
	case p.moves():
		return task.MaxDuration.String()
	}
	return "off"
}

// jobName names the job of an arrival.
func jobName(i int) string { return fmt.Sprintf("arrival-%d", i) }

// stop ends every node that is up.
func (r *replay) stop() error {
	var wg sync.WaitGroup
	errs := make([]error, len(r.players))
	for i, p := range r.players {
		wg.Go(func() { errs[i] = p.end(true) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
