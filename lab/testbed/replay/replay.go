package replay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"time"

	"godwit/api"
	"godwit/internal/noop"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/lab/testbed"
	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/plan"
	"godwit/node"
	"godwit/overlay"
	"godwit/owner"
	machines "godwit/sim/swarm"
	"godwit/task"
)

// A replay is a swarm whose nodes replay a trace.
type replay struct {
	plan    *plan.Plan
	clock   clock.Clock
	players []*player
	rng     *rand.Rand    // of the peers that jobs are handed to
	delay   time.Duration // of a message between nodes, measured; 0 until then
	// overhead is what tasks of a test-bed took beside their work, in the mean and the
	// trace's time, measured; 0 until then
	overhead  time.Duration
	overlay   overlay.Manifest // with the plan's rules; zero: the usual one
	foretells bool             // peers are asked when jobs would end, before they are handed in

	decided collector // of nodes with a past

	mu     sync.Mutex
	handed []handedJob // by arrival
}

// A handedJob is what became of handing a job in.
type handedJob struct {
	planned plan.Job
	peer    int        // player that was asked; -1: none was up
	id      task.JobID // "" if the peer went before it answered
	err     error

	foretold *foretold // what the peer said of its end before; nil: it was not asked
}

// lead is how long before the window the files are written: the first nodes
// start with it.
const lead = 500 * time.Millisecond

// leadOfPast is the time that it takes to store one node's past.
const leadOfPast = 200 * time.Millisecond

