package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/scheduler/place"
	"godwit/task"
	"godwit/trace"
)

// listed is a queue of tasks with these works, in hours.
type listed struct {
	works []float64
	taken int
}

func (q *listed) Next() (place.Task, bool) {
	if q.taken >= len(q.works) {
		return place.Task{}, false
	}
	q.taken++
	return place.Task{ID: task.TaskID{Index: uint64(q.taken - 1)},
		Work: time.Duration(q.works[q.taken-1] * float64(time.Hour)), Memory: 1}, true
}

func (q *listed) SkipJob() {}

// idle are all hosts of a trace, idle.
func idle(set *trace.Trace, slots int) (out []place.Host) {
	for i := range set.Hosts {
		out = append(out, place.Host{Peer: peerOf(i), Slots: slots, Free: slots, Memory: 1 << 30, MemoryFree: 1 << 30,
			Speed: 1})
	}
	return out
}

// went writes placements as "task>host".
func went(ps []place.Placement) string {
	var out []string
	for _, p := range ps {
		n, _ := hostOf(p.Peer)
		out = append(out, fmt.Sprintf("%d>%d", p.Task.Index, n))
	}
	return strings.Join(out, " ")
}

func TestPeerNames(t *testing.T) {
	var last task.PeerID
	for _, i := range []int{0, 1, 9, 10, 99, 100, 123456, trace.MaxHosts - 1} {
		p := peerOf(i)
		if n, ok := hostOf(p); !ok || n != i || p <= last {
			t.Errorf("host %d is %s, after %s, and that is host %d, %v", i, p, last, n, ok)
		}
		last = p
	}
	for _, p := range []task.PeerID{"", "host-", "host-1", "host-0000000x", "peer-00000000", "host-000000001"} {
		if n, ok := hostOf(p); ok {
			t.Errorf("%q is host %d", p, n)
		}
	}
}

func TestOracle(t *testing.T) {
	// Host 0 is there for 2 h, host 1 for 10 h, host 2 to the end, host 3 away;
	// host 4 leaves at 0.
	set := func() *trace.Trace {
		s := hostTrace(t, 48, []float64{0, 2, 24}, []float64{0, 10, 11}, []float64{0}, []float64{20}, []float64{0})
		h := &trace.History{}
		_ = h.Append(s.Start, trace.Unavailable, 0)
		h.Extend(s.End)
		s.Hosts[4].History = h
		return s
	}
	owner := func(hours ...float64) func(*Scenario) {
		return func(s *Scenario) { // host 0's owner is there between these
			h := &trace.History{}
			for k, x := range hours {
				state := []trace.State{trace.Available, trace.UserPresent}[k%2]
				_ = h.Append(s.Trace.Start.Add(time.Duration(x*float64(time.Hour))), state, 1)
			}
			h.Extend(s.Trace.End)
			s.Trace.Hosts = []trace.Host{{History: h}}
		}
	}
	both := func(fs ...func(*Scenario)) func(*Scenario) {
		return func(s *Scenario) {
			for _, f := range fs {
				f(s)
			}
		}
	}
	for _, c := range []struct {
		name  string
		rules func(*Scenario)
		slots int
		works []float64
		want  string
	}{
		{"the least that suffices", nil, 1, []float64{2, 2, 2}, "0>0 1>1 2>2"},
		{"long tasks find the long stays", nil, 1, []float64{11, 1, 5}, "0>2 1>0 2>1"},
		{"greedy in order", nil, 1, []float64{2, 5, 30}, "0>0 1>1 2>2"},
		{"what asks for less than what waits may have a place", func(s *Scenario) { s.Trace.Hosts = s.Trace.Hosts[:1] }, 1,
			[]float64{5, 6, 4, 2}, "3>0"},
		{"what fits nowhere waits and the others pass", func(s *Scenario) { s.Trace.Hosts = s.Trace.Hosts[:2] }, 1,
			[]float64{11, 12, 3}, "2>1"},
		{"slots", nil, 2, []float64{1, 1, 1, 9, 9, 9, 9, 9}, "0>0 1>0 2>1 3>1 4>2 5>2"},
		{"with checkpoints elsewhere, the longest stay", func(s *Scenario) {
			s.Trace.Hosts = s.Trace.Hosts[:2]
			s.Checkpoints, s.Workload.Requeue = Checkpoints{Every: time.Hour, Away: true}, true
		}, 1, []float64{11, 12}, "0>1 1>0"},
		{"no checkpoint would be made", func(s *Scenario) {
			s.Trace.Hosts = s.Trace.Hosts[:2]
			s.Checkpoints, s.Workload.Requeue = Checkpoints{Every: 3 * time.Hour, Away: true}, true
		}, 1, []float64{11, 12}, "0>1"},
		{"checkpoints that stay with their host do not help", func(s *Scenario) {
			s.Trace.Hosts = s.Trace.Hosts[:2]
			s.Checkpoints, s.Workload.Requeue = Checkpoints{Every: time.Hour}, true
		}, 1, []float64{11, 12}, ""},
		{"pauses of checkpoints count", func(s *Scenario) {
			s.Checkpoints = Checkpoints{Every: time.Hour, Pause: time.Hour}
			s.Workload.Classes = []Class{{State: 64 << 20}}
		}, 1, []float64{2, 5}, "0>1 1>2"},
		{"the way there counts", func(s *Scenario) { s.Network.Delay = time.Minute }, 1, []float64{2}, "0>1"},
		{"in paper nothing does", func(s *Scenario) { s.Network.Delay, s.Paper = time.Minute, true }, 1, []float64{2}, "0>0"},
		{"an owner's breaks are sat out", owner(0, 1, 2), 1, []float64{3}, "0>0"},
		{"an owner who stays ends nothing", owner(0, 1), 1, []float64{3}, "0>0"},
		{"unless he kills", both(owner(0, 1, 2, 4), func(s *Scenario) { s.Hosts.Owner = Kill }), 1, []float64{3, 1}, "1>0"},
		{"or stays longer than the grace", both(owner(0, 1, 2, 3), func(s *Scenario) { s.Hosts.Grace = 30 * time.Minute }),
			1, []float64{2, 1}, "1>0"},
		{"one after the other of two reasons", func(s *Scenario) {
			h := &trace.History{}
			for k, state := range []trace.State{trace.Available, trace.UserPresent, trace.CPUBusy, trace.Available} {
				_ = h.Append(s.Trace.Start.Add(time.Duration(k)*time.Hour), state, 1)
			}
			h.Extend(s.Trace.End)
			s.Trace.Hosts, s.Hosts.Grace = []trace.Host{{History: h}}, 2*time.Hour
		}, 1, []float64{1.5, 1}, "1>0"},
		{"within the grace", both(owner(0, 1, 2,
			3), func(s *Scenario) { s.Hosts.Grace = 2 * time.Hour; s.End = s.Trace.Start.Add(3 * time.Hour) }), 1,
			[]float64{2}, "0>0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Scenario{Trace: set()}
			if c.rules != nil {
				c.rules(s)
			}
			hosts := idle(s.Trace, c.slots)
			before := slices.Clone(hosts)
			q := &listed{works: c.works}
			ps := newOracle(s).Place(s.Trace.Start, q, hosts, place.Unknown{}, nil)
			if got := went(ps); got != c.want {
				t.Errorf("went %s, want %s", got, c.want)
			}
			if !slices.Equal(before, hosts) {
				t.Error("it changed the hosts that it was shown")
			}
			for _, p := range ps {
				if p.Reason.String() == "" {
					t.Errorf("no reason for %v", p.Task)
				}
			}
		})
	}
}

