package hostile

import (
	"context"
	"fmt"
	"time"
)

// Honest is a project owner who hands a job in whenever the last is over, so that one is
// always under way.
type honest struct {
	job    *prey
	done   int      // jobs
	tasks  int      // of these
	broken []string // what went wrong
	first  time.Time
}

const (
	// honestTasks keep both nodes busy for some tens of seconds.
	honestTasks = 40
	honestLimit = 100 * time.Second
)

func newHonest() *honest { return &honest{} }

// goOn hands a job in where none is under way.
func (h *honest) goOn(ctx context.Context, f *field) error {
	if h.job != nil {
		v, err := h.job.view(ctx)
		if err != nil || !v.Final {
			return nil //nolint:nilerr // the end will show it
		}
		h.over(ctx)
	}
	if h.first.IsZero() {
		h.first = time.Now()
	}
	p, err := f.hunt(ctx, openName, honestTasks, "")
	if err != nil {
		h.broken = append(h.broken, err.Error())
		return nil
	}
	h.job = p
	return nil
}

// over judges the job that was under way.
func (h *honest) over(ctx context.Context) {
	p := h.job
	h.job = nil
	if err := p.settle(ctx, honestLimit); err != nil {
		h.broken = append(h.broken, err.Error())
		return
	}
	v, err := p.view(ctx)
	if err != nil {
		h.broken = append(h.broken, err.Error())
		return
	}
	if v.Tasks.Total != p.tasks || v.Tasks.Done != p.tasks {
		h.broken = append(h.broken, fmt.Sprintf("%d of %d tasks are done", v.Tasks.Done, v.Tasks.Total))
	}
	h.done, h.tasks = h.done+1, h.tasks+p.tasks
}

// give ends the job before its nodes go, for a reason.
func (h *honest) give(ctx context.Context, f *field, why string) {
	if h.job == nil {
		return
	}
	for _, n := range f.nodes {
		if n.Ended() {
			h.job = nil
			h.broken = append(h.broken, "it was lost with a node that ended: "+why)
			return
		}
	}
	before := len(h.broken)
	h.over(ctx)
	if len(h.broken) > before {
		h.broken[before] = why + ": " + h.broken[before]
	}
}

// tell fills its row.
func (h *honest) tell(row *Row) {
	row.tried(h.done+len(h.broken), "jobs of %d tasks, one after the other, under all rows on shared nodes", honestTasks)
	row.now("%d jobs, %d tasks, done, right, each task once in the results", h.done, h.tasks)
	row.Broken = append(row.Broken, h.broken...)
}
