package sim

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"godwit/trace"
)

// A spellAt is a change of a drawn host: after so many minutes.
type spellAt struct {
	minute int
	state  trace.State
}

// scripted has hosts that change as said, for a day.
func scripted(hosts ...[]spellAt) *trace.Trace {
	tr := &trace.Trace{Name: "scripted", Start: day0, End: day0.Add(24 * time.Hour)}
	for i, spells := range hosts {
		h := &trace.History{Host: fmt.Sprint("h", i)}
		for _, s := range spells {
			if err := h.Append(day0.Add(time.Duration(s.minute)*time.Minute), s.state, 1); err != nil {
				panic(err)
			}
		}
		h.Extend(tr.End)
		tr.Hosts = append(tr.Hosts, trace.Host{History: h})
	}
	return tr
}

const (
	up      = trace.Available
	owner   = trace.UserPresent
	leaving = trace.Leaving
	down    = trace.Unavailable
)

// story runs a scenario and tells its decisions: minute, task, action, host.
func story(t *testing.T, s *Scenario) (string, *Report) {
	t.Helper()
	var out []string
	s.Watch = func(d Decision) {
		if d.Action == "arrived" {
			return
		}
		line := fmt.Sprintf("%v:%d %s", math.Round(100*d.At.Sub(day0).Minutes())/100, d.Task, d.Action)
		if d.Host >= 0 {
			line += fmt.Sprintf(" %d", d.Host)
		}
		out = append(out, line)
	}
	r := mustRun(t, s)
	return strings.Join(out, ", "), r
}

// once is one task of two hours of work at the beginning.
func once(tasks int) Workload {
	return Workload{Requeue: true, Classes: []Class{{Arrival: AtTimes, Times: []time.Duration{0}, Tasks: tasks,
		Work: 2 * time.Hour, State: 64 << 20}}}
}

