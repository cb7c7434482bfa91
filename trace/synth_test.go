package trace

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func synth(t testing.TB, kind string, c SynthConfig) *Trace {
	t.Helper()
	tr, err := Synthesize(kind, c)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func describe(t testing.TB, tr *Trace) *Stats {
	t.Helper()
	s, err := Describe(tr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// contrary reports whether a figure is known to be unlike the published one: days of LRI's
// and DEUG's hosts are a little alike, where those of the thesis are a little contrary.
func contrary(kind string, c Check) bool {
	return c.Figure == "mean daily PMCC" && (kind == "lri" || kind == "deug")
}

func TestLikeSetsAreAccepted(t *testing.T) {
	for _, kind := range []string{"ucb", "sdsc", "lri", "deug"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			tr := synth(t, kind, SynthConfig{Hosts: 2000, Seed: 1})
			checks := Acceptance(describe(t, tr))
			if len(checks) < 9 {
				t.Fatalf("%d checks", len(checks))
			}
			table := ""
			for _, c := range checks {
				table += fmt.Sprintf("%-27s %7.3f %7.3f  %6.3f to %6.3f\n", c.Figure, c.Published, c.Obtained, c.Least, c.Most)
				if c.Pass == contrary(kind, c) {
					t.Errorf("%s: %.3f, published %.3f, passes %v", c.Figure, c.Obtained, c.Published, c.Pass)
				}
			}
			t.Logf("%s\n%s", tr.Synthetic, table)
		})
	}
}

// A host is the same whatever else is made, and another with another seed.
func TestHostsDependOnTheirNumberAlone(t *testing.T) {
	for _, k := range SynthKinds() {
		few := synth(t, k[0], SynthConfig{Hosts: 3, Days: 3, Seed: 5})
		many := synth(t, k[0], SynthConfig{Hosts: 5, Days: 6, Seed: 5})
		other := synth(t, k[0], SynthConfig{Hosts: 3, Days: 6, Seed: 6})
		if few.Synthetic == "" {
			t.Errorf("%s: not labelled synthetic", k[0])
		}
		differs := false
		for i, h := range few.Hosts {
			for at := few.Start; at.Before(few.End); at = at.Add(97 * time.Second) {
				if a, b := stateAt(h.History, at), stateAt(many.Hosts[i].History, at); a != b {
					t.Fatalf("%s: host %d at %v is %v, and %v among more hosts and days", k[0], i, at, a, b)
				}
				differs = differs || stateAt(h.History, at) != stateAt(other.Hosts[i].History, at)
			}
		}
		// some are up for months
		if !differs && synth(t, k[0], SynthConfig{Hosts: 3, Days: 6, Seed: 5}).Hosts[0].History.Len() > 1 {
			t.Errorf("%s: another seed makes the same", k[0])
		}
	}
}

func stateAt(h *History, at time.Time) State {
	if i := h.Find(at); i >= 0 {
		return h.Spell(i).State
	}
	return Unobserved
}

// Outside its window a set is unobserved, never down.
func TestWindowsAreKept(t *testing.T) {
	tr := synth(t, "ucb", SynthConfig{Hosts: 20, Seed: 3})
	for _, h := range tr.Hosts {
		for i := range h.History.Len() {
			s := h.History.Spell(i)
			open := midnight(s.Start).Add(10 * time.Hour)
			if inside := !s.Start.Before(open) && !s.End.After(open.Add(7*time.Hour)); inside == (s.State == Unobserved) {
				t.Fatalf("%v", s)
			}
		}
	}
	if tr.Start.Hour() != 10 || tr.End.Hour() != 17 || tr.Days() != 10 {
		t.Errorf("%v to %v, %d days", tr.Start, tr.End, tr.Days())
	}
}

// TestLaws: what is drawn has the means of the law, and the law those of the
// set, as far as a fit with a heavy tail keeps them.
func TestLaws(t *testing.T) {
	for _, l := range Laws() {
		for _, lognormals := range []bool{false, true} {
			up, down := l.laws(lognormals)
			for _, c := range []struct {
				name      string
				law       law
				published float64
			}{{"up", up, l.UpMean}, {"down", down, l.DownMean}} {
				rng := hostRand(l.Name+c.name, 1, 0)
				const n = 40_000
				// Heavy tails: compare a mean without the tail, E[min(X, m)], with
				// the integral of the survival function, and the residual's with
				// its own: the residual has density S(x)/mean.
				m, sum, rest := c.law.mean(), 0.0, 0.0
				for range n {
					sum += math.Min(c.law.draw(rng), m)
					if c.law.residual(rng) < m {
						rest++
					}
				}
				want := integrate(func(x float64) float64 { return survival(c.law, x) }, m)
				if got := sum / n; math.Abs(got/want-1) > 0.03 {
					t.Errorf("%s %s: mean up to %.3g h is %.4g, want %.4g", l.Name, c.name, m, got, want)
				}
				if got := rest / n; math.Abs(got-want/m) > 0.01 {
					t.Errorf("%s %s: a share %.4f of residuals below the mean, want %.4f", l.Name, c.name, got, want/m)
				}
				// The Weibull fits keep the measured mean of available intervals
				// within 30 %; of the unavailable ones, whose longest outages no
				// fit follows, down to a third is left.
				least := map[string]float64{"up": 0.7, "down": 0.3}[c.name]
				if ratio := m / c.published; !lognormals && (ratio < least || ratio > 1.3) {
					t.Errorf("%s %s: the Weibull law's mean is %.3g h, measured %.3g", l.Name, c.name, m, c.published)
				}
			}
		}
	}
}

func survival(l law, x float64) float64 {
	switch l := l.(type) {
	case weibull:
		return math.Exp(-math.Pow(x/l.scale, l.shape))
	case lognormal:
		return math.Erfc((math.Log(x)-l.mu)/(l.sigma*math.Sqrt2)) / 2
	}
	panic("no such law")
}

// integrate integrates f from 0 to m, finer towards 0.
func integrate(f func(float64) float64, m float64) (sum float64) {
	const n = 2_000
	last := 0.0
	for i := 1; i <= n; i++ {
		x := m * math.Pow(float64(i)/n, 4)
		sum += f((x+last)/2) * (x - last)
		last = x
	}
	return sum
}

// Owners are at their machines on working days, and machines have all states.
func TestOfficeHasHours(t *testing.T) {
	s := synth(t, "office", SynthConfig{Hosts: 200, Days: 28, Seed: 1})
	var busy, workday, weekend [24]int
	seen := map[State]bool{}
	for _, h := range s.Hosts {
		for at := s.Start; at.Before(s.End); at = at.Add(20 * time.Minute) {
			state := stateAt(h.History, at)
			seen[state] = true
			switch {
			case state != UserPresent:
			case at.Weekday() == time.Saturday || at.Weekday() == time.Sunday:
				weekend[at.Hour()]++
			default:
				workday[at.Hour()]++
			}
			busy[at.Hour()]++
		}
	}
	if workday[11] < 20*workday[3] || workday[11] < 20*weekend[11] || workday[11]*100 < 20*busy[11] {
		t.Errorf("present at 11 on working days %d times of %d, at 3 %d, at weekends %d", workday[11], busy[11], workday[3],
			weekend[11])
	}
	for _, want := range []State{Available, UserPresent, CPUBusy, Unavailable} {
		if !seen[want] {
			t.Errorf("no host is ever %v", want)
		}
	}
}

func TestSynthesizeRefuses(t *testing.T) {
	for _, c := range []struct {
		kind string
		SynthConfig
	}{{"seti", SynthConfig{}}, {"ucb", SynthConfig{Hosts: -1}}, {"ucb", SynthConfig{Hosts: MaxHosts + 1}},
		{"ucb", SynthConfig{Days: maxDays + 1}}} {
		if _, err := Synthesize(c.kind, c.SynthConfig); err == nil {
			t.Errorf("%+v: made", c)
		}
	}
}
