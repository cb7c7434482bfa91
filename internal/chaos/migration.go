package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/internal/pause"
)

const (
	// migrationNodes run migrationTasks: several swaps of each task's host.
	migrationNodes, migrationTasks = 6, 60
	// watchEvery is how often each guest is looked at: work lost is measured to this.
	watchEvery = 5 * time.Millisecond
	// migrationMebibytes is what each task rewrites.
	migrationMebibytes = 4
	// staysAway is how long a killed node is down: owners who returned go on being
	// there.
	staysAway = 3 * time.Second
	// ownerLeast and ownerMost are how long an owner stays: some are gone before the
	// grace is over.
	ownerLeast, ownerMost = 500 * time.Millisecond, 6 * time.Second
	// lostMost is the share of the useful CPU that may be lost.
	lostMost = .05
)

// migration has an owner return somewhere every two seconds, for a while, and kills
// a node every ten, under a job of tasks that move.
func migration(ctx context.Context, t *trial) error {
	if err := canPeek(); err != nil {
		return err
	}
	t.wasm, t.poll = true, seldomPoll
	if err := t.addLocal(t.options.nodes); err != nil {
		return err
	}
	d, err := t.newTide(ctx, migrationMebibytes, t.work)
	if err != nil {
		return err
	}
	t.say("a task is %d rounds: %.1f s of CPU, undisturbed", d.Rounds, d.cpu(d.Rounds).Seconds())
	for _, n := range t.nodes {
		if n.rules, err = t.ruled("worker.yaml", 1); err != nil {
			return err
		}
	}
	o := newOdometer(d.rate())
	t.watcher = newWatcher(o, watchEvery, d.memory)
	if err := t.startAll(ctx); err != nil {
		return err
	}
	if err := t.found(ctx, t.policy, groupSize); err != nil {
		return err
	}
	watched, stop := context.WithCancel(ctx)
	defer stop()
	t.watching.Go(func() { t.watcher.run(watched) })
	u, st, err := t.weather(ctx, scenarioMigration, d.labour(t.checkpoint))
	if err != nil {
		return err
	}
	there, ran := o.Spans()
	t.report.used(u.had.Until(time.Now()), there, ran)
	var peers []string
	for _, n := range t.nodes {
		peers = append(peers, n.peer)
	}
	t.report.doubled(doubles(o.Stints(), st, peers))
	t.report.moved(account{tide: d, tasks: t.tasks, strikes: u.strikes, stints: o.Stints(), job: st})
	return nil
}

// weather has owners return, and kills nodes, until a job is over that any node submits. It returns what
// happened, and the job as it is then, with its tasks.
func (t *trial) weather(ctx context.Context, name string, l labour) (*unrest, jobView, error) {
	j, err := t.submitLabour(ctx, t.nodes[t.rng.IntN(len(t.nodes))], name, t.tasks, l, acceptLimit)
	if err != nil {
		return nil, jobView{}, err
	}
	u := newUnrest(t)
	if err := u.run(ctx, j); err != nil {
		return nil, jobView{}, err
	}
	if err := t.settle(ctx, settleLimit); err != nil {
		return nil, jobView{}, err
	}
	t.report.show("owners who returned; nodes killed", "", "%d; %d", u.returns, u.kills)
	t.report.expect("no node ends by itself, and each obeys its owner", u.ill == "", "%s", u.ill)
	st, err := j.at.ask.job(ctx, j.id)
	return u, st, err
}

// Unrest is what the world does to nodes whose tasks move. It is a storm that kills
// by a calendar of its own, and owners.
type unrest struct {
	storm
	owners  map[int]time.Time // by node: until when its owner is there
	back    time.Time         // when the next one returns
	returns int
	strikes []strike
	had     disposal
}

func newUnrest(t *trial) *unrest {
	now := time.Now()
	return &unrest{storm: storm{trial: t, next: now.Add(t.moving.kills)}, owners: map[int]time.Time{},
		back: now.Add(t.moving.owners)}
}

// run goes on until the job is over, or its time; then all nodes come back.
func (u *unrest) run(ctx context.Context, j *job) error {
	deadline := time.Now().Add(u.limit)
	progress := time.Now()
	for {
		now := time.Now()
		end, held, _ := j.ended()
		over := !end.IsZero() || now.After(deadline)
		u.had.note(now, u.toBeHad(over || j.tasks-held < len(u.nodes)))
		if err := u.bringBack(ctx, now); err != nil {
			return err
		}
		u.lookForDeaths(now)
		u.dismiss(ctx, now, over)
		if !over {
			u.unsettle(ctx, now)
		} else if len(u.away) == 0 && len(u.owners) == 0 {
			return nil
		}
		if now.After(progress) {
			u.say("%d of %d results held; %d owners returned, %d nodes killed", held, j.tasks, u.returns, u.kills)
			progress = now.Add(settleLimit / 2)
		}
		if err := pause.For(ctx, lookAgain); err != nil {
			return err
		}
	}
}

// toBeHad returns the nodes that are there for tasks; none when there are too few.
func (u *unrest) toBeHad(fewTasks bool) []int {
	if fewTasks {
		return nil
	}
	return slices.DeleteFunc(u.running(), func(i int) bool { return !u.owners[i].IsZero() })
}

