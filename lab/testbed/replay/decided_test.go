package replay

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/plan"
	"godwit/node"
	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/sim"
	"godwit/task"
	"godwit/trace"
)

// Decisions count by what they rest on. A move counts as one before the host left if the host left later.
func TestDecisionsCountByBasis(t *testing.T) {
	begun := day0.Add(time.Hour)
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	r := &replay{clock: clock.Clock{Start: day0, Begun: begun, Speedup: 10},
		plan: &plan.Plan{Scenario: &sim.Scenario{Start: day0, End: day0.Add(1000 * time.Second)}}}
	for _, u := range []struct {
		peer task.PeerID
		to   time.Time
	}{{"stays", at(100)}, {"leaves", at(50)}} {
		p := &player{peer: u.peer, ups: []uptime{{from: at(0), to: u.to, ready: at(0)}}}
		p.planned = whole(string(u.peer))
		r.players = append(r.players, p)
	}
	r.handed = []handedJob{{planned: plan.Job{Tasks: 2}, id: "j"}}
	r.decided.seen = map[node.Decision]bool{}
	for i, reason := range []string{
		"next in order; the next in turn that stays for 24s with probability 1, and 1 is asked for",
		"next in order; the next in turn, of which nothing is known that speaks against it",
		"moved there: guests get 20 % of its speed, under 25 %; next in order",
		"moved there: it gave notice that it goes or takes no guests any more",
		"moved there: nothing else of its job waits: it should end 3m30s sooner",
		"next in order; the next idle member in turn",
		"after the end",
	} {
		r.decided.seen[node.Decision{At: at(float64(i * 18)), Action: "placed", Task: "j/0", Peer: "stays", Reason: reason}] = true
	}
	all := r.decisions()
	var got []string
	for _, d := range all {
		got = append(got, string(d.Basis))
	}
	if want := "history fallback cpu notice tail order"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	moved := func(from task.PeerID, s float64) message.TaskStatus {
		return message.TaskStatus{Attempts: []message.AttemptStatus{{Worker: from, Start: at(1), End: at(s), Outcome: "moved"}}}
	}
	c := r.countDecisions(all, []message.JobStatus{{TasksList: []message.TaskStatus{moved("leaves", 40), moved("leaves", 60),
		moved("stays", 40)}}}, 1)
	if want := (counted{Decisions: 6, History: 1, CPU: 1, Notice: 1, Fallback: 1, MovedBefore: 1, Done: 1, Tasks: 2}); *c != want {
		t.Errorf("got %+v, want %+v", *c, want)
	}
	reps := runs{{name: "fine", Counted: &counted{Decisions: 3}}, {name: "blind", Counted: c}}
	if err := reps.checkForecasts(); err == nil || !strings.Contains(err.Error(), "blind: 1 of 6 decisions had no forecast") {
		t.Errorf("got %v", err)
	}
}

// Each scenario of a published policy is a plan for four nodes that have ten days of the trace.
func TestPublishedScenariosHavePast(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "examples", "scenarios", publishedFiles))
	if err != nil || len(files) != 8 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, file := range files {
		f := plan.Options{Scenario: file, Speedup: 20, Minutes: plan.Minutes, JobSize: plan.JobSize, Policy: place.Default,
			Migration: plan.NoMigration, Ends: plan.EndAsTraced}
		plans, err := f.Plans(4, 1, 1)
		if err != nil || len(plans) != 1 || len(plans[0].Past) != 4 || plans[0].PastSource != "from the trace" ||
			plans[0].Scenario.Predictor != "tde" || !plans[0].Founds() {
			t.Errorf("%s: %+v, %v", file, plans, err)
			continue
		}
		if h := plans[0].Past[3]; h.Until().Sub(h.Since()) != 10*24*time.Hour || h.Len() < 40 {
			t.Errorf("%s: a past of %v in %d spells", file, h.Until().Sub(h.Since()), h.Len())
		}
	}
}

// whole is the history of a host that is always there.
func whole(name string) *trace.History {
	h := &trace.History{Host: name}
	clock.Note(h, day0, trace.Available, 1)
	h.Extend(day0.Add(1000 * time.Second))
	return h
}
