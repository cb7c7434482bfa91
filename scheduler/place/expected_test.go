package place

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"godwit/task"
	"pgregory.net/rapid"
)

// leaving is a forecast of hosts that leave at even rates an hour; nothing is
// known of others. A rate of infinity is certain to leave.
type leaving map[task.PeerID]float64

func (l leaving) Stay(peer task.PeerID, _ time.Time, d time.Duration) (float64, bool) {
	rate, known := l[peer]
	switch {
	case !known || d <= 0:
		return 1, known
	case math.IsInf(rate, 1):
		return 0, true
	}
	// Doubt is not certainty, however small: e^-750 is 0 to a float64.
	return max(math.Exp(-rate*d.Hours()), math.SmallestNonzeroFloat64), true
}

// long is a queue of tasks of so many hours each.
func long(hours ...float64) *list {
	q := &list{}
	for i, h := range hours {
		q.tasks = append(q.tasks, Task{ID: task.TaskID{Job: "j", Index: uint64(i)},
			Work: time.Duration(h * float64(time.Hour)), State: 64 << 20})
	}
	return q
}

// slowUplink is 64 MiB in 54 s, a second's pause.
var slowUplink = Situation{Rate: 1.25e6, Pause: time.Second, Detect: 6 * time.Second, Saves: true}

// TestExpected is where tasks go.
func TestExpected(t *testing.T) {
	gone := math.Inf(1)
	since := func(name string, day int) Host {
		h := member(name, 1, 1, 1)
		h.Since = time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
		return h
	}
	small := member("s", 1, 1, 1)
	small.Memory, small.MemoryFree = 1, 1
	for _, tt := range []struct {
		name  string
		hosts []Host
		f     leaving
		queue *list
		s     Situation
		want  string
	}{
		{"who stays", []Host{member("a", 1, 1, 1), member("b", 1, 1, 1)}, leaving{"a": 1, "b": .1}, long(1), slowUplink,
			"0>b"},
		{"who is fast", []Host{member("a", 1, 1, 1), member("b", 1, 1, 2)}, leaving{"a": .1, "b": .2}, long(1), slowUplink,
			"0>b"},
		{"who is fast, and soon gone", []Host{member("a", 1, 1, 1), member("b", 1, 1, 1.2)}, leaving{"a": .01, "b": 4},
			long(2), Situation{}, "0>a"},
		{"the same, with checkpoints", []Host{member("a", 1, 1, 1), member("b", 1, 1, 1.2)}, leaving{"a": .01, "b": 1},
			long(2), slowUplink, "0>b"},
		{"all will have left", []Host{member("a", 1, 1, 1), member("b", 1, 1, 1)}, leaving{"a": 3, "b": 2}, long(30),
			slowUplink, "0>b"},
		{"the head chooses first", []Host{member("a", 1, 1, 1), member("b", 1, 1, 1)}, leaving{"a": 1, "b": .1}, long(1, 9),
			slowUplink, "0>b 1>a"},
		{"nobody is known: fewest tasks, then by name", []Host{member("b", 2, 2, 1), member("a", 2, 2, 1)}, nil,
			long(1, 1, 1, 1, 1), slowUplink, "0>a 1>b 2>a 3>b"},
		{"as good as alike: the longest there", []Host{since("a", 3), since("b", 1), since("c", 2)},
			leaving{"a": 1e-4, "b": 5e-4, "c": 3e-4}, long(1, 1, 1), slowUplink, "0>b 1>c 2>a"},
		{"the same of long tasks", []Host{since("a", 3), since("b", 1)}, leaving{"a": 1e-5, "b": 1e-4}, long(10),
			slowUplink, "0>b"},
		{"who stays before who has been there", []Host{since("a", 3), since("b", 1)}, leaving{"a": 1e-4, "b": 1e-2},
			long(1), slowUplink, "0>a"},
		{"as good as alike: whose stay has no known beginning is last", []Host{member("a", 1, 1, 1), since("b", 1)},
			leaving{"a": 1e-4, "b": 2e-4}, long(1), slowUplink, "0>b"},
		{"an unknown one is as the others in the mean",
			[]Host{member("a", 1, 1, 1), member("b", 1, 1, 1), member("c", 1, 1, 1)}, leaving{"a": 1, "c": .01}, long(1, 1, 1),
			slowUplink, "0>c 1>b 2>a"},
		{"certain to go", []Host{member("a", 1, 1, 1)}, leaving{"a": gone}, long(1), slowUplink, ""},
		{"certain to go, and another", []Host{member("a", 1, 1, 3), member("b", 1, 1, 1)}, leaving{"a": gone, "b": 3},
			long(1, 1), slowUplink, "0>b"},
		{"work unknown", []Host{member("a", 1, 1, 1), member("b", 1, 1, 1)}, leaving{"a": 1, "b": .1}, long(0), slowUplink,
			"0>b"},
		{"only where it fits", []Host{small, member("a", 1, 1, 1)}, leaving{"s": .1, "a": 5},
			&list{tasks: tasks("j", 2, func(t *Task) { t.Memory = 5 })}, slowUplink, "0>a"},
		{"not where it ran", []Host{member("a", 1, 1, 1), member("b", 1, 1, 1)}, leaving{"a": .1, "b": 1},
			&list{tasks: tasks("j", 1, func(t *Task) { t.Avoid = []task.PeerID{"a"} })}, slowUplink, "0>b"},
	} {
		p, _ := Parse("expected")
		p.Traits().Situate(tt.s)
		var got []string
		for _, c := range p.Place(time.Time{}, tt.queue, tt.hosts, tt.f, nil) {
			got = append(got, fmt.Sprintf("%d>%s", c.Task.Index, c.Peer))
			if words := c.Reason.String(); !strings.Contains(words, "expected to be done here first") &&
				!strings.Contains(words, "nobody knows how long it takes") {
				t.Errorf("%s: reason %q", tt.name, c.Reason)
			}
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestExpectedStarvesNobody: whatever the forecast, if it is certain of nothing, no
// slot that fits is left idle beside a long task, and tasks go in the queue's order.
func TestExpectedStarvesNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var hosts []Host
		f, slots := leaving{}, 0
		for i := range rapid.IntRange(1, 8).Draw(t, "hosts") {
			h := member(fmt.Sprint(i), rapid.IntRange(1, 3).Draw(t, "slots"), 3, rapid.Float64Range(.5, 3).Draw(t, "speed"))
			hosts = append(hosts, h)
			slots += h.Slots
			if rapid.Bool().Draw(t, "known") {
				f[h.Peer] = rapid.Float64Range(0, 30).Draw(t, "rate")
			}
		}
		queue := long(rapid.SliceOfN(rapid.Float64Range(.02, 20), 0, 20).Draw(t, "work")...)
		s := slowUplink
		s.Saves = rapid.Bool().Draw(t, "saves")
		p := &Expected{unknown: time.Hour}
		p.situate(s)
		out := p.Place(time.Time{}, queue, hosts, f, nil)
		if want := min(slots, len(queue.tasks)); len(out) != want {
			t.Fatalf("%d of %d tasks placed on %d slots", len(out), len(queue.tasks), slots)
		}
		for i, c := range out {
			if c.Task.Index != uint64(i) {
				t.Fatalf("placement %d is of task %d", i, c.Task.Index)
			}
		}
	})
}

