package policies

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/reproduce"
	"godwit/scheduler/place"
	"godwit/sim"
	"godwit/trace"
)

// TestContenders: the default and the oracle go before the 28 pairs of seven placements
// with four migrations; as published, these make no automatic checkpoints.
func TestContenders(t *testing.T) {
	g := Grid{Ours: Contender{Placement: "expected", Migration: "cost", Auto: true}}
	all := g.contenders()
	if len(all) != 30 || all[oursAt] != g.Ours || all[oracleAt].Placement != sim.Oracle || !all[oracleAt].Auto {
		t.Errorf("%d contenders: %+v", len(all), all[:2])
	}
	var names []string
	for _, c := range all[rivalsAt:] {
		if c.Auto {
			t.Errorf("%s makes automatic checkpoints", c)
		}
		names = append(names, c.String())
		if _, err := place.Parse(c.Placement); err != nil {
			t.Error(err)
		}
	}
	for i, want := range map[int]string{0: "random", 1: "fcfs", 6: "uptime", 7: "random + reactive", 19: "psopp + pspp",
		27: "uptime + cbr"} {
		if names[i] != want {
			t.Errorf("rival %d is %q, want %q", i, names[i], want)
		}
	}
	g.Auto, g.Sets, g.Runs = true, LikeSets(), 5
	if g.Count() != 4*3*3*5*30 || slices.ContainsFunc(g.contenders()[rivalsAt:],
		func(c Contender) bool { return !c.Auto }) {
		t.Errorf("%d runs, %+v", g.Count(), g.contenders()[rivalsAt])
	}
	if got := (Contender{Placement: "expected", Migration: "cost"}).String(); got != "expected + cost" {
		t.Errorf("got %q", got)
	}
}

