package sites

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/internal/noop"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/lab/testbed"
	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/plan"
	"godwit/node"
	"godwit/owner"
	"godwit/scheduler/message"
	machines "godwit/sim/swarm"
	"godwit/task"
	"godwit/trace"
)

// A player plays a plan: the nodes are started once, and owners that are there only
// within runs are played by one history each, made beforehand. So the beginnings of
// all runs are known before the first.
type player struct {
	*program
	sw    *testbed.Swarm
	begin []time.Time // of each run
	owned []float64   // part of the hosts' time that owners had, of each run
	of    task.CID    // the overlay; "" until it is founded
	rules node.OverlayRules

	histories []*trace.History // of each node, in real time
}

const (
	// startTime and nodeTime are how long the nodes are given to start, to find each other
	// and to join an overlay: 19 of them took some 6 s on two cores. Where that was not
	// enough they are started again with twice the time, tries times in all.
	startTime = 3 * time.Second
	nodeTime  = 500 * time.Millisecond
	tries     = 3
	// runGap is between two runs: jobs are read and cancelled, and the rules change,
	// in 2 to 3 s.
	runGap = 5 * time.Second
	// readyTime is how long before its beginning a run must be ready.
	readyTime = 200 * time.Millisecond
)

// play runs everything on nodes below dir. With an error it returns the runs before,
// nil if there are none.
func (p *program) play(ctx context.Context, dir, runner string, say *progress.Progress) (rep *report, err error) {
	b := &player{program: p, sw: &testbed.Swarm{Dir: dir}}
	if b.rules.Placement, b.rules.Migration, err = p.policies(); err != nil {
		return nil, err
	}
	say.Note("starting %d nodes at %d sites; %d runs of %s each", len(p.sites), len(p.e.Owners.Sites), len(p.runs),
		table.Rough(p.real(p.length)))
	defer func() { err = errors.Join(err, b.sw.Stop()) }()
	lead := startTime + time.Duration(len(b.sites))*nodeTime
	for try := 1; ; try++ {
		if err := b.begun(ctx, filepath.Join(dir, fmt.Sprint("try", try)), runner, lead); err != nil {
			return nil, err
		}
		if time.Until(b.begin[0]) > readyTime {
			break
		}
		if lead *= 2; try == tries {
			return nil, failure.Usage("leave the machine to it, or have fewer nodes", "%d nodes were not ready in %v",
				len(b.sites), table.Rough(lead/2))
		}
		say.Note("the nodes were not ready in time: starting them again, with %s", table.Rough(lead))
		err := b.sw.Stop()
		b.sw.Nodes = nil
		if err != nil {
			return nil, err
		}
	}
	rep = b.report()
	for i := range p.runs {
		one, err := b.run(ctx, i, say)
		if err != nil {
			return rep, fmt.Errorf("run %d of %d: %w", i+1, len(p.runs), err)
		}
		rep.Runs = append(rep.Runs, *one)
	}
	return rep, nil
}

// begun starts the nodes below dir, as members of a new overlay, for runs of which the
// first begins after lead.
func (b *player) begun(ctx context.Context, dir, runner string, lead time.Duration) error {
	histories, err := b.schedule(time.Now(), lead)
	if err != nil {
		return err
	}
	b.sw.Dir, b.histories = dir, histories
	if err := b.start(ctx, runner, histories); err != nil {
		return err
	}
	if err := b.found(ctx); err != nil {
		return fmt.Errorf("founding the overlay: %w", err)
	}
	return nil
}

