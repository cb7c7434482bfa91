package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/sim"
	"godwit/task"
	"godwit/trace"
	"pgregory.net/rapid"
)

var day0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// drawHistory makes a history of any states, observed or not.
func drawHistory(t *rapid.T) *trace.History {
	h := &trace.History{Host: "a"}
	at := day0.Add(time.Duration(rapid.IntRange(0, 500).Draw(t, "since")) * time.Second)
	for range rapid.IntRange(0, 12).Draw(t, "spells") {
		if s := trace.State(rapid.IntRange(0, int(trace.Unobserved)).Draw(t, "state")); s == trace.Unobserved {
			if err := h.Gap(at); err != nil {
				t.Fatal(err)
			}
		} else {
			note(h, at, s, 1)
		}
		at = at.Add(time.Duration(rapid.IntRange(1, 300).Draw(t, "length")) * time.Second)
	}
	h.Extend(at)
	return h
}

// stateAt is what a host does at a time, off where nobody looked.
func stateAt(h *trace.History, at time.Time) trace.State {
	i := h.Find(at)
	if i < 0 || !at.Before(h.Until()) || h.Spell(i).State == trace.Unobserved {
		return trace.Unavailable
	}
	return h.Spell(i).State
}

// A cut history says of its window what the whole one says, and its replay says
// the same at its own pace.
func TestCutHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		from := day0.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "from")) * time.Second)
		length := time.Duration(rapid.IntRange(1, 1000).Draw(t, "window")) * time.Second
		cut := cutHistory(h, from, from.Add(length))
		if !cut.Since().Equal(from) || !cut.Until().Equal(from.Add(length)) {
			t.Fatalf("the cut goes from %v to %v", cut.Since(), cut.Until())
		}
		c := clockwork{start: from, begun: day0.Add(time.Hour), speedup: 10}
		real := c.realHistory(cut)
		for at := from.Add(time.Second / 2); at.Before(from.Add(length)); at = at.Add(time.Second) {
			if got, want := stateAt(cut, at), stateAt(h, at); got != want {
				t.Fatalf("%v after the start: %v, want %v", at.Sub(from), got, want)
			}
			if got, want := stateAt(real, c.real(at)), stateAt(h, at); got != want {
				t.Fatalf("%v after the start of the replay: %v, want %v", at.Sub(from), got, want)
			}
		}
	})
}