// With speeds of their own, hosts do more or less in the same time, and lose it
// with their processors.
func TestOracleKnowsSpeeds(t *testing.T) {
	set := hostTrace(t, 48, []float64{0, 4, 40}, []float64{0, 4, 40})
	set.Hosts[0].GHz = 2
	h := &trace.History{} // half of its processors after an hour: 2.5 h of work
	for k, cpu := range []float64{1, .5} {
		if err := h.Append(set.Start.Add(time.Duration(k)*time.Hour), trace.Available, cpu); err != nil {
			t.Fatal(err)
		}
	}
	_ = h.Append(set.Start.Add(4*time.Hour), trace.Unavailable, 0)
	h.Extend(set.End)
	set.Hosts[1].History = h
	for _, c := range []struct {
		speeds Speeds
		works  []float64
		want   string
	}{{Traced, []float64{2.6, 2.5}, "0>0 1>1"}, {Traced, []float64{8, 2.6}, "0>0"},
		{Uniform, []float64{4, 4}, "0>0 1>1"}, {Uniform, []float64{4.1}, ""}} {
		o := newOracle(&Scenario{Trace: set, Hosts: HostRules{Speeds: c.speeds}})
		if got := went(o.Place(set.Start, &listed{works: c.works}, idle(set, 1), place.Unknown{}, nil)); got != c.want {
			t.Errorf("speeds %d, works %v: went %s, want %s", c.speeds, c.works, got, c.want)
		}
	}
}

// It follows its hosts: what is left of a stay gets less, and ends at the instant
// at which the host leaves.
func TestOracleAsTimeGoes(t *testing.T) {
	set := hostTrace(t, 48, []float64{0, 10, 20, 23})
	o := newOracle(&Scenario{Trace: set})
	for _, c := range []struct {
		at, work float64
		want     string
	}{{0, 10, "0>0"}, {1, 10, ""}, {1, 9, "0>0"}, {10, .1, ""}, {20, 3, "0>0"}, {21, 3, ""}} {
		now := set.Start.Add(time.Duration(c.at * float64(time.Hour)))
		if got := went(o.Place(now, &listed{works: []float64{c.work}}, idle(set, 1), place.Unknown{}, nil)); got != c.want {
			t.Errorf("at %v h, %v h of work: went %q, want %q", c.at, c.work, got, c.want)
		}
	}
}
