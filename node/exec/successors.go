package exec

import (
	"slices"
	"sync"

	"godwit/owner"
	"godwit/scheduler/message"
	"godwit/task"
)

// Successors are what may begin without the loop: whoever ends an attempt begins the first that fits in
// its place, and tells the loop afterwards. The loop fills it and takes from it: what it took does not
// begin. It is safe for any goroutine.
type successors struct {
	mu    sync.Mutex
	queue []readied
	begun []*attempt // that the loop has not heard of
	shut  bool       // all tasks stand still
	over  bool       // the node leaves
	held  bool       // others wait for a core: it is their turn
	runs  int        // attempts that hold a core
	cores int        // that are lent
}

// readied is a start with what the loop knows of its job.
type readied struct {
	start
	job    *Job
	saves  bool
	memory int64
}

// succeed begins what comes after an attempt that has ended, in its place; nil for nothing. Its caller runs it.
func (c *core) succeed(a *attempt, res *task.Result) (*attempt, message.Start) {
	if res.Outcome != task.Completed || a.audit != nil || a.job == nil || c.ctx.Err() != nil {
		return nil, message.Start{}
	}
	h := &c.ahead
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) == 0 || h.shut || h.over || h.held || h.runs > h.cores {
		return nil, message.Start{}
	}
	room := a.job.spec.MemoryOf(a.name.Task.Index)
	k := slices.IndexFunc(h.queue, func(r readied) bool { return r.of == a.of && r.memory <= room })
	if k < 0 {
		return nil, message.Start{}
	}
	next := h.queue[k]
	h.queue = slices.Delete(h.queue, k, k+1)
	b := c.newAttempt(next.start, next.job, next.saves)
	h.begun = append(h.begun, b)
	return b, next.Start
}

// add has a start be ready.
func (h *successors) add(r readied) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queue = append(h.queue, r)
}

// take takes those starts back that have not begun.
func (h *successors) take(which func(*start) bool) (taken []start) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queue = slices.DeleteFunc(h.queue, func(r readied) bool {
		if which(&r.start) {
			taken = append(taken, r.start)
			return true
		}
		return false
	})
	return taken
}

// heard returns the attempts that have begun since it was called last.
func (h *successors) heard() []*attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	begun := h.begun
	h.begun = nil
	return begun
}

// count takes in that more attempts hold a core, or fewer.
func (h *successors) count(more int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs += more
}

// lend takes in how many cores are lent.
func (h *successors) lend(d owner.Decision) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cores = d.Cores; d.Stop || d.Drained {
		h.cores = 0
	}
}

// hold takes in whether others wait for a core.
func (h *successors) hold(held bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = held
}

// leave has nothing begin any more.
func (h *successors) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
}

// stand has nothing begin while all tasks stand still.
func (h *successors) stand(still bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shut = still
}

// Pause stops every task where it is, and has none begin in place of another, from any goroutine.
func Pause(x *Executor) {
	x.ahead.stand(true)
	x.Runner.Pause()
}

// Resume takes Pause back, from any goroutine.
func Resume(x *Executor) {
	x.ahead.stand(false)
	x.Runner.Resume()
}

// heed takes in the attempts that have begun without the loop, on the loop, before it looks at what runs.
func heed(x *Executor) {
	for _, a := range x.ahead.heard() {
		x.running[a.name] = a
	}
}

// haveReady answers a Ready.
func haveReady(x *Executor, of Client, e message.Ready) {
	job := x.jobs.get(e.Task.Job)
	r := readied{start: start{of: of, Start: e.Start}, job: job, saves: x.saves(job)}
	if job != nil {
		r.memory = job.spec.MemoryOf(e.Task.Index)
	}
	x.ahead.add(r)
}

// beginReady answers a Begin.
func beginReady(x *Executor, of Client, e message.Begin) {
	putOff(x, x.ahead.take(func(w *start) bool { return w.of == of && w.is(e.Task, e.Attempt) })...)
}

// unready answers an Unready.
func unready(x *Executor, of Client, e message.Unready) {
	dropReady(x, func(w *start) bool { return w.of == of && w.is(e.Task, e.Attempt) })
}

// dropReady has those not begin that were ready.
func dropReady(x *Executor, which func(*start) bool) {
	for _, w := range x.ahead.take(which) {
		w.of.Report(message.NotBegun{Task: w.Task, Attempt: w.Attempt})
	}
}
