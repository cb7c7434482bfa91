package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"godwit/predictor"
	"godwit/trace"
)

func deug(t testing.TB, hosts, days int) *trace.Trace {
	t.Helper()
	set, err := trace.Synthesize("deug", trace.SynthConfig{Hosts: hosts, Days: days, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func model(t testing.TB, spec string) predictor.Model {
	t.Helper()
	m, err := predictor.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What a foresight answers is what a back-test of the same model does: exactly
// where the model keeps no record, and nearly where it does, as a back-test
// asks the host itself and a foresight its last advert.
func TestForesightAnswersAsBacktest(t *testing.T) {
	set := deug(t, 40, 4)
	b := predictor.Backtest{Horizon: time.Hour, From: set.Start, End: set.End, Questions: 2000, Seed: 1}
	for _, h := range set.Hosts {
		b.Histories = append(b.Histories, h.History)
	}
	qs, err := b.Ask()
	if err != nil {
		t.Fatal(err)
	}
	begin := set.End
	for _, h := range b.Histories {
		if h.Since().Before(begin) {
			begin = h.Since()
		}
	}
	for _, c := range []struct {
		model      string
		mean, most float64 // difference allowed
	}{{"tde", 0, 0}, {"tde5", 0, 0}, {"age", 0, 0}, {"logistic", .03, .4}, {"blend", .005, .1}, {"blend442", .01, .3},
		{"hour", .01, .1}} {
		t.Run(c.model, func(t *testing.T) {
			want, err := b.Run(model(t, c.model), qs, func(n int, host func(int)) {
				for i := range n {
					host(i)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			slices.SortStableFunc(want, func(a, b predictor.Question) int { return a.At.Compare(b.At) })
			f := newForesight(model(t, c.model), &Scenario{Trace: set, Start: begin})
			var sum, most float64
			known := 0
			for _, q := range want {
				p, k := f.stay(q.Host, q.At, b.Horizon)
				if k != q.Known {
					t.Errorf("host %d at %v: known %v, %v in the back-test", q.Host, q.At, k, q.Known)
				}
				if k {
					known++
				}
				sum += math.Abs(p - q.P)
				most = max(most, math.Abs(p-q.P))
			}
			if mean := sum / float64(len(want)); mean > c.mean || most > c.most {
				t.Errorf("answers differ from the back-test's by %.3g in the mean and %.3g at most, of %d", mean, most, len(want))
			}
			if known < len(want)/4 {
				t.Errorf("only %d of %d answers rest on anything", known, len(want))
			}
		})
	}
}

// The first question may come late: what was learnt until then is the same.
func TestForesightCatchesUp(t *testing.T) {
	set := deug(t, 20, 3)
	at := set.Start.Add(58 * time.Hour)
	for _, spec := range []string{"tde", "blend"} {
		s := &Scenario{Trace: set}
		early, late := newForesight(model(t, spec), s), newForesight(model(t, spec), s)
		for step := time.Duration(0); set.Start.Add(step).Before(at); step += 47 * time.Minute {
			for _, i := range availableAt(set, set.Start.Add(step)) {
				early.stay(i, set.Start.Add(step), time.Hour)
			}
		}
		there := availableAt(set, at)
		if len(there) < 3 {
			t.Fatalf("only hosts %v are there at last", there)
		}
		for _, i := range there {
			p, k := early.stay(i, at, time.Hour)
			q, l := late.stay(i, at, time.Hour)
			if p != q || k != l {
				t.Errorf("%s, host %d: %v, %v asked all along; %v, %v asked at last", spec, i, p, k, q, l)
			}
		}
	}
}

// availableAt is who is available at a time.
func availableAt(set *trace.Trace, at time.Time) (out []int) {
	for i, h := range set.Hosts {
		if k := h.History.Find(at); k >= 0 && h.History.Spell(k).State == trace.Available {
			out = append(out, i)
		}
	}
	return out
}

// hostTrace has hosts whose state changes at given hours: available from the
// first, away from the second, and so on.
func hostTrace(t testing.TB, hours float64, hosts ...[]float64) *trace.Trace {
	t.Helper()
	zero := time.Unix(0, 0).UTC()
	at := func(h float64) time.Time { return zero.Add(time.Duration(h * float64(time.Hour))) }
	out := &trace.Trace{Name: "test", Start: zero, End: at(hours)}
	for _, changes := range hosts {
		h := &trace.History{}
		for k, c := range changes {
			state, cpu := trace.Available, 1.0
			if k%2 == 1 {
				state, cpu = trace.Unavailable, 0
			}
			if err := h.Append(at(c), state, cpu); err != nil {
				t.Fatal(err)
			}
		}
		h.Extend(out.End)
		out.Hosts = append(out.Hosts, trace.Host{History: h})
	}
	return out
}

// A host that leaves at the time of a question is not known to leave; one that
// comes is known to have come.
func TestForesightAtAnInstant(t *testing.T) {
	set := hostTrace(t, 72, []float64{0, 30, 40})
	zero := set.Start
	f := newForesight(model(t, "tde"), &Scenario{Trace: set})
	if _, known := f.stay(0, zero.Add(23*time.Hour), time.Hour); known {
		t.Error("a forecast on the first day")
	}
	if p, known := f.stay(0, zero.Add(30*time.Hour), time.Hour); p != 1 || !known {
		t.Errorf("as it leaves: %v, %v", p, known)
	}
	if p, known := f.stay(0, zero.Add(40*time.Hour), time.Hour); p != 1 || !known {
		t.Errorf("as it comes back: %v, %v", p, known)
	}
	if p, known := f.stay(0, zero.Add(53*time.Hour), 2*time.Hour); p != 0 || !known {
		t.Errorf("a day after it left within the window: %v, %v", p, known)
	}
}

// Of a host that vanished nobody knows until it is missed: forecasts are those
// of a host that is still there. In paper all is known at once.
func TestForesightOfVanishedHosts(t *testing.T) {
	gone, there := hostTrace(t, 72, []float64{0, 30, 60}), hostTrace(t, 72, []float64{0})
	ask := func(set *trace.Trace, paper bool, at time.Duration) float64 {
		s := &Scenario{Trace: set, Paper: paper, Network: Network{Detect: time.Hour}}
		f := newForesight(model(t, "survival"), s)
		f.stay(0, set.Start.Add(29*time.Hour), time.Hour)
		p, _ := f.stay(0, set.Start.Add(at), time.Hour)
		return p
	}
	for _, c := range []struct {
		at    time.Duration
		paper bool
		same  bool
	}{{30*time.Hour + time.Minute, false, true}, {31*time.Hour - time.Second, false, true},
		{31*time.Hour + time.Second, false, false}, {30*time.Hour + time.Minute, true, false}} {
		if a, b := ask(gone, c.paper, c.at), ask(there, c.paper, c.at); (math.Abs(a-b) < .01) != c.same {
			t.Errorf("at %v, paper %v: %v of the one that vanished, %v of one that is there", c.at, c.paper, a, b)
		}
	}
}

// A host that is back before anybody missed it is known to have been away.
func TestForesightOfHostsThatAreBackSoon(t *testing.T) {
	set := hostTrace(t, 72, []float64{0, 30, 30.5})
	var ps []float64
	for _, detect := range []time.Duration{0, time.Hour} {
		f := newForesight(model(t, "survival"), &Scenario{Trace: set, Network: Network{Detect: detect}})
		p, _ := f.stay(0, set.Start.Add(30*time.Hour+30*time.Minute), time.Hour)
		ps = append(ps, p)
	}
	if ps[0] != ps[1] {
		t.Errorf("%v where it is missed at once, %v where it would be an hour later", ps[0], ps[1])
	}
}

// Only a paper's resources are known before they first come.
func TestForesightBeforeAHostCame(t *testing.T) {
	set := hostTrace(t, 72, []float64{12})
	if err := prepend(set); err != nil {
		t.Fatal(err)
	}
	at := set.Start.Add(30 * time.Hour)
	for _, paper := range []bool{false, true} {
		f := newForesight(model(t, "tde"), &Scenario{Trace: set, Paper: paper})
		if _, known := f.stay(0, at, time.Hour); known != paper {
			t.Errorf("paper %v: known %v", paper, known)
		}
	}
}

// prepend has the only host be away before it comes.
func prepend(set *trace.Trace) error {
	h := &trace.History{}
	if err := h.Append(set.Start, trace.Unavailable, 0); err != nil {
		return err
	}
	old := set.Hosts[0].History
	if err := h.Append(old.Since(), trace.Available, 1); err != nil {
		return err
	}
	h.Extend(set.End)
	set.Hosts[0].History = h
	return nil
}

func TestForesightAllocatesNothing(t *testing.T) {
	set := deug(t, 20, 2)
	for _, spec := range []string{"tde", "blend"} {
		f := newForesight(model(t, spec), &Scenario{Trace: set})
		now := set.Start.Add(36 * time.Hour)
		ask := func() {
			for i := range set.Hosts {
				f.stay(i, now, time.Hour)
			}
		}
		ask()
		if n := testing.AllocsPerRun(10, ask); n > 0 {
			t.Errorf("%s: %v allocations for %d questions", spec, n, len(set.Hosts))
		}
	}
}

// BenchmarkForesight asks about every host each minute.
func BenchmarkForesight(b *testing.B) {
	set := deug(b, 680, 7)
	for _, spec := range []string{"tde", "tde:n=6", "blend"} {
		b.Run(spec, func(b *testing.B) {
			f := newForesight(model(b, spec), &Scenario{Trace: set})
			now, host := set.Start, 0
			for b.Loop() {
				f.stay(host, now, 10*time.Minute)
				if host++; host == len(set.Hosts) {
					host, now = 0, now.Add(time.Minute)
					if !now.Before(set.End) {
						b.StopTimer()
						f, now = newForesight(model(b, spec), &Scenario{Trace: set}), set.Start
						b.StartTimer()
					}
				}
			}
		})
	}
}