// newReplay prepares the nodes below dir, of which none runs yet. Where the rules
// are not the usual ones, an overlay is founded first.
func newReplay(ctx context.Context, p *progress.Progress, dir string, plan *plan.Plan, ends string,
	args []string) (*replay, error) {
	r := &replay{plan: plan, rng: rand.New(rand.NewPCG(plan.Scenario.Seed, uint64(len(plan.Jobs))))}
	rules := owner.Everything()
	rules.RunIfUserActive = false
	// The owner's time is the trace's.
	rules.Grace = time.Duration(float64(plan.Scenario.Hosts.Grace) / plan.Speedup)
	ports, err := freePorts(len(plan.Scenario.Trace.Hosts))
	if err != nil {
		return nil, err
	}
	for i, h := range plan.Scenario.Trace.Hosts {
		p := newPlayer(h.History, ends)
		p.setup = testbed.Setup{Dir: filepath.Join(dir, fmt.Sprintf("node%d", i)), Rules: rules,
			Listen: fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", ports[i])}
		// Who coordinates follows from the keys: the simulator's nodes have the same.
		if p.peer, err = testbed.StoreKey(p.setup.Dir, machines.Key(plan.Scenario.Seed, i)); err != nil {
			return nil, err
		}
		p.addr = p.setup.Listen + "/p2p/" + string(p.peer)
		r.players = append(r.players, p)
	}
	if plan.Founds() && plan.Bed == nil {
		p.Note("founding an overlay with these policies")
		if err := r.found(ctx, filepath.Join(dir, "founding"), args); err != nil {
			return nil, err
		}
	}
	if plan.Bed != nil {
		return r, r.equip(dir, args)
	}
	before := lead
	if plan.Past != nil {
		before += time.Duration(len(r.players)) * leadOfPast
	}
	r.clock = clock.Clock{Start: plan.Scenario.Start, Begun: time.Now().Add(before), Speedup: plan.Speedup}
	for i, p := range r.players {
		p.clock = r.clock
		played, err := testbed.WriteOwner(p.setup.Dir, p.clock.History(p.planned))
		if err != nil {
			return nil, err
		}
		if err := r.givePast(ctx, i); err != nil {
			return nil, err
		}
		p.setup.Args = append(args[:len(args):len(args)], "--replay", played)
		p.setup.Args = append(p.setup.Args, r.peersOf(p)...)
	}
	return r, nil
}

// givePast stores a player's past, signed by its node's key, in the node's data directory. Other nodes learn it by
// gossip.
func (r *replay) givePast(ctx context.Context, i int) error {
	if r.plan.Past == nil {
		return nil
	}
	window := r.plan.Scenario.End.Sub(r.plan.Scenario.Start)
	return node.StorePast(ctx, r.players[i].setup.Dir, r.clock.Past(r.plan.Past[i], window))
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
	return r.plan.Scenario.End.Sub(r.plan.Scenario.Start).Minutes() / r.plan.Speedup
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

// run plays the window through and hands in the jobs; it ends with the window. live, if not nil, reads the jobs
// meanwhile. Nodes may be up when it returns: see stop.
func (r *replay) run(ctx context.Context, p *progress.Progress, live *Live) error {
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
	end := r.clock.Real(r.plan.Scenario.End)
	jobs, stop := context.WithDeadline(ctx, end)
	defer stop()
	wg.Go(func() { r.handIn(jobs) })
	wg.Go(func() { r.tell(jobs, p, end) })
	if r.plan.Past != nil {
		wg.Go(func() { r.collect(jobs) })
	}
	if live != nil {
		wg.Go(func() { live.read(jobs) })
	}
	wg.Wait()
	if all.Err() != nil {
		return errors.New("interrupted")
	}
	return errors.Join(errs...)
}

// tell shows how it goes until ctx ends.
func (r *replay) tell(ctx context.Context, p *progress.Progress, end time.Time) {
	v := testbed.Watch{Progress: p, Dirs: r.dirsUp, Head: func() string {
		r.mu.Lock()
		defer r.mu.Unlock()
		return fmt.Sprintf("%d of %d nodes up, %d jobs handed in, %s to go", len(r.dirsUp()), len(r.players), len(r.handed),
			table.Rough(time.Until(end)))
	}}
	if !r.overlay.IsZero() {
		v.Overlay = string(r.overlay.ID())
	}
	v.Run(ctx)
}

// dirsUp are the directories of the nodes that are up.
func (r *replay) dirsUp() (dirs []string) {
	for _, pl := range r.players {
		if pl.up() != nil {
			dirs = append(dirs, pl.setup.Dir)
		}
	}
	return dirs
}

// handIn hands each job to a peer drawn from those that are up, when it
// arrives, and returns when all have been answered or ctx ends.
func (r *replay) handIn(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, j := range r.plan.Jobs {
		if !clock.SleepUntil(ctx, r.clock.Real(r.clock.Start.Add(j.At))) {
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
			id, end, err := r.submit(ctx, i, j, r.players[h.peer])
			r.mu.Lock()
			defer r.mu.Unlock()
			r.handed[i].id, r.handed[i].foretold, r.handed[i].err = id, end, err
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
func (r *replay) submit(ctx context.Context, i int, j plan.Job, p *player) (id task.JobID, end *foretold, err error) {
	text := fmt.Sprintf("name: %s\nmodule: noop.wasm\nverify: off\nwork: %s\nmemory: 1MiB\ncheckpoint: %s\n"+
		"sweep:\n  task: {from: 1, to: %d}\n",
		jobName(i), max(1, time.Duration(float64(j.Work)/r.clock.Speedup)), r.plan.Checkpoint(), j.Tasks)
	if j.Class != "" {
		text += fmt.Sprintf("class: %q\n", j.Class)
	}
	sub, err := submission.New("swarm.yaml", text, noop.Module)
	if err != nil {
		return "", nil, fmt.Errorf("making a job: %w", err)
	}
	client := api.Dial(p.setup.Dir)
	defer client.Close()
	if !r.overlay.IsZero() {
		sub.Overlay = string(r.overlay.ID())
	}
	if r.foretells {
		end = r.foretell(ctx, jobName(i), j.Tasks, client, sub)
	}
	id, err = submission.Submit(ctx, client, sub)
	return id, end, err
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
