package node

import (
	"cmp"
	"slices"
	"time"

	"godwit/task"
)

// A LocalTask is a task that is here, in Status.
type LocalTask struct {
	Task    string      `json:"task"` // JOB/INDEX
	Overlay string      `json:"overlay"`
	State   string      `json:"state"` // one of the states below
	Since   time.Time   `json:"since"` // it began here, or its hand-over did
	Peer    task.PeerID `json:"peer,omitempty"`
	Rounds  int         `json:"rounds,omitempty"`     // of its state that were sent
	Bytes   int64       `json:"sent_bytes,omitempty"` // in them
	Note    string      `json:"note,omitempty"`       // why it is still here though it was to go
}

// The states of a LocalTask.
const (
	TaskRuns    = "runs"
	TaskStands  = "stands still"
	TaskLeaves  = "leaves" // for Peer
	TaskSaved   = "is saved"
	TaskAwaited = "is awaited" // from another member
)

// localTasks lists what is here, by the time that it began, on the loop.
func (n *Node) localTasks() []LocalTask {
	out := []LocalTask{}
	for name, a := range n.running {
		t := LocalTask{Task: name.Task.String(), Overlay: a.of.manifest.Name, State: TaskRuns, Since: a.begun}
		if n.decision.Stop {
			t.State = TaskStands
		}
		if a.saved.Load() {
			t.State = TaskSaved
		}
		a.place.describe(&t)
		out = append(out, t)
	}
	for _, taking := range n.takings {
		if taking.offered {
			out = append(out, LocalTask{Task: taking.name.task.String(), Overlay: taking.of.manifest.Name, State: TaskAwaited, Since: taking.attempt.begun})
		}
	}
	slices.SortFunc(out, func(a, b LocalTask) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Task, b.Task)) })
	return out
}

// describe adds what is known of a hand-over.
func (s *givers) describe(t *LocalTask) {
	if s == nil {
		return
	}
	g := s.now()
	if g == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		t.Note = s.failed
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	t.State, t.Peer, t.Since, t.Rounds, t.Bytes = TaskLeaves, g.to, g.begun, g.rounds, g.bytes
}