// schedule sets when runs begin, and makes the histories of all nodes, in real time.
func (b *player) schedule(now time.Time, lead time.Duration) ([]*trace.History, error) {
	at := now.Add(lead)
	b.begin, b.owned = nil, nil
	out := make([]*trace.History, len(b.sites))
	for i := range out {
		out[i] = &trace.History{Host: fmt.Sprint(b.sites[i], "-", i)}
		clock.Note(out[i], now, trace.Available, 1)
	}
	for _, r := range b.runs {
		t, err := b.e.OwnersOf(r.load, r.seed, b.length)
		if err != nil {
			return nil, failure.Usage("", "%s: %w", b.name, err)
		}
		pace := clock.Clock{Start: t.Start, Begun: at, Speedup: b.speedup}
		var owned time.Duration
		for i, h := range t.Hosts {
			if i == 0 {
				continue // who leads has a machine to itself, as the scheduler there
			}
			for k := range h.History.Len() {
				s := h.History.Spell(k)
				clock.Note(out[i], pace.Real(s.Start), s.State, s.CPU)
			}
			clock.Note(out[i], pace.Real(t.End), trace.Available, 1)
			owned += clock.TimeIn(h.History, trace.UserPresent)
		}
		b.begin = append(b.begin, at)
		b.owned = append(b.owned, float64(owned)/float64(b.length)/float64(len(t.Hosts)))
		at = at.Add(b.real(b.length) + runGap)
	}
	for _, h := range out {
		h.Extend(at.Add(time.Hour)) // nobody comes back while the nodes end
	}
	return out, nil
}

