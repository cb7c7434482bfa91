package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"godwit/internal/pause"
)

// scenarioMany is the name of the scenario of many nodes.
const scenarioMany = "many"

// The swarm of scripts/bench wide: by far more nodes than a leader would have connections to were
// it any node, as many as two cores carry.
const (
	manyNodes = 300
	manyTasks = 3000
	manyCores = 2               // tasks that each node runs at once
	manyWork  = 5 * time.Second // of a task, which only waits
	manyKill  = 5               // one node in so many is killed

	// wholeViews is how long nodes may take to know all others, from when the last says that it
	// is ready.
	wholeViews = time.Minute
	// manyRest is how long the swarm is left alone before it is measured, and manyIdle how long
	// that is.
	manyRest, manyIdle = 30 * time.Second, time.Minute
	// manyAgain is how long the tasks of nodes that were killed may wait until they run again.
	manyAgain = 15 * time.Second
	// manyJobWait is how long a job may take until it is given up: a machine that all nodes share is late, and the
	// figure wanted is how much.
	manyJobWait = 5 * time.Minute
	// manyLook is how often nodes are asked what they see.
	manyLook = time.Second
	// manyWay is how much of a job is done when nodes are killed: a fifth, as it is in its second of five rounds, at
	// manyKillAfter from when it was accepted.
	manyWay       = 5
	manyKillAfter = manyWork * 3 / 2
	// manyIdleMost is what a node that does nothing may take, in percent of a core.
	manyIdleMost = .3
)

// A manyTrial is a trial with many nodes.
type manyTrial struct{ *trial }

// many starts many nodes that know one, and measures how long they take to know each other, what
// they cost while nothing is done, a job, and how soon the tasks of nodes that are killed run again.
func many(ctx context.Context, t *trial) error {
	m := manyTrial{t}
	t.report.Nodes = t.options.nodes
	for range t.options.nodes {
		t.addNode("/ip4/127.0.0.1/tcp/0").cores = manyCores
	}
	if err := m.startMany(ctx); err != nil {
		return err
	}
	leader, epoch, err := m.gatherMany(ctx)
	if err != nil {
		return err
	}
	if err := m.idleMany(ctx, leader); err != nil {
		return err
	}
	if err := m.computeMany(ctx, leader); err != nil {
		return err
	}
	v, err := leader.ask.overlay(ctx)
	if err != nil {
		return err
	}
	t.report.expect("who led first leads still, in the same term", v.Leader == leader.peer && v.Epoch == epoch,
		"%s leads in epoch %s, not %s in %s", short(v.Leader), epochName(v.Epoch), short(leader.peer), epochName(epoch))
	if err := m.killMany(ctx, leader); err != nil {
		return err
	}
	t.report.must("every node that was left alone still runs", t.dead())
	return nil
}

// startMany starts all nodes, a few at a time.
func (t manyTrial) startMany(ctx context.Context) error {
	begun := time.Now()
	first := t.nodes[0]
	if err := first.start(ctx, nil); err != nil {
		return err
	}
	next := make(chan *node)
	errs := make([]error, 2*runtime.NumCPU())
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for n := range next {
				if errs[i] == nil {
					errs[i] = n.start(ctx, []string{first.addr})
				}
			}
		})
	}
	for _, n := range t.nodes[1:] {
		next <- n
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	t.say("%d nodes are ready", len(t.nodes))
	t.report.show("until all nodes are ready", "", "%.1f s", time.Since(begun).Seconds())
	return nil
}

// survey asks all nodes that run how they see the overlay, a few at a time; nil stands for one that
// does not answer.
func (t manyTrial) survey(ctx context.Context) []*view {
	views := make([]*view, len(t.nodes))
	var wg sync.WaitGroup
	turn := make(chan struct{}, 2*runtime.NumCPU())
	for i, n := range t.nodes {
		if n.proc == nil {
			continue
		}
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			if v, err := n.ask.overlay(ctx); err == nil {
				views[i] = &v
			}
		})
	}
	wg.Wait()
	return views
}

