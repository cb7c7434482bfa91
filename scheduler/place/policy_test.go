package place

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/task"
	"pgregory.net/rapid"
)

// drawn is a forecast of fixed answers.
type drawn map[task.PeerID]struct {
	p     float64
	known bool
}

func (d drawn) Stay(peer task.PeerID, _ time.Time, _ time.Duration) (float64, bool) {
	return d[peer].p, d[peer].known
}

// TestPoliciesKeepTheRules holds every policy, and its variants, to what Policy
// promises. Those that give nothing ahead use only idle slots.
func TestPoliciesKeepTheRules(t *testing.T) {
	specs := append(Names(), "fcfs:order=turn", "fcfs:order=turn,ahead=yes", "fcfspp:t=0.5,blocked=pass",
		"fcfspp:t=0.5,ahead=yes",
		"psopp:particles=3,iterations=5,vmax=1,round=floor,goal=1000", "random:ahead=yes", "fastest:ahead=yes",
		"flp:from=start,t=0.5", "fcfs:order=idle", "fcfs:order=worst", "lpas:server=fastest")
	for _, s := range specs {
		idleOnly := !strings.Contains(s, "ahead=yes") && s != "fcfs" && s != "fcfs:order=worst" && s != Default && !strings.HasPrefix(s, "psopp") &&
			!slices.Contains([]string{"met", "mct", "kpb"}, s)
		t.Run(s, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p, err := Parse(s)
				if err != nil {
					t.Fatal(err)
				}
				now := time.Time{}
				for range 2 { // policies remember
					checkRules(t, p, now, idleOnly)
					now = now.Add(time.Hour)
				}
			})
		})
	}
}

func checkRules(t *rapid.T, p Policy, now time.Time, idleOnly bool) {
	names := []task.PeerID{"a", "b", "c", "d"}
	hosts := map[task.PeerID]*Host{}
	forecast := drawn{}
	var offered []Host
	for _, n := range names {
		h := member(string(n), rapid.IntRange(1, 4).Draw(t, "slots"), rapid.IntRange(1, 6).Draw(t, "free"),
			rapid.Float64Range(0, 3).Draw(t, "speed"))
		h.MemoryFree = rapid.Int64Range(0, 10).Draw(t, "memory")
		offered = append(offered, h)
		hosts[n] = &h
		f := forecast[n]
		f.p, f.known = rapid.Float64Range(0, 1).Draw(t, "stay"), rapid.Bool().Draw(t, "known")
		forecast[n] = f
	}
	queue := &list{}
	waiting := map[task.TaskID]Task{}
	for job := range 3 {
		queue.tasks = append(queue.tasks, tasks(fmt.Sprint(job), rapid.IntRange(0, 5).Draw(t, "tasks"), func(w *Task) {
			w.Memory = rapid.Int64Range(1, 6).Draw(t, "needs")
			w.Work = time.Duration(rapid.Int64Range(0, 1<<62).Draw(t, "work"))
			w.Avoid = rapid.SliceOfN(rapid.SampledFrom(names), 0, 2).Draw(t, "avoid")
		})...)
	}
	for _, w := range queue.tasks {
		waiting[w.ID] = w
	}
	for _, pl := range p.Place(now, queue, offered, forecast, rand.New(rand.NewPCG(1, 1))) {
		w, ok := waiting[pl.Task]
		h := hosts[pl.Peer]
		switch {
		case !ok || h == nil || !h.Fits(&w):
			t.Fatalf("%v on %v breaks the rules", pl, h)
		case idleOnly && h.Idle() == 0:
			t.Fatalf("%v on %v, which has no idle slot", pl, h)
		case pl.Reason.String() == "":
			t.Fatalf("%v has no reason", pl)
		}
		if q, ok := p.(*FCFSPP); ok && forecast[pl.Peer].known && forecast[pl.Peer].p < q.Threshold-slip {
			t.Fatalf("%v though it stays with %v only", pl, forecast[pl.Peer].p)
		}
		delete(waiting, pl.Task)
		h.Take(&w)
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ spec, problem string }{
		{"", ""}, {"fcfs", ""}, {"fcfs:order=turn", ""}, {"fcfspp:t=1,n=1,m=1", ""},
		{"flp:lambda=1,interval=10m,from=first-prediction-day", ""}, {"flp:from=start", ""},
		{"psopp:particles=10,iterations=1,vmax=10,round=half-up", ""}, {"psopp:round=floor", ""},
		{"random", ""}, {"uptime", ""}, {"fastest", ""},
		{"nonsense", "use one of expected, fastest, fcfs, fcfspp, flp, gcmu, kpb, lpas, mct, met, psopp, random, uptime"},
		{"random:x=1", "use one of ahead"}, {"fcfspp:t=2", "from 0 to 1"}, {"fcfspp:n=0", "from 1 to 31"},
		{"fcfspp:reading=loud", "prefix"}, {"flp:lambda=0", "lambda=0"}, {"flp:interval=0s", "length of time"},
		{"flp:from=end", "first-prediction-day, start"}, {"psopp:iterations=1001", "from 1 to 1000"},
		{"psopp:round", "NAME=VALUE"},
	} {
		_, err := Parse(tt.spec)
		if tt.problem == "" && err != nil || tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)) {
			t.Errorf("%q: got %v, want %q", tt.spec, err, tt.problem)
		}
	}
	for _, name := range Names() {
		if !strings.Contains(Describe(), name) {
			t.Errorf("%s is not described", name)
		}
	}
}

