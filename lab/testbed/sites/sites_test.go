package sites

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/lab/testbed"
	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/measure"
	"godwit/scheduler/message"
	"godwit/sim/scenario"
	"godwit/task"
	"godwit/trace"
)

// planKoala plans a scenario file that comes with the program, with flags given or not.
func planKoala(t *testing.T, file string, given bool) *program {
	t.Helper()
	o := &Options{Scenario: "../../../examples/scenarios/" + file}
	if given {
		o.Cores, o.Seed, o.OneSeed, o.Speedup, o.Minutes = 2, 7, true, 600, 0.1
	}
	e, err := o.read()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	p, err := o.plan(e)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return p
}

func TestBagsPlan(t *testing.T) {
	p := planKoala(t, "koala-three.yaml", false)
	if len(p.sites) != 19 || p.sites[5] != "VU" || p.sites[6] != "LU" || p.slots != 4 || p.speedup != 90 ||
		p.length != time.Hour {
		t.Errorf("%v; %d slots, %v times as fast, %v", p.sites, p.slots, p.speedup, p.length)
	}
	if len(p.runs) != 6 || p.runs[0] != (run{0, "sep", 1}) || p.runs[5] != (run{2, "gep", 1}) || len(p.jobs) != 3 {
		t.Errorf("runs %v of jobs %v", p.runs, p.jobs)
	}
	f, err := task.ParseFile("x", []byte(p.text(&p.jobs[1])))
	if err != nil || f.Work != 2*time.Second || f.Name != "two" {
		t.Errorf("%+v, %v", f, err)
	}
	p = planKoala(t, "koala-two.yaml", true)
	if p.speedup != 600 || p.length != time.Hour || p.slots != 2 || p.runs[0].seed != 7 || len(p.jobs) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	o := &Options{Options: testbed.Options{Cores: 1}, Scenario: "../../../examples/scenarios/mgst1.yaml"}
	if _, err := o.read(); err == nil || !strings.Contains(err.Error(), "the scenario has rates of classes") {
		t.Errorf("a scenario without sites: %v", err)
	}
}

