package batch

import (
	"testing"
	"time"

	"godwit/lab/testbed/measure"
	"godwit/scheduler/message"
	"godwit/task"
)

// Whole waves are the thesis's ideal: 450 s, and 441 s if tasks could be divided.
func TestWaves(t *testing.T) {
	for _, c := range []struct {
		tasks uint64
		slots int
		work  time.Duration
		want  float64
	}{{1000, 68, 30 * time.Second, 450}, {68, 68, time.Second, 1}, {69, 68, time.Second, 2}, {0, 68, time.Second, 0},
		{5, 2, 0, 0}} {
		if got := wavesOf(c.tasks, c.slots, c.work); got != c.want {
			t.Errorf("%d tasks of %v on %d slots: %v s, want %v", c.tasks, c.work, c.slots, got, c.want)
		}
	}
}

func TestCourse(t *testing.T) {
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return begun.Add(time.Duration(s) * time.Second) }
	ran := func(w task.PeerID, from, to int) message.TaskStatus {
		return message.TaskStatus{Attempts: []message.AttemptStatus{{Worker: w, Start: at(from), End: at(to),
			Outcome: "completed"}}}
	}
	tasks := []message.TaskStatus{ran("a", 1, 2), ran("b", 2, 4), ran("a", 3, 5), {Attempts: []message.AttemptStatus{
		{Worker: "b", Start: at(4), End: at(9), Outcome: measure.OutcomeLost},
		{Worker: "a", Start: at(6), End: at(8), Outcome: "completed"}}}}
	if got, want := courseOf(begun, 2, 2, tasks), (course{FirstS: 1, FullS: 2, LastS: 6, EndS: 8, Least: 1,
		Most: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := courseOf(begun, 3, 2, tasks); got.Least != 0 {
		t.Errorf("a node that did nothing: least %d", got.Least)
	}
	if got := courseOf(begun, 3, 2, nil); got != (course{}) {
		t.Errorf("nothing ran: %+v", got)
	}
}
