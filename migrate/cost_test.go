package migrate

import (
	"fmt"
	"testing"
	"time"

	"godwit/task"
	"pgregory.net/rapid"
)

// rates is a forecast of hosts that leave at even rates an hour, whatever the
// time is.
type rates map[task.PeerID]float64

func (r rates) Stay(peer task.PeerID, _ time.Time, d time.Duration) (float64, bool) {
	rate, known := r[peer]
	if !known {
		return 1, false
	}
	return exponential(time.Duration(float64(time.Hour) / rate))(d), true
}

// slowLink is 64 MiB in 54 s, a second's pause.
var slowLink = Situation{Costs: Costs{Pause: time.Second, Rate: 1.25e6, Delay: 50 * time.Millisecond,
	Detect: 6 * time.Second}, Saves: true}

func busy(peer string, speed float64, left time.Duration) Host {
	return Host{
		Peer: task.PeerID(peer), Speed: speed, Tasks: []task.TaskID{{Job: task.JobID("of " + peer)}},
		Runs: []Run{{Left: left, State: 64 << 20, Movable: true}},
	}
}

func free(peer string, speed float64) Host {
	return Host{Peer: task.PeerID(peer), Speed: speed, Idle: 1}
}

func told(moves []Move) string {
	out := ""
	for _, m := range moves {
		out += fmt.Sprintf("%s>%s ", m.From, m.To)
	}
	return out
}

// TestCost is which tasks move, and where.
func TestCost(t *testing.T) {
	const h = time.Hour
	notice := busy("a", 1, h)
	notice.Leaving = true
	stuck := busy("a", 1, h)
	stuck.Runs[0].Movable = false
	waiting, unsaved := slowLink, slowLink
	waiting.Waiting = 1
	unsaved.Saves = false
	risky := rates{"a": 30, "b": .01, "c": .01}
	for _, tt := range []struct {
		name  string
		hosts []Host
		f     rates
		s     Situation
		want  string
	}{
		{"all well", []Host{busy("a", 1, h), free("b", 1)}, rates{"a": .01, "b": .01}, slowLink, ""},
		{"notice", []Host{notice}, rates{}, slowLink, "a> "},
		{"notice, and others wait", []Host{notice, free("b", 1)}, rates{}, waiting, "a> "},
		{"a host that goes, and one that stays", []Host{busy("a", 1, h), free("b", 1)}, risky, slowLink, "a>b "},
		{"others wait", []Host{busy("a", 1, h), free("b", 1)}, risky, waiting, ""},
		{"one place for two", []Host{busy("a", 1, h), busy("c", 1, h), free("b", 1)}, rates{"a": 30, "b": .01, "c": 20},
			slowLink, "a>b "},
		{"to where it is as bad", []Host{busy("a", 1, h), free("b", 1)}, rates{"a": 30, "b": 30}, slowLink, ""},
		{"to a host that nobody knows", []Host{busy("a", 1, h), free("b", 1)}, rates{"a": 30}, slowLink, ""},
		{"it will have ended", []Host{busy("a", 1, time.Minute/2), free("b", 1)}, risky, slowLink, ""},
		{"it cannot move", []Host{stuck, free("b", 1)}, risky, slowLink, ""},
		{"a straggler", []Host{busy("a", .5, h), free("b", 2)}, rates{"a": .01, "b": .01}, slowLink, "a>b "},
		{"hardly faster", []Host{busy("a", 1, h), free("b", 1.01)}, rates{"a": .01, "b": .01}, slowLink, ""},
		{"faster, and sure to go", []Host{busy("a", 1, 6*h), free("b", 1.2)}, rates{"a": .01, "b": 60}, unsaved, ""},
		{"nothing is saved", []Host{busy("a", 1, 6*h), free("b", 1)}, rates{"a": 1, "b": .01}, unsaved, "a>b "},
	} {
		c := parse(t, "cost").(*Cost)
		if got := told(c.Moves(hour(0), tt.hosts, tt.f, tt.s)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestCostRests: a task that moved is left alone for two transfers.
func TestCostRests(t *testing.T) {
	c := parse(t, "cost").(*Cost)
	there := []Host{busy("a", 1, time.Hour), free("b", 1)}
	if got := told(c.Moves(hour(0), there, rates{"a": 30, "b": .01}, slowLink)); got != "a>b " {
		t.Fatal(got)
	}
	back := []Host{busy("b", 1, time.Hour), free("a", 1)}
	back[0].Tasks = there[0].Tasks
	changed := rates{"a": .01, "b": 30}
	if got := told(c.Moves(hour(.02), back, changed, slowLink)); got != "" {
		t.Errorf("after a minute %q", got)
	}
	if got := told(c.Moves(hour(.04), back, changed, slowLink)); got != "b>a " {
		t.Errorf("after three minutes %q", got)
	}
}

// TestCostNeverGoesBack: while forecasts stay as they are no task returns to a
// host that it left, no slot is given twice, and moves come to an end.
func TestCostNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "hosts")
		f, hosts := rates{}, []Host{}
		for i := range n {
			name := fmt.Sprint("h", i)
			f[task.PeerID(name)] = rapid.Float64Range(.01, 60).Draw(t, "rate")
			speed := rapid.SampledFrom([]float64{0, .5, 1, 3}).Draw(t, "speed")
			if rapid.Bool().Draw(t, "busy") {
				h := busy(name, speed, time.Duration(rapid.IntRange(1, 600).Draw(t, "left"))*time.Minute)
				h.Runs[0].Unsaved = time.Duration(rapid.IntRange(0, 100).Draw(t, "unsaved")) * time.Minute
				hosts = append(hosts, h)
			} else {
				hosts = append(hosts, free(name, speed))
			}
		}
		s := slowLink
		s.Saves = rapid.Bool().Draw(t, "saves")
		c, left := &Cost{period: costPeriod, rest: costRest, pays: exchangeGain}, map[string]bool{}
		for scan := range 3 * n {
			moves := c.Moves(hour(float64(scan)), hosts, f, s)
			for _, m := range moves {
				from, to := find(hosts, m.From), find(hosts, m.To)
				if to.Idle != 1 || left[fmt.Sprint(m.Task, m.To)] {
					t.Fatalf("scan %d: %s to %s, which is taken or was left", scan, m.Task, m.To)
				}
				left[fmt.Sprint(m.Task, m.From)] = true
				to.Tasks, to.Runs, to.Idle = from.Tasks, from.Runs, 0
				from.Tasks, from.Runs, from.Idle = nil, nil, 1
			}
			if scan == 3*n-1 && len(moves) > 0 {
				t.Fatalf("still moving: %v", told(moves))
			}
		}
	})
}

func find(hosts []Host, peer task.PeerID) *Host {
	for i := range hosts {
		if hosts[i].Peer == peer {
			return &hosts[i]
		}
	}
	return nil
}

func TestCostAllocatesNothing(t *testing.T) {
	var hosts []Host
	f := rates{}
	for i := range 200 {
		name := fmt.Sprint(i)
		if f[task.PeerID(name)] = .5; i%2 == 0 {
			hosts = append(hosts, busy(name, 1, time.Hour))
		} else {
			hosts = append(hosts, free(name, 1))
		}
	}
	c := parse(t, "cost").(*Cost)
	if n := testing.AllocsPerRun(20, func() { c.Moves(hour(0), hosts, f, slowLink) }); n != 0 {
		t.Errorf("%v allocations a scan", n)
	}
}