// What nodes of sites do not heed is refused.
func TestSitesRefuse(t *testing.T) {
	for want, change := range map[string]func(e *scenario.Experiment){
		"leave past out":      func(e *scenario.Experiment) { e.Past = 10 * 24 * time.Hour },
		"leave predictor out": func(e *scenario.Experiment) { e.Base.Predictor = "tde" },
	} {
		o := &Options{Scenario: "../../../examples/scenarios/koala-two.yaml"}
		e, err := o.read()
		if err != nil {
			t.Fatal(err)
		}
		change(e)
		if _, err := o.plan(e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Nodes play what owners do in each run, at its time; nobody is there between, and
// never at the first.
func TestBagsSchedule(t *testing.T) {
	p := planKoala(t, "koala-three.yaml", false)
	b := &player{program: p}
	histories, err := b.schedule(day0, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if !b.begin[0].Equal(day0.Add(10*time.Second)) || !b.begin[1].Equal(b.begin[0].Add(40*time.Second+runGap)) {
		t.Errorf("runs begin at %v", b.begin)
	}
	if b.owned[0] != b.owned[1] || b.owned[2] <= b.owned[0] {
		t.Errorf("owners have %v of the time", b.owned)
	}
	for i, h := range histories {
		present := clock.TimeIn(h, trace.UserPresent)
		if (i == 0) != (present == 0) {
			t.Errorf("node %d has an owner for %v", i, present)
		}
		for k := range h.Len() {
			s := h.Spell(k)
			within := slices.ContainsFunc(b.begin, func(at time.Time) bool {
				return !s.Start.Before(at) && !s.End.After(at.Add(40*time.Second))
			})
			if s.State == trace.UserPresent && !within {
				t.Errorf("node %d has an owner between runs, from %v to %v", i, s.Start, s.End)
			}
		}
	}
}

// Published figures come to what is published of them.
func TestFairSum(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 0.0006 }
	for _, c := range []struct {
		throughput, gone []float64
		want             fairness
	}{
		{[]float64{0.0427, 0.0391, 0.0360}, []float64{568, 564, 565}, fairness{0.1178, 0.186, 0.995, 1697, 4}},
		{[]float64{0.0858, 0.0366, 0.0258}, nil, fairness{0.1482, 2.326, 0.782, -1, -1}},
		{[]float64{0, 1}, []float64{1, 4}, fairness{1, -1, 0.5, 5, 3}},
		{[]float64{0, 0}, nil, fairness{0, -1, 1, -1, -1}},
	} {
		got := fairnessOf(c.throughput, c.gone)
		if !near(got.Throughput, c.want.Throughput) || !near(got.Spread, c.want.Spread) || !near(got.Jain, c.want.Jain) ||
			got.Preempted != c.want.Preempted || got.Apart != c.want.Apart {
			t.Errorf("%v, %v: %+v, want %+v", c.throughput, c.gone, got, c.want)
		}
	}
}

// What is counted ended within the time that all jobs were there.
func TestBagsCount(t *testing.T) {
	p := planKoala(t, "koala-two.yaml", false)
	p.speedup, p.e.Base.Warmup = 10, 20*time.Second
	at := func(s int) time.Time { return day0.Add(time.Duration(s) * time.Second) }
	b := &player{program: p, begin: []time.Time{day0}, owned: []float64{0.25}, histories: []*trace.History{{}},
		sw: &testbed.Swarm{Nodes: []*testbed.Node{{Ready: testbed.Ready{PeerID: "a"}}}}}
	job := func(attempts ...message.AttemptStatus) message.JobStatus {
		return message.JobStatus{State: message.JobRunning, TasksList: []message.TaskStatus{{Attempts: attempts}}}
	}
	ended := func(s int, outcome string) message.AttemptStatus {
		return message.AttemptStatus{Worker: "a", End: at(s), Outcome: outcome}
	}
	rep := b.count(0, []*bag{{job: &p.jobs[0], taken: at(1)}, {job: &p.jobs[1], taken: at(3)}}, []message.JobStatus{
		job(ended(2, "completed"), ended(4, "completed"), ended(5, "interrupted"), ended(6, measure.OutcomeRefused),
			ended(7, "completed"), message.AttemptStatus{Worker: "a"}),
		job(ended(8, "completed"), ended(14, "completed")),
	}, at(13))
	if rep.CountedS != 100 || rep.Jobs[0].Completed != 2 || rep.Jobs[0].Preempted != 1 || rep.Jobs[1].Completed != 1 ||
		rep.Jobs[0].Sites["VU"] != 2 || rep.Spread != 1 {
		t.Errorf("%+v", rep)
	}
	over := job(ended(4, "completed"), ended(8, "completed"))
	over.State = message.JobDone
	rep = b.count(0, []*bag{{job: &p.jobs[0], taken: at(1)}, {job: &p.jobs[1], taken: at(1)}},
		[]message.JobStatus{over, job(ended(9, "completed"))}, at(13))
	if rep.CountedS != 60 || rep.Jobs[0].Completed != 2 || rep.Jobs[1].Completed != 0 || rep.Spread != -1 {
		t.Errorf("the first job is over after 8 s: %+v", rep)
	}
	full := p.report()
	full.Runs = append(full.Runs, *rep)
	var out bytes.Buffer
	if err := full.print(&out); err != nil || !strings.Contains(out.String(), "Free  sep") &&
		!strings.Contains(out.String(), "Free") {
		t.Errorf("%v:\n%s", err, out.String())
	}
}

// The slots of an interval are divided among local users, jobs and nobody.
func TestUsageSumsUpToAllSlots(t *testing.T) {
	p := planKoala(t, "koala-two.yaml", false)
	p.slots, p.speedup, p.length = 2, 10, 1200*time.Second // an interval is a second
	at := func(s float64) time.Time { return day0.Add(time.Duration(s * float64(time.Second))) }
	away, owned := &trace.History{}, &trace.History{}
	clock.Note(away, day0, trace.Available, 1)
	clock.Note(owned, day0, trace.Available, 1)
	clock.Note(owned, at(2), trace.UserPresent, 0)
	clock.Note(owned, at(4.5), trace.Available, 1)
	away.Extend(at(200))
	owned.Extend(at(200))
	b := &player{program: p, begin: []time.Time{day0}, owned: []float64{0}, histories: []*trace.History{away, owned},
		sw: &testbed.Swarm{Nodes: []*testbed.Node{{Ready: testbed.Ready{PeerID: "a"}}, {Ready: testbed.Ready{PeerID: "b"}}}}}
	ran := func(worker string, from, to float64) message.AttemptStatus {
		a := message.AttemptStatus{Worker: task.PeerID(worker), Start: at(from - 0.1), Began: at(from), Outcome: "completed"}
		if to > 0 {
			a.End = at(to)
		}
		return a
	}
	refused := ran("a", 0, 9)
	refused.Outcome = measure.OutcomeRefused
	queued := message.AttemptStatus{Worker: "b", Start: at(5)} // given ahead to a node that is full
	job := func(attempts ...message.AttemptStatus) message.JobStatus {
		return message.JobStatus{State: message.JobRunning, TasksList: []message.TaskStatus{{Attempts: attempts}}}
	}
	u := b.usage(0, []*bag{{job: &p.jobs[0]}, {job: &p.jobs[1]}}, []message.JobStatus{
		job(ran("a", 0.5, 2), refused, ran("b", 1, 6), ran("elsewhere", 0, 9)),
		job(ran("b", 5, 0), queued),
	})
	for k, want := range [][4]float64{ // local, jobs, idle
		{0, 0.5, 0, 3.5}, {0, 2, 0, 2}, {2, 0, 0, 2}, {2, 0, 0, 2}, {1, 0.5, 0, 2.5}, {0, 2. / 3, 4. / 3, 2}, {0, 0, 2, 2},
	} {
		for i, got := range []float64{u.Local[k], u.Jobs[0][k], u.Jobs[1][k], u.Idle[k]} {
			if math.Abs(got-want[i]) > 1e-6 {
				t.Errorf("interval %d: %v has %v slots, want %v", k, i, got, want[i])
			}
		}
	}
	rep := p.report()
	rep.Runs = []runReport{{Load: "Free", Fairness: "sep", Seed: 1, Usage: *u, Jobs: []jobReport{{Name: "one"}, {Name: "=two"}}}}
	var out bytes.Buffer
	if err := rep.writeUsage(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != intervals+2 || lines[0] != "load,fairness,seed,second,local,one,'=two,idle" ||
		lines[6] != "Free,sep,1,50,0,0.667,1.333,2" {
		t.Errorf("%d lines: %q, %q", len(lines), lines[0], lines[6])
	}
	if charts := rep.charts(); len(charts) != 1 || len(charts[0].Curves) != 4 || charts[0].Curves[0].Y[2]*float64(rep.Slots) != 200 {
		t.Errorf("%+v", charts)
	}
}

var day0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
