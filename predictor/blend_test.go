package predictor

import (
	"testing"
	"time"

	"godwit/trace"
)

// An office host comes at 9 and leaves at 17 each day; on the sixth it is asked.
func office(p Predictor) time.Time {
	for d := range 5 {
		day := start.Add(time.Duration(d) * 24 * time.Hour)
		p.Observe(day.Add(9*time.Hour), trace.Available)
		p.Observe(day.Add(17*time.Hour), trace.Unavailable)
	}
	day := start.Add(5 * 24 * time.Hour)
	p.Observe(day.Add(9*time.Hour), trace.Available)
	return day
}

func TestBlendKnowsClosingTime(t *testing.T) {
	b := NewBlend(&Pool{})
	day := office(b)
	noon := day.Add(12 * time.Hour)
	b.Tick(noon)
	before, known := b.Stay(noon, 4*time.Hour)
	after, _ := b.Stay(noon, 6*time.Hour)
	if !known || before < .7 || after > .3 {
		t.Errorf("at noon: %.3f until 16:00, %.3f until 18:00 (known: %v), want a stay and a departure", before, after, known)
	}
}

func TestDeclaredDepartureBinds(t *testing.T) {
	b := NewBlend(&Pool{})
	b.Observe(start, trace.Available)
	now := start.Add(48 * time.Hour)
	b.Declare(now.Add(2 * time.Hour))
	b.Tick(now)
	if p, _ := b.Stay(now, 2*time.Hour); p < .5 {
		t.Errorf("until the declared departure: %v", p)
	}
	if p, _ := b.Stay(now, 2*time.Hour+time.Minute); p != 0 {
		t.Errorf("beyond the declared departure: %v, want 0", p)
	}
	b.Declare(time.Time{})
	if p, _ := b.Stay(now, 3*time.Hour); p == 0 {
		t.Error("a departure that was taken back still binds")
	}
}

// A session lost from sight counts as one that lasted at least so long, and not
// as one that ended.
func TestCensoredSessions(t *testing.T) {
	seen, lost := NewRecorder(&Pool{}), NewRecorder(&Pool{})
	for i := range 12 {
		at := start.Add(time.Duration(i) * 7 * time.Hour)
		for _, r := range []*Recorder{seen, lost} {
			r.Observe(at, trace.Available)
		}
		seen.Observe(at.Add(3*time.Hour), trace.Unavailable)
		lost.Blind(at.Add(3 * time.Hour))
	}
	a, b := seen.Record(), lost.Record()
	k, _ := octave(3 * msPerHour)
	if a.Ends[k] != 12 || a.Lost[k] != 0 || b.Ends[k] != 0 || b.Lost[k] != 12 {
		t.Errorf("ended %d and %d, lost %d and %d, want 12 and 0, 0 and 12", a.Ends[k], b.Ends[k], a.Lost[k], b.Lost[k])
	}
	now := start.Add(100 * time.Hour)
	for _, r := range []*Recorder{seen, lost} {
		r.Observe(now.Add(-time.Hour), trace.Available)
	}
	p, _ := Blend{seen}.Stay(now, 6*time.Hour)
	q, _ := Blend{lost}.Stay(now, 6*time.Hour)
	if p > q-.2 {
		t.Errorf("a stay of 6 h: %.3f after sessions that ended at 3 h, %.3f after sessions lost there", p, q)
	}
}

// The life table by hand: of 4 sessions, 1 ended in the first octave, one was
// lost in the second and counts half there, one ended in it, one beyond.
func TestHazards(t *testing.T) {
	var l Lives
	l.Ends[0], l.Lost[1], l.Ends[1], l.Ends[5] = 1, 1, 1, 1
	var none [octaves]float64
	h := l.hazards(&none, 1e-12)
	for k, want := range map[int]float64{0: 1. / 4, 1: 1 / 2.5, 2: 0, 5: surestEnd} {
		if d := h[k] - want; d > 1e-9 || d < -1e-9 {
			t.Errorf("octave %d: hazard %v, want %v", k, h[k], want)
		}
	}
}

// TestLossesAreLearnt: answers tell opinions apart.
func TestLossesAreLearnt(t *testing.T) {
	r := NewRecorder(&Pool{})
	lively(Blend{r})
	if rec := r.Record(); rec.Excess == (Record{}).Excess {
		t.Error("a week of answers told no opinions apart")
	}
}

func TestStayAllocatesNothing(t *testing.T) {
	b := NewBlend(&Pool{})
	noon := office(b).Add(12 * time.Hour)
	b.Tick(noon)
	n := b.Reader()
	if got := testing.AllocsPerRun(100, func() { n.Stay(noon, 6*time.Hour) }); got != 0 {
		t.Errorf("a question allocates %v times", got)
	}
}

func BenchmarkStay(b *testing.B) {
	blend := NewBlend(&Pool{})
	noon := office(blend).Add(12 * time.Hour)
	blend.Tick(noon)
	n := blend.Reader()
	for _, d := range []time.Duration{time.Hour, 24 * time.Hour} {
		b.Run(d.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n.Stay(noon, d)
			}
		})
	}
}

func BenchmarkNewReader(b *testing.B) {
	blend, pool := NewBlend(&Pool{}), &Pool{}
	office(blend)
	rec := blend.Record()
	for b.Loop() {
		NewReader(&rec, pool)
	}
}

func BenchmarkTickHour(b *testing.B) {
	blend := NewBlend(&Pool{})
	blend.Observe(start, trace.Available)
	now := start
	for b.Loop() {
		now = now.Add(time.Hour)
		blend.Tick(now)
	}
}
