package replay

import (
	"testing"
	"time"

	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/plan"
	"godwit/scheduler/message"
	"godwit/sim"
	"godwit/task"
	"godwit/trace"
)

// What is counted of attempts is as the simulator counts.
func TestReplayReport(t *testing.T) {
	h := &trace.History{Host: "a"}
	clock.Note(h, day0, trace.Available, 1)
	h.Extend(day0.Add(1000 * time.Second))
	begun := day0.Add(time.Hour)
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	r := &replay{clock: clock.Clock{Start: day0, Begun: begun, Speedup: 10},
		plan: &plan.Plan{Speedup: 10, Scenario: &sim.Scenario{
			Trace: &trace.Trace{Start: day0, End: day0.Add(1000 * time.Second), Hosts: []trace.Host{{History: h}}}, Start: day0,
			End: day0.Add(1000 * time.Second)}}}
	r.players = []*player{{peer: "p", history: h, clock: r.clock, ups: []uptime{{from: at(0), to: at(100), ready: at(0)}}}}
	for range 4 {
		r.handed = append(r.handed, handedJob{planned: plan.Job{Work: 100 * time.Second, Tasks: 1}})
	}
	attempt := func(from, to float64, outcome string) message.AttemptStatus {
		a := message.AttemptStatus{Worker: "p", Start: at(from), Outcome: outcome}
		if to > 0 {
			a.End = at(to)
		}
		return a
	}
	job := func(i int, attempts ...message.AttemptStatus) message.JobStatus {
		return message.JobStatus{ID: task.JobID(jobName(i)), Name: jobName(i), Submitted: at(1),
			TasksList: []message.TaskStatus{{Attempts: attempts}}}
	}
	rep := r.count([]message.JobStatus{
		job(0, attempt(5, 7, "lost"), attempt(10, 20, "completed")),
		job(1, attempt(20, 22, "interrupted"), attempt(30, 40, "completed")),
		job(2, attempt(90, 0, "")),
		job(3, attempt(95, 105, "completed")), // after the end
	})
	if rep.Arrived != 4 || rep.Allocated != 6 || rep.Succeeded != 2 || rep.Failed != 1 || rep.Returned != 1 ||
		rep.Unfinished != 2 {
		t.Errorf("got %+v", rep)
	}
	if rep.UsefulS != 200 || rep.WastedS != 40 || rep.PendingS != 150 || rep.IdleS != 610 {
		t.Errorf("useful %v, wasted %v, pending %v, idle %v", rep.UsefulS, rep.WastedS, rep.PendingS, rep.IdleS)
	}
	if rep.Response.Mean != 290 || rep.Makespan.Max != 200 || *rep.SuccessPct < 66 || *rep.SuccessPct > 67 ||
		*rep.ProcessPct != 50 {
		t.Errorf("response %+v, makespan %+v, success %v, process %v", rep.Response, rep.Makespan, *rep.SuccessPct,
			*rep.ProcessPct)
	}
}

// A task that was moved was placed once, and nothing of it is wasted; what a task
// did since its last checkpoint is. Of one that was moved and did not begin again
// the state is left.
func TestReplayReportMoves(t *testing.T) {
	h := &trace.History{Host: "a"}
	clock.Note(h, day0, trace.Available, 1)
	h.Extend(day0.Add(1000 * time.Second))
	begun := day0.Add(time.Hour)
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	hosts := []trace.Host{{History: h}, {History: h}}
	r := &replay{clock: clock.Clock{Start: day0, Begun: begun, Speedup: 10},
		plan: &plan.Plan{Speedup: 10, Placement: "uptime", Migration: "pspp", Scenario: &sim.Scenario{
			Trace: &trace.Trace{Start: day0, End: day0.Add(1000 * time.Second), Hosts: hosts}, Start: day0,
			End: day0.Add(1000 * time.Second)}}}
	for _, peer := range []task.PeerID{"p", "q"} {
		r.players = append(r.players, &player{peer: peer, history: h, clock: r.clock,
			ups: []uptime{{from: at(0), to: at(100), ready: at(0)}}})
	}
	var jobs []message.JobStatus
	for i, attempts := range [][]message.AttemptStatus{
		{{Worker: "p", Start: at(0), End: at(4), Outcome: "moved", MovedTo: "q"},
			{Worker: "q", Start: at(4), End: at(10), Outcome: "completed", SavedCPU: 4}},
		{{Worker: "p", Start: at(0), End: at(7), Outcome: "lost"},
			{Worker: "q", Start: at(20), End: at(25), Outcome: "completed", SavedCPU: 5}},
		{{Worker: "p", Start: at(90), End: at(97), Outcome: "moved", MovedTo: "q"}},
	} {
		r.handed = append(r.handed, handedJob{planned: plan.Job{Work: 100 * time.Second, Tasks: 1}})
		jobs = append(jobs, message.JobStatus{Name: jobName(i), Submitted: at(0),
			TasksList: []message.TaskStatus{{Attempts: attempts}}})
	}
	rep := r.count(jobs)
	if rep.Policy != "uptime" || rep.Migration != "pspp" || rep.Allocated != 4 || rep.Succeeded != 2 || rep.Failed != 1 ||
		rep.Returned != 0 || rep.Migrations != 2 {
		t.Errorf("got %+v", rep)
	}
	if rep.UsefulS != 200 || rep.WastedS != 20 || rep.PendingS != 70 || rep.IdleS != 2000-290 {
		t.Errorf("useful %v, wasted %v, pending %v, idle %v", rep.UsefulS, rep.WastedS, rep.PendingS, rep.IdleS)
	}
}

var day0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
