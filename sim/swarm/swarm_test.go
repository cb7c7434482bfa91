package swarm

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"godwit/scheduler"
	"godwit/sim"
	"godwit/trace"
)

var day0 = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// A spell of a test's host: a state from a time on.
type spell struct {
	from  time.Duration
	state trace.State
}

// hosts makes a trace of hosts with the spells given, until end.
func hosts(t testing.TB, end time.Duration, all ...[]spell) *trace.Trace {
	t.Helper()
	tr := &trace.Trace{Name: "test", Synthetic: "by hand", Start: day0, End: day0.Add(end)}
	for _, spells := range all {
		h := &trace.History{}
		for _, s := range spells {
			cpu, err := 0.0, error(nil)
			switch s.state {
			case trace.Unobserved:
				err = h.Gap(day0.Add(s.from))
			case trace.Available:
				cpu = 1
				fallthrough
			default:
				err = h.Append(day0.Add(s.from), s.state, cpu)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		h.Extend(tr.End)
		tr.Hosts = append(tr.Hosts, trace.Host{History: h})
	}
	return tr
}

// always is a host that is never gone.
var always = []spell{{0, trace.Available}}

func repeat(n int, s []spell) (out [][]spell) {
	for range n {
		out = append(out, s)
	}
	return out
}

func scenario(tr *trace.Trace, classes ...sim.Class) *sim.Scenario {
	return &sim.Scenario{
		Trace: tr, Workload: sim.Workload{Classes: classes, Requeue: true},
		Network: sim.Network{Delay: 20 * time.Millisecond, Detect: time.Second},
	}
}

func mustRun(t testing.TB, s *sim.Scenario, o Options) (*sim.Report, Stats) {
	t.Helper()
	var stats Stats
	o.Stats = &stats
	r, err := Run(s, o)
	if err != nil {
		t.Fatal(err)
	}
	sum, available := r.UsefulS+r.WastedS+r.IdleS+r.PendingS, 0.0
	for _, d := range r.PerDay {
		available += d.AvailableS
	}
	if s.Warmup == 0 && math.Abs(sum-available) > 1e-3 {
		t.Errorf("host time is %v s in all, and %v s were available", sum, available)
	}
	return r, stats
}

func text(t testing.TB, r *sim.Report) string {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAllAvailable: hosts that are always there finish all that comes, and every
// result reaches its submitter.
func TestAllAvailable(t *testing.T) {
	s := scenario(hosts(t, 2*time.Hour, repeat(6, always)...),
		sim.Class{Name: "a", Arrival: sim.Every, Interval: time.Minute, To: 100 * time.Minute, Work: 3 * time.Minute,
			Tasks: 2},
		sim.Class{Name: "b", Arrival: sim.AtTimes, Times: []time.Duration{time.Hour}, Work: time.Second, Tasks: 50})
	r, stats := mustRun(t, s, Options{})
	if r.Arrived != 250 || r.Succeeded != r.Arrived || r.Failed != 0 || stats.Undelivered != 0 || stats.Takeovers != 1 {
		t.Errorf("of %d tasks %d are done and %d lost, %d not delivered; %d led", r.Arrived, r.Succeeded, r.Failed,
			stats.Undelivered, stats.Takeovers)
	}
}

// at is a time in hours.
func at(hours float64) time.Duration { return time.Duration(hours * float64(time.Hour)) }

// churning is a scenario in which owners come back, and hosts die and say
// goodbye.
func churning(t testing.TB) *sim.Scenario {
	tr := hosts(t, at(3), append(repeat(2, always),
		[]spell{{0, trace.Available}, {at(.3), trace.UserPresent}, {at(.4), trace.Available}, {at(1), trace.CPUBusy},
			{at(2), trace.Available}},
		[]spell{{0, trace.Available}, {at(.6), trace.Unavailable}, {at(1), trace.Available}},
		[]spell{{0, trace.Available}, {at(1.5), trace.Leaving}, {at(1.6), trace.Unavailable}, {at(2), trace.Available}},
		[]spell{{at(.2), trace.Available}, {at(2.2), trace.Unobserved}})...)
	s := scenario(tr, sim.Class{Arrival: sim.Poisson, Interval: 2 * time.Minute, To: at(2.2), Work: 8 * time.Minute,
		WorkLaw: sim.Exponential, State: 1 << 20})
	s.Hosts.Grace = 10 * time.Minute
	s.Checkpoints = sim.Checkpoints{Every: 2 * time.Minute, Pause: time.Second, Away: true}
	s.Network.Upload = 1e6
	return s
}

// TestChurn: what comes is finished though hosts come and go, its result is
// delivered, and the same run goes the same way.
func TestChurn(t *testing.T) {
	s := churning(t)
	failed := uint64(0) // whether somebody runs a task as it dies is chance
	for i, o := range []Options{{}, {Submitters: 1, Loss: .02, Jitter: 30 * time.Millisecond},
		{Ends: Crash, Coordinators: 1}, {Ends: Goodbye, Speedup: 4}} {
		r, stats := mustRun(t, s, o)
		if r.Arrived == 0 || r.Unfinished != 0 || r.Checkpoints == 0 || r.BytesMoved == 0 || r.WastedS <= 0 ||
			stats.Undelivered != 0 {
			t.Errorf("%+v: %d tasks unfinished, %d not delivered\n%s", o, r.Unfinished, stats.Undelivered, text(t, r))
		}
		failed += r.Failed
		if i > 1 {
			continue
		}
		if again, _ := mustRun(t, s, o); text(t, r) != text(t, again) {
			t.Errorf("%+v: the same run went differently:\n%s\n%s", o, text(t, r), text(t, again))
		}
	}
	if failed == 0 {
		t.Error("no host died with a task, in four runs")
	}
}

// TestLeadersDie: each host in turn dies for half an hour, whoever leads: another
// takes over, and nothing is lost.
func TestLeadersDie(t *testing.T) {
	var all [][]spell
	for i := range 4 {
		from := at(float64(i)/2 + .3)
		all = append(all, []spell{{0, trace.Available}, {from, trace.Unavailable}, {from + at(.4), trace.Available}})
	}
	s := scenario(hosts(t, at(3), all...), sim.Class{Arrival: sim.Every, Interval: 3 * time.Minute, To: at(2.5),
		Work: 6 * time.Minute})
	r, stats := mustRun(t, s, Options{})
	if r.Unfinished != 0 || stats.Undelivered != 0 || stats.Takeovers < 2 || r.Failed == 0 {
		t.Errorf("%d unfinished, %d not delivered, %d led\n%s", r.Unfinished, stats.Undelivered, stats.Takeovers, text(t, r))
	}
}

// TestSuspended: a task stands still while the owner is there, and goes on where
// it was; with a grace it goes on elsewhere, from its checkpoint.
func TestSuspended(t *testing.T) {
	away := []spell{{0, trace.UserPresent}, {at(.7), trace.Available}}
	tr := hosts(t, at(2), []spell{{0, trace.Available}, {at(.5), trace.UserPresent}, {at(1.5), trace.Available}}, away)
	s := scenario(tr, sim.Class{Arrival: sim.AtTimes, Times: []time.Duration{time.Minute}, Work: 35 * time.Minute,
		State: 1 << 20})
	var story []string
	s.Watch = func(d sim.Decision) { story = append(story, fmt.Sprint(d.Action, " ", d.Host)) }
	for _, c := range []struct {
		grace, every time.Duration
		response     time.Duration
		want         string
	}{
		{0, 0, 95 * time.Minute, "[arrived -1 placed 0 suspended 0 resumed 0 completed -1]"},
		{20 * time.Minute, 0, (49 + 35) * time.Minute, "[arrived -1 placed 0 suspended 0 lost 0 placed 1 completed -1]"},
		{20 * time.Minute, 4 * time.Minute, (49 + 35 - 28) * time.Minute,
			"[arrived -1 placed 0 suspended 0 lost 0 placed 1 completed -1]"},
	} {
		story = nil
		s.Hosts.Grace, s.Checkpoints = c.grace, sim.Checkpoints{Every: c.every, Away: true}
		r, _ := mustRun(t, s, Options{})
		if got := fmt.Sprint(story); got != c.want || math.Abs(r.Response.Mean-c.response.Seconds()) > 15 {
			t.Errorf("grace %v, checkpoints each %v: %v s, want %v s\n%s\nwant\n%s", c.grace, c.every, r.Response.Mean,
				c.response.Seconds(), got, c.want)
		}
	}
}

// TestSuspendedAlone: with nobody else to take it a task whose host's owner stays for
// longer than the grace is saved, waits with the leader, and goes on where it was when
// he leaves. Where tasks do not move it stays in memory.
func TestSuspendedAlone(t *testing.T) {
	tr := hosts(t, at(2), []spell{{0, trace.Available}, {at(.5), trace.UserPresent}, {at(1), trace.Available}})
	s := scenario(tr, sim.Class{Arrival: sim.AtTimes, Times: []time.Duration{time.Minute}, Work: 35 * time.Minute,
		State: 1 << 20})
	s.Hosts.Grace, s.Checkpoints = 10*time.Minute, sim.Checkpoints{Auto: true, Away: true}
	var story []string
	s.Watch = func(d sim.Decision) { story = append(story, fmt.Sprint(d.Action, " ", d.Host)) }
	for _, c := range []struct {
		migration, want string
	}{
		{"reactive", "[arrived -1 placed 0 suspended 0 placed 0 completed -1]"},
		{"none", "[arrived -1 placed 0 suspended 0 resumed 0 completed -1]"},
	} {
		story, s.Migration = nil, c.migration
		r, _ := mustRun(t, s, Options{Config: handing()})
		if got, want := fmt.Sprint(story), 65*time.Minute; got != c.want || math.Abs(r.Response.Mean-want.Seconds()) > 15 ||
			r.WastedS > 1 {
			t.Errorf("migration %q: %v s, %v s wasted, want %v\n%s\nwant\n%s", c.migration, r.Response.Mean, r.WastedS, want,
				got, c.want)
		}
	}
}

// TestSavesOnTime: left to the node, a task is saved as long as its host is likely
// to stay, and one that its host leaves goes on from there.
func TestSavesOnTime(t *testing.T) {
	leaves := []spell{{0, trace.Available}, {at(1), trace.Unavailable}}
	comes := []spell{{0, trace.UserPresent}, {at(1), trace.Available}}
	s := scenario(hosts(t, at(3), leaves, comes),
		sim.Class{Arrival: sim.AtTimes, Times: []time.Duration{time.Minute}, Work: 90 * time.Minute, State: 1 << 20})
	s.Checkpoints = sim.Checkpoints{Auto: true, Away: true, Pause: time.Second}
	r, _ := mustRun(t, s, Options{})
	// At least each 10 min, at most each 10 s: 90 min are run, and at most 10 min twice.
	if r.Succeeded != 1 || r.Checkpoints < 9 || r.Checkpoints > 100*6 || r.Response.Mean > (101*time.Minute).Seconds() {
		t.Errorf("%s", text(t, r))
	}
}

// TestAgreesWithPolicies: the engine of policies alone and whole machines, on one
// scenario, complete about the same tasks in about the same time.
func TestAgreesWithPolicies(t *testing.T) {
	s := churning(t)
	alone, err := sim.Run(s)
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := mustRun(t, s, Options{})
	agree(t, []agreement{
		{"arrived", float64(alone.Arrived), float64(whole.Arrived), 0},
		{"succeeded", float64(alone.Succeeded), float64(whole.Succeeded), .02},
		{"success", *alone.SuccessPct, *whole.SuccessPct, .05},
		{"useful time", alone.UsefulS, whole.UsefulS, .02},
		// tasks of policies alone run on through a notice
		{"time", alone.UsefulS + alone.WastedS + alone.IdleS + alone.PendingS,
			whole.UsefulS + whole.WastedS + whole.IdleS + whole.PendingS, .01},
		{"response", alone.Response.Mean, whole.Response.Mean, .05},
		{"makespan", alone.Makespan.Mean, whole.Makespan.Mean, .1},
	})
}

// TestAgreesOnMoves: the two engines move about as many tasks from owners who are
// back. Over eight seeds machines make 16 to 23 moves, by who leads and what they
// hear first, policies alone 19.
func TestAgreesOnMoves(t *testing.T) {
	all := repeat(2, always)
	for i := range 8 {
		var spells []spell
		for k := range 4 {
			from := at(float64(k)*.6 + float64(i)*.07)
			spells = append(spells, spell{from, trace.Available},
				spell{from + at(.4), []trace.State{trace.UserPresent, trace.CPUBusy}[(i+k)%2]})
		}
		all = append(all, spells)
	}
	s := scenario(hosts(t, at(3.5), all...),
		sim.Class{Arrival: sim.Every, Interval: 150 * time.Second, To: at(2.4), Work: 12 * time.Minute, State: 1 << 20})
	s.Checkpoints = sim.Checkpoints{Every: time.Minute, Pause: time.Second, Away: true}
	s.Network.Upload, s.Placement = 1e6, "fcfs" // no forecast keeps tasks from hosts whose owners come back
	stay, err := sim.Run(s)
	if err != nil {
		t.Fatal(err)
	}
	s.Migration = "reactive"
	alone, err := sim.Run(s)
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := mustRun(t, s, Options{})
	agree(t, []agreement{
		{"succeeded", float64(alone.Succeeded), float64(whole.Succeeded), 0},
		{"migrations", float64(alone.Migrations), float64(whole.Migrations), .25},
		{"useful time", alone.UsefulS, whole.UsefulS, .01},
		{"response", alone.Response.Mean, whole.Response.Mean, .02},
	})
	if alone.Migrations < 10 || alone.Succeeded <= stay.Succeeded || alone.Response.Mean > .9*stay.Response.Mean {
		t.Errorf("%d moves make %d of %d and %v s of %v s", alone.Migrations, alone.Succeeded, stay.Succeeded,
			alone.Response.Mean, stay.Response.Mean)
	}
}

// An agreement is a figure by both engines.
type agreement struct {
	of           string
	alone, whole float64
	within       float64 // a share
}

func agree(t *testing.T, all []agreement) {
	t.Helper()
	for _, c := range all {
		if math.Abs(c.alone-c.whole) > c.within*c.alone {
			t.Errorf("%s: %v by policies alone, %v by machines", c.of, c.alone, c.whole)
		}
	}
}

// TestMoves: a running task goes on elsewhere with its state when its host gives
// notice, also out of a standstill when its owner is there; by way of the leader it
// goes on from its last checkpoint then.
func TestMoves(t *testing.T) {
	for name, c := range map[string]struct {
		notice   trace.State
		hands    bool
		response time.Duration
	}{
		"leaving":                       {trace.Leaving, true, 70 * time.Minute},
		"leaving, by way of the leader": {trace.Leaving, false, 70 * time.Minute},
		"owner":                         {trace.UserPresent, true, 70 * time.Minute},
		// the last checkpoint is of 20 minutes' work
		"owner, by way of the leader": {trace.UserPresent, false, 80 * time.Minute},
	} {
		config := scheduler.Default()
		config.Worker.HandOver = c.hands
		tr := hosts(t, at(2),
			[]spell{{0, trace.Available}, {at(31. / 60), c.notice}, {at(35. / 60), trace.Unavailable}},
			[]spell{{0, trace.UserPresent}, {at(.3), trace.Available}})
		s := scenario(tr, sim.Class{Arrival: sim.AtTimes, Times: []time.Duration{time.Minute}, Work: 70 * time.Minute,
			State: 64 << 20})
		s.Checkpoints = sim.Checkpoints{Every: 20 * time.Minute, Pause: 500 * time.Millisecond, Away: true}
		s.Migration, s.Seed = "reactive", 6
		var story []string
		s.Watch = func(d sim.Decision) { story = append(story, fmt.Sprint(d.Action, " ", d.From, " ", d.Host)) }
		var r *sim.Report
		for leader := 0; leader != 2; s.Seed++ { // until the one that leads is neither of the hosts
			story = nil
			r, _ = mustRun(t, s, Options{Config: config, Submitters: 1, Watch: func(d Decision) {
				if d.Action == "moved" {
					leader = d.Node
				}
			}})
		}
		if r.Migrations != 1 || r.Succeeded != 1 || r.Failed+r.Returned != 0 || r.Allocated != 1 ||
			math.Abs(r.Response.Mean-c.response.Seconds()) > 15 {
			t.Errorf("%s: %d moves, %v s, want %v s: %v\n%s", name, r.Migrations, r.Response.Mean, c.response.Seconds(), story,
				text(t, r))
		}
	}
}

// TestRefused: what no machine does is said, and where to go with it.
func TestRefused(t *testing.T) {
	for want, change := range map[string]func(s *sim.Scenario, o *Options){
		"run it with sim.Run":        func(s *sim.Scenario, _ *Options) { s.Paper = true },
		"set sharing to queue":       func(s *sim.Scenario, _ *Options) { s.Hosts.Sharing = sim.Share },
		"the oracle is for sim.Run":  func(s *sim.Scenario, _ *Options) { s.Placement = sim.Oracle },
		"set the workload's requeue": func(s *sim.Scenario, _ *Options) { s.Workload.Requeue = false },
		"set the checkpoints' away":  func(s *sim.Scenario, _ *Options) { s.Checkpoints.Auto = true },
		"want 1 to 7":                func(_ *sim.Scenario, o *Options) { o.Coordinators = 8 },
		"speedup":                    func(_ *sim.Scenario, o *Options) { o.Speedup = math.NaN() },
		"loss":                       func(_ *sim.Scenario, o *Options) { o.Loss = 1 },
		"ReportEvery":                func(_ *sim.Scenario, o *Options) { o.Config.LeaseTTL = time.Second },
		"there is no trace":          func(s *sim.Scenario, _ *Options) { s.Trace = nil },
	} {
		s, o := scenario(hosts(t, at(1), always), sim.Class{Arrival: sim.Every, Interval: time.Minute, Work: time.Second}),
			Options{}
		change(s, &o)
		if _, err := Run(s, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestSaturated: where a job always waits, hosts of several slots are never idle;
// what is before the warm-up's end is in no count.
func TestSaturated(t *testing.T) {
	s := scenario(hosts(t, at(2), repeat(3, always)...), sim.Class{Arrival: sim.Saturated, Work: 4 * time.Minute,
		Tasks: 3})
	s.Warmup, s.Hosts.Slots = time.Hour, 2
	r, _ := mustRun(t, s, Options{Submitters: 2, Found: true})
	sum := r.UsefulS + r.WastedS + r.IdleS + r.PendingS
	// Six slots complete 15 tasks an hour each; those that began before are not counted.
	if math.Abs(sum-3*3600) > 1e-3 || *r.Utilisation < 99 || r.Succeeded < 75 || r.Succeeded > 90 || r.Days != 1./24 {
		t.Errorf("%v s in all, want %v\n%s", sum, 3*3600, text(t, r))
	}
}
