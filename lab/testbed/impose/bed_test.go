package impose

import (
	"bytes"
	"crypto/ed25519"
	"math"
	"strings"
	"testing"
	"time"

	"godwit/lab/testbed/measure"
	"godwit/sim"
	machines "godwit/sim/swarm"
	"godwit/task"
)

// testBed is one of two classes on three machines, of which the last has half of
// its processor; the second class cannot run on the first.
func testBed() *Bed {
	return New(&sim.Scenario{
		Workload: sim.Workload{Classes: []sim.Class{
			{Name: "a", Work: 10 * time.Minute, WorkLaw: sim.CubedWork, Arrival: sim.Poisson, Interval: 5 * time.Minute},
			{Name: "b", Work: 5 * time.Minute, Arrival: sim.AtTimes, Times: []time.Duration{0, time.Minute, time.Hour},
				Tasks: 2},
		}},
		Rates: &sim.Rates{Unit: 10 * time.Minute, Of: [][]float64{{2, 4, 8}, {0, 1, 6}}, Availability: []float64{1, 1, 0.5}},
	})
}

// A task of a class's mean work takes a machine 1/(mu a) of the unit: so divided are
// its works, and so the coordinator is told at the nodes' pace.
func TestBedRates(t *testing.T) {
	b := testBed()
	for i, want := range []string{"a=2,*=1", "a=4,b=0.5,*=2.25", "a=4,b=1.5,*=2.75"} {
		got := b.Speeds(i)
		if got != want {
			t.Errorf("machine %d: imposed %s, want %s", i, got, want)
		}
		if _, err := ReadSpeeds(got); err != nil {
			t.Errorf("machine %d: no node reads %s: %v", i, got, err)
		}
	}
	var peers []task.PeerID
	for i := range 3 {
		peers = append(peers, peerOfKey(i))
	}
	k, err := parseRates(bytes.NewReader(b.RatesFile(peers, 30*time.Minute, 600)))
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string][]float64{"a": {2, 4, 4}, "b": {0, 1, 3}} { // a unit is a second of the nodes
		for j, rate := range want {
			if got := k.Of[class][peers[j]]; math.Abs(got-rate) > 1e-9 {
				t.Errorf("class %s at machine %d: told %v a second, want %v", class, j, got, rate)
			}
		}
	}
	// a: one in 5 minutes; b: two jobs of two tasks in 30.
	if a, b := k.Arrivals["a"], k.Arrivals["b"]; math.Abs(a-2) > 1e-9 || math.Abs(b-4./3) > 1e-9 {
		t.Errorf("arrivals told: %v and %v a second", a, b)
	}
}

func peerOfKey(i int) task.PeerID {
	return task.PeerIDOf(machines.Key(1, i).Public().(ed25519.PublicKey))
}

func TestBedCheck(t *testing.T) {
	for _, tt := range []struct {
		placement string
		change    func(*Bed)
		want      string
	}{
		{"gcmu", func(*Bed) {}, ""},
		{"fcfs:order=idle", func(*Bed) {}, ""},
		{"expected", func(*Bed) {}, `class "b" cannot run on machine 1, and policy expected does not go by rates`},
		{"expected", func(b *Bed) { b.Rates.Of[1][0] = 1 }, ""},
		{"gcmu", func(b *Bed) { b.Classes[1].Name = "a" }, `class "a" is there twice`},
		{"gcmu", func(b *Bed) { b.Classes[1].Name = "b=2" }, "without = , *"},
		{"gcmu", func(b *Bed) { b.Classes[1].Name = "" }, "a name of 1 to"},
		{"gcmu", func(b *Bed) { b.Classes[1].WorkLaw = sim.Exponential }, "give jobs of one task"},
		{"gcmu", func(b *Bed) { b.Rates.Of[0][0] = 1e9 }, "at most 1e+06"},
		{"best", func(*Bed) {}, `there is no policy "best"`},
	} {
		b := testBed()
		tt.change(b)
		if err := b.Check(tt.placement); tt.want == "" && err != nil || tt.want != "" &&
			(err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.placement, err, tt.want)
		}
	}
}

// What a task takes beside its work is what its machine does not account for.
func TestBedOverhead(t *testing.T) {
	b := testBed()
	at := func(s float64) time.Time { return day0.Add(time.Duration(s * float64(time.Second))) }
	m := &measure.Run{Scale: 600, Servers: []measure.Server{{Peer: "p"}, {Peer: "q"}, {Peer: "r"}}}
	tasks := []measure.TaskTimes{ // a takes p half a unit, 0.5 s, and b takes r 1/3 of one
		{Class: "a", Server: "p", State: measure.TaskDone, Work: 10 * time.Minute, Sent: at(1), Done: at(1.51)},
		{Class: "b", Server: "r", State: measure.TaskDone, Work: 5 * time.Minute, Sent: at(2), Done: at(2 + 1./3 + 0.02)},
		{Class: "b", Server: "r", State: measure.TaskRunning, Work: 5 * time.Minute, Sent: at(2)},
	}
	if got := b.OverheadOf(m, tasks).Seconds(); math.Abs(got-9) > 1e-3 { // 15 ms
		t.Errorf("%v s of the trace, want 9", got)
	}
	if got := b.OverheadOf(m, nil); got != 0 {
		t.Errorf("%v of no tasks", got)
	}
}

var day0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
