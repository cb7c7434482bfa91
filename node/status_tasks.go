package node

import (
	"cmp"
	"slices"
	"time"

	"godwit/node/exec"
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
	TaskRuns    = exec.Runs
	TaskStands  = exec.Stands
	TaskLeaves  = exec.Leaves // for Peer
	TaskSaved   = exec.Saved
	TaskAwaited = exec.Awaited // from another member
	TaskAgain   = exec.Again   // to check a result that this node holds
	TaskUnaided = exec.Unaided // of a job of this node's of which nothing comes
)

// localTasks lists what is here, by the time that it began, on the loop.
func (n *Node) localTasks() []LocalTask {
	out := []LocalTask{}
	for _, t := range n.exec.Tasks() {
		out = append(out, LocalTask{
			Task: t.ID.String(), Overlay: t.Of.(client).m.Manifest().Name, State: t.State, Since: t.Since,
			Peer: t.Peer, Rounds: t.Rounds, Bytes: t.Bytes, Note: t.Note,
		})
	}
	slices.SortFunc(out, func(a, b LocalTask) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Task, b.Task)) })
	return out
}
