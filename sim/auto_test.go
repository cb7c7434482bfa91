package sim

import (
	"strings"
	"testing"
	"time"

	"godwit/trace"
)

// offAndOn has hosts that are there for an hour of each two, and one that stays.
func offAndOn(hosts, days int) *trace.Trace {
	tr := &trace.Trace{Name: "off and on", Start: day0, End: day0.Add(time.Duration(days) * 24 * time.Hour)}
	for i := range hosts {
		h := &trace.History{}
		for at := tr.Start.Add(time.Duration(i) * 13 * time.Minute); at.Before(tr.End); at = at.Add(2 * time.Hour) {
			_ = h.Append(at, trace.Available, 1)
			if at.Add(time.Hour).Before(tr.End) && i > 0 {
				_ = h.Append(at.Add(time.Hour), trace.Unavailable, 0)
			}
		}
		h.Extend(tr.End)
		tr.Hosts = append(tr.Hosts, trace.Host{History: h})
	}
	return tr
}

// TestAutomaticCheckpoints: they save more than they cost; where hosts stay there
// are hardly any; and the oracle needs only those that a host's end asks for.
func TestAutomaticCheckpoints(t *testing.T) {
	run := func(hosts int, placement string, c Checkpoints) *Report {
		return mustRun(t, &Scenario{
			Trace: offAndOn(hosts, 4), Placement: placement, Checkpoints: c, Network: Network{Upload: 1.25e6},
			Hosts: HostRules{Owner: Kill}, Workload: Workload{Requeue: true,
				Classes: []Class{{Work: 3 * time.Hour, State: 64 << 20}}},
		})
	}
	auto := Checkpoints{Auto: true, Pause: time.Second, Away: true}
	never, saved, oracle := run(8, "fcfs", Checkpoints{}), run(8, "fcfs", auto), run(8, Oracle, auto)
	if saved.UsefulS < 1.2*never.UsefulS {
		t.Errorf("%.0f s of use with checkpoints, %.0f without", saved.UsefulS, never.UsefulS)
	}
	if part := saved.WastedS / (saved.WastedS + saved.UsefulS); part > .06 {
		t.Errorf("%.3f of the time was wasted", part)
	}
	if oracle.Checkpoints > oracle.Failed || oracle.WastedS > saved.WastedS/2 {
		t.Errorf("the oracle made %d checkpoints for %d losses, and wasted %.0f s, others %.0f", oracle.Checkpoints,
			oracle.Failed, oracle.WastedS, saved.WastedS)
	}
	if stays := run(1, "fcfs", auto); stays.Failed > 0 || stays.WastedS > .01*stays.UsefulS {
		t.Errorf("with a host that stays %d failed and %.0f s of %.0f were wasted", stays.Failed, stays.WastedS,
			stays.UsefulS)
	}
}

// TestCopyingIsLetGo is what becomes of places that are kept for tasks which are
// being copied: another task gets them as soon as they are free.
func TestCopyingIsLetGo(t *testing.T) {
	slow := Network{Upload: (64 << 20) / 240.} // four minutes
	notice := []spellAt{{0, up}, {118, leaving}, {150, down}}
	for _, tt := range []struct {
		name   string
		hosts  [][]spellAt
		change func(*Scenario)
		want   string
	}{
		{"it ends while it is copied", [][]spellAt{notice, {{0, owner}, {50, up}}}, nil,
			"0:0 placed 0, 120:0 completed 0, 121:1 placed 1, 241:1 completed 1"},
		{"its host dies while it is copied", [][]spellAt{{{0, up}, {60, leaving}, {62, down}}, {{0, owner}, {50, up}}}, nil,
			"0:0 placed 0, 62:0 lost 0, 62:0 placed 1, 182:0 completed 1, 182:1 placed 1, 302:1 completed 1"},
		{"what it saved before the move is safe after it",
			[][]spellAt{{{0, up}, {60, leaving}, {90, down}}, {{0, owner}, {50, up}, {70, down}, {300, up}}}, func(s *Scenario) {
				s.Checkpoints = Checkpoints{Every: 25 * time.Minute, Away: true}
			}, "0:0 placed 0, 64:0 moved 1, 70:0 lost 1, 300:0 placed 1, 374:0 completed 1, 374:1 placed 1, 494:1 completed 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &Scenario{Trace: scripted(tt.hosts...), Placement: "fcfs:order=turn", Migration: "reactive", Network: slow,
				Workload: once(1)}
			s.Workload.Classes[0].Times = append(s.Workload.Classes[0].Times, 121*time.Minute)
			if tt.change != nil {
				tt.change(s)
			}
			if got, _ := story(t, s); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestCostMovesWhatPays: a task on a slow host goes to a fast one that comes
// later, in words that say why, and stays there; while others wait, none moves.
func TestCostMovesWhatPays(t *testing.T) {
	tr := scripted([]spellAt{{0, up}}, []spellAt{{0, down}, {30, up}})
	tr.Hosts[1].GHz = 4
	s := &Scenario{
		Trace: tr, Placement: "expected", Migration: "cost", Network: Network{Upload: 1.25e6},
		Hosts: HostRules{Speeds: Traced}, Workload: once(1),
	}
	var moved []string
	s.Watch = func(d Decision) {
		if d.Action == "moved" {
			moved = append(moved, d.Reason)
		}
	}
	r := mustRun(t, s)
	if len(moved) != 1 || !strings.Contains(moved[0], "expected to end in 2") || r.Response.Max > 60*60 {
		t.Errorf("moves %q, response %v", moved, r.Response)
	}
	s.Workload, moved = once(9), nil
	s.Workload.Classes[0].Times = []time.Duration{0, 29 * time.Minute}
	if mustRun(t, s); len(moved) > 1 {
		t.Errorf("%d moves beside tasks that wait", len(moved))
	}
}
