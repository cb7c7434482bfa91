package zhang

import (
	"math"
	"strings"
	"testing"
	"time"

	"godwit/reproduce"
	"godwit/trace"
)

func TestVerdicts(t *testing.T) {
	like, original := &set{name: "UCB", watched: &trace.Trace{}}, &set{name: "UCB", original: true}
	holds := claim{true, "it falls", "why"}
	fails := claim{false, "it falls", "why"}
	for _, tt := range []struct {
		name  string
		judge func(*bench)
		want  reproduce.Verdict
		open  bool
	}{
		{"as published", func(b *bench) { b.Equal("c", "1/1/0", "1/1/0", "") }, reproduce.Equal, false},
		{"not as published", func(b *bench) { b.Equal("c", "1/1/0", "1/0/1", "a note on the text") }, reproduce.Differs,
			true},
		{"as expected, not as printed", func(b *bench) { b.Expect("c", 75, 67, 67, "why") }, reproduce.Equal, false},
		{"as printed, not as expected", func(b *bench) { b.Expect("c", 75, 67, 75, "why") }, reproduce.Differs, true},
		{"a like set's number, whatever it is", func(b *bench) { b.number(like, "c", 100, 100, "%.0f", holds) },
			reproduce.Direction, false},
		{"a like set's trend that fails", func(b *bench) { b.number(like, "c", 100, 100, "%.0f", fails) }, reproduce.Differs,
			false},
		{"and nothing explains it", func(b *bench) { b.number(like, "c", 100, 7, "%.0f", claim{}) }, reproduce.Differs, true},
		{"an original's number", func(b *bench) { b.number(original, "c", 100, 100.2, "%.0f", fails) }, reproduce.Equal,
			false},
		{"within", func(b *bench) { b.number(original, "c", 100, 95, "%.0f", fails) }, reproduce.Within, false},
		{"further off", func(b *bench) { b.number(original, "c", 100, 94, "%.0f", holds) }, reproduce.Direction, false},
		{"further off, no trend", func(b *bench) { b.number(original, "c", 100, 94, "%.0f", claim{}) }, reproduce.Differs,
			true},
		{"nothing obtained", func(b *bench) { b.number(original, "c", 100, math.NaN(), "%.0f", claim{}) }, reproduce.Differs,
			true},
		{"a statement", func(b *bench) { b.statement(like, "c", "yes", "no", fails) }, reproduce.Differs, false},
		{"lost", func(b *bench) { b.Lost("c", "1", "why") }, reproduce.Unrecoverable, false},
	} {
		b := &bench{&reproduce.Bench{}}
		tt.judge(b)
		if len(b.Cells) != 1 || b.Cells[0].Verdict != tt.want || b.Cells[0].Unexplained() != tt.open {
			t.Errorf("%s: got %+v", tt.name, b.Cells)
		}
	}
}

func TestTrends(t *testing.T) {
	for _, tt := range []struct {
		xs           []float64
		falls, rises bool
		notFalls     bool
	}{
		{[]float64{3, 2, 2, 1}, true, false, false},
		{[]float64{1, 2, 2, 3}, false, true, true},
		{[]float64{2, 2, 2}, false, false, true},
		{[]float64{1, 3, 2}, false, false, false},
		{[]float64{1}, false, false, true},
		{[]float64{3, math.NaN(), 1}, false, false, false},
	} {
		if falls(tt.xs) != tt.falls || rises(tt.xs) != tt.rises || notFalls(tt.xs) != tt.notFalls {
			t.Errorf("%v: falls %v, rises %v, does not fall %v", tt.xs, falls(tt.xs), rises(tt.xs), notFalls(tt.xs))
		}
	}
}

