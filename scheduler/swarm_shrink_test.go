package scheduler

import (
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// TestRoomIsMade: one job has all slots when another comes. Where the rules say so half
// of them are given back within seconds, no work is done twice for it, and where they do
// not, or the state of tasks cannot be saved, the other waits.
func TestRoomIsMade(t *testing.T) {
	no := func(*task.Job) {}
	for _, tt := range []struct {
		name, fairness string
		first, second  func(*task.Job)
		want           int // slots of the second, of ten
	}{
		{"arrival", "equal:shrink=arrival", no, no, 5},
		{"by weight", "weighted:shrink=arrival", no, func(j *task.Job) { j.Weight = 4 }, 8},
		{"owners", "equal:shrink=arrival,per=owner", no, no, 5},
		{"nobody gives", "equal", no, no, 0},
		{"not saved", "equal:shrink=arrival", func(j *task.Job) { j.Checkpoint.Off = true }, no, 0},
		{"equals under sep", "sep:shrink=arrival", no, no, 0},
		{"higher priority under sep", "sep:shrink=arrival", no, func(j *task.Job) { j.Priority = 1 }, 10},
		{"lower priority", "equal:shrink=arrival", no, func(j *task.Job) { j.Priority = -1 }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newGroupSim(t, 5, 5)
			s.exact, s.work = true, 2*time.Minute
			s.cfg.Rules.Fairness = tt.fairness
			s.run(10*time.Second, func() bool { return false }) // all know each other
			if err := s.leader().coord.Govern(s.cfg.Rules); err != nil {
				t.Fatal(err)
			}
			first := s.nodes[1].submit(15, tt.first)
			s.run(30*time.Second, func() bool { return false })
			second := s.nodes[2].submit(15, tt.second)
			s.run(15*time.Second, func() bool { return false })
			slots := map[task.JobID]int{}
			for _, n := range s.nodes {
				for a := range n.runs {
					slots[a.Task.Job]++
				}
			}
			if n := slots[second]; n != tt.want {
				t.Errorf("15 s after it came it runs in %d slots, want %d; the other in %d", n, tt.want, slots[first])
			}
			if !s.run(15*time.Minute, func() bool { return s.finalAtOwner(first) && s.finalAtOwner(second) }) {
				t.Fatal(s.describe())
			}
			for _, id := range []task.JobID{first, second} {
				if st, _ := s.leader().coord.Job(id, message.Page{}); st.WastedCPU > 0 {
					t.Errorf("%v s of work were lost", st.WastedCPU)
				}
			}
		})
	}
}