// TestHostRules is what becomes of one task or two, by what hosts do and how.
func TestHostRules(t *testing.T) {
	always := []spellAt{{0, up}}
	breaks := []spellAt{{0, up}, {60, owner}, {120, up}}
	dies := []spellAt{{0, up}, {60, down}}
	returns := []spellAt{{0, up}, {60, down}, {100, up}}
	for _, tt := range []struct {
		name   string
		hosts  [][]spellAt
		tasks  int
		change func(*Scenario)
		want   string
	}{
		{"alone", [][]spellAt{always}, 1, nil, "0:0 placed 0, 120:0 completed 0"},
		{"two wait for one slot", [][]spellAt{always}, 2,
			func(s *Scenario) { s.Placement = "fcfs:order=turn,ahead=yes"; s.Hosts.Ahead = 1 },
			"0:0 placed 0, 0:1 placed 0, 120:0 completed 0, 240:1 completed 0"},
		{"two share one slot", [][]spellAt{always}, 2, func(s *Scenario) { s.Placement = "psopp"; s.Hosts.Sharing = Share },
			"0:0 placed 0, 0:1 placed 0, 240:0 completed 0, 240:1 completed 0"},
		{"suspended", [][]spellAt{breaks}, 1, nil, "0:0 placed 0, 60:0 suspended 0, 120:0 resumed 0, 180:0 completed 0"},
		{"the grace ends", [][]spellAt{breaks, {{0, owner}, {80, up}}}, 1,
			func(s *Scenario) { s.Hosts.Grace = 30 * time.Minute },
			"0:0 placed 0, 60:0 suspended 0, 90:0 lost 0, 90:0 placed 1, 210:0 completed 1"},
		{"killed", [][]spellAt{breaks}, 1, func(s *Scenario) { s.Hosts.Owner = Kill },
			"0:0 placed 0, 60:0 lost 0, 120:0 placed 0, 240:0 completed 0"},
		{"lost", [][]spellAt{dies}, 1, func(s *Scenario) { s.Workload.Requeue = false }, "0:0 placed 0, 60:0 lost 0"},
		{"lost, and missed later", [][]spellAt{dies, {{0, owner}, {61, up}}}, 1,
			func(s *Scenario) { s.Network.Detect = 10 * time.Minute },
			"0:0 placed 0, 70:0 lost 0, 70:0 placed 1, 190:0 completed 1"},
		{"back before it was missed", [][]spellAt{returns}, 1, func(s *Scenario) { s.Network.Detect = time.Hour },
			"0:0 placed 0, 100:0 lost 0, 100:0 placed 0, 220:0 completed 0"},
		{"a goodbye is known at once", [][]spellAt{{{0, up}, {50, leaving}, {60, down}, {100, up}}}, 1,
			func(s *Scenario) { s.Network.Detect = time.Hour },
			"0:0 placed 0, 60:0 lost 0, 100:0 placed 0, 220:0 completed 0"},
		{"placed where nobody is any more", [][]spellAt{dies}, 1, func(s *Scenario) {
			s.Network.Detect = 20 * time.Minute
			s.Workload.Classes[0].Times = []time.Duration{70 * time.Minute}
		}, "70:0 placed 0, 80:0 lost 0"},
		{"goes on from a checkpoint elsewhere", [][]spellAt{dies, {{0, owner}, {61, up}}}, 1, func(s *Scenario) {
			s.Checkpoints = Checkpoints{Every: 25 * time.Minute, Away: true}
		}, "0:0 placed 0, 60:0 lost 0, 61:0 placed 1, 131:0 completed 1"},
		{"pauses for checkpoints", [][]spellAt{always}, 1, func(s *Scenario) {
			s.Checkpoints = Checkpoints{Every: 30 * time.Minute, Pause: time.Minute}
		}, "0:0 placed 0, 123:0 completed 0"},
		{"a checkpoint that is kept there", [][]spellAt{returns}, 1, func(s *Scenario) {
			s.Checkpoints = Checkpoints{Every: 25 * time.Minute}
		}, "0:0 placed 0, 60:0 lost 0, 100:0 placed 0, 170:0 completed 0"},
		{"a checkpoint that is kept elsewhere", [][]spellAt{dies, {{0, owner}, {61, up}}}, 1, func(s *Scenario) {
			s.Checkpoints = Checkpoints{Every: 25 * time.Minute}
		}, "0:0 placed 0, 60:0 lost 0, 61:0 placed 1, 181:0 completed 1"},
		{"moved on notice", [][]spellAt{{{0, up}, {60, leaving}, {90, down}}, {{0, owner}, {50, up}}}, 1,
			func(s *Scenario) { s.Migration = "reactive" },
			"0:0 placed 0, 60:0 moved 1, 120:0 completed 1"},
		{"moved over a network", [][]spellAt{{{0, up}, {60, leaving}, {90, down}}, {{0, owner}, {50, up}}}, 1,
			func(s *Scenario) {
				s.Migration = "reactive"
				s.Network = Network{Delay: time.Minute, Upload: (64 << 20) / 240.}
			}, "0:0 placed 0, 65:0 moved 1, 125.04:0 completed 1"},
		{"nowhere to move", [][]spellAt{{{0, up}, {60, leaving}, {90, down}}}, 1,
			func(s *Scenario) { s.Migration = "reactive" },
			"0:0 placed 0, 90:0 lost 0"},
		{"moved on notice as soon as there is a place",
			[][]spellAt{{{0, up}, {60, leaving}, {90, down}}, {{0, owner}, {65, up}}}, 1,
			func(s *Scenario) { s.Migration = "reactive" },
			"0:0 placed 0, 65:0 moved 1, 120:0 completed 1"},
		{"moved from its owner, to go on from its checkpoint", [][]spellAt{breaks, {{0, owner}, {50, up}}}, 1,
			func(s *Scenario) {
				s.Migration = "reactive"
				s.Checkpoints = Checkpoints{Every: 25 * time.Minute, Away: true}
			}, "0:0 placed 0, 60:0 suspended 0, 60:0 moved 1, 130:0 completed 1"},
		{"moved from its owner as soon as there is a place", [][]spellAt{breaks, {{0, owner}, {65, up}}}, 1,
			func(s *Scenario) {
				s.Migration = "reactive"
				s.Checkpoints = Checkpoints{Every: 25 * time.Minute, Away: true}
			}, "0:0 placed 0, 60:0 suspended 0, 65:0 moved 1, 135:0 completed 1"},
		{"no place to move to from its owner", [][]spellAt{breaks}, 1, func(s *Scenario) { s.Migration = "reactive" },
			"0:0 placed 0, 60:0 suspended 0, 120:0 resumed 0, 180:0 completed 0"},
		{"moved from its owner, with nothing to go on from", [][]spellAt{breaks, {{0, owner}, {50, up}}}, 1,
			func(s *Scenario) { s.Migration = "reactive" },
			"0:0 placed 0, 60:0 suspended 0, 60:0 lost 0, 60:0 placed 1, 180:0 completed 1"},
		{"moved from its owner, who has its checkpoint", [][]spellAt{breaks, {{0, owner}, {50, up}}}, 1, func(s *Scenario) {
			s.Migration = "reactive"
			s.Checkpoints = Checkpoints{Every: 25 * time.Minute}
		}, "0:0 placed 0, 60:0 suspended 0, 60:0 lost 0, 60:0 placed 1, 180:0 completed 1"},
		{"its owner's host dies as it moves", [][]spellAt{{{0, up}, {60, owner}, {61, down}}, {{0, owner}, {50, up}}}, 1,
			func(s *Scenario) {
				s.Migration = "reactive"
				s.Checkpoints = Checkpoints{Every: 25 * time.Minute, Away: true}
				s.Network = Network{Upload: (64 << 20) / 240.}
			}, "0:0 placed 0, 60:0 suspended 0, 60:0 moved 1, 134:0 completed 1"},
		{"its checkpoint is on its way as the owner comes", [][]spellAt{breaks, {{0, owner}, {50, up}}}, 1,
			func(s *Scenario) {
				s.Migration = "reactive"
				s.Checkpoints = Checkpoints{Every: 29 * time.Minute, Away: true}
				s.Network = Network{Upload: (64 << 20) / 240.}
			}, "0:0 placed 0, 60:0 suspended 0, 60:0 moved 1, 126:0 completed 1"},
		{"it reaches its host after the owner", [][]spellAt{{{0, up}, {1, owner}}, {{0, owner}, {3, up}}}, 1,
			func(s *Scenario) {
				s.Migration = "reactive"
				s.Network = Network{Delay: 2 * time.Minute}
			}, "0:0 placed 0, 3:0 moved 1, 125:0 completed 1"},
		{"an owner has no part of the processor left", [][]spellAt{breaks, {{0, owner}, {50, up}}}, 1, func(s *Scenario) {
			s.Migration = "cbr:interval=20m"
			s.Checkpoints = Checkpoints{Every: 25 * time.Minute, Away: true}
		}, "0:0 placed 0, 60:0 suspended 0, 80:0 moved 1, 150:0 completed 1"},
		{"of an owner's host nothing is foretold", [][]spellAt{breaks, {{0, owner}, {50, up}}}, 1,
			func(s *Scenario) { s.Migration = "pspp:p=20m" },
			"0:0 placed 0, 60:0 suspended 0, 120:0 resumed 0, 180:0 completed 0"},
		{"the destination leaves meanwhile", [][]spellAt{{{0, up}, {60, leaving}, {90, down}, {91, up}},
			{{0, owner}, {50, up}, {62, leaving}}}, 1, func(s *Scenario) {
			s.Migration = "reactive"
			s.Network = Network{Upload: (64 << 20) / 240.}
		}, "0:0 placed 0, 90:0 lost 0, 91:0 placed 0, 211:0 completed 0"},
		{"the origin dies meanwhile", [][]spellAt{{{0, up}, {60, leaving}, {61, down}}, {{0, owner}, {50, up}}}, 1,
			func(s *Scenario) {
				s.Migration = "reactive"
				s.Network = Network{Upload: (64 << 20) / 240.}
			}, "0:0 placed 0, 61:0 lost 0, 61:0 placed 1, 181:0 completed 1"},
		{"placed as the host goes, by the published rules", [][]spellAt{dies}, 1, func(s *Scenario) {
			s.Paper = true
			s.Workload.Classes[0].Times = []time.Duration{time.Hour}
			s.Workload.Requeue = false
		}, "60:0 placed 0, 60:0 lost 0"},
		{"impossible", [][]spellAt{always}, 1, func(s *Scenario) { s.Hosts.Memory = 5; s.Workload.Classes[0].Memory = 6 },
			"0:0 impossible"},
		{"nobody ever there", [][]spellAt{{{0, owner}}}, 1, nil, "0:0 impossible"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &Scenario{Trace: scripted(tt.hosts...), Placement: "fcfs:order=turn", Workload: once(tt.tasks)}
			if tt.change != nil {
				tt.change(s)
			}
			if got, _ := story(t, s); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
