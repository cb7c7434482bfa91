package exec

import (
	"time"

	"godwit/task"
)

// A Task is one that is here.
type Task struct {
	ID     task.TaskID
	Of     Client
	State  string      // one of the states below
	Since  time.Time   // it began here, or its hand-over did
	Peer   task.PeerID // it leaves for; "" for none
	Rounds int         // of its state that were sent
	Bytes  int64       // in them
	Note   string      // why it is still here though it was to go
}

// The states of a Task.
const (
	Runs    = "runs"
	Stands  = "stands still"
	Leaves  = "leaves" // for Peer
	Saved   = "is saved"
	Awaited = "is awaited"             // from another member
	Again   = "runs again"             // to check a result that is held: see Executor.Audit
	Unaided = "runs for its submitter" // who is here, and to whom nobody brings anything
)

// Tasks lists what is here, in no order, on the loop.
func (x *Executor) Tasks() []Task {
	heed(x)
	var out []Task
	for _, a := range x.running {
		t := Task{ID: a.name.Task, Of: a.of, State: Runs, Since: a.begun}
		if a.audit != nil {
			t.State = map[bool]string{true: Unaided, false: Again}[a.audit.First]
		}
		if x.lent.Stop {
			t.State = Stands
		}
		if a.saved.Load() {
			t.State = Saved
		}
		a.controls.describe(&t)
		out = append(out, t)
	}
	for _, d := range x.arriving {
		if d.offered {
			out = append(out, Task{ID: d.name.task, Of: d.attempt.of, State: Awaited, Since: d.attempt.begun})
		}
	}
	return out
}

// describe adds what is known of a hand-over.
func (c *controls) describe(t *Task) {
	if c == nil {
		return
	}
	s := c.leaves()
	if s == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		t.Note = c.failed
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.State, t.Peer, t.Since, t.Rounds, t.Bytes = Leaves, s.to, s.begun, s.rounds, s.bytes
}
