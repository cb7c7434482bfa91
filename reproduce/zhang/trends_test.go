package zhang

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

// like and original are a set that stands for UCB, and UCB itself.
func like(name string) *set     { return &set{name: name, watched: &trace.Trace{}} }
func original(name string) *set { return &set{name: name, watched: &trace.Trace{}, original: true} }

// newBench is a bench without options.
func newBench() *bench { return &bench{&reproduce.Bench{}} }

// cellsBy are the cells of a bench by their names, without the set's.
func cellsBy(t *testing.T, b *bench) map[string]reproduce.Cell {
	t.Helper()
	out := map[string]reproduce.Cell{}
	for _, c := range b.Cells {
		_, name, named := strings.Cut(c.Cell, ": ")
		if !named {
			name = c.Cell
		}
		if _, twice := out[name]; twice {
			t.Errorf("two cells are called %q", name)
		}
		out[name] = c
	}
	return out
}

// holding is how many cells are in the published direction, and how many differ.
func holding(b *bench) (holds, differs int) {
	count := reproduce.Count(b.Cells)
	return count[reproduce.Direction], count[reproduce.Differs]
}

// TestLabels: hosts that stand for a set are called like it, never by its name.
func TestLabels(t *testing.T) {
	for _, tt := range []struct {
		sets  []*set
		label string
		all   string
	}{
		{[]*set{like("UCB")}, "UCB-like", "all -like sets"}, {[]*set{original("UCB")}, "UCB", "all sets"},
		{[]*set{original("UCB"), like("LRI")}, "UCB", "all -like sets"}, {[]*set{{name: "SDSC"}}, "SDSC", "all -like sets"},
	} {
		if got := tt.sets[0].label(); got != tt.label {
			t.Errorf("got %q, want %q", got, tt.label)
		}
		if got := together(tt.sets).label(); got != tt.all {
			t.Errorf("together: got %q, want %q", got, tt.all)
		}
	}
}

// days are counts with N = 1 to 6 checking days: A, S and F each begin at the published
// number and change by a factor a day.
func days(a, s, f float64, factors [3]float64) []counts {
	out := make([]counts, mostDays)
	for n := range out {
		k := float64(n)
		out[n] = counts{a * math.Pow(factors[0], k), s * math.Pow(factors[1], k), f * math.Pow(factors[2], k)}
	}
	return out
}

func TestJudgeDays(t *testing.T) {
	for _, tt := range []struct {
		name           string
		set            *set
		n              []counts
		base           counts
		equal, differs int
	}{
		{"as published", like("UCB"), days(4934, 2329, 2546, [3]float64{.8, .9, .7}), counts{9000, 4000, 5000}, 0, 0},
		{"the original itself", original("UCB"), days(4934, 2329, 2546, [3]float64{.8, .9, .7}), counts{9000, 4000, 5000}, 4,
			0},
		{"more is placed with more days", like("UCB"), days(4934, 2329, 2546, [3]float64{1.1, .9, .7}),
			counts{9000, 4000, 5000}, 0, 2},
		{"S falls faster than F", like("UCB"), days(4934, 2329, 2546, [3]float64{.8, .7, .9}), counts{9000, 4000, 5000}, 0,
			3},
		{"FCFS succeeds more often", like("UCB"), days(4934, 2329, 2546, [3]float64{.8, .9, .7}), counts{9000, 8000, 1000}, 0,
			2},
	} {
		b := newBench()
		b.judgeDays(tt.set, 4934, 2329, 2546, 47.77, 74.17, false, tt.base, tt.n, "")
		count := reproduce.Count(b.Cells)
		if len(b.Cells) != 8 || count[reproduce.Equal] != tt.equal || count[reproduce.Differs] != tt.differs {
			t.Errorf("%s: %v, %+v", tt.name, count, b.Cells)
		}
		if len(b.Figures) != 2 || len(b.Figures[0].Curves) != 3 || len(b.Figures[1].Curves[0].X) != mostDays {
			t.Errorf("%s: %+v", tt.name, b.Figures)
		}
	}
	// DEUG's success is recomputed from its counts; what is printed cannot be obtained.
	b := newBench()
	b.judgeDays(like("DEUG"), 6481, 3359, 2942, 53.31, 81.34, true, counts{9000, 4000, 5000},
		days(6481, 3359, 2942, [3]float64{.8, .9, .7}), "")
	cells := cellsBy(t, b)
	if c := cells["success, N = 1, as printed"]; c.Verdict != reproduce.Unrecoverable || c.Published != "44.78 %" {
		t.Errorf("%+v", c)
	}
	if c := cells["success, N = 1"]; c.Published != "53.31 %" || !strings.Contains(c.Note, "prints 44.78 %") {
		t.Errorf("%+v", c)
	}
	if got := rate(3359, 2942); math.Abs(got-53.31) > .005 {
		t.Errorf("DEUG's counts make %.2f %%", got)
	}
	if got := rate(2329, 2546); math.Abs(got-47.77) > .005 {
		t.Errorf("UCB's counts make %.2f %%", got)
	}
}

