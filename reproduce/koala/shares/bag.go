package shares

import (
	"math/rand/v2"
	"slices"
	"time"

	"godwit/scheduler/share"
)

// A bag is a job of tasks with its launchers. Each task waits, runs on a launcher,
// or is completed.
type bag struct {
	*Bag
	w         *world
	here      bool            // it has come
	tasks     []int           // that wait
	saved     []time.Duration // of each task, the work in its last checkpoint; nil without any
	launchers [][]*launcher   // by cluster, in the order of their start
	begins    int             // launchers that have not asked for a task yet
	completed int
	preempted int           // launchers ordered away
	lost      time.Duration // work to be done again, at speed 1
	held      time.Duration // of its nodes together, of launchers that ended
	took      time.Duration // until the last task was completed; 0: not yet
}

// A launcher runs the bag's tasks on a node, one after the other.
type launcher struct {
	c       *cluster
	begun   time.Duration
	asked   bool
	task    int           // that runs; -1: none
	since   time.Duration // when its work began or will
	gone    bool          // what is still to happen to it does not
	attempt int           // counts its tasks
}

func newBag(w *world, i int) *bag {
	b := &bag{Bag: &w.Bags[i], w: w, launchers: make([][]*launcher, len(w.Clusters))}
	for k := range b.Tasks {
		b.tasks = append(b.tasks, k)
	}
	if w.Checkpoint > 0 {
		b.saved = make([]time.Duration, b.Tasks)
	}
	return b
}

// work is what a task takes at speed 1. It follows from the seed and the task's
// number, so that bags that are alike have the same tasks.
func (b *bag) work(task int) time.Duration {
	if b.Vary == 0 {
		return b.Work
	}
	rng := rand.New(rand.NewPCG(b.w.Seed, uint64(task)))
	d := time.Duration(float64(b.Work) * (1 + b.Vary*(2*rng.Float64()-1)))
	return max(d, time.Millisecond)
}

func (b *bag) done(task int) time.Duration {
	if b.saved == nil {
		return 0
	}
	return b.saved[task]
}

// claimant is how a policy sees the bag.
func (b *bag) claimant() share.Claimant {
	c := share.Claimant{ID: b.Name}
	for i, ls := range b.launchers {
		if len(ls) > 0 {
			c.Held = append(c.Held, share.Holding{Site: i, Slots: len(ls)})
		}
	}
	switch {
	case !b.here || b.completed == b.Tasks:
	case b.w.Bounded:
		c.Demand = max(0, len(b.tasks)-b.begins)
	default:
		c.Demand = share.Unbounded
	}
	return c
}

// launch takes a node.
func (b *bag) launch(c *cluster) {
	c.count()
	c.free--
	c.held++
	l := &launcher{c: c, begun: b.w.now, task: -1}
	b.launchers[c.index] = append(b.launchers[c.index], l)
	b.begins++
	b.w.at(c.dispatch(), func() {
		if !l.gone {
			b.begins--
			l.asked = true
			b.ask(l)
		}
	})
}

// ask gives a launcher a task, or ends it.
func (b *bag) ask(l *launcher) {
	k, ok := share.PullAny(len(b.tasks), b.w.rng)
	if !ok {
		b.remove(l)
		l.c.count()
		l.c.held--
		l.c.free++
		l.c.next()
		return
	}
	last := len(b.tasks) - 1
	l.task, b.tasks[k] = b.tasks[k], b.tasks[last]
	b.tasks = b.tasks[:last]
	l.since = b.w.now + b.w.Costs.Task
	l.attempt++
	attempt := l.attempt
	left := b.work(l.task) - b.done(l.task)
	b.w.at(l.since+time.Duration(float64(left)/l.c.speed()), func() {
		if !l.gone && l.attempt == attempt {
			b.complete(l)
		}
	})
}

func (b *bag) complete(l *launcher) {
	l.task = -1
	if b.completed++; b.completed == b.Tasks {
		b.took = b.w.now - b.At
		b.w.open--
	}
	if b.w.Direct {
		b.remove(l)
		l.c.count()
		l.c.held--
		l.c.free++
		l.c.next()
		return
	}
	b.ask(l)
}

func (b *bag) remove(l *launcher) {
	l.gone = true
	b.held += b.w.now - l.begun
	ls := b.launchers[l.c.index]
	if k := slices.Index(ls, l); k >= 0 {
		b.launchers[l.c.index] = slices.Delete(ls, k, k+1)
	}
}

// progress is how much work a launcher's task has done, at speed 1, and how much of
// it is in no checkpoint.
func (b *bag) progress(l *launcher) (done, unsaved time.Duration) {
	if l.task < 0 || b.w.now <= l.since {
		return 0, 0
	}
	before := b.done(l.task)
	done = before + time.Duration(float64(b.w.now-l.since)*l.c.speed())
	unsaved = done - before
	if b.w.Checkpoint > 0 {
		unsaved = done % b.w.Checkpoint
	}
	return done, unsaved
}

// giveUp takes n launchers of the bag off a cluster.
func (b *bag) giveUp(c *cluster, n int) {
	ls := b.launchers[c.index]
	running := make([]share.Running, len(ls))
	for i, l := range ls {
		done, unsaved := b.progress(l)
		running[i].Lost = unsaved
		if l.task >= 0 {
			running[i].Left = b.work(l.task) - done
		}
	}
	var out []*launcher
	for _, i := range b.w.give(running, n, b.w.rng) {
		out = append(out, ls[i])
	}
	for _, l := range out {
		b.stop(l)
	}
}

// stop orders a launcher away. Its task waits again.
func (b *bag) stop(l *launcher) {
	b.preempted++
	if !l.asked {
		b.begins--
	}
	if l.task >= 0 {
		done, unsaved := b.progress(l)
		b.lost += unsaved
		if b.saved != nil && done > unsaved {
			b.saved[l.task] = done - unsaved
		}
		b.tasks = append(b.tasks, l.task)
		l.task = -1
	}
	b.remove(l)
	l.c.vacate()
}