// officeHours has one host, watched from 6 to 18 on each of two days, away for
// an hour in the middle of the first and for two on the second.
func officeHours(t *testing.T) *trace.Trace {
	t.Helper()
	h := &trace.History{Host: "a"}
	at := func(hour float64, s trace.State) {
		if err := h.Append(reproduce.Epoch.Add(hours(hour)), s, 1); err != nil {
			t.Fatal(err)
		}
	}
	for d, away := range []float64{1, 2} {
		from := 24 * float64(d)
		at(from+6, trace.Available)
		at(from+12, trace.Unavailable)
		at(from+12+away, trace.Available)
		if err := h.Gap(reproduce.Epoch.Add(hours(from + 18))); err != nil {
			t.Fatal(err)
		}
	}
	return &trace.Trace{Name: "office", Start: reproduce.Epoch.Add(6 * time.Hour),
		End:    reproduce.Epoch.Add(42 * time.Hour),
		Window: trace.Window{From: 6 * time.Hour, To: 18 * time.Hour}, Hosts: []trace.Host{{History: h}}}
}

// TestClosings: the end of a day's hours is no unavailability event.
func TestClosings(t *testing.T) {
	w := officeHours(t)
	if closed, early, later := closings(w); closed != 0 || early != 1 || later != 1 {
		t.Errorf("got %d, %d, %d: day 1 is not reported, and the last closing ends the run", closed, early, later)
	}
	w.End = w.End.Add(reproduce.Day)
	if closed, _, _ := closings(w); closed != 1 {
		t.Errorf("got %d", closed)
	}
}

// TestPairs: two days of a host become the days of a grid, with their
// correlation.
func TestPairs(t *testing.T) {
	w := officeHours(t)
	s := &set{name: "DEUG", watched: w, hosts: w.Assume(trace.Unavailable)}
	all := rhoPairsOf(w)
	// Shares of time up are 11/12 and 10/12, both up 10/12.
	want := (10./12 - 11./12*10/12) / math.Sqrt(11./12*1/12*10/12*2/12)
	n := 0
	for k, pairs := range all {
		for _, p := range pairs {
			n++
			if math.Abs(p.rho-want) > 1e-9 || float64(k) != math.Floor((want+1)/rhoWidth) {
				t.Errorf("category %d: got %+v, want %v", k, p, want)
			}
			c, err := s.compose(pairs, rhoPairs, 1)
			if err != nil {
				t.Fatal(err)
			}
			h := c.watched.Hosts[0].History
			got, ok := trace.PMCC(h, c.watched.Start, h, c.watched.Start.Add(reproduce.Day), 12*time.Hour)
			if !ok || math.Abs(got-want) > 1e-9 {
				t.Errorf("composed: got %v, %v", got, ok)
			}
			if e := events(c.hosts); e != 1 {
				t.Errorf("got %d exits on day 2; the closing ends the run", e)
			}
		}
	}
	if n != 1 {
		t.Errorf("got %d pairs", n)
	}
}

func TestCorrelate(t *testing.T) {
	if r := correlate([]float64{1, 2, 3, 4}, []float64{2, 4, 6, 8}); math.Abs(r-1) > 1e-12 {
		t.Errorf("got %v", r)
	}
	if r := correlate([]float64{1, 2, 3}, []float64{1, 0, 1}); math.Abs(r) > 1e-12 {
		t.Errorf("got %v", r)
	}
}

// TestFallOfC: a C that does not fall is explained by chance alone only where the published
// fall is within chance, too.
func TestFallOfC(t *testing.T) {
	for _, tt := range []struct {
		set  *set
		why  string
		want []string
	}{
		{&set{name: "SDSC", watched: &trace.Trace{}}, "within chance", []string{"within chance"}},
		{&set{name: "DEUG", watched: &trace.Trace{}}, "within chance", []string{"within chance; ", "these hosts cause " +
			"10192"}},
		{&set{name: "LRI", watched: &trace.Trace{}}, "", []string{"where 10192 are false here"}},
		{&set{name: "LRI", original: true}, "", []string{""}},
	} {
		got := tt.set.fallOfC(claim{why: tt.why}, outcome{fa: 10192}).why
		for _, want := range tt.want {
			if !strings.Contains(got, want) || (got == "") != (want == "") {
				t.Errorf("%s: got %q, want %q in it", tt.set.label(), got, want)
			}
		}
	}
}