// TestCountsByFittedLength: the count that the length of a job is fitted to is not counted
// as reproduced, the others are judged by 5 %, and trends are judged beside them.
func TestCountsByFittedLength(t *testing.T) {
	base := counts{9000, 4000, 5000}
	for _, tt := range []struct {
		name string
		set  *set
		n    []counts
		want map[string]reproduce.Verdict
	}{
		{"as published", like("UCB").fitted(), days(4934, 2329, 2546, [3]float64{.8, .9, .7}), map[string]reproduce.Verdict{
			"A, N = 1": reproduce.Within, "S, N = 1": reproduce.Within, "F, N = 1": reproduce.Within,
			"success, N = 1": reproduce.Within, "A, S and F fall as N rises": reproduce.Direction}},
		{"the mark itself", like("DEUG").fitted(), days(4934, 2329, 2546, [3]float64{.8, .9, .7}),
			map[string]reproduce.Verdict{"A, N = 1": reproduce.Fitted, "S, N = 1": reproduce.Within}},
		{"4 % and 6 % off", like("UCB").fitted(), days(1.04*4934, .94*2329, 1.06*2546, [3]float64{.8, .9, .7}),
			map[string]reproduce.Verdict{"A, N = 1": reproduce.Within, "S, N = 1": reproduce.Differs,
				"F, N = 1": reproduce.Differs, "A, S and F fall as N rises": reproduce.Direction}},
		{"the mark, 6 % off", like("DEUG").fitted(), days(1.06*4934, 2329, 2546, [3]float64{.8, .9, .7}),
			map[string]reproduce.Verdict{"A, N = 1": reproduce.Differs}},
		{"near, but rising", like("UCB").fitted(), days(4934, 2329, 2546, [3]float64{1.1, .9, .7}),
			map[string]reproduce.Verdict{"A, N = 1": reproduce.Within, "A, S and F fall as N rises": reproduce.Differs}},
		{"without a fitted length", like("UCB"), days(4934, 2329, 2546, [3]float64{.8, .9, .7}),
			map[string]reproduce.Verdict{"A, N = 1": reproduce.Direction}},
		{"an original", original("UCB").fitted(), days(4934, 2329, 2546, [3]float64{.8, .9, .7}),
			map[string]reproduce.Verdict{"A, N = 1": reproduce.Equal}},
	} {
		b := newBench()
		b.judgeDays(tt.set, 4934, 2329, 2546, 47.77, 74.17, false, base, tt.n, "a reason")
		cells := cellsBy(t, b)
		for name, want := range tt.want {
			c := cells[name]
			if c.Verdict != want || c.Unexplained() && strings.Contains(name, ", N = 1") {
				t.Errorf("%s: %s: %+v, want %s", tt.name, name, c, want)
			}
		}
	}
}