func TestControls(t *testing.T) {
	at := func(h int) time.Time { return time.Date(2010, 4, 1, h, 0, 0, 0, time.UTC) }
	a, b, c := member("a", 1, 1, 1), member("b", 2, 2, 3), member("c", 1, 4, 2)
	a.Since, b.Since = at(3), at(2)
	for _, tt := range []struct{ spec, want string }{
		{"fcfs:order=turn", "j/0:a j/1:b j/2:c j/3:b"},
		{"fastest", "j/0:b j/1:b j/2:c j/3:a"},
		{"fastest:ahead=yes", "j/0:b j/1:b j/2:c j/3:a j/4:c j/5:c"},
		{"uptime", "j/0:b j/1:b j/2:a j/3:c"},
	} {
		p, err := Parse(tt.spec)
		if err != nil {
			t.Fatal(err)
		}
		got := placed(p.Place(at(4), &list{tasks: tasks("j", 6, nil)}, []Host{c, a, b}, Unknown{},
			rand.New(rand.NewPCG(1, 1))))
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.spec, got, tt.want)
		}
	}
}

// TestRandomIsFair: each of four members gets about a quarter.
func TestRandomIsFair(t *testing.T) {
	p, _ := Parse("random")
	hosts := []Host{member("a", 1, 1, 1), member("b", 1, 1, 2), member("c", 1, 1, 3), member("d", 1, 1, 4)}
	rng := rand.New(rand.NewPCG(1, 2))
	got := map[task.PeerID]int{}
	const rounds = 4000
	for range rounds {
		got[p.Place(time.Time{}, &list{tasks: tasks("j", 1, nil)}, hosts, Unknown{}, rng)[0].Peer]++
	}
	for _, h := range hosts {
		if n := got[h.Peer]; n < rounds/5 || n > rounds*3/10 { // 7 deviations
			t.Errorf("%s got %d of %d", h.Peer, n, rounds)
		}
	}
}

// TestTurnGoesOn: after r1 got a task and is idle again, it is r2's turn
// (Zhang section 7.4.2).
func TestTurnGoesOn(t *testing.T) {
	p := &Turn{}
	hosts := []Host{member("r1", 1, 1, 2), member("r2", 1, 1, 1)}
	want := []string{"j/0:r1", "j/0:r2", "j/0:r1"}
	for i, w := range want {
		if got := placed(p.Place(time.Time{}, &list{tasks: tasks("j", 1, nil)}, hosts, Unknown{}, nil)); got != w {
			t.Errorf("round %d: got %q, want %q", i, got, w)
		}
	}
}

// TestSkipsWhatFitsNowhere: a long job that needs too much memory does not use
// up the patience of a round.
func TestSkipsWhatFitsNowhere(t *testing.T) {
	queue := append(tasks("big", 10*maxMisses, func(w *Task) { w.Memory = 11 }), tasks("small", 1, nil)...)
	for _, name := range Names() {
		p, _ := Parse(name)
		q := &list{tasks: queue}
		if got := placed(p.Place(time.Time{}, q, []Host{member("a", 1, 1, 1)}, Unknown{},
			rand.New(rand.NewPCG(1, 1)))); got != "small/0:a" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestLength(t *testing.T) {
	for _, tt := range []struct {
		work  time.Duration
		speed float64
		want  time.Duration
	}{{time.Hour, 2, 30 * time.Minute}, {time.Hour, 0.5, 2 * time.Hour}, {time.Hour, 0, time.Hour}, {0, 2, 0},
		{time.Hour, 1e-300, longest}} {
		h := Host{Speed: tt.speed}
		if got := h.Length(&Task{Work: tt.work}); got != tt.want {
			t.Errorf("%v at %v: got %v, want %v", tt.work, tt.speed, got, tt.want)
		}
	}
}

// FuzzParse: whatever names a policy, it is refused or works.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "fcfs:order=turn", "flp:lambda=1e-6,interval=1s,from=start",
		"psopp:vmax=1e6,x=0,y=1e6", "psopp:particles=0x10", "fcfspp:t=-0,n=+1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse(s)
		if err != nil {
			return
		}
		hosts := []Host{member("a", 1, 2, 1), member("b", 2, 1, 0)}
		for h := range 2 {
			got := p.Place(time.Unix(int64(h)*3600, 0), &list{tasks: tasks("j", 9, nil)}, hosts, drawn{"a": {0.5, true}},
				rand.New(rand.NewPCG(1, 1)))
			if len(got) > 3 {
				t.Fatalf("%q: %d placements for a room of 3", s, len(got))
			}
		}
	})
}
