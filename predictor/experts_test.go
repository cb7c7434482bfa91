package predictor

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/trace"
)

// expertsOf asks each expert of a host's own record.
func expertsOf(r *Recorder, now time.Time, d time.Duration) (p [experts]float64) {
	var x [experts]float64
	r.Reader().ask(&x, millis(now), d.Milliseconds())
	for i := range x {
		p[i] = odds(x[i])
	}
	return p
}

// plainRecorder is one whose pool takes all departures alike.
func plainRecorder() *Recorder {
	pool := &Pool{}
	makePlain(pool)
	return NewRecorder(pool)
}

// bounded is what an expert may say: none is surer than its bound.
func bounded(p float64) float64 { return max(odds(-mostOdds), min(odds(mostOdds), p)) }

// TestExpertsAgreeWithMinutes: what each expert says of a host is what its definition
// gives of the host's minutes, but for the rounding of a record.
func TestExpertsAgreeWithMinutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := plainRecorder()
		l := append(drawLife(t, rapid.IntRange(1, 6).Draw(t, "days"), 130, 700, 1500), 'u')
		now := l.tell(Blend{r})
		r.Tick(now)
		r.Tick(now.Add(time.Millisecond)) // a tick in which a question is put leaves the record as it was then
		d := rapid.IntRange(10, 20*60).Draw(t, "minutes")
		got := expertsOf(r, now, minutes(float64(d)))

		var exits, up [24]float64
		allExits, allUp, run := 4./24, 4., 0 // the pool's rate, with the weight of four hours
		var lives Lives
		since := 0
		for m, what := range l {
			if m > 0 && l[m-1] != what {
				since = m
			}
			if what == 'u' {
				run++
				up[m/60%24] += 1. / 60
				allUp += 1. / 60
				continue
			}
			if run > 0 {
				k, _ := octave(int64(run) * msPerMinute)
				if what == 'a' {
					lives.Ends[k]++
					exits[m/60%24]++
					allExits++
				} else {
					lives.Lost[k]++
				}
			}
			run = 0
		}
		// Sessions' lengths: the life table, from the age on.
		age := int64(len(l)-since) * msPerMinute
		h := lives.hazards(&r.pool.ends, ownLives)
		c := newCurve(&h)
		from, in := octave(age)
		to, on := octave(age + int64(d)*msPerMinute)
		if want := bounded(math.Exp(c.log(to, on) - c.log(from, in))); math.Abs(got[expertLife]-want) > .001 {
			t.Fatalf("sessions' lengths say %v, want %v", got[expertLife], want)
		}
		// Hours of the day: exits by hours there, summed minute by minute. A record keeps
		// both to a few levels.
		rate := allExits / allUp
		hazard := 0.0
		for m := range d {
			hour := (len(l) + m) / 60 % 24
			hazard += (levels[level(exits[hour])] + hourHours*rate) / (levels[level(up[hour])] + hourHours) / 60
		}
		if want := bounded(math.Exp(-hazard)); math.Abs(math.Log(got[expertHour]/want)) > .35*hazard+.01 {
			t.Fatalf("the hours of the day say %v, want %v (hazard %v)", got[expertHour], want, hazard)
		}
		for i, p := range got {
			if !(p >= odds(-mostOdds)-1e-12 && p <= odds(mostOdds)+1e-12) {
				t.Fatalf("expert %d says %v", i, p)
			}
		}
	})
}

// TestDaysByHand: a host that is there from 8 to 12 on each day, and was away on the
// third: of four days three stayed through the hours from 9, and none through noon.
func TestDaysByHand(t *testing.T) {
	r := plainRecorder()
	for day := range 5 {
		at := start.Add(time.Duration(24*day+8) * time.Hour)
		if day != 2 {
			r.Observe(at, trace.Available)
			r.Observe(at.Add(4*time.Hour), trace.Unavailable)
		}
	}
	now := start.Add((5*24 + 9) * time.Hour)
	r.Observe(now.Add(-time.Hour), trace.Available)
	r.Tick(now)
	n := r.Reader()
	prior := func(hours float64) float64 { return math.Exp(-n.pool.rate * hours) }
	for _, c := range []struct{ hours, stayed float64 }{{1, 4}, {2, 4}, {3, 4}, {4, 0}, {12, 0}} {
		// The first day is known from eight o'clock on, so all five days count.
		want := (c.stayed + prior(c.hours)) / (5 + 1)
		if got := n.days(millis(now), int64(c.hours*msPerHour)); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v h: %v, want %v", c.hours, got, want)
		}
	}
	day, two := n.days(millis(now), msPerDay), n.days(millis(now), 2*msPerDay)
	if math.Abs(two-day*day) > 1e-12 {
		t.Errorf("two days: %v, want the square of %v", two, day)
	}
}

