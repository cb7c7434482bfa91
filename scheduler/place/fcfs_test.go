package place

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"godwit/task"
)

// list is a queue that is a list.
type list struct {
	tasks []Task
	taken int
}

func (l *list) Next() (Task, bool) {
	if l.taken == len(l.tasks) {
		return Task{}, false
	}
	l.taken++
	return l.tasks[l.taken-1], true
}

func (l *list) SkipJob() {
	for job := l.tasks[l.taken-1].ID.Job; l.taken < len(l.tasks) && l.tasks[l.taken].ID.Job == job; {
		l.taken++
	}
}

func tasks(job string, n int, change func(*Task)) []Task {
	var out []Task
	for i := range n {
		t := Task{ID: task.TaskID{Job: task.JobID(job), Index: uint64(i)}, Memory: 1}
		if change != nil {
			change(&t)
		}
		out = append(out, t)
	}
	return out
}

func member(name string, slots, free int, speed float64) Host {
	return Host{Peer: task.PeerID(name), Slots: slots, Running: max(0, slots-free), Free: free, Memory: 10,
		MemoryFree: 10, Speed: speed}
}

func placed(ps []Placement) string {
	var b strings.Builder
	for _, p := range ps {
		fmt.Fprintf(&b, "%s/%d:%s ", p.Task.Job, p.Task.Index, p.Peer)
	}
	return strings.TrimSpace(b.String())
}

func TestFCFS(t *testing.T) {
	ahead := member("a", 1, 3, 1)
	small := member("s", 1, 1, 1)
	small.Memory, small.MemoryFree = 0, 0
	tests := []struct {
		name  string
		queue []Task
		hosts []Host
		want  string
	}{
		{"nobody there", tasks("j", 2, nil), nil, ""},
		{"nothing waits", nil, []Host{member("a", 1, 1, 1)}, ""},
		{"in order, the faster first", tasks("j", 3, nil), []Host{member("a", 1, 1, 1), member("b", 1, 1, 2)}, "j/0:b j/1:a"},
		{"equals share evenly", tasks("j", 4, nil), []Host{member("a", 2, 2, 1), member("b", 2, 2, 1)},
			"j/0:a j/1:b j/2:a j/3:b"},
		{"the idle before the ahead", tasks("j", 3, nil), []Host{ahead, member("b", 1, 1, 0.5)}, "j/0:a j/1:b j/2:a"},
		{"memory", append(tasks("j", 2, nil), tasks("k", 1, func(t *Task) { t.Memory = 0 })...), []Host{small}, "k/0:s"},
		{"a distinct worker", tasks("j", 2, func(t *Task) { t.Avoid = []task.PeerID{"a"} }),
			[]Host{member("a", 2, 2, 1), member("b", 1, 1, 0)}, "j/0:b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := placed(new(FCFS).Place(time.Time{}, &list{tasks: tt.queue}, tt.hosts, Unknown{}, rand.New(rand.NewPCG(1, 1))))
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Worst Fit: each task goes to the member with the most idle slots that fits it.
func TestWorstFit(t *testing.T) {
	busy := member("f", 2, 0, 9)
	busy.Free = 1
	owner := member("o", 8, 8, 1) // may be given one task only
	owner.Free = 1
	for _, tt := range []struct {
		name  string
		queue []Task
		hosts []Host
		want  string
	}{
		{"more idle slots before speed", tasks("j", 1, nil), []Host{member("a", 2, 2, 9), member("b", 4, 3, 1)}, "j/0:b"},
		{"until others have as many", tasks("j", 5, nil), []Host{member("a", 3, 1, 1), member("b", 4, 3, 1), member("c", 3, 3, 2)},
			"j/0:c j/1:b j/2:c j/3:b j/4:c"},
		{"equals by speed", tasks("j", 2, nil), []Host{member("a", 2, 2, 1), member("b", 2, 2, 2)}, "j/0:b j/1:a"},
		{"slots that may be filled count", tasks("j", 2, nil), []Host{member("a", 3, 3, 1), owner}, "j/0:a j/1:a"},
		{"the idle before the busy", tasks("j", 2, nil), []Host{busy, member("a", 1, 1, 1)}, "j/0:a j/1:f"},
		{"memory", tasks("j", 2, func(t *Task) { t.Memory = 6 }), []Host{member("a", 4, 4, 1), member("b", 2, 2, 1)},
			"j/0:a j/1:b"},
		{"a distinct worker", tasks("j", 1, func(t *Task) { t.Avoid = []task.PeerID{"a"} }),
			[]Host{member("a", 4, 4, 1), member("b", 2, 1, 1)}, "j/0:b"},
		{"alone", tasks("j", 3, nil), []Host{member("a", 2, 2, 1)}, "j/0:a j/1:a"},
	} {
		p, err := Parse("fcfs:order=worst")
		if err != nil {
			t.Fatal(err)
		}
		got := p.Place(time.Time{}, &list{tasks: tt.queue}, tt.hosts, Unknown{}, rand.New(rand.NewPCG(1, 1)))
		if placed(got) != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, placed(got), tt.want)
		}
		if want := "the member with the most idle slots ("; !strings.Contains(got[0].Reason.String(), want) {
			t.Errorf("%s: the reason is %q, want %q", tt.name, got[0].Reason, want)
		}
	}
}
