package scheduler

import (
	"slices"

	"godwit/scheduler/place"
	"godwit/task"
)

// A leavingView shows the tasks that are to move to a policy, and no others. A
// coordinator has one, for its memory.
type leavingView struct {
	c       *Coordinator
	moving  []leaving
	next    int // in moving, to be shown
	skipped map[*job]bool
	pausing []*host         // idle, and get nothing of some jobs for now
	paused  []task.PeerID   // of these, those that get nothing of the job of
	of      *job            // nil: of none yet
	names   []task.PeerID   // memory of what tasks avoid
	found   int             // in moving, the one after the last found
	places  map[liveKey]int // in moving; made when placements are in another order
}

func (v *leavingView) begin(c *Coordinator, moving []leaving) *leavingView {
	v.c, v.moving, v.next, v.found, v.of = c, moving, 0, 0, nil
	v.pausing, v.paused, v.names = v.pausing[:0], v.paused[:0], v.names[:0]
	clear(v.skipped)
	clear(v.places)
	for _, h := range c.members.idle.all() {
		if len(h.paused) > 0 {
			v.pausing = append(v.pausing, h)
		}
	}
	return v
}

// Next implements place.Queue.
func (v *leavingView) Next() (place.Task, bool) {
	for ; v.next < len(v.moving); v.next++ {
		l := v.moving[v.next].lease
		if v.skipped[l.job] {
			continue
		}
		v.next++
		work, _ := l.job.durationOf(l.task.index)
		t := place.Task{ID: l.taskID(), Memory: l.memory(), Work: work, State: l.job.stateOf(), Avoid: v.avoid(l),
			Class: l.job.spec.Class, Age: v.c.dispatch.age(l.job)}
		if whole, known := l.job.workOf(l.task.index); known {
			t.Left, _ = v.c.migration.progressOf(l, whole) // it takes all that it did along
		}
		return t, true
	}
	return place.Task{}, false
}

// SkipJob implements place.Queue.
func (v *leavingView) SkipJob() {
	if v.next == 0 {
		return
	}
	if v.skipped == nil {
		v.skipped = map[*job]bool{}
	}
	v.skipped[v.moving[v.next-1].lease.job] = true
}

// avoid lists who must not run the task: its member is among them.
func (v *leavingView) avoid(l *lease) []task.PeerID {
	if v.of != l.job {
		v.of, v.paused = l.job, v.paused[:0]
		for _, h := range v.pausing {
			if _, is := h.paused[l.job]; is {
				v.paused = append(v.paused, h.peer)
			}
		}
	}
	n := len(v.names)
	v.names = append(l.appendBarred(v.names), v.paused...)
	return slices.Clip(v.names[n:])
}

// find returns a task that is to move and has no place yet, or nil. Policies
// mostly place tasks in the order in which they are shown.
func (v *leavingView) find(id task.TaskID) *leaving {
	for ; v.found < len(v.moving) && len(v.places) == 0; v.found++ {
		if m := &v.moving[v.found]; m.to == nil && m.lease.task.index == id.Index && m.lease.job.id == id.Job {
			v.found++
			return m
		}
	}
	if len(v.places) == 0 {
		if v.places == nil {
			v.places = map[liveKey]int{}
		}
		for k := range v.moving {
			l := v.moving[k].lease
			v.places[liveKey{l.job, l.task.index}] = k
		}
	}
	if k, ok := v.places[liveKey{v.c.table.jobs[id.Job], id.Index}]; ok && v.moving[k].to == nil {
		return &v.moving[k]
	}
	return nil
}