// unsettle has an owner return, and a node killed, when that is due.
func (u *unrest) unsettle(ctx context.Context, now time.Time) {
	if !now.Before(u.back) {
		u.back = u.back.Add(u.moving.owners)
		u.ownerReturns(ctx, now)
	}
	if now.Before(u.next) {
		return
	}
	u.next = u.next.Add(u.moving.kills)
	live := u.running()
	if len(live) <= fewestLive {
		return
	}
	victim := u.nodes[live[u.rng.IntN(len(live))]]
	u.kills++
	u.strikes = append(u.strikes, strike{victim.index, time.Now()})
	u.tally.fell(time.Now(), victim.index, false)
	victim.kill()
	u.away = append(u.away, absence{victim, now.Add(staysAway)})
}

// ownerReturns has one return whose node runs and who is not there.
func (u *unrest) ownerReturns(ctx context.Context, now time.Time) {
	alone := slices.DeleteFunc(u.running(), func(i int) bool { return !u.owners[i].IsZero() })
	stay := ownerLeast + time.Duration(u.rng.Float64()*float64(ownerMost-ownerLeast))
	if len(alone) == 0 {
		return
	}
	i := pick(u.rng, alone)
	if err := u.nodes[i].ask.pause(ctx, 0); err != nil {
		u.say("node %d does not hear its owner: %v", i, err)
		return
	}
	u.returns++
	u.owners[i] = now.Add(stay)
}

func pick(rng *rand.Rand, from []int) int { return from[rng.IntN(len(from))] }

// dismiss has owners go whose time is over, or all; the word of one whose node is
// down waits until it is up again.
func (u *unrest) dismiss(ctx context.Context, now time.Time, all bool) {
	running := u.running()
	for _, i := range slices.Sorted(maps.Keys(u.owners)) {
		if !all && now.Before(u.owners[i]) || !slices.Contains(running, i) {
			continue
		}
		if err := u.nodes[i].ask.resume(ctx); err != nil {
			u.say("node %d does not hear its owner: %v", i, err)
			continue
		}
		delete(u.owners, i)
	}
}

// An account is what a run of tasks that move came to.
type account struct {
	tide    tide
	tasks   int
	strikes []strike
	stints  map[uint64][]stint // as they were watched
	job     jobView            // as the job's leaders tell it
}

// moved adds the verdicts on tasks that moved.
func (r *report) moved(a account) {
	var killed, other uint64
	var scratch, excess int
	for _, i := range slices.Sorted(maps.Keys(a.stints)) {
		list := a.stints[i]
		k, o := again(list, a.strikes)
		killed, other = killed+k, other+o
		s, e := unexplained(list, a.tide.Rounds, a.strikes)
		scratch, excess = scratch+s, excess+e
		if e > 0 || float64(o) > fewRounds*float64(a.tide.Rounds) {
			r.show(fmt.Sprintf("task %d lost work not for kills:", i), "", "%s", story(list, a.tide.Rounds, a.strikes))
		}
	}
	useful := uint64(a.tasks) * a.tide.Rounds
	share := float64(killed+other) / float64(useful)
	var gone, moved []time.Duration
	for _, p := range allPassages(a.stints, a.strikes) {
		if p.struck {
			gone = append(gone, p.still)
		} else {
			moved = append(moved, p.still)
		}
	}
	g, m, l := spreadOf(gone), spreadOf(moved), tell(a.job)
	r.show("moves seen, not of kills: stood still, median, worst", "", "%s", m)
	r.show("  of kills", "", "%s", g)
	r.show("by the job's log: handed over; moved by a checkpoint", "", "%d; %d", l.handed, l.moved)
	r.show("  went on from a checkpoint otherwise; from scratch", "", "%d; %d", l.resumed, l.scratch)
	r.show("CPU of the tasks, undisturbed", "", "%.1f s", a.tide.cpu(useful).Seconds())
	r.show("CPU lost: work that was done again", fmt.Sprintf("at most %.0f %%", 100*lostMost), "%.1f s, %.2f %%",
		a.tide.cpu(killed+other).Seconds(), 100*share)
	r.show("  after kills; otherwise", "", "%.1f s; %.1f s", a.tide.cpu(killed).Seconds(), a.tide.cpu(other).Seconds())
	r.show("  as the job tells it: lost, of useful", "", "%.1f s of %.1f s", a.job.WastedCPU, a.job.UsefulCPU)
	r.show("runs from scratch beyond the first; more than kills", "0", "%d; %d", scratch, excess)
	r.expect("every task was watched", len(a.stints) == a.tasks, "%d of %d", len(a.stints), a.tasks)
	r.expect("no task runs from scratch more often than kills explain", excess == 0, "%d times", excess)
	r.expect(fmt.Sprintf("at most %.0f %% of the CPU is lost", 100*lostMost), share <= lostMost, "%.2f %%", 100*share)
}

// A telling counts placements beyond the first of each task, by the job's log.
type telling struct{ handed, moved, resumed, scratch int }

// tell counts by the log. A placement that ended unrun counts as none.
func tell(st jobView) (l telling) {
	for _, k := range st.List {
		var before *attemptView
		for i := range k.Attempts {
			a := &k.Attempts[i]
			if a.Outcome == "refused" {
				continue
			}
			switch {
			case before == nil:
			case before.handed():
				l.handed++
			case before.MovedTo != "":
				l.moved++
			case a.FromCheckpoint:
				l.resumed++
			default:
				l.scratch++
			}
			before = a
		}
	}
	return l
}
