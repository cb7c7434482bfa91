package bags

import (
	"math"
	"slices"
	"testing"
	"time"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

// TestRun: every bag of a small table is told of for every contender; none beats what no
// schedule can; equal seeds give equal figures; and targets are about the default.
func TestRun(t *testing.T) {
	o := &Options{Sets: []Set{{Name: "office", Kind: "office"}}, Placement: "expected", Migration: "cost", Seed: 3,
		Runs: 2, Sizes: []int{20}, Only: func(c *Contender) bool { return c.Part == Ablation || c.Name == "uptime" }}
	r, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cells) != 2 || len(r.Contenders) < 10 || len(r.Rows) != 2*len(r.Contenders) || len(r.Targets) != 3 {
		t.Fatalf("%d cells, %d contenders, %d rows, %d targets", len(r.Cells), len(r.Contenders), len(r.Rows), len(r.Targets))
	}
	for _, c := range r.Cells {
		if c.Figures[0].Name != DefaultName || c.of(FCFSName).MedianS <= 0 {
			t.Errorf("%s: %+v", c.Bag, c.Figures[0])
		}
		for _, f := range c.Figures {
			for _, p := range f.runs {
				if p.MakespanS < p.IdealS || p.Met && !p.Done || p.UploadMiB < p.SentMiB {
					t.Errorf("%s, %s: %+v", c.Bag, f.Name, p)
				}
			}
		}
	}
	if row := r.Rows[slices.IndexFunc(r.Rows, func(r Row) bool { return r.Name == FCFSName })]; row.TimesFCFS != 1 {
		t.Errorf("FCFS is %v times itself", row.TimesFCFS)
	}
	again, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Rows {
		if r.Rows[i] != again.Rows[i] {
			t.Errorf("twice: %+v and %+v", r.Rows[i], again.Rows[i])
		}
	}
}

// TestRefused: what cannot be run is said before anything is.
func TestRefused(t *testing.T) {
	for _, o := range []*Options{
		{Runs: 1},
		{Sets: []Set{{Name: "office", Kind: "office"}}},
		{Sets: []Set{{Name: "office", Kind: "office"}}, Runs: 1, Sizes: []int{MostTasks + 1}},
		{Sets: []Set{{Name: "nowhere", Kind: "nowhere"}}, Runs: 1},
	} {
		if _, err := Run(o); err == nil {
			t.Errorf("%+v was run", o)
		}
	}
}

// TestRivalsHaveAll: every rival makes checkpoints and copies, and one that is left out
// of the table does what one in it does.
func TestRivalsHaveAll(t *testing.T) {
	for _, c := range Contenders("expected", "cost") {
		if c.Part == Rival && (!c.Auto || c.Copies != baseCopies || c.Migration == "cost" || c.Predictor != "") {
			t.Errorf("%+v", c)
		}
	}
	s := Set{Name: "ucb-like", Kind: "ucb"}
	d, err := s.draw(1)
	if err != nil {
		t.Fatal(err)
	}
	play := func(migration string) Played {
		c := Contender{Placement: reproduce.FCFS, Migration: migration, Copies: baseCopies, Auto: true}
		p, err := d.play(&bag{20, true}, &c)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, same := range []string{"reactive", "cbr"} {
		if got, want := play(same), play("none"); got != want {
			t.Errorf("%s: %+v, none: %+v", same, got, want)
		}
	}
}

// TestIdeal: of hosts that stay, the ideal is the level algorithm's; one that comes later
// counts from then.
func TestIdeal(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	host := func(ghz float64, from time.Duration) trace.Host {
		h := &trace.History{Host: "h"}
		if err := h.Append(start.Add(from), trace.Available, 1); err != nil {
			t.Fatal(err)
		}
		h.Extend(start.Add(7 * reproduce.Day))
		return trace.Host{History: h, GHz: ghz}
	}
	for _, tt := range []struct {
		name  string
		hosts []trace.Host
		tasks int
		want  time.Duration
	}{
		{"one host", []trace.Host{host(2, 0)}, 3, 90 * time.Minute},
		{"the fastest of three", []trace.Host{host(1, 0), host(2, 0), host(1, 0)}, 1, 30 * time.Minute},
		{"two take turns", []trace.Host{host(1, 0), host(2, 0), host(1, 0)}, 2, 40 * time.Minute},
		{"one comes later", []trace.Host{host(1, 0), host(1, 4*reproduce.Day+30*time.Minute)}, 2, 75 * time.Minute},
	} {
		d := &draw{trace: &trace.Trace{Hosts: tt.hosts}, from: start, span: 7 * reproduce.Day, comes: 4 * reproduce.Day}
		if got := d.ideal(&bag{tt.tasks, false}); got.Round(time.Second) != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestQuantiles: nearest rank.
func TestQuantiles(t *testing.T) {
	x := []float64{1, 2, 3, 4}
	if at(x, .5) != 2 || at(x, .95) != 4 || at(x[:1], .5) != 1 {
		t.Errorf("got %v %v %v", at(x, .5), at(x, .95), at(x[:1], .5))
	}
}

// TestGeometricMeans: ratios of rows are of geometric means over seeds and cells, and a
// bag that is not done counts to the end of its records.
func TestGeometricMeans(t *testing.T) {
	c := Contender{Name: "x", Placement: sim.OracleSoonest}
	f := figures(&c, []Played{{MakespanS: 1, IdealS: 1, Done: true, Met: true}, {MakespanS: 4, IdealS: 1}})
	if math.Abs(f.MeanS-2) > 1e-12 || f.DonePct != 50 || f.MetPct != 50 || f.MedianS != 1 || f.P95S != 4 {
		t.Errorf("%+v", f)
	}
}

// TestPair: the default and FCFS run alone, and what is told of them is what a larger
// table tells; no other is told of.
func TestPair(t *testing.T) {
	o := &Options{Sets: []Set{{Name: "office", Kind: "office"}}, Placement: "expected", Migration: "cost", Seed: 3,
		Runs: 1, Sizes: []int{10}, Pair: true}
	r, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	if x := &r.Rows[0]; len(r.Contenders) != 2 || len(r.Rows) != 4 || x.TimesOracle != 0 ||
		math.Abs(x.MedianFCFS-x.TimesFCFS) > 1e-9 {
		t.Errorf("%+v", r.Rows)
	}
	o.Pair, o.Only = false, func(*Contender) bool { return false }
	all, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	if all.Rows[0].TimesFCFS != r.Rows[0].TimesFCFS || len(all.Contenders) != 4 || !(all.Rows[0].TimesOracle > 0) {
		t.Errorf("alone %+v, with others %+v", r.Rows[0], all.Rows[0])
	}
}

// TestWithoutParts: the default without its order and without exchanges, however it is written.
func TestWithoutParts(t *testing.T) {
	for _, tt := range [][2]string{{"cost", ":exchange=1e6"}, {"cost:rest=3", ",exchange=1e6"}, {"cost:exchange=2", ""},
		{"pspp", ""}} {
		if got := noExchanges(tt[0]); got != tt[1] {
			t.Errorf("%s: got %q, want %q", tt[0], got, tt[1])
		}
	}
	for _, tt := range [][2]string{{"expected", ":order=turn"}, {"expected:unknown=2h", ",order=turn"},
		{"expected:order=longest", ""}, {"uptime", ""}} {
		if got := inTurn(tt[0]); got != tt[1] {
			t.Errorf("%s: got %q, want %q", tt[0], got, tt[1])
		}
	}
}
