package migrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"godwit/predictor"
	"godwit/task"
	"godwit/trace"
	"pgregory.net/rapid"
)

func parse(t testing.TB, s string) Policy {
	t.Helper()
	p, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hour(h float64) time.Time { return time.Unix(0, 0).Add(time.Duration(h * float64(time.Hour))) }

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }

// one is the forecast of one host by its predictor.
type one struct{ predictor.Predictor }

func (o one) Stay(_ task.PeerID, now time.Time, d time.Duration) (float64, bool) {
	return o.Predictor.Stay(now, d)
}

// TestOutcomes is Table 5-1, with its boundary: an exit at the end of the
// prediction's time is a stay.
func TestOutcomes(t *testing.T) {
	for _, tt := range []struct {
		exit bool
		left float64 // hours after; 0 never
		want predictor.Outcomes
	}{
		{true, 0.5, predictor.Outcomes{CP1: 1}},
		{true, 0, predictor.Outcomes{FA: 1}},
		{false, 0.5, predictor.Outcomes{MD: 1}},
		{false, 0, predictor.Outcomes{CP2: 1}},
		{true, 1, predictor.Outcomes{FA: 1}},
		{false, 1, predictor.Outcomes{CP2: 1}},
	} {
		var j Judge
		j.Predicted(hour(0), []Prediction{
			{Peer: "a", Exit: tt.exit, For: time.Hour},
			{Peer: "b", For: time.Hour, Blind: true},
			{Peer: "c", Exit: true}, // on notice: no time
		})
		if tt.left > 0 {
			j.Left("a", hour(tt.left))
			j.Left("a", hour(tt.left)) // only the first counts
		}
		if early := j.Settle(hour(0.99)); early != (predictor.Outcomes{}) {
			t.Errorf("%+v: scored %+v early", tt, early)
		}
		if got := j.Settle(hour(1)); got != tt.want || j.Outcomes != tt.want {
			t.Errorf("%+v: got %+v", tt, got)
		}
	}
}

// TestPublishedShares has section 7.5's figures: D of Eq 7.14, and missed exits
// as all but those predicted.
func TestPublishedShares(t *testing.T) {
	for _, tt := range []struct {
		cp1, exits, counted, missed int
		detected                    float64
	}{
		{3644, 6076, 5616, 2432, 64.89}, {149, 6076, 5616, 5927, 2.65}, // UCB
		{306, 2370, 1864, 2064, 16.42}, // SDSC
		{1802, 9764, 7529, 7962, 23.93},
	} {
		j := Judge{Outcomes: predictor.Outcomes{CP1: tt.cp1, MD: tt.counted - tt.cp1}, Exits: tt.exits}
		if got := j.Detection() * 100; j.Missed() != tt.missed || math.Abs(got-tt.detected) > 0.006 {
			t.Errorf("%+v: got %d missed, %v %%", tt, j.Missed(), got)
		}
	}
}

// TestPSPPReplay is Appendix B.III: one prediction at the start of day 2. Where
// the text contradicts its definitions (scenarios 2 and 4), these hold.
func TestPSPPReplay(t *testing.T) {
	for i, tt := range []struct {
		t1, t2 float64
		want   predictor.Outcomes
	}{
		{1, 1, predictor.Outcomes{CP2: 1}},
		{0.5, 1, predictor.Outcomes{FA: 1}},
		{0.5, 0.7, predictor.Outcomes{CP1: 1}},
		{1, 0.7, predictor.Outcomes{MD: 1}},
		{0.7, 0.5, predictor.Outcomes{CP1: 1}},
	} {
		p := parse(t, "pspp:n=1,p=1h,hosts=available").(*PSPP)
		m, err := predictor.Parse(p.Predictor())
		if err != nil {
			t.Fatal(err)
		}
		host := m.New(nil)
		var j Judge
		for day, until := range []float64{tt.t1, tt.t2} {
			from := float64(24 * day)
			host.Observe(hour(from), trace.Available)
			j.Predicted(hour(from), p.Scan(hour(from), []Host{{Peer: "a"}}, one{host}, newRand()))
			host.Observe(hour(from+until), trace.Unavailable)
			j.Left("a", hour(from+until))
		}
		j.Settle(hour(48))
		if j.Outcomes != tt.want {
			t.Errorf("scenario %d: got %+v, want %+v", i+1, j.Outcomes, tt.want)
		}
	}
}