// TestFittedLengths: of whole minutes around a fitted length none comes nearer to the
// published count, and a set has the length in its scenarios.
func TestFittedLengths(t *testing.T) {
	b := &bench{&reproduce.Bench{Options: reproduce.Options{Seed: 1}}}
	run := func(s *set, spec string, seed uint64, minutes int) *sim.Report {
		c := s.scenario(spec, seed)
		if got := c.Workload.Classes[0].Work; got != s.job.takes || s.job != jobLengths[s.name] {
			t.Errorf("%s: a job takes %v, fitted are %v", s.name, got, s.job)
		}
		c.Workload.Classes[0].Work += time.Duration(minutes) * time.Minute
		r, err := sim.Run(c)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ucb, err := b.fittedReplicas("ucb")
	if err != nil {
		t.Fatal(err)
	}
	weighed := func(name string) (sets []*set) {
		for k := range weightRuns {
			s, err := b.weightSet(name, k)
			if err != nil {
				t.Fatal(err)
			}
			sets = append(sets, s)
		}
		return sets
	}
	for _, tt := range []struct {
		sets      []*set
		spec      string
		published float64
		of        func(*sim.Report) uint64
	}{
		{ucb, reproduce.FCFS, 9897, func(r *sim.Report) uint64 { return r.Allocated }},
		{weighed("sdsc"), weightSpec, 182, func(r *sim.Report) uint64 { return r.PerDay[weightDays-1].Allocated }},
		{weighed("lri"), weightSpec, 324.4, func(r *sim.Report) uint64 { return r.PerDay[weightDays-1].Allocated }},
	} {
		var off [3]float64
		for i := range off {
			mean := 0.
			for k, s := range tt.sets {
				mean += float64(tt.of(run(s, tt.spec, b.Seed+uint64(k), i-1))) / float64(len(tt.sets))
			}
			off[i] = math.Abs(mean - tt.published)
		}
		if off[1] > off[0] || off[1] > off[2] {
			t.Errorf("%s: with a minute less, as fitted and with a minute more the count is off by %.1f", tt.sets[0].name, off)
		}
	}
}

// TestExitsAlike: hosts that leave as often on the next day as on one correlate fully, and
// hosts that take turns the other way round.
func TestExitsAlike(t *testing.T) {
	days := func(exits ...[2]int) *set {
		tr := &trace.Trace{Start: reproduce.Epoch, End: reproduce.Epoch.Add(2 * reproduce.Day)}
		for i, perDay := range exits {
			h := &trace.History{Host: fmt.Sprint(i)}
			for d, n := range perDay {
				for k := range 2*n + 1 {
					state := trace.Available
					if k%2 == 1 {
						state = trace.Unavailable
					}
					at := reproduce.Epoch.Add(time.Duration(d)*reproduce.Day + time.Duration(k)*time.Hour)
					if err := h.Append(at, state, 1); err != nil {
						t.Fatal(err)
					}
				}
			}
			h.Extend(tr.End)
			tr.Hosts = append(tr.Hosts, trace.Host{History: h})
		}
		return &set{name: "UCB", watched: tr, hosts: tr}
	}
	for _, tt := range []struct {
		set  *set
		want float64
	}{{days([2]int{1, 1}, [2]int{2, 2}, [2]int{4, 4}), 1}, {days([2]int{1, 4}, [2]int{2, 3}, [2]int{3, 2}), -1}} {
		if got := tt.set.exitsAlike(); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("got %v, want %v", got, tt.want)
		}
	}
}

func TestJudgeSkipped(t *testing.T) {
	for _, tt := range []struct {
		factors [3]float64
		want    reproduce.Verdict
	}{{[3]float64{.9, .95, .8}, reproduce.Direction}, {[3]float64{1.1, .95, .8}, reproduce.Differs},
		{[3]float64{.9, .8, .95}, reproduce.Differs}} {
		b := newBench()
		b.judgeSkipped(like("UCB"), days(5000, 2500, 2500, tt.factors))
		if c := b.Cells[0]; c.Verdict != tt.want {
			t.Errorf("%v: %+v", tt.factors, c)
		}
	}
}

// stairs are counts at T = 0 to 100 % that fall at multiples of a sixth, as RAP does with
// six days.
func stairs(a float64, s, f float64) []counts {
	out := make([]counts, 11)
	for k := range out {
		step := math.Ceil(float64(k) / 10 * 6 * .99)
		out[k] = counts{a - 900*step, s - 300*step, f - 450*step}
	}
	return out
}

