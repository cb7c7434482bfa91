package place

import (
	"math"
	"testing"
	"time"
)

// sized are tasks of one job that take so long.
func sized(job string, n int, work time.Duration) []Task {
	return tasks(job, n, func(w *Task) { w.Work = work })
}

// TestExpectedAhead: where nobody is idle short tasks, and those of which nobody
// knows how long they take, go to busy members as with FCFS; others wait.
func TestExpectedAhead(t *testing.T) {
	busy := func(h Host) Host {
		h.Running = h.Slots
		return h
	}
	both := []Host{member("a", 1, 3, 1), busy(member("b", 1, 2, 2))}
	for _, tt := range []struct {
		name  string
		hosts []Host
		tasks []Task
		want  string
	}{
		{"short", both, sized("j", 9, time.Second), "j/0:a j/1:b j/2:b j/3:a j/4:a"},
		{"nobody knows", both, sized("j", 9, 0), "j/0:a j/1:b j/2:b j/3:a j/4:a"},
		{"long", both, sized("j", 9, time.Minute), "j/0:a"},
		{"long ones in front", both, append(sized("j", 9, time.Hour), sized("k", 2, time.Second)...), "j/0:a k/0:b k/1:b"},
		{"nobody is idle", []Host{busy(member("a", 2, 2, 1))}, sized("j", 3, 5*time.Millisecond), "j/0:a j/1:a"},
		{"somebody stays idle", []Host{member("a", 2, 2, 1), busy(member("b", 1, 1, 2))}, sized("j", 1, time.Second),
			"j/0:a"},
	} {
		p, err := New("expected", nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // it remembers nothing of the first
			if got := placed(p.Place(time.Time{}, &list{tasks: tt.tasks}, tt.hosts, Unknown{}, nil)); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
			}
		}
	}
}

// TestExpectedShort: no forecast is asked about short tasks, and a task of which
// nobody knows how long it takes does not wait for one.
func TestExpectedShort(t *testing.T) {
	hosts := []Host{member("a", 1, 1, 1), member("b", 1, 1, 2)}
	for _, tt := range []struct {
		work time.Duration
		want string
	}{{time.Second, "j/0:b"}, {0, "j/0:b"}, {time.Hour, ""}} {
		p, _ := New("expected", nil)
		if got := placed(p.Place(time.Time{}, &list{tasks: sized("j", 1, tt.work)}, hosts,
			leaving{"a": math.Inf(1), "b": math.Inf(1)}, nil)); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.work, got, tt.want)
		}
	}
}