// TestCBRReplay is Appendix B.IV, read as its definitions have it: in scenario 5
// the drop comes between two scans. With scans each half hour it is seen.
func TestCBRReplay(t *testing.T) {
	never := 99.0
	for _, tt := range []struct {
		name     string
		interval string
		cpu      map[float64]float64 // at the hours of scans
		leaves   float64
		want     predictor.Outcomes
	}{
		{"1", "1h", map[float64]float64{0: 100, 1: 100}, never, predictor.Outcomes{CP2: 2}},
		{"2", "1h", map[float64]float64{0: 100}, 0.8, predictor.Outcomes{MD: 1}},
		{"3", "1h", map[float64]float64{0: 30}, 0.8, predictor.Outcomes{CP1: 1}},
		{"4", "1h", map[float64]float64{0: 30, 1: 65}, never, predictor.Outcomes{FA: 1, CP2: 1}},
		{"5", "1h", map[float64]float64{0: 60}, 0.8, predictor.Outcomes{MD: 1}},
		{"5 each half hour", "30m", map[float64]float64{0: 60, 0.5: 15}, 0.8, predictor.Outcomes{CP2: 1, CP1: 1}},
	} {
		p := parse(t, "cbr:threshold=50,hosts=available,interval="+tt.interval)
		var j Judge
		for h := 0.0; h < 2 && h < tt.leaves; h += p.Period().Hours() {
			hosts := []Host{{Peer: "a", CPU: tt.cpu[h]}}
			j.Predicted(hour(h), p.Scan(hour(h), hosts, nil, newRand()))
			if tt.leaves < h+p.Period().Hours() {
				j.Left("a", hour(tt.leaves))
				p.Left("a", hour(tt.leaves))
			}
		}
		if j.Settle(hour(2)); j.Outcomes != tt.want {
			t.Errorf("scenario %s: got %+v, want %+v", tt.name, j.Outcomes, tt.want)
		}
		moved := p.(*CBR).Threshold() != 50
		if moved != (tt.name == "4") || math.Abs(p.(*CBR).Threshold()-50) > 5 {
			t.Errorf("scenario %s: the threshold is %v", tt.name, p.(*CBR).Threshold())
		}
	}
}

// TestCBRRevises has both readings of an incorrect prediction, and the step: the
// threshold moves by the adjustment times a number from -1 to 1.
func TestCBRRevises(t *testing.T) {
	for _, tt := range []struct {
		o              predictor.Outcomes
		alarms, missed bool // moves, by either reading
	}{
		{predictor.Outcomes{}, false, false},
		{predictor.Outcomes{CP2: 9}, false, false},
		{predictor.Outcomes{FA: 1}, true, true},
		{predictor.Outcomes{MD: 1}, false, true},
		{predictor.Outcomes{CP1: 1, FA: 1}, false, false},
		{predictor.Outcomes{CP1: 1, FA: 1, MD: 1}, false, true},
		{predictor.Outcomes{CP1: 2, FA: 3}, true, true},
	} {
		a, b := parse(t, "cbr:incorrect=alarms").(*CBR), parse(t, "cbr").(*CBR)
		if a.wrong(tt.o) != tt.alarms || b.wrong(tt.o) != tt.missed {
			t.Errorf("%+v: got %v and %v", tt.o, a.wrong(tt.o), b.wrong(tt.o))
		}
	}
	c := parse(t, "cbr").(*CBR)
	low := []Host{{Peer: "a", CPU: 24.9, Tasks: []task.TaskID{{Job: "j"}}},
		{Peer: "b", CPU: 25, Tasks: []task.TaskID{{Job: "j", Index: 1}}}, {Peer: "idle"}}
	first := c.Scan(hour(0), low, nil, newRand())
	if len(first) != 2 || !first[0].Exit || first[1].Exit {
		t.Fatalf("got %+v: below is strictly below, and idle hosts are not looked at", first)
	}
	c.Scan(hour(1), nil, nil, newRand()) // a false alarm
	if want := 25 + 5*(2*newRand().Float64()-1); c.Threshold() != want {
		t.Errorf("got %v, want %v", c.Threshold(), want)
	}
}

// TestCBRStaysWithin: whatever happens, the threshold is strictly between its
// bounds.
func TestCBRStaysWithin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := parse(t, "cbr:low=0,high=30,adjustment=100").(*CBR)
		for h := range rapid.IntRange(1, 20).Draw(rt, "scans") {
			cpu := rapid.Float64Range(0, 100).Draw(rt, "cpu")
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
			c.Scan(hour(float64(h)), []Host{{Peer: "a", CPU: cpu, Tasks: make([]task.TaskID, 1)}}, nil, rng)
			if c.threshold <= 0 || c.threshold >= 30 {
				rt.Fatalf("got %v", c.threshold)
			}
			if rapid.Bool().Draw(rt, "leaves") {
				c.Left("a", hour(float64(h)+0.01))
			}
		}
	})
}

