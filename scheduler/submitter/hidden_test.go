package submitter

import (
	"slices"
	"testing"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A result that hides how it was made counts for nothing: others run the task, its worker is kept away from
// the job, and nobody is named.
func TestNoResult(t *testing.T) {
	hide := func(r task.Result, trail *task.Trail) task.Result {
		r.Trail = trail
		return r
	}
	for name, tt := range map[string]struct {
		trail *task.Trail // that its worker signs
		seen  bool        // this node ran a task of the job before, and the program leaves a trail
		none  bool
	}{
		"a trail":                     {trail: &task.Trail{Pass: 1, Fuel: 100, Engine: "amd64"}, seen: true},
		"one that names no engine":    {trail: &task.Trail{Pass: 1, Fuel: 100}, seen: true},
		"interpreted":                 {trail: &task.Trail{Pass: 1, Fuel: 100, Engine: task.EngineInterpreter}},
		"no trail where one is":       {seen: true, none: true},
		"no trail, nothing is known":  {},
		"an engine that nobody has":   {trail: &task.Trail{Pass: 1, Fuel: 100, Engine: "abacus"}, none: true},
		"one of another architecture": {trail: &task.Trail{Pass: 1, Fuel: 100, Engine: "arm64"}, seen: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newAuditBench(t, 3, "full")
			if tt.seen {
				b.bring(b.made(b.task(0), 3, truth, "amd64"))
			}
			r := hide(b.made(b.task(1), 2, truth, "amd64"), tt.trail)
			b.do(&message.Received{From: b.self, Message: &message.Message{Progress: &message.Progress{Job: b.id,
				Summary: message.JobSummary{State: message.JobRunning, Total: 3},
				Tasks:   []message.TaskSummary{{Index: 1, Results: []task.Result{r}}}}}})
			if got := slices.Contains(b.lacks(), 1); got != tt.none {
				t.Errorf("lacking: %v", b.lacks())
			}
			if got := slices.Contains(b.s.audits.refused(b.s.jobs[b.id]), r.Worker); got != tt.none {
				t.Errorf("kept away: %v", got)
			}
			if b.faults(2) > 0 {
				t.Error("it is named")
			}
		})
	}
}

// A worker whose results show no trail is found out when this node runs a task of the job itself: all that
// was taken of it is none.
func TestTrailIsSeenLater(t *testing.T) {
	b := newAuditBench(t, 20, "1e-6")
	b.s.cfg.Pool.Least = 0
	b.s.audits.credit(peerOf(2)).Known, b.s.audits.credit(peerOf(2)).At = 1e9, b.now // so that nothing of it is drawn
	for i := range uint64(2) {
		key, _ := schedtest.Identity(2)
		r := schedtest.Result(t, key, b.task(i), truth)
		b.bring(r)
	}
	if c := b.allChecks(); c.Accepted+c.Final != 2 || len(b.lacks()) != 18 {
		t.Fatalf("%+v", c)
	}
	b.bring(b.made(b.task(2), 3, truth, "amd64"))
	if got := b.lacks(); !slices.Equal(got[:3], []uint64{0, 1, 3}) {
		t.Errorf("lacking are %v", got)
	}
	if b.faults(2) > 0 || !slices.Contains(b.s.audits.refused(b.s.jobs[b.id]), peerOf(2)) {
		t.Errorf("%d faults, kept away %v", b.faults(2), b.s.audits.refused(b.s.jobs[b.id]))
	}
}