func TestJudgeThresholds(t *testing.T) {
	var ts []float64
	for k := range 11 {
		ts = append(ts, float64(10*k))
	}
	flat := stairs(9897, 4281, 5616)
	steady := append([]counts(nil), flat...)
	for k := range steady {
		steady[k].a = 9897 - 100*float64(k)
	}
	for _, tt := range []struct {
		name  string
		set   string
		base  counts
		t     []counts
		fails []string
	}{
		{"as published", "UCB", flat[0], flat, nil},
		{"without steps", "UCB", steady[0], steady, []string{"staircase: A hardly falls from T = 20 % to 30 %"}},
		{"T = 0 is not FCFS", "DEUG", counts{1, 1, 1}, flat, []string{"T = 0 is FCFS, A/S/F"}},
		{"A rises", "DEUG", flat[10], reversed(flat), []string{"A falls with T", "S and F fall with T",
			"success rises with T"}},
	} {
		b := newBench()
		b.judgeThresholds(like(tt.set), ts, tt.base, tt.t, "")
		cells := cellsBy(t, b)
		failed := 0
		for _, name := range tt.fails {
			if c, there := cells[name]; !there || c.Verdict != reproduce.Differs {
				t.Errorf("%s: %s: %+v", tt.name, name, c)
			}
		}
		for _, c := range cells {
			if c.Verdict == reproduce.Differs {
				failed++
			}
		}
		if tt.name != "A rises" && failed != len(tt.fails) {
			t.Errorf("%s: %d cells differ: %+v", tt.name, failed, b.Cells)
		}
		if tt.set == "UCB" && (cells["A, T = 0 %"].Published != "9897" || cells["A, T = 30 %"].Published != "5882") {
			t.Errorf("%s: %+v", tt.name, cells)
		}
	}
}

func reversed(cs []counts) []counts {
	out := make([]counts, len(cs))
	for i, c := range cs {
		out[len(cs)-1-i] = c
	}
	return out
}

// weightDays10 are ten runs of each scheme with so many allocated, by the run's number.
func weightDays10(of func(scheme, run int) uint64) (out [3][weightRuns]sim.Day) {
	for k := range out {
		for run := range weightRuns {
			n := of(k, run)
			out[k][run] = sim.Day{Allocated: n, Succeeded: n / 2, Failed: n / 4}
		}
	}
	return out
}

func TestJudgeWeights(t *testing.T) {
	published := [3][2]float64{{182, 9.6}, {180.3, 10.8}, {181.3, 9.1}}
	alike := weightDays10(func(k, run int) uint64 { return uint64(180 + 4*run + 4*((k+run)%2)) })
	better := weightDays10(func(k, run int) uint64 { return uint64(200 + 4*run + 40*k + 8*(run*k%3)) })
	for _, tt := range []struct {
		name           string
		set            *set
		days, mixed    [3][weightRuns]sim.Day
		holds, differs int
		explained      bool
	}{
		{"alike", like("SDSC"), alike, alike, 6, 0, true},
		{"another scheme is better, by hosts that never change", like("SDSC"), better, alike, 0, 6, true},
		{"another scheme is better, whatever the hosts", like("SDSC"), better, better, 0, 6, false},
	} {
		b := newBench()
		b.judgeWeights(tt.set, published, tt.days, tt.mixed)
		holds, differs := holding(b)
		if holds != tt.holds || differs != tt.differs {
			t.Errorf("%s: %d hold, %d differ: %+v", tt.name, holds, differs, b.Cells)
		}
		for _, c := range b.Cells {
			if c.Unexplained() == tt.explained && c.Verdict == reproduce.Differs {
				t.Errorf("%s: %+v", tt.name, c)
			}
		}
	}
	// Of an original the number is judged: margins of 182.0 ± 9.6 and of what is near overlap.
	b := newBench()
	near := weightDays10(func(k, run int) uint64 { return uint64(172 + 2*run + (k+run)%2) })
	b.judgeWeights(original("SDSC"), published, near, near)
	if c := cellsBy(t, b)["A, equal"]; c.Published != "182.0 ± 9.6" || c.Verdict != reproduce.Within {
		t.Errorf("%+v", c)
	}
}