// gatherMany waits until all know all, and one leader, and returns it and its epoch.
func (t manyTrial) gatherMany(ctx context.Context) (*node, uint64, error) {
	begun := time.Now()
	var leader string
	var epoch uint64
	for {
		views := t.survey(ctx)
		least, leaders := len(t.nodes), map[string]bool{}
		for _, v := range views {
			if v == nil {
				least = 0
				continue
			}
			least, leaders[v.Leader] = min(least, v.Members), true
			leader, epoch = v.Leader, v.Epoch
		}
		took := time.Since(begun)
		if len(leaders) == 1 && leader != "" && least == len(t.nodes) {
			t.report.show("until all know all, and one leader", fmt.Sprintf("at most %v", wholeViews), "%.1f s", took.Seconds())
			t.report.expect("all views are whole in time", took <= wholeViews, "after %v", took)
			break
		}
		if took > wholeViews && took-wholeViews < manyLook {
			t.say("after %v the least view has %d members, %d leaders are named", wholeViews, least, len(leaders))
		}
		if took > 5*wholeViews {
			return nil, 0, fmt.Errorf("after %v the least view has %d members, and %d leaders are named", took, least,
				len(leaders))
		}
		if err := pause.For(ctx, manyLook); err != nil {
			return nil, 0, err
		}
	}
	for _, n := range t.nodes {
		if n.peer == leader {
			t.say("node %d leads", n.index)
			return n, epoch, nil
		}
	}
	return nil, 0, fmt.Errorf("%s leads, who is none of the nodes", short(leader))
}

// idleMany measures what nodes cost that have nothing to do.
func (t manyTrial) idleMany(ctx context.Context, leader *node) error {
	if err := pause.For(ctx, manyRest); err != nil {
		return err
	}
	before, sent := t.costs(), t.sent(ctx)
	begun := time.Now()
	if err := pause.For(ctx, manyIdle); err != nil {
		return err
	}
	after := t.costs()
	passed := time.Since(begun)
	moved := t.sent(ctx) - sent
	var all, lead time.Duration
	var memory, most int64
	for i := range after {
		used := after[i].cpu - before[i].cpu
		all += used
		memory += after[i].memory
		most = max(most, after[i].memory)
		if i == leader.index {
			lead = used
		}
	}
	percent := func(d time.Duration, nodes int) float64 { return 100 * d.Seconds() / passed.Seconds() / float64(nodes) }
	n := len(t.nodes)
	t.report.show("processor of an idle node, mean", fmt.Sprintf("at most %g %%", manyIdleMost), "%.2f %% of a core",
		percent(all, n))
	t.report.show("  of the leader", "", "%.2f %%", percent(lead, 1))
	t.report.show("sent by an idle node, mean", "", "%.0f B/s", float64(moved)/passed.Seconds()/float64(n))
	t.report.show("memory of a node, mean; most", "", "%.0f MiB; %.0f MiB", float64(memory)/float64(n)/mebibyte,
		float64(most)/mebibyte)
	t.report.expect("an idle node takes no more of the processor than it may", percent(all, n) <= manyIdleMost,
		"%.2f %% of a core", percent(all, n))
	return nil
}

// sent is how many bytes all nodes have sent.
func (t manyTrial) sent(ctx context.Context) (sum int64) {
	for _, n := range t.nodes {
		if s, err := n.ask.status(ctx); err == nil {
			sum += s.Tx
		}
	}
	return sum
}

// manyJob hands a job in at a node that neither leads nor is killed.
func (t manyTrial) manyJob(ctx context.Context, name string) (*job, error) {
	l, err := t.labour(ctx)
	if err != nil {
		return nil, err
	}
	l.rules = fmt.Sprintf("memory: 16MiB\nwork: %v\n", manyWork)
	return t.submitLabour(ctx, t.nodes[1], name, t.options.tasks, l, acceptLimit)
}

// ideal is how long a job takes on so many nodes that never wait.
func (t manyTrial) ideal(nodes int) time.Duration {
	slots := nodes * manyCores
	return time.Duration((t.options.tasks+slots-1)/slots) * manyWork
}

// computeMany runs a job.
func (t manyTrial) computeMany(ctx context.Context, leader *node) error {
	before := t.costs()
	j, err := t.manyJob(ctx, "whole")
	if err != nil {
		return err
	}
	if err := t.awaitJob(ctx, j); err != nil {
		return err
	}
	after := t.costs()
	final, _, _ := j.ended()
	took, ideal := final.Sub(j.handed), t.ideal(len(t.nodes))
	t.report.show(fmt.Sprintf("%d tasks of %v on %d slots", j.tasks, manyWork, len(t.nodes)*manyCores), "",
		"%.1f s, %.3f of the ideal", took.Seconds(), took.Seconds()/ideal.Seconds())
	used := after[leader.index].cpu - before[leader.index].cpu
	t.report.show("  processor of the leader meanwhile", "", "%.0f %% of a core", 100*used.Seconds()/took.Seconds())
	return nil
}

// awaitJob waits until the submitter has all of a job.
func (t manyTrial) awaitJob(ctx context.Context, j *job) error {
	err := until(ctx, manyJobWait, func() string {
		if end, held, _ := j.ended(); end.IsZero() {
			return fmt.Sprintf("node %d holds %d of %d results of %s", j.at.index, held, j.tasks, j.name)
		}
		return ""
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.report.must(fmt.Sprintf("the job %s ends", j.name), err)
	return err
}
