package trace

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// days makes a history that is available from each midnight for the given
// hours, and unavailable for the rest of the day.
func days(t testing.TB, hours ...float64) *History {
	h := &History{Host: "h"}
	for n, up := range hours {
		from := time.Unix(0, 0).Add(time.Duration(n) * day)
		if up > 0 {
			if err := h.Append(from, Available, 1); err != nil {
				t.Fatal(err)
			}
		}
		if up < 24 {
			if err := h.Append(from.Add(time.Duration(up*float64(time.Hour))), Unavailable, 0); err != nil {
				t.Fatal(err)
			}
		}
		h.Extend(from.Add(day))
	}
	return h
}

// Zhang 2010, table B-3: t2 = 12 h, the correlation of the two days.
func TestPMCCOfTableB3(t *testing.T) {
	for _, c := range []struct{ t1, rho float64 }{
		{3, 0.378}, {6, 0.577}, {9, 0.775}, {12, 1}, {15, 0.775}, {18, 0.577}, {21, 0.378},
	} {
		h := days(t, c.t1, 12)
		rho, ok := PMCC(h, time.Unix(0, 0), h, time.Unix(0, 0).Add(day), day)
		if !ok || math.Abs(rho-c.rho) > 0.0005 {
			t.Errorf("t1 = %v h: rho %.4f, want %v", c.t1, rho, c.rho)
		}
		// The closed form: (min(t1,t2)/24 - m1 m2) / sqrt(m1 (1-m1) m2 (1-m2)).
		m1, m2 := c.t1/24, 0.5
		want := (math.Min(c.t1, 12)/24 - m1*m2) / math.Sqrt(m1*(1-m1)*m2*(1-m2))
		if math.Abs(rho-want) > 1e-12 {
			t.Errorf("t1 = %v h: rho %.15f, the closed form gives %.15f", c.t1, rho, want)
		}
	}
}

// Statement S6: of constant series there is none.
func TestPMCCIsUndefined(t *testing.T) {
	zero := time.Unix(0, 0)
	for name, h := range map[string]*History{"up": days(t, 24, 12), "down": days(t, 0, 12), "not observed": days(t, 12)} {
		if rho, ok := PMCC(h, zero, h, zero.Add(day), day); ok {
			t.Errorf("%s: %v", name, rho)
		}
	}
	h := days(t, 12, 12)
	if _, ok := PMCC(h, zero, h, zero, 0); ok {
		t.Error("of no time")
	}
	if err := h.Gap(zero.Add(2 * day)); err != nil {
		t.Fatal(err)
	}
	h.Extend(zero.Add(4 * day))
	if _, ok := PMCC(h, zero, h, zero.Add(36*time.Hour), day); ok {
		t.Error("over a time that nobody observed")
	}
}

// TestPMCCIsTheSumOverSeconds: the times add up to what the definition gives for
// the series of zeros and ones at every second (equations 5.1 to 5.3).
func TestPMCCIsTheSumOverSeconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 40
		draw := func(name string) (*History, []float64) {
			h, x := &History{}, make([]float64, n)
			for i := range n {
				s := Unavailable
				if rapid.Bool().Draw(t, name) {
					s, x[i] = Available, 1
				}
				if err := h.Append(at(float64(i)), s, 1); err != nil {
					t.Fatal(err)
				}
			}
			h.Extend(at(n))
			return h, x
		}
		a, x := draw("a")
		b, y := draw("b")
		mx, my := mean(x), mean(y)
		var sxy, sxx, syy float64
		for i := range n {
			sxy += (x[i] - mx) * (y[i] - my) / n
			sxx += (x[i] - mx) * (x[i] - mx) / n
			syy += (y[i] - my) * (y[i] - my) / n
		}
		rho, ok := PMCC(a, at(0), b, at(0), n*time.Second)
		if ok != (sxx*syy > 0) {
			t.Fatalf("defined: %v, variances %v and %v", ok, sxx, syy)
		}
		if want := sxy / math.Sqrt(sxx*syy); ok && math.Abs(rho-want) > 1e-9 {
			t.Fatalf("rho %v, want %v", rho, want)
		}
	})
}