// TestExpectedAllocatesNothing: a coordinator decides all day.
func TestExpectedAllocatesNothing(t *testing.T) {
	f, queue := leaving{}, &list{}
	var hosts []Host
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 500 {
		hosts = append(hosts, member(fmt.Sprintf("%03d", i), 2, 2, 1))
		f[hosts[i].Peer] = rng.ExpFloat64()
		queue.tasks = append(queue.tasks, long(1+9*rng.Float64()).tasks...)
	}
	p := &Expected{unknown: time.Hour}
	p.situate(slowUplink)
	q := &list{}
	if n := testing.AllocsPerRun(10, func() {
		*q = *queue
		p.Place(time.Time{}, q, hosts, f, nil)
	}); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}

// TestExpectedLongestFirst: at the end of a bag the task with the most left goes first,
// to where it is done first, and says so; not where it came long after others, nor while
// more wait than are weighed, nor of short tasks, nor with order=turn.
func TestExpectedLongestFirst(t *testing.T) {
	bag := func(hours ...float64) (out []Task) {
		for i, h := range hours {
			out = append(out, Task{ID: task.TaskID{Job: "j", Index: uint64(i)}, Work: time.Duration(h * float64(time.Hour))})
		}
		return out
	}
	aged := bag(1, 3)
	aged[0].Age = 5 * time.Hour
	for _, tt := range []struct {
		name, policy string
		tasks        []Task
		s            Situation
		want         string
	}{
		{"the longest", "expected", bag(1, 2, 3), Situation{Waiting: 3}, "j/2:a"},
		{"equal ones in turn", "expected", bag(2, 2, 2), Situation{Waiting: 3}, "j/0:a"},
		{"an old one", "expected", aged, Situation{Waiting: 2}, "j/0:a"},
		{"far from the end", "expected", bag(1, 2, 3), Situation{Waiting: mostWeighed + 1}, "j/0:a"},
		{"no end", "expected", bag(1, 2, 3), Situation{Waiting: 3, Endless: true}, "j/0:a"},
		{"in turn", "expected:order=turn", bag(1, 2, 3), Situation{Waiting: 3}, "j/0:a"},
		{"short ones", "expected", bag(.001, .002, .003), Situation{Waiting: 3}, "j/0:a"},
	} {
		p, err := Parse(tt.policy)
		if err != nil {
			t.Fatal(err)
		}
		p.Traits().Situate(tt.s)
		out := p.Place(time.Time{}, &list{tasks: tt.tasks}, []Host{member("a", 1, 1, 1)}, Unknown{}, nil)
		if got := placed(out); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
			continue
		}
		if why := out[0].Reason.String(); strings.Contains(why, "most left") != (tt.want == "j/2:a") {
			t.Errorf("%s: because %q", tt.name, why)
		}
	}
}

// TestExpectedSaysWhatItKnows: of a task of which nobody knows how long it takes the reason does not tell a time as if
// that were known; of another it does.
func TestExpectedSaysWhatItKnows(t *testing.T) {
	for work, want := range map[time.Duration]string{
		0:         "nobody knows how long it takes; of 2 idle members this one is the best for a task of 1h0m0s here",
		time.Hour: "it takes 1h0m0s, and stays for that with probability",
	} {
		q := &list{tasks: []Task{{ID: task.TaskID{Job: "j"}, Work: work}}}
		p, _ := Parse("expected")
		got := p.Place(time.Time{}, q, []Host{member("a", 1, 1, 1), member("b", 1, 1, 1)}, leaving{}, nil)
		if len(got) != 1 || !strings.Contains(got[0].Reason.String(), want) {
			t.Errorf("of %v of work: %v, want %q in the reason", work, got, want)
		}
	}
}
