package exec

import (
	"crypto/sha256"
	"testing"

	"godwit/scheduler/message"
	"godwit/task"
)

// TestReplicasAreSaved: a task of which several runs must agree is saved as any; with its checkpoints
// go the boundaries that it came to since the one before, and the chain back to its beginning.
func TestReplicasAreSaved(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		h := newFakeHost()
		x := h.executor(t, &Sleeper{})
		job := &Job{spec: &task.Job{Replicas: replicas}}
		if !x.saves(job) {
			t.Errorf("with %d replicas nothing is saved", replicas)
		}
		id := task.TaskID{Job: task.JobID(task.RawCID([]byte("job"))), Index: 3}
		a := x.newAttempt(start{of: h, Start: message.Start{Task: id, Attempt: as(1),
			Receipt: leased(t, id, x.Self, task.Receipt{Seq: 1})}}, job, true)
		s := x.newSaving(a.context, a, job, 0, func(string) {})
		if (s.OnBoundary != nil) != (replicas > 1) {
			t.Fatalf("with %d replicas somebody asks for boundaries: %v", replicas, s.OnBoundary != nil)
		}
		s.chain = make([]task.Link, 6)
		for fuel := range uint64(3) {
			if s.OnBoundary != nil {
				s.OnBoundary(task.Boundary{Fuel: 10 * (fuel + 1), State: sha256.Sum256([]byte{byte(fuel)})})
			}
			if fuel == 1 {
				s.OnCheckpoint([]byte("state"), 25, 1)
			}
		}
		s.OnCheckpoint([]byte("another"), 35, 2)
		var marks []int
		for _, ev := range h.heard() {
			if c, ok := ev.(message.Checkpointed); ok {
				marks = append(marks, len(c.Marks))
				if n := len(c.Checkpoint.Before); n != map[int]int{1: 3, 2: 6}[replicas] {
					t.Errorf("with %d replicas %d states of six before it are shown", replicas, n)
				}
			}
		}
		if want := map[int][2]int{1: {0, 0}, 2: {2, 1}}[replicas]; len(marks) != 2 || [2]int(marks) != want {
			t.Errorf("with %d replicas %v boundaries are told with the checkpoints, want %v", replicas, marks, want)
		}
	}
}