// TestPaired: differences of 1, 2 ... 10 on the same hosts are 5.5 in the mean, with a
// standard error of 3.0277/sqrt(10).
func TestPaired(t *testing.T) {
	var a, b [weightRuns]sim.Day
	for i := range weightRuns {
		a[i].Allocated, b[i].Allocated = uint64(100*i), uint64(100*i+i+1)
	}
	of := func(d sim.Day) uint64 { return d.Allocated }
	if got, want := paired(a, b, of), 5.5/(3.02765/math.Sqrt(10)); math.Abs(got-want) > 1e-4 {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := paired(a, a, of); got != 0 {
		t.Errorf("the same runs differ by %v", got)
	}
	// Eq 7.5: 1.96 s / sqrt(n), with s of 0, 100 ... 900.
	m, margin := meanOf(a, of)
	if m != 450 || math.Abs(margin-1.96*302.765/math.Sqrt(10)) > .01 {
		t.Errorf("got %v ± %v", m, margin)
	}
}

// nineteen are categories of pairs of days; of gives FCFS's, FCFSPP's and FLP's counts.
func nineteen(of func(k int) [3]counts) []*category {
	var out []*category
	for k := range rhoCategories {
		c := &category{rho: -1 + (float64(k)+.5)*rhoWidth, used: rhoPairs, again: .5}
		for _, x := range of(k) {
			c.of = append(c.of, sim.Day{Allocated: uint64(x.a), Succeeded: uint64(x.s), Failed: uint64(x.f)})
		}
		c.exits = int(of(k)[0].f)
		out = append(out, c)
	}
	out[0].used = 0 // nobody has such days
	return out
}

func TestJudgeSimilarity(t *testing.T) {
	published := nineteen(func(k int) [3]counts { // S 288 of 342, F 1 of 10 in the last
		x := float64(k) / 19
		return [3]counts{{352, 342, 100}, {352 * (.1 + .8*x), 288 * x, 80 * (1 - x) * (.2 + .8*x)}, {}}
	})
	contrary := nineteen(func(k int) [3]counts {
		x := 1 - float64(k)/19
		return [3]counts{{352, 342, 100}, {400 * (.1 + .8*x), 342 * x, 110 * (1 - x)}, {}}
	})
	for _, tt := range []struct {
		name       string
		categories []*category
		differs    map[string]bool
	}{
		{"as published", published, nil},
		{"the other way round", contrary, map[string]bool{
			"F of FCFSPP never above that of FCFS": true, "category 0.9 to 1: proportion of S": true,
			"category 0.9 to 1: proportion of F": true, "proportion of A rises with rho": true,
			"proportion of S rises with rho": true, "proportion of F falls with rho": true,
			"success of FCFSPP above that of FCFS": true, "A and S of FCFSPP not above those of FCFS": false}},
	} {
		b := newBench()
		b.judgeSimilarity(like("DEUG"), tt.categories)
		for name, c := range cellsBy(t, b) {
			if want := tt.differs[name]; name != "A" && want != (c.Verdict == reproduce.Differs) {
				t.Errorf("%s: %s: %+v", tt.name, name, c)
			}
		}
		if len(b.Figures) != 3 || len(b.Figures[0].Curves[0].X) != 19 {
			t.Errorf("%s: %+v", tt.name, b.Figures)
		}
	}
}

// TestThreeWays is what section 7.3 says of FLP beside FCFS and FCFSPP.
func TestThreeWays(t *testing.T) {
	f, p := counts{352, 300, 50}, counts{100, 90, 10}
	for _, tt := range []struct {
		name    string
		flp     counts
		differs []string
	}{
		{"between", counts{300, 250, 40}, []string{"F of FLP above FCFS", "success of FLP the lowest of the three"}},
		{"more lost than with FCFS", counts{300, 250, 60}, []string{"F of FLP between", "success of FLP between"}},
		{"best", counts{300, 270, 20}, []string{"F of FLP above FCFS", "success of FLP between",
			"success of FLP the best of the three", "success of FLP the lowest of the three"}},
	} {
		w := threeWays{bound: true}
		for _, c := range nineteen(func(int) [3]counts { return [3]counts{f, p, tt.flp} })[1:] {
			w.add(c)
		}
		b := newBench()
		w.state(b, like("DEUG"))
		cells := cellsBy(t, b)
		want := map[string]bool{}
		for _, name := range tt.differs {
			if want[name] = true; cells[name].Cell == "" {
				t.Errorf("%s: there is no cell %q", tt.name, name)
			}
		}
		for name, c := range cells {
			if want[name] != (c.Verdict == reproduce.Differs) {
				t.Errorf("%s: %s: %s, %s", tt.name, name, c.Obtained, c.Verdict)
			}
		}
		// FCFS loses a job at every event, so that nobody can lose more: that explains one.
		if c := cells["F of FLP above FCFS"]; c.Verdict == reproduce.Differs &&
			!strings.Contains(c.Note, "exclude each other") {
			t.Errorf("%s: %+v", tt.name, c)
		}
	}
}

// TestReplicated: section 7.2.4's five categories that were run ten times.
func TestReplicated(t *testing.T) {
	runs := func(share func(k, run int) float64, again func(k int) float64) [][]*category {
		var out [][]*category
		for run := range rhoRuns {
			cs := nineteen(func(k int) [3]counts {
				s := share(k, run)
				return [3]counts{{400, 300, 100}, {400 * s, 300 * s, 100 * s}, {}}
			})
			for k := range cs {
				cs[k].again = again(k)
			}
			out = append(out, cs)
		}
		return out
	}
	level := func(int) float64 { return .5 }
	rising := func(k int) float64 { return float64(k) / 20 }
	for _, tt := range []struct {
		name         string
		replicated   [][]*category
		below, trend reproduce.Verdict
		explained    bool
	}{
		{"as published", runs(func(k, run int) float64 { return .6 + .02*float64((7*k+3*run)%5) }, level),
			reproduce.Direction, reproduce.Direction, true},
		{"more than FCFS", runs(func(k, run int) float64 { return 1.1 + .02*float64((7*k+3*run)%5) }, level),
			reproduce.Differs, reproduce.Direction, true},
		{"a trend", runs(func(k, run int) float64 { return .3 + .03*float64(k) }, level),
			reproduce.Direction, reproduce.Differs, false},
		{"a trend of what is there again", runs(func(k, run int) float64 { return .3 + .03*float64(k) }, rising),
			reproduce.Direction, reproduce.Differs, true},
	} {
		b := newBench()
		b.judgeReplicated(like("DEUG"), tt.replicated)
		below, trend := b.Cells[0], b.Cells[1]
		if below.Verdict != tt.below || trend.Verdict != tt.trend || trend.Unexplained() == tt.explained {
			t.Errorf("%s: %+v, %+v", tt.name, below, trend)
		}
	}
}

// scansOf makes outcomes from counts of right predictions and false alarms.
func scansOf(cp1, fa func(n, p int) float64) *scans {
	var out scans
	for n := range mostDays {
		for p := range periods {
			out[n][p] = outcome{cp1: cp1(n, p), fa: fa(n, p), exits: 5616, early: 460}
		}
	}
	return &out
}

func TestJudgeScans(t *testing.T) {
	// UCB's are published at the corners: CP1 149 and 3644, FA 3592 and 18567.
	published := scansOf(
		func(n, p int) float64 { return 149 + 600*float64(p) + 100*float64(n)*(1+3*float64(p)) },
		func(n, p int) float64 { return 4450 - 400*float64(p) + 2800*float64(n) })
	b := newBench()
	trends := b.judgeScans(like("UCB"), published)
	cells := cellsBy(t, b)
	for _, name := range []string{"CP1 rises with N and P", "MD falls with N and P", "FA rises with N, falls with P",
		"D rises with N and P", "C rises with P"} {
		if c := cells[name]; c.Verdict != reproduce.Direction {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if len(trends) != 5 || len(b.Figures) != 5 || len(b.Figures[0].Curves) != len(periods) {
		t.Errorf("%d trends, %d figures", len(trends), len(b.Figures))
	}
	for _, c := range scanTables[0].cells {
		b := newBench()
		b.scanCell(like("UCB"), c, published, trends)
		got := b.Cells[0]
		if want := fmt.Sprintf("UCB-like: N = %d, P = %d min: %s", c.n, c.p, c.figure); got.Cell != want ||
			got.Verdict == reproduce.Equal || !strings.Contains(got.Note, c.note) {
			t.Errorf("%+v", got)
		}
	}
	// An original is judged by the number.
	b = newBench()
	b.scanCell(original("UCB"), scanCell{1, 1, "CP1", 149, ""}, published, trends)
	b.scanCell(original("UCB"), scanCell{1, 1, "MD", 5927, ""}, published, trends)
	for _, c := range b.Cells {
		if c.Verdict != reproduce.Equal {
			t.Errorf("%+v", c)
		}
	}
	worse := scansOf(func(n, p int) float64 { return 1000 - 100*float64(n) },
		func(n, p int) float64 { return 1000 - 100*float64(n) })
	b = newBench()
	b.judgeScans(like("SDSC"), worse)
	if _, differs := holding(b); differs < 5 {
		t.Errorf("what falls in place of rising differs in %d cells: %+v", differs, b.Cells)
	}
}

// TestOutcome: Eqs 7.14 and 7.15, and MD as it is printed: with day 1's events.
func TestOutcome(t *testing.T) {
	o := outcome{cp1: 3644, fa: 8134, exits: 5616, early: 460}
	for name, want := range map[string]float64{"CP1": 3644, "FA": 8134, "MD": 2432, "D": 64.886, "C": 30.939} {
		if got := figureOf(o, name); math.Abs(got-want) > 5e-4 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := o.missed(); got != 5616-3644 {
		t.Errorf("missed %v", got)
	}
	for _, f := range []string{"CP1", "MD", "FA"} {
		if formatOf(f) != "%.0f" || formatOf("D") != "%.2f" || formatOf("C") != "%.2f" {
			t.Errorf("%s is written with %s", f, formatOf(f))
		}
	}
}

// TestChance: the published rise of UCB's C from N = 1 to 6, P = 1 min, is less than two
// standard errors.
func TestChance(t *testing.T) {
	z := chance(outcome{cp1: 149, fa: 4450}, outcome{cp1: 671, fa: 18567})
	if z <= 0 || z >= twoSided || math.Abs(z-.86) > .02 {
		t.Errorf("%.2f standard errors", z)
	}
	if c := chanceTrend(claim{}, outcome{cp1: 149, fa: 4450}, outcome{cp1: 671, fa: 18567}); !strings.Contains(c.why,
		"within chance") {
		t.Errorf("%+v", c)
	}
	if c := chanceTrend(claim{}, outcome{cp1: 149, fa: 4450}, outcome{cp1: 3644, fa: 8134}); c.why != "" {
		t.Errorf("%+v", c)
	}
}

func TestJudgeScanned(t *testing.T) {
	share := func(d float64) scans {
		return *scansOf(func(n, p int) float64 { return 5616 * d }, func(int, int) float64 { return 100 })
	}
	sets := []*set{like("UCB"), like("SDSC"), like("LRI"), like("DEUG")}
	for _, tt := range []struct {
		detection [4]float64
		order     reproduce.Verdict
		below     reproduce.Verdict
	}{
		{[4]float64{.6489, .1642, .0058, .2393}, reproduce.Direction, reproduce.Direction},
		{[4]float64{.1, .1642, .0058, .2393}, reproduce.Differs, reproduce.Direction},
		{[4]float64{.9, .5, .4, .6}, reproduce.Direction, reproduce.Differs},
	} {
		var out []scans
		for _, d := range tt.detection {
			out = append(out, share(d))
		}
		b := newBench()
		b.judgeScanned(sets, out)
		if b.Cells[0].Verdict != tt.order || b.Cells[1].Verdict != tt.below {
			t.Errorf("%v: %+v", tt.detection, b.Cells)
		}
	}
	// UCB's 149 + 4450 predicted exits tell which reading of a period away it has.
	near, far := outcome{cp1: 150, fa: 4400}, outcome{cp1: 200, fa: 90_000}
	for _, tt := range []struct {
		seen, literal outcome
		want          reproduce.Verdict
	}{{near, far, reproduce.Direction}, {far, near, reproduce.Differs}} {
		out := make([]scans, 4)
		literal := make([]outcome, 4)
		for i := range out {
			out[i][0][0], literal[i] = tt.seen, tt.literal
		}
		b := newBench()
		b.judgeReading(sets, out, literal)
		if len(b.Cells) != 2 || b.Cells[0].Verdict != tt.want || b.Cells[0].Published != "4599" ||
			b.Cells[1].Published != "248" {
			t.Errorf("%+v", b.Cells)
		}
	}
}