// Hosts are drawn by the seed, only such as are available in the window, and
// those of one draw stand in the trace's order.
func TestCutTraceDraws(t *testing.T) {
	all := &trace.Trace{Start: day0, End: day0.Add(time.Hour)}
	for i := range 40 {
		h := &trace.History{Host: string(rune('A' + i))}
		note(h, day0, trace.UserPresent, 0)
		if i%2 == 0 {
			note(h, day0.Add(10*time.Minute), trace.Available, 1)
		}
		h.Extend(all.End)
		all.Hosts = append(all.Hosts, trace.Host{History: h})
	}
	names := func(seed uint64) (out []string) {
		cut, err := cutTrace(all, 8, day0.Add(5*time.Minute), 20*time.Minute, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range cut.Hosts {
			if timeIn(h.History, trace.Available) != 15*time.Minute {
				t.Errorf("host %s is available for %v", h.History.Host, timeIn(h.History, trace.Available))
			}
			out = append(out, h.History.Host)
		}
		return out
	}
	if a := names(1); !slices.Equal(a, names(1)) || slices.Equal(a, names(2)) || !slices.IsSorted(a) {
		t.Errorf("seed 1 drew %v and %v, seed 2 %v", a, names(1), names(2))
	}
	for _, bad := range []struct {
		n            int
		from, length time.Duration
	}{{21, 0, time.Hour}, {1, 0, 5 * time.Minute}, {1, -time.Second, time.Minute}, {1, 50 * time.Minute, 11 * time.Minute}} {
		if _, err := cutTrace(all, bad.n, day0.Add(bad.from), bad.length, 1); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// Arrivals written as times bring the same jobs.
func TestArrivalsAsTimes(t *testing.T) {
	s := &sim.Scenario{Start: day0, End: day0.Add(100 * time.Hour), Workload: sim.Workload{Classes: []sim.Class{
		{Arrival: sim.Poisson, Interval: 10 * time.Minute, Work: time.Hour, WorkLaw: sim.Exponential},
		{Arrival: sim.Every, Interval: time.Hour, From: time.Hour, To: 3 * time.Hour, Work: time.Minute, Tasks: 4},
	}}}
	jobs, err := arrivals(s, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(jobs); n < 530 || n > 680 { // 602, with a standard deviation of 25
		t.Errorf("%d jobs in 100 hours", n)
	}
	s.Workload.Classes = asTimes(jobs, 0)
	again, err := arrivals(s, rand.New(rand.NewPCG(2, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again, jobs) {
		t.Errorf("%d jobs became %d others", len(jobs), len(again))
	}
	for _, c := range []sim.Class{{Arrival: sim.Saturated}, {Arrival: sim.Every}, {Arrival: sim.Poisson, Interval: time.Nanosecond}} {
		s.Workload.Classes = []sim.Class{c}
		if _, err := arrivals(s, rand.New(rand.NewPCG(1, 1))); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}

// A host counts as there from when its node is ready.
func TestPlayed(t *testing.T) {
	h := &trace.History{Host: "a"}
	at := func(s int) time.Time { return day0.Add(time.Duration(s) * time.Second) }
	for i, s := range []trace.State{trace.UserPresent, trace.Available, trace.Unavailable, trace.Available, trace.Unavailable, trace.Available} {
		note(h, at(10*i), s, 1)
	}
	h.Extend(at(60))
	p := &player{history: h, clock: clockwork{start: day0, begun: day0, speedup: 1}, ups: []uptime{
		{from: at(0), to: at(20), ready: at(12)}, {from: at(30), to: at(40)}, {from: at(50), to: at(60), ready: at(51)},
	}}
	got := p.played()
	for s, want := range map[int]trace.State{0: trace.Unavailable, 11: trace.Unavailable, 12: trace.Available, 20: trace.Unavailable,
		30: trace.Unavailable, 39: trace.Unavailable, 50: trace.Unavailable, 51: trace.Available, 59: trace.Available} {
		if state := stateAt(got, at(s)); state != want {
			t.Errorf("at %d s: %v, want %v", s, state, want)
		}
	}
}

// What is counted of attempts is as the simulator counts.
func TestReplayReport(t *testing.T) {
	h := &trace.History{Host: "a"}
	note(h, day0, trace.Available, 1)
	h.Extend(day0.Add(1000 * time.Second))
	begun := day0.Add(time.Hour)
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	r := &replay{clock: clockwork{start: day0, begun: begun, speedup: 10}, plan: &replayPlan{speedup: 10, scenario: &sim.Scenario{
		Trace: &trace.Trace{Start: day0, End: day0.Add(1000 * time.Second), Hosts: []trace.Host{{History: h}}}, Start: day0, End: day0.Add(1000 * time.Second)}}}
	r.players = []*player{{peer: "p", history: h, clock: r.clock, ups: []uptime{{from: at(0), to: at(100), ready: at(0)}}}}
	for range 4 {
		r.handed = append(r.handed, handedJob{planned: plannedJob{work: 100 * time.Second, tasks: 1}})
	}
	attempt := func(from, to float64, outcome string) message.AttemptStatus {
		a := message.AttemptStatus{Worker: "p", Start: at(from), Outcome: outcome}
		if to > 0 {
			a.End = at(to)
		}
		return a
	}
	job := func(i int, attempts ...message.AttemptStatus) message.JobStatus {
		return message.JobStatus{ID: task.JobID(jobName(i)), Name: jobName(i), Submitted: at(1), TasksList: []message.TaskStatus{{Attempts: attempts}}}
	}
	rep := r.report([]message.JobStatus{
		job(0, attempt(5, 7, "lost"), attempt(10, 20, "completed")),
		job(1, attempt(20, 22, "interrupted"), attempt(30, 40, "completed")),
		job(2, attempt(90, 0, "")),
		job(3, attempt(95, 105, "completed")), // after the end
	})
	if rep.Arrived != 4 || rep.Allocated != 6 || rep.Succeeded != 2 || rep.Failed != 1 || rep.Returned != 1 || rep.Unfinished != 2 {
		t.Errorf("got %+v", rep)
	}
	if rep.UsefulS != 200 || rep.WastedS != 40 || rep.PendingS != 150 || rep.IdleS != 610 {
		t.Errorf("useful %v, wasted %v, pending %v, idle %v", rep.UsefulS, rep.WastedS, rep.PendingS, rep.IdleS)
	}
	if rep.Response.Mean != 290 || rep.Makespan.Max != 200 || *rep.SuccessPct < 66 || *rep.SuccessPct > 67 || *rep.ProcessPct != 50 {
		t.Errorf("response %+v, makespan %+v, success %v, process %v", rep.Response, rep.Makespan, *rep.SuccessPct, *rep.ProcessPct)
	}
}

// A task that was moved was placed once, and nothing of it is wasted; what a task
// did since its last checkpoint is. Of one that was moved and did not begin again
// the state is left.
func TestReplayReportMoves(t *testing.T) {
	h := &trace.History{Host: "a"}
	note(h, day0, trace.Available, 1)
	h.Extend(day0.Add(1000 * time.Second))
	begun := day0.Add(time.Hour)
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	hosts := []trace.Host{{History: h}, {History: h}}
	r := &replay{clock: clockwork{start: day0, begun: begun, speedup: 10}, plan: &replayPlan{speedup: 10, placement: "uptime", migration: "pspp", scenario: &sim.Scenario{
		Trace: &trace.Trace{Start: day0, End: day0.Add(1000 * time.Second), Hosts: hosts}, Start: day0, End: day0.Add(1000 * time.Second)}}}
	for _, peer := range []task.PeerID{"p", "q"} {
		r.players = append(r.players, &player{peer: peer, history: h, clock: r.clock, ups: []uptime{{from: at(0), to: at(100), ready: at(0)}}})
	}
	var jobs []message.JobStatus
	for i, attempts := range [][]message.AttemptStatus{
		{{Worker: "p", Start: at(0), End: at(4), Outcome: "moved", MovedTo: "q"}, {Worker: "q", Start: at(4), End: at(10), Outcome: "completed", SavedCPU: 4}},
		{{Worker: "p", Start: at(0), End: at(7), Outcome: "lost"}, {Worker: "q", Start: at(20), End: at(25), Outcome: "completed", SavedCPU: 5}},
		{{Worker: "p", Start: at(90), End: at(97), Outcome: "moved", MovedTo: "q"}},
	} {
		r.handed = append(r.handed, handedJob{planned: plannedJob{work: 100 * time.Second, tasks: 1}})
		jobs = append(jobs, message.JobStatus{Name: jobName(i), Submitted: at(0), TasksList: []message.TaskStatus{{Attempts: attempts}}})
	}
	rep := r.report(jobs)
	if rep.Policy != "uptime" || rep.Migration != "pspp" || rep.Allocated != 4 || rep.Succeeded != 2 || rep.Failed != 1 || rep.Returned != 0 || rep.Migrations != 2 {
		t.Errorf("got %+v", rep)
	}
	if rep.UsefulS != 200 || rep.WastedS != 20 || rep.PendingS != 70 || rep.IdleS != 2000-290 {
		t.Errorf("useful %v, wasted %v, pending %v, idle %v", rep.UsefulS, rep.WastedS, rep.PendingS, rep.IdleS)
	}
}