// start starts the nodes, each at its site, with keys that follow from the seed, and
// waits until they know each other.
func (b *player) start(ctx context.Context, runner string, histories []*trace.History) error {
	rules := owner.Everything()
	rules.RunIfUserActive = false
	rules.Grace = b.real(b.e.Base.Hosts.Grace)
	begin := func(i int, peers ...string) (*testbed.Node, error) {
		set := testbed.Setup{Dir: filepath.Join(b.sw.Dir, fmt.Sprintf("node%d", i)), Listen: testbed.AnyPort, Rules: rules}
		if _, err := testbed.StoreKey(set.Dir, machines.Key(b.runs[0].seed, i)); err != nil {
			return nil, err
		}
		played, err := testbed.WriteOwner(set.Dir, histories[i])
		if err != nil {
			return nil, err
		}
		set.Args = []string{"--cores", fmt.Sprint(b.slots), "--runner", runner, "--site", b.sites[i], "--replay", played}
		for _, peer := range peers {
			set.Args = append(set.Args, "--peer", peer)
		}
		return set.Start(ctx)
	}
	first, err := begin(0)
	if err != nil {
		return err
	}
	b.sw.Nodes = append(b.sw.Nodes, first)
	nodes, errs := make([]*testbed.Node, len(b.sites)), make([]error, len(b.sites))
	var wg sync.WaitGroup
	for i := 1; i < len(nodes); i++ {
		wg.Go(func() { nodes[i], errs[i] = begin(i, first.Ready.Addrs[0]) })
	}
	wg.Wait()
	for _, n := range nodes {
		if n != nil {
			b.sw.Nodes = append(b.sw.Nodes, n)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return b.sw.AwaitMembers(ctx)
}

// found has the first node found an overlay, all join it, and leave the one that they
// began with. The first leads it then, and does so to the end, as nobody's machine is
// better.
func (b *player) found(ctx context.Context) error {
	b.rules.Name, b.rules.Admission = testbed.OverlayName, node.AdmitOpen
	var err error
	if b.rules.Fairness, err = b.fairness(b.runs[0].policy); err != nil {
		return err
	}
	b.rules.Coordinators = b.e.Coordinators
	if len(b.e.Chunkings) > 0 {
		b.rules.Chunking = b.e.Chunkings[0]
	}
	d, err := b.sw.Associate(ctx, b.rules)
	if err != nil {
		return err
	}
	b.of = d.ID
	return b.sw.AwaitMembers(ctx)
}

// govern has the overlay follow a policy of fairness, and waits until all nodes do.
func (b *player) govern(ctx context.Context, policy string) error {
	policy, err := b.fairness(policy)
	if err != nil {
		return err
	}
	if b.rules.Fairness == policy {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, testbed.GatherTimeout)
	defer cancel()
	first := api.Dial(b.sw.Nodes[0].Dir)
	defer first.Close()
	b.rules.Fairness = policy
	changed, err := first.ChangeOverlay(ctx, string(b.of), b.rules)
	if err != nil {
		return fmt.Errorf("changing the overlay's rules: %w", err)
	}
	for _, n := range b.sw.Nodes {
		client := api.Dial(n.Dir)
		defer client.Close()
		for at := time.Now(); ; at = at.Add(testbed.GatherPoll) {
			if !clock.SleepUntil(ctx, at) {
				return fmt.Errorf("waiting for all nodes to follow the overlay's rules: %w", ctx.Err())
			}
			d, err := client.Overlay(ctx, string(b.of))
			if err != nil {
				return fmt.Errorf("changing the overlay's rules: %w", err)
			}
			if d.Version >= changed.Version {
				break
			}
		}
	}
	return nil
}

// A bag is a job of a run where it was handed in.
type bag struct {
	job    *job
	client *api.Client
	id     task.JobID
	taken  time.Time
}

// run plays one run through, counts, and cancels its jobs.
func (b *player) run(ctx context.Context, i int, say *progress.Progress) (*runReport, error) {
	r := b.runs[i]
	if err := b.govern(ctx, r.policy); err != nil {
		return nil, err
	}
	if time.Until(b.begin[i]) < readyTime {
		return nil, failure.Usage("leave the machine to it, or have fewer nodes",
			"this machine is too busy: run %d was not ready when it was to begin", i+1)
	}
	say.Note("run %d of %d: %s, load %s, seed %d", i+1, len(b.runs), r.policy, b.loadName(r.load), r.seed)
	end := b.begin[i].Add(b.real(b.length))
	bags, err := b.handIn(ctx, i)
	defer func() {
		for _, g := range bags {
			g.client.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	if !clock.SleepUntil(ctx, end) {
		return nil, errors.New("interrupted")
	}
	jobs, err := b.read(ctx, bags, end)
	if err != nil {
		return nil, err
	}
	for k, g := range bags {
		if message.FinalState(jobs[k].State) {
			continue
		}
		if _, err := g.client.Cancel(ctx, string(g.id)); err != nil {
			return nil, fmt.Errorf("ending a job: %w", err)
		}
	}
	return b.count(i, bags, jobs, end), nil
}

// handIn hands the jobs of a run to peers drawn by the seed, when they come.
func (b *player) handIn(ctx context.Context, i int) ([]*bag, error) {
	rng := rand.New(rand.NewPCG(b.runs[i].seed, plan.ArrivalStream))
	var bags []*bag
	for k := range b.jobs {
		n := b.sw.Nodes[rng.IntN(len(b.sw.Nodes))]
		bags = append(bags, &bag{job: &b.jobs[k], client: api.Dial(n.Dir)})
	}
	errs := make([]error, len(bags))
	var wg sync.WaitGroup
	for k, g := range bags {
		text := b.text(g.job)
		sub, err := submission.New(b.name, text, noop.Module)
		if err != nil {
			return bags, fmt.Errorf("making a job: %w", err)
		}
		sub.Overlay = string(b.of)
		wg.Go(func() {
			if !clock.SleepUntil(ctx, b.begin[i].Add(b.real(g.job.at))) {
				errs[k] = errors.New("interrupted")
				return
			}
			g.id, errs[k] = submission.Submit(ctx, g.client, sub)
			g.taken = time.Now()
		})
	}
	wg.Wait()
	return bags, errors.Join(errs...)
}

const (
	// readPoll is how often it is looked whether what happened up to a run's end is known,
	// readCalm how many looks in turn must find the same, and readPatience how long that
	// may take.
	readPoll     = 200 * time.Millisecond
	readCalm     = 3
	readPatience = 20 * time.Second
)

// read reads the jobs when no more comes to be known of what ended before end.
func (b *player) read(ctx context.Context, bags []*bag, end time.Time) ([]message.JobStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	jobs := make([]message.JobStatus, len(bags))
	before, calm := -1, 0
	for at := end.Add(readPoll); clock.SleepUntil(ctx, at); at = time.Now().Add(readPoll) {
		known := 0
		for k, g := range bags {
			var err error
			if jobs[k], err = g.client.Job(ctx, string(g.id)); err != nil {
				return nil, fmt.Errorf("reading a job: %w", err)
			}
			for _, t := range jobs[k].TasksList {
				for _, a := range t.Attempts {
					if !a.End.IsZero() && !a.End.After(end) {
						known++
					}
				}
			}
		}
		if calm++; known != before {
			before, calm = known, 0
		}
		if calm == readCalm {
			return jobs, nil
		}
	}
	return nil, fmt.Errorf("what became of the jobs was not known %v after the end of a run", readPatience)
}

// loadName names a load for people.
func (p *program) loadName(i int) string {
	if name := p.e.Loads[i].Name; name != "" {
		return name
	}
	return fmt.Sprint("#", i+1)
}