// TestPeersAnswerAsTheHost: a peer that has a host's record, through the wire, and the
// same pool gives the very answers that the host gives itself.
func TestPeersAnswerAsTheHost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := &Pool{}
		b := NewBlend(pool)
		l := append(drawLife(t, rapid.IntRange(1, 6).Draw(t, "days"), 5, 60, 400, 1500), 'u')
		now := l.tell(b)
		b.Tick(now)
		if rapid.Bool().Draw(t, "declares") {
			b.Declare(now.Add(time.Duration(rapid.IntRange(1, 600).Draw(t, "leaves in")) * time.Minute))
		}
		rec := b.Record()
		wire, err := rec.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var heard Record
		if err := heard.UnmarshalBinary(wire); err != nil {
			t.Fatal(err)
		}
		peer := NewReader(&heard, pool)
		later := now.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "later")) * time.Minute)
		d := time.Duration(rapid.IntRange(0, 3000).Draw(t, "minutes")) * time.Minute
		p, known := b.Stay(later, d)
		q, knownToo := peer.Stay(later, d)
		if p != q || known != knownToo {
			t.Fatalf("the host says %v, %v, a peer %v, %v", p, known, q, knownToo)
		}
	})
}

// TestFixedBlendIsTheSum: .4 of the sessions' lengths, .4 of the hours, .2 of the last
// five days, kept off 0 and 1, as docs/spec/predictors.md section 3.2 has it.
func TestFixedBlendIsTheSum(t *testing.T) {
	m, err := Parse("blend442")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := m.New(&Pool{}).(fixed)
		l := append(drawLife(t, rapid.IntRange(1, 6).Draw(t, "days"), 60, 400, 1500), 'u')
		now := l.tell(p)
		p.Tick(now)
		d := time.Duration(rapid.IntRange(1, 3000).Draw(t, "minutes")) * time.Minute
		e := expertsOf(p.Recorder, now, d)
		day, any := p.tde.Stay(now, d)
		if !any {
			day = (e[expertLife] + e[expertHour]) / 2
		}
		want := math.Max(.02, math.Min(.98, .4*e[expertLife]+.4*e[expertHour]+.2*day))
		got, _ := p.Stay(now, d)
		near(t, "the blend", got, want)
	})
}

// TestLongSilenceCostsLittle: time in which nothing changed is followed in a bounded
// number of steps, however long, and comes to what following it hour by hour does, of
// the last week.
func TestLongSilenceCostsLittle(t *testing.T) {
	fast, slow := plainRecorder(), plainRecorder()
	for _, r := range []*Recorder{fast, slow} {
		r.Observe(start, trace.Available)
	}
	years := 3 * 365 * 24
	for h := range years {
		slow.Tick(start.Add(time.Duration(h+1) * time.Hour))
	}
	now := start.Add(time.Duration(years) * time.Hour)
	if steps := testing.AllocsPerRun(1, func() { fast.Tick(now) }); steps > 50 {
		t.Errorf("%v allocations", steps)
	}
	for _, r := range []*Recorder{fast, slow} {
		r.Observe(now, trace.Unavailable)
	}
	a, b := fast.Record(), slow.Record()
	if a.Whole != b.Whole || a.Ends != b.Ends || a.Since != b.Since || a.Known != 255 || b.Known != 255 {
		t.Errorf("at once %+v\nhour by hour %+v", a, b)
	}
	for h := range 24 {
		if d := levels[a.Exposure[h]] - levels[b.Exposure[h]]; d > 16 || d < -16 { // both are halved when full
			t.Errorf("hour %d: %v h at once, %v hour by hour", h, levels[a.Exposure[h]], levels[b.Exposure[h]])
		}
	}
}

// TestBadTimes: changes that come late or twice, and times before 1970, leave every
// predictor with probabilities.
func TestBadTimes(t *testing.T) {
	for _, k := range kinds.Names() {
		m, err := Parse(k)
		if err != nil {
			t.Fatal(err)
		}
		p := m.New(&Pool{})
		for _, at := range []time.Time{time.Unix(-1<<40, 0), start, start, start.Add(-time.Hour), {},
			start.Add(time.Hour)} {
			p.Observe(at, trace.Available)
			p.Observe(at, trace.Unavailable)
			Blind(p, at)
			p.Observe(at, trace.Available)
		}
		for _, now := range []time.Time{{}, time.Unix(-5, 0), start.Add(-24 * time.Hour), start,
			start.Add(48 * time.Hour)} {
			for _, d := range []time.Duration{-time.Hour, 0, 1, time.Hour, math.MaxInt64} {
				if got, _ := p.Stay(now, d); !(got >= 0 && got <= 1) || d <= 0 && got != 1 {
					t.Errorf("%s at %v for %v: %v", k, now, d, got)
				}
			}
		}
	}
}