// TestPSPPScans: history is asked of busy hosts only, a host without any stays,
// and with more checking days more exits are predicted (S16).
func TestPSPPScans(t *testing.T) {
	at := hour(6 * 24)
	busy := []task.TaskID{{Job: "j", Index: 3}, {Job: "j", Index: 4}}
	hosts := []Host{{Peer: "a", Tasks: busy}, {Peer: "b"}}
	for n, exit := range map[int]bool{1: false, 5: true} {
		p := parse(t, fmt.Sprintf("pspp:p=1h,n=%d", n)).(*PSPP)
		m, _ := predictor.Parse(p.Predictor())
		host := m.New(nil)
		if got := p.Scan(at, hosts, one{host}, nil); len(got) != 1 || got[0].Exit || !got[0].Blind {
			t.Errorf("without history: got %+v", got)
		}
		host.Observe(hour(0), trace.Available)
		host.Observe(hour(48.5), trace.Unavailable) // four days before
		host.Observe(hour(49), trace.Available)
		got := p.Scan(at, hosts, one{host}, nil)
		if len(got) != 1 || got[0].Exit != exit || got[0].Blind {
			t.Errorf("n=%d: got %+v", n, got)
		}
		if moves := Moves(hosts, got); exit != (len(moves) == 2 && moves[1].Task == busy[1] && moves[0].From == "a" &&
			moves[0].Reason != "") {
			t.Errorf("n=%d: got %+v", n, moves)
		}
	}
}

// low is what a predictor may hold of hosts at large.
type low struct{}

func (low) Stay(task.PeerID, time.Time, time.Duration) (float64, bool) { return 0.1, false }

// TestUnknownHostStays: PSPP moves nothing for a guess that is not about the host.
func TestUnknownHostStays(t *testing.T) {
	got := parse(t, "pspp").Scan(hour(0), []Host{{Peer: "a", Tasks: make([]task.TaskID, 1)}}, low{}, nil)
	if len(got) != 1 || got[0].Exit || !got[0].Blind {
		t.Errorf("got %+v", got)
	}
}

func TestReactive(t *testing.T) {
	hosts := []Host{{Peer: "a", Tasks: make([]task.TaskID, 1)},
		{Peer: "b", Tasks: make([]task.TaskID, 2), Leaving: true}, {Peer: "c", Leaving: true}}
	if got := Moves(hosts, parse(t, "reactive").Scan(hour(0), hosts, nil, nil)); len(got) != 2 || got[0].From != "b" {
		t.Errorf("got %+v", got)
	}
	if got := parse(t, "none").Scan(hour(0), hosts, nil, nil); got != nil {
		t.Errorf("got %+v", got)
	}
}

// TestCPUPercent has section 4.3.2's example.
func TestCPUPercent(t *testing.T) {
	for _, tt := range []struct{ current, greatest, want float64 }{{700, 1000, 70}, {0, 1000, 0}, {1, 0, 0}, {2, 1, 100},
		{1, math.NaN(), 0}} {
		if got := CPUPercent(tt.current, tt.greatest); got != tt.want {
			t.Errorf("%v of %v: got %v", tt.current, tt.greatest, got)
		}
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct{ spec, problem string }{
		{"none", ""}, {"reactive", ""}, {"pspp:n=6,p=10m", ""}, {"pspp:p=5m,interval=1m,weights=.5/.5,n=2", ""},
		{"cbr:threshold=25,adjustment=5,incorrect=alarms", ""}, {"cbr:low=0,high=30", ""},
		{"", "use one of cbr, cbr-pspp, cost, none, pspp, reactive"}, {"pspp:n=0", "n=0"}, {"pspp:weights=2", "weight"},
		{"pspp:m=2", "use one of p, interval"}, {"cbr:incorrect=x", "alarms-and-missed, alarms"},
		{"cbr:threshold=0", "between"}, {"cbr:low=50,high=40", "nothing between"}, {"none:p=1h", "it has none"},
	} {
		_, err := Parse(tt.spec)
		if tt.problem == "" && err != nil || tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)) {
			t.Errorf("%q: got %v, want %q", tt.spec, err, tt.problem)
		}
	}
	for _, name := range Names() {
		if !strings.Contains(Describe(), name) {
			t.Errorf("%s is not described", name)
		}
	}
}