func TestLikeSets(t *testing.T) {
	var got []string
	for _, s := range LikeSets() {
		got = append(got, s.Name+" "+s.Kind)
		if s.Measured != nil {
			t.Errorf("%s is measured", s.Name)
		}
	}
	if want := []string{"ucb-like ucb", "sdsc-like sdsc", "lri-like lri", "deug-like deug"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFigures(t *testing.T) {
	c := Contender{Placement: "uptime", Migration: "none"}
	f := figures(c, []played{
		{useful: 90, wasted: 10, idle: 5, pending: 1, came: 20, done: 18, lost: 2, moves: 3, checkpoints: 7, stay: 100},
		{useful: 110, wasted: 30, idle: 15, pending: 3, came: 20, done: 12, lost: 8, moves: 5, checkpoints: 9, stay: 200},
	})
	want := Figures{Contender: c, Name: "uptime", UsefulS: 100, WastedS: 20, IdleS: 10, PendingS: 2, WastedPct: 100. / 6,
		Tasks: 20, Done: 15, Lost: 5, Moves: 4, Checkpoints: 8, DonePct: 75, SuccessPct: 75, ResponseS: 150}
	if math.Abs(f.WastedPct-want.WastedPct) > 1e-9 {
		t.Errorf("wasted: %v %%", f.WastedPct)
	}
	if f.WastedPct = want.WastedPct; f != want {
		t.Errorf("got %+v, want %+v", f, want)
	}
	if f := figures(c, []played{{}}); f.DonePct != 0 || f.SuccessPct != 0 || f.WastedPct != 0 {
		t.Errorf("of nothing: %+v", f)
	}
	if !f.sameAs(&want) || f.sameAs(&Figures{UsefulS: 100, WastedS: 20, Done: 15, Moves: 3}) {
		t.Error("what did the same is not told from what did not")
	}
}

func TestCellNames(t *testing.T) {
	for size, want := range map[time.Duration]string{10 * time.Minute: "10m", time.Hour: "1h", 6 * time.Hour: "6h",
		90 * time.Minute: "90m"} {
		c := Cell{Set: "relays", Workload: "low", size: size}
		if c.Size() != want || c.String() != "relays, "+want+", low" {
			t.Errorf("%v: %q, %q", size, c.Size(), c.String())
		}
	}
}

func TestRows(t *testing.T) {
	cells := []Cell{
		madeUp(Levels[2], played{useful: 120, wasted: 30, done: 9, lost: 1, moves: 4}, played{useful: 240},
			played{useful: 100}, map[int]played{0: {useful: 80, wasted: 20, done: 8, lost: 2}}),
		madeUp(Levels[2], played{useful: 60, wasted: 20, done: 5, lost: 5, moves: 6}, played{useful: 90},
			played{useful: 80}, map[int]played{0: {useful: 100, wasted: 0, done: 2, lost: 8}}),
	}
	rows := rivalRows(cells)
	if len(rows) != 30 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, want := range map[int]RivalRow{
		0:  {"random", 1, 90, 80, 10, 50, 0},   // 80 of 100 and 100 of 100; 20 of 200 wasted; 10 of 20 runs
		1:  {"fcfs", 1, 90, 80, 0, 0, 0},       // 100 of 100 and 80 of 100
		28: {"ours", 1, 90, 60, 21.74, 70, 10}, // 120 of 100 and 60 of 100; 50 of 230 wasted; 14 of 20 runs
		29: {"oracle", 1, 165, 90, 0, 0, 0},    // 240 of 100 and 90 of 100
	} {
		got := rows[i]
		got.WastedPct = math.Round(100*got.WastedPct) / 100
		if got != want {
			t.Errorf("row %d: got %+v, want %+v", i, got, want)
		}
	}
}

// TestDescribe: a set's line says whether it is measured, its hosts and days.
func TestDescribe(t *testing.T) {
	span := func(hosts int, cores float64) *draw {
		d := &draw{trace: &trace.Trace{}, start: reproduce.Epoch, end: reproduce.Epoch.Add(84 * time.Hour), cores: cores}
		d.trace.Hosts = make([]trace.Host, hosts)
		return d
	}
	made := Set{Name: "ucb-like", Kind: "ucb"}
	measured := Set{Name: "phones", Measured: &trace.Trace{Hosts: make([]trace.Host, 300)}}
	for _, tt := range []struct {
		set   *Set
		draws []*draw
		want  string
	}{
		{&made, []*draw{span(80, 60), span(80, 70)},
			"ucb-like: synthetic (generator ucb), 80 hosts made anew by seed, 3.5 days, 65.0 hosts available in the mean"},
		{&measured, []*draw{span(70, 10), span(75, 20), span(72, 30)},
			"phones: measured, 70 to 75 hosts of 300 and their 3.5 days drawn by seed, 20.0 hosts available in the mean"},
	} {
		if got := tt.set.describe(tt.draws); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestRefused: days that warm-up and settling use up, and kinds of hosts that there are
// not, are errors that name the set.
func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		set  Set
		days int
		want string
	}{
		{Set{Name: "ucb-like", Kind: "ucb"}, 2, "set ucb-like: it has "},
		{Set{Name: "home-like", Kind: "home"}, 5, "set home-like: "},
	} {
		g := Grid{Sets: []Set{tt.set}, Hosts: 3, Days: tt.days, Seed: 1, Runs: 1,
			Ours: Contender{Placement: "uptime", Migration: "none"}}
		if r, err := g.Run(); r != nil || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, %v", tt.set.Name, r, err)
		}
	}
	g := tiny(nil)
	g.Sets, g.Ours.Placement = g.Sets[:1], "best"
	if r, err := g.Run(); r != nil || err == nil || !strings.Contains(err.Error(), "ucb-like, 10m, low, best, seed 1") {
		t.Errorf("got %v, %v", r, err)
	}
}

// TestCellJSON: --json prints a cell by these names, which others read.
func TestCellJSON(t *testing.T) {
	c := madeUp(Levels[0], played{useful: 95, came: 10, done: 10, stay: 11}, played{useful: 100},
		played{useful: 90, stay: 20}, nil)
	text, err := json.Marshal(&c)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	want := "best default delay_s fcfs gain_s job_size_s oracle quickest reason response rivals set synthetic ties " +
		"verdict workload"
	if fmt.Sprint(names) != "["+want+"]" || got["verdict"] != "won" || got["response"] != "won" ||
		got["gain_s"].(map[string]any)["mean"] != 5. {
		t.Errorf("got %s", text)
	}
}
