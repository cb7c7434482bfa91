package place

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/task"
)

// What a policy with a Rank does with the first idle members is what it does with all.
func TestRankersNeedOnlyTheFirst(t *testing.T) {
	for _, spec := range []string{"fcfs", "fcfs:order=turn", "fcfs:order=turn,ahead=yes"} {
		rapid.Check(t, func(t *rapid.T) {
			a, _ := Parse(spec)
			b, _ := Parse(spec)
			all, few := a, b
			for round := range rapid.IntRange(1, 8).Draw(t, "rounds") {
				var hosts, idle []Host
				for i := range rapid.IntRange(1, 12).Draw(t, "hosts") {
					h := Host{Peer: task.PeerID(fmt.Sprintf("h%02d", i)), Slots: rapid.IntRange(1, 3).Draw(t, "slots"),
						Memory: 1 << 30, MemoryFree: 1 << 30, Speed: float64(rapid.IntRange(0, 2).Draw(t, "speed"))}
					h.Running = rapid.IntRange(0, h.Slots+1).Draw(t, "running")
					h.Free = h.Slots + 2 - h.Running
					hosts = append(hosts, h)
					if h.Idle() > 0 {
						idle = append(idle, h)
					}
				}
				if len(idle) == 0 {
					continue
				}
				tasks := make([]Task, rapid.IntRange(1, len(idle)).Draw(t, "tasks"))
				for i := range tasks {
					tasks[i] = Task{ID: task.TaskID{Index: uint64(i)}, Memory: 1 << 20}
				}
				rank := few.Traits().Rank()
				slices.SortFunc(idle, func(a, b Host) int { return rank.Compare(&a, &b) })
				first := idle[:len(tasks)]
				slices.SortFunc(first, func(a, b Host) int { return Ranking{Turn: true}.Compare(&a, &b) })
				now := time.Unix(int64(round), 0)
				want := told(all.Place(now, &listed{tasks: tasks}, hosts, Unknown{}, nil))
				if got := told(few.Place(now, &listed{tasks: tasks}, first, Unknown{}, nil)); !slices.Equal(got, want) {
					t.Fatalf("%s, round %d: placed %v by the first, %v by all", spec, round, got, want)
				}
			}
		})
	}
}

// listed is a queue of some tasks.
type listed struct{ tasks []Task }

func (q *listed) Next() (Task, bool) {
	if len(q.tasks) == 0 {
		return Task{}, false
	}
	t := q.tasks[0]
	q.tasks = q.tasks[1:]
	return t, true
}

func (q *listed) SkipJob() { q.tasks = nil }

func told(ps []Placement) (out []string) {
	for _, p := range ps {
		out = append(out, fmt.Sprint(p.Task.Index, " to ", p.Peer, ": ", p.Reason))
	}
	return out
}

// A round of one host gives what it gives beside another that has no memory for anything.
func TestFCFSSoleHost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Host{Peer: "a", Slots: rapid.IntRange(1, 3).Draw(t, "slots"), Memory: 8, Speed: 1}
		h.Running = rapid.IntRange(0, h.Slots).Draw(t, "running")
		h.Free = h.Slots - h.Running + rapid.IntRange(0, 2).Draw(t, "ahead")
		h.MemoryFree = rapid.Int64Range(0, h.Memory).Draw(t, "free memory")
		var waiting []Task
		for i := range rapid.IntRange(0, 2*maxMisses).Draw(t, "tasks") {
			w := Task{ID: task.TaskID{Job: task.JobID(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "job")), Index: uint64(i)},
				Memory: rapid.Int64Range(1, 6).Draw(t, "memory")}
			if rapid.IntRange(0, 3).Draw(t, "avoids") == 0 {
				w.Avoid = []task.PeerID{"a"}
			}
			waiting = append(waiting, w)
		}
		hosts := []Host{h, {Peer: "b", Slots: 1, Free: 1}}
		if h.Free == 0 {
			return // nobody offers it
		}
		now := time.Unix(0, 0)
		alone := told((&FCFS{}).Place(now, &list{tasks: waiting}, hosts[:1], Unknown{}, nil))
		beside := told((&FCFS{}).Place(now, &list{tasks: waiting}, hosts, Unknown{}, nil))
		if !slices.Equal(alone, beside) {
			t.Fatalf("alone %v, beside another %v", alone, beside)
		}
	})
}
