package sim

import (
	"math"
	"strings"
	"testing"
	"time"

	"godwit/trace"
)

// fine is a scenario with which nothing is wrong.
func fine(t testing.TB) *Scenario {
	return &Scenario{
		Trace:    hostTrace(t, 48, []float64{0}, []float64{0, 12, 24}),
		Workload: Workload{Classes: []Class{{Name: "a", Arrival: Every, Interval: time.Hour, Work: time.Hour}}},
		Seed:     1,
	}
}

func TestFineScenarios(t *testing.T) {
	s := fine(t)
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	s.Placement, s.Migration, s.Predictor, s.Warmup = Oracle, "pspp:p=10m", "tde:n=5", 24*time.Hour
	s.Workload.Log = &trace.Workload{Name: "log", Jobs: []trace.Job{{Submit: 3, RunTime: 5}}}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	// A task that fits no host is for the report.
	s.Hosts.Memory, s.Workload.Classes[0].Memory = 1, 2
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	for _, k := range trace.SynthKinds() {
		set, err := trace.Synthesize(k[0], trace.SynthConfig{Hosts: 5, Days: 3, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		s.Trace = set
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", k[0], err)
		}
		s.Trace = set.Assume(trace.Unavailable)
		if err := s.Validate(); err != nil {
			t.Errorf("%s, with nights away: %v", k[0], err)
		}
	}
}

func TestBadScenarios(t *testing.T) {
	class := func(f func(c *Class)) func(*Scenario) {
		return func(s *Scenario) { f(&s.Workload.Classes[0]) }
	}
	log := func(jobs ...trace.Job) func(*Scenario) {
		return func(s *Scenario) { s.Workload.Log = &trace.Workload{Name: "log", Jobs: jobs} }
	}
	for _, c := range []struct {
		name  string
		spoil func(*Scenario)
		want  string // all of the error
	}{
		{"no trace", func(s *Scenario) { s.Trace = nil }, "there is no trace: give one, which has the hosts"},
		{"no hosts", func(s *Scenario) { s.Trace.Hosts = nil }, "trace test has no hosts: give one that has"},
		{"a host with no spells", func(s *Scenario) { s.Trace.Hosts[1].History = &trace.History{Host: "b"} },
			"trace test: host 1 (b) has no spells: leave it out, or say when it is available"},
		{"a host without a history", func(s *Scenario) { s.Trace.Hosts[1].History = nil },
			"trace test: host 1 has no spells: leave it out, or say when it is available"},
		{"many such hosts", func(s *Scenario) { s.Trace.Hosts = make([]trace.Host, 9) },
			"trace test: 6 hosts more have such faults"},
		{"a clock rate that is none", func(s *Scenario) { s.Trace.Hosts[0].GHz = math.NaN() },
			"host 0 has a clock rate of NaN GHz: it is 0 (unknown) to 1e+06"},
		{"a spell before the trace", func(s *Scenario) { s.Trace.Start = s.Trace.Start.Add(time.Hour) },
			"host 0 has a spell from 1970-01-01T00:00:00Z, before the trace begins 1970-01-01T01:00:00Z: set the trace's start"},
		{"a trace cut short", func(s *Scenario) { s.Trace.End = s.Trace.End.Add(-time.Hour) },
			"host 0 has a spell to 1970-01-03T00:00:00Z, after the trace ends 1970-01-02T23:00:00Z: set the trace's end"},
		{"an end beyond a truncated trace", func(s *Scenario) { s.End = s.Trace.End.Add(time.Hour) },
			"the run ends 1970-01-03T01:00:00Z, but the trace is only known to 1970-01-03T00:00:00Z (it may be truncated): " +
				"end then or sooner"},
		{"a start before the trace", func(s *Scenario) { s.Start = s.Trace.Start.Add(-time.Hour) },
			"the run starts 1969-12-31T23:00:00Z, before the trace does 1970-01-01T00:00:00Z: start then or later"},
		{"an end before the start", func(s *Scenario) { s.Start = s.Trace.End },
			"the run ends 1970-01-03T00:00:00Z, which is not after its start 1970-01-03T00:00:00Z: end must be later"},
		{"a trace of the wrong unit", func(s *Scenario) { s.Trace.End = s.Trace.Start.AddDate(250, 0, 0) },
			"at most 876000h0m0s can be run; is the unit of the trace's times right?"},
		{"warm-up as long as the run", func(s *Scenario) { s.Warmup = 48 * time.Hour },
			"warmup is 48h0m0s and the run takes 48h0m0s, so that nothing would be reported: shorten warmup"},
		{"negative warm-up", func(s *Scenario) { s.Warmup = -1 }, "warmup is -1ns: write a length of time of 0 or more"},
		{"unknown policy", func(s *Scenario) { s.Placement = "best" },
			`there is no policy "best": use one of expected, fastest, fcfs, fcfspp, flp, gcmu, kpb, lpas, mct, met, ` +
				`psopp, random, uptime (or oracle)`},
		{"unknown parameter of a policy", func(s *Scenario) { s.Placement = "fcfspp:q=1" },
			"placement: place: policy fcfspp"},
		{"the oracle takes none", func(s *Scenario) { s.Placement = "oracle:t=1" }, `there is no policy "oracle"`},
		{"unknown migration", func(s *Scenario) { s.Migration = "often" },
			`migration: migrate: there is no policy "often": use one of`},
		{"unknown predictor", func(s *Scenario) { s.Predictor = "luck" },
			`predictor: unknown predictor "luck": it is one of blend:firm=, `},
		{"negative ahead", func(s *Scenario) { s.Hosts.Ahead = -1 }, "hosts: ahead is -1: write 0 to 1048576"},
		{"negative slots", func(s *Scenario) { s.Hosts.Slots = -1 }, "hosts: slots is -1: write 1 to 1048576 (0 is 1)"},
		{"too many slots", func(s *Scenario) { s.Hosts.Slots = 1 << 21 }, "hosts: slots is 2097152"},
		{"negative memory of hosts", func(s *Scenario) { s.Hosts.Memory = -1 }, "hosts: memory is -1 bytes: write 0 to"},
		{"negative grace", func(s *Scenario) { s.Hosts.Grace = -time.Second }, "hosts: grace is -1s"},
		{"unknown sharing", func(s *Scenario) { s.Hosts.Sharing = 9 }, "hosts: sharing 9 is unknown: it is Queue or Share"},
		{"unknown speeds", func(s *Scenario) { s.Hosts.Speeds = 9 }, "hosts: speeds 9 is unknown"},
		{"unknown owner", func(s *Scenario) { s.Hosts.Owner = 9 }, "hosts: owner 9 is unknown"},
		{"negative delay", func(s *Scenario) { s.Network.Delay = -1 }, "network: delay is -1ns"},
		{"negative detection", func(s *Scenario) { s.Network.Detect = -1 }, "network: detect is -1ns"},
		{"negative rate", func(s *Scenario) { s.Network.Upload = -1 }, "network: upload is -1: write bytes a second"},
		{"a rate that is no number", func(s *Scenario) { s.Network.Download = math.NaN() }, "network: download is NaN"},
		{"an endless rate", func(s *Scenario) { s.Network.Download = math.Inf(1) }, "network: download is +Inf"},
		{"negative checkpoints", func(s *Scenario) { s.Checkpoints.Every = -1 }, "checkpoints: every is -1ns"},
		{"a pause of a thousand years", func(s *Scenario) { s.Checkpoints.Pause = 2 * longest },
			"checkpoints: pause is 1752000h0m0s: write at most 876000h0m0s"},
		{"no workload", func(s *Scenario) { s.Workload = Workload{} }, "workload: it has neither classes nor a log"},
		{"too many classes", func(s *Scenario) { s.Workload.Classes = make([]Class, 1001) },
			"workload: it has 1001 classes: at most 1000 can be run"},
		{"two classes of one name", func(s *Scenario) {
			s.Workload.Classes = append(s.Workload.Classes,
				s.Workload.Classes[0])
		},
			"workload: class 1 (a) has the name of class 0: name it otherwise"},
		{"every without interval", class(func(c *Class) { c.Interval = 0 }),
			"workload: class 0 (a) has no interval between its jobs: give one, or say saturated"},
		{"saturated with interval", class(func(c *Class) { c.Arrival = Saturated }), "workload: class 0 (a) is saturated"},
		{"negative interval", class(func(c *Class) { c.Interval = -time.Hour }),
			"workload: class 0 (a): interval is -1h0m0s"},
		{"no work", class(func(c *Class) { c.Work = 0 }), "workload: class 0 (a) has no work: say how long a task takes"},
		{"negative work", class(func(c *Class) { c.Work = -1 }), "workload: class 0 (a): work is -1ns"},
		{"negative memory", class(func(c *Class) { c.Memory = -5 }), "workload: class 0 (a): memory is -5 bytes"},
		{"negative state", class(func(c *Class) { c.State = -5 }), "workload: class 0 (a): state is -5 bytes"},
		{"negative tasks", class(func(c *Class) { c.Tasks = -1 }), "workload: class 0 (a): tasks is -1"},
		{"ends before it begins", class(func(c *Class) { c.From, c.To = 3*time.Hour, 2*time.Hour }),
			"ends at 2h0m0s, which is not after it begins at 3h0m0s"},
		{"unknown law", class(func(c *Class) { c.WorkLaw = "gamma" }), `there is no law "gamma": use one of cubed, `},
		{"unknown arrival", class(func(c *Class) { c.Arrival = 9 }), "arrival 9 is unknown"},
		{"at no times", class(func(c *Class) { *c = Class{Arrival: AtTimes, Work: 1} }),
			"workload: class 0 comes at times and has none"},
		{"times that decrease", class(func(c *Class) { *c = Class{Arrival: AtTimes, Work: 1, Times: []time.Duration{5, 3}} }),
			"workload: class 0: time 1 is 3ns, before the one that precedes it (5ns): sort them"},
		{"negative times", class(func(c *Class) { *c = Class{Arrival: AtTimes, Work: 1, Times: []time.Duration{-5}} }),
			"time 0 is -5ns: write 0 to"},
		{"times with an end", class(func(c *Class) {
			*c = Class{Arrival: AtTimes, Work: 1, Times: []time.Duration{5},
				To: 9}
		}), "with which from and to do not go"},
		{"times of another arrival", class(func(c *Class) { c.Times = []time.Duration{5} }),
			"has times that do not go with its arrival"},
		{"too many tasks", class(func(c *Class) { c.Interval = 1 }),
			"workload: about 1.73e+14 tasks would arrive: at most 1073741824 can be run"},
		{"a log's time without a log", func(s *Scenario) { s.Workload.LogFrom = 5 },
			"workload: a log's time is given without a log"},
		{"a log's time that is none", func(s *Scenario) { s.Workload.LogFrom = math.NaN(); log(trace.Job{})(s) },
			"workload: the log's time at the start is NaN"},
		{"an empty log", log(), "workload: log log has no jobs: give one that has"},
		{"an unsorted log", log(trace.Job{Submit: 5}, trace.Job{Number: 2, Submit: 4}),
			"workload: log log: job 2 is submitted before the one that precedes it: sort the log by submission"},
		{"a log before its time", log(trace.Job{Number: 1, Submit: -4}), "workload: log log: job 1 is submitted at -4"},
		{"an endless job", log(trace.Job{Number: 1, RunTime: math.Inf(1)}), "workload: log log: job 1 runs for +Inf s"},
		{"too many processors", log(trace.Job{RunTime: 1, Procs: math.MaxInt64}, trace.Job{RunTime: 1}),
			"tasks would arrive: at most"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fine(t)
			c.spoil(s)
			err := s.Validate()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want it to say %q", err, c.want)
			}
		})
	}
}

// All that is wrong is said at once.
func TestEverythingWrongAtOnce(t *testing.T) {
	s := fine(t)
	s.Trace.Hosts[0].History = nil
	s.Warmup, s.Placement, s.Hosts.Slots, s.Network.Delay, s.Workload.Classes[0].Work = -1, "best", -1, -1, 0
	lines := strings.Split(s.Validate().Error(), "\n")
	if len(lines) != 6 {
		t.Errorf("%d errors, want 6:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}
