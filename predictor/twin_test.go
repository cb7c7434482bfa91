package predictor

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/trace"
)

// A life says of each minute since start what a host did: 'u' it was there, 'a' it
// was away, 'b' nobody looked. Predictors are compared with what counting its
// minutes gives. The question is put at its end.
type life []byte

const minutesADay = 24 * 60

// drawLife draws a life of some days, in spells of some of the lengths.
func drawLife(t *rapid.T, days int, lengths ...int) life {
	var l life
	for len(l) < days*minutesADay {
		what := rapid.SampledFrom([]byte("uuuaab")).Draw(t, "what")
		n := rapid.SampledFrom(lengths).Draw(t, "minutes") + rapid.IntRange(0, 3).Draw(t, "more")
		l = append(l, slices.Repeat([]byte{what}, min(n, days*minutesADay-len(l)))...)
	}
	if l[0] == 'b' {
		l[0] = 'u'
	}
	return l
}

// tell tells a predictor of every change.
func (l life) tell(p Predictor) (now time.Time) {
	for m, what := range l {
		if m > 0 && l[m-1] == what {
			continue
		}
		at := start.Add(minutes(float64(m)))
		switch what {
		case 'u':
			p.Observe(at, trace.Available)
		case 'a':
			p.Observe(at, trace.UserPresent)
		case 'b':
			Blind(p, at)
		}
	}
	return start.Add(minutes(float64(len(l))))
}

// window is whether the host was there in each minute of a window; what nobody saw
// counts as away.
func (l life) window(from, length int) []bool {
	up := make([]bool, length)
	for i := range up {
		up[i] = from+i >= 0 && from+i < len(l) && l[from+i] == 'u'
	}
	return up
}

// known is whether somebody looked in a minute.
func (l life) known(m int) bool { return m >= 0 && m < len(l) && l[m] != 'b' }

// runs are the lengths of the stays in a window, and whether each ended in it.
func runs(up []bool) (all []sojourn) {
	run := 0
	for _, u := range up {
		switch {
		case u:
			run++
		case run > 0:
			all = append(all, sojourn{int64(run), true})
			run = 0
		}
	}
	if run > 0 {
		all = append(all, sojourn{int64(run), false})
	}
	return all
}

func near(t *rapid.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) < 1e-9) {
		t.Fatalf("%s: %v, counted %v", what, got, want)
	}
}

// TestTDEAgreesWithMinutes: equations 4.1 and 4.2, both other readings of a checking
// day, and both ways with missing days and with windows of nothing.
func TestTDEAgreesWithMinutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLife(t, rapid.IntRange(1, 5).Draw(t, "days"), 1, 20, 90, 400, 1500)
		c := TDEConfig{N: rapid.IntRange(1, 6).Draw(t, "n"), M: rapid.IntRange(1, 3).Draw(t, "m"),
			Reading: Reading(rapid.IntRange(0, 2).Draw(t, "reading")),
			Missing: Missing(rapid.IntRange(0, 1).Draw(t, "missing")),
			Absent:  Absent(rapid.IntRange(0, 1).Draw(t, "absent"))}
		p := NewTDE(c)
		now := l.tell(p)
		job := rapid.IntRange(1, 700).Draw(t, "job")
		sum, total, any := 0.0, 0.0, false
		for i := 1; i <= c.N; i++ {
			from := len(l) - i*minutesADay
			if !l.known(from) {
				if c.Missing == MissingZero {
					total++
				}
				continue
			}
			any = true
			total++
			up := l.window(from, c.M*job)
			var fits, exits, there int
			for _, r := range runs(up) {
				fits += int(r.length) / job
				there += int(r.length)
				if r.exit {
					exits++
				}
			}
			prefix := slices.Index(up, false)
			if prefix < 0 {
				prefix = len(up)
			}
			switch {
			case c.Reading == Prefix:
				sum += float64(prefix) / float64(len(up))
			case c.Reading == Fraction:
				sum += float64(there) / float64(len(up))
			case fits+exits > 0:
				sum += float64(fits) / float64(fits+exits)
			case c.Absent == AbsentStays:
				sum++
			}
		}
		got, known := p.Stay(now, minutes(float64(job)))
		if known != any {
			t.Fatalf("known %v, want %v", known, any)
		}
		want := 1.0
		if any {
			want = sum / total
		}
		near(t, "the probability", got, want)
	})
}

// kaplanMeier is the product-limit estimate as its definition has it: at each time
// of an exit, the share of those still there that do not leave.
func kaplanMeier(all []sojourn, before int64) float64 {
	s := 1.0
	var times []int64
	for _, j := range all {
		if j.exit && j.length < before && !slices.Contains(times, j.length) {
			times = append(times, j.length)
		}
	}
	for _, at := range times {
		left, there := 0.0, 0.0
		for _, j := range all {
			if j.length >= at {
				there++
			}
			if j.exit && j.length == at {
				left++
			}
		}
		s *= 1 - left/there
	}
	return s
}

// TestSemiMarkovAgreesWithMinutes: the survival of the sojourns in the same window of
// recent days.
func TestSemiMarkovAgreesWithMinutes(t *testing.T) {
	m, err := Parse("semimarkov:days=4")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		l := drawLife(t, rapid.IntRange(1, 5).Draw(t, "days"), 1, 15, 60, 300, 1500)
		p := m.New(nil)
		now := l.tell(p)
		horizon := rapid.IntRange(1, 1600).Draw(t, "horizon")
		var all []sojourn
		any := false
		for i := 1; i <= 4; i++ {
			if from := len(l) - i*minutesADay; l.known(from) {
				any = true
				all = append(all, runs(l.window(from, horizon))...)
			}
		}
		got, known := p.Stay(now, minutes(float64(horizon)))
		if known != any {
			t.Fatalf("known %v, want %v", known, any)
		}
		near(t, "survival", got, kaplanMeier(all, int64(horizon)))
	})
}

// The example of Kaplan and Meier (1958, section 1.2 and 2): deaths at 0.8, 3.1, 5.4
// and 9.2 months, losses at 1.0, 2.7, 7.0 and 12.1; of 8, 7/8, 7/8*4/5, 7/8*4/5*3/4
// and 7/8*4/5*3/4*1/2 survive them.
func TestProductLimitOfKaplanMeier(t *testing.T) {
	all := func() []sojourn {
		return []sojourn{{31, true}, {8, true}, {70, false}, {10, false}, {92, true}, {121, false}, {27, false},
			{54, true}}
	}
	for _, c := range []struct {
		at   int64
		want float64
	}{{8, 1}, {9, 7. / 8}, {31, 7. / 8}, {32, 7. / 8 * 4 / 5}, {55, 7. / 8 * 4 / 5 * 3 / 4},
		{93, 7. / 8 * 4 / 5 * 3 / 4 / 2}, {500, 7. / 8 * 4 / 5 * 3 / 4 / 2}} {
		if got := productLimit(all(), c.at); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("to %d: %v, want %v", c.at, got, c.want)
		}
	}
	if got := productLimit([]sojourn{{5, false}, {5, true}}, 6); got != 0.5 { // one cut off at 5 was there at 5
		t.Errorf("a tie of an exit and a loss: %v, want 1/2", got)
	}
}

// TestSlidingWindowsAgreeWithMinutes: the share of the window, and runs against exits.
func TestSlidingWindowsAgreeWithMinutes(t *testing.T) {
	for _, spec := range []string{"window:span=6h,states=single", "window:span=6h"} {
		m, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			l := drawLife(t, rapid.IntRange(1, 2).Draw(t, "days"), 1, 20, 90, 400)
			p := m.New(nil)
			now := l.tell(p)
			job := rapid.IntRange(1, 200).Draw(t, "job")
			up := l.window(len(l)-360, 360)
			var there, fits, exits int
			for _, r := range runs(up) {
				there += int(r.length)
				fits += int(r.length) / job
				if r.exit {
					exits++
				}
			}
			want := (float64(there)*msPerMinute + 1) / (360*msPerMinute + 1)
			if spec == "window:span=6h" {
				want = float64(fits) / math.Max(1, float64(fits+exits))
			}
			got, known := p.Stay(now, minutes(float64(job)))
			if !known {
				t.Fatal("a day was seen and is not known")
			}
			near(t, spec, got, want)
		})
	}
}

// TestCountersAgreeWithSlots: both counters of Mickens and Noble, slot for slot.
func TestCountersAgreeWithSlots(t *testing.T) {
	const slot, bits = 60, 3
	rapid.Check(t, func(t *rapid.T) {
		l := drawLife(t, rapid.IntRange(1, 5).Draw(t, "days"), 1, 40, 150, 600)
		var states []byte // at the slots' ends
		for m := slot; m <= len(l); m += slot {
			states = append(states, l[m-1])
		}
		value, last := 3, 0 // half of 2^3 - 1, and a pattern of nothing
		var up, all [1 << bits]float64
		for _, s := range states {
			if s == 'b' {
				continue
			}
			bit := 0
			if s == 'u' {
				bit = 1
			}
			value = max(0, min(7, value+2*bit-1))
			all[last]++
			up[last] += float64(bit)
			last = (last<<1 | bit) & (1<<bits - 1)
		}
		horizon := rapid.IntRange(1, 10*slot).Draw(t, "horizon")
		follows := 1.0
		for left := float64(horizon) / slot; left > 0; left-- {
			follows *= math.Pow((up[last]+1)/(all[last]+2), math.Min(1, left))
			last = (last<<1 | 1) & (1<<bits - 1)
		}
		for spec, want := range map[string]float64{"saturating:bits=3,slot=1h": (float64(value) + .5) / 8,
			"history:bits=3,slot=1h": follows} {
			m, err := Parse(spec)
			if err != nil {
				t.Fatal(err)
			}
			p := m.New(nil)
			now := l.tell(p)
			got, _ := p.Stay(now, minutes(float64(horizon)))
			near(t, spec, got, want)
		}
	})
}

// TestBaselinesAgreeWithMinutes: age, exits over hours there, and the fading share.
func TestBaselinesAgreeWithMinutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLife(t, rapid.IntRange(1, 4).Draw(t, "days"), 1, 20, 90, 400, 1500)
		age, exits, there, up, watched := 0.0, 1.0, 24.0, 0.0, 0.0
		fade := math.Exp(-1. / 60 / shareSpan)
		for m, what := range l {
			if what != 'b' {
				up, watched = up*fade, watched*fade+shareSpan*(1-fade)
			}
			if what != 'u' {
				age = 0
				if what == 'a' && m > 0 && l[m-1] == 'u' {
					exits++
				}
				continue
			}
			age++
			there += 1. / 60
			up += shareSpan * (1 - fade)
		}
		horizon := rapid.Float64Range(.1, 50).Draw(t, "hours")
		for spec, want := range map[string]float64{
			"age": 1 - math.Exp(-age/minutesADay), "exponential": math.Exp(-exits / there * horizon),
			"availability": (up + 1) / (watched + 2),
		} {
			m, err := Parse(spec)
			if err != nil {
				t.Fatal(err)
			}
			p := m.New(nil)
			now := l.tell(p)
			got, known := p.Stay(now, time.Duration(horizon*float64(time.Hour)))
			if !known || math.Abs(got-want) > 1e-6 { // horizons are whole milliseconds
				t.Fatalf("%s: %v, %v, counted %v", spec, got, known, want)
			}
		}
	})
}

// TestWeeklyAgreesWithMinutes: equations 3.1 and 3.2 on the share of each hour, weeks
// apart; hours that were seen for less than half are left out.
func TestWeeklyAgreesWithMinutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLife(t, 7*rapid.IntRange(1, 3).Draw(t, "weeks"), 10, 45, 600, 3000)
		readings := map[int][]float64{} // by hour of the week, the latest first
		for h := range len(l) / 60 {
			up, seen := 0.0, 0.0
			for _, what := range l[h*60 : h*60+60] {
				if what != 'b' {
					seen++
				}
				if what == 'u' {
					up++
				}
			}
			if seen >= 30 {
				readings[h%168] = append([]float64{up / seen}, readings[h%168]...)
			}
		}
		windowed, err := NewWeekly(WeeklyConfig{Weights: []float64{.6, .4}})
		if err != nil {
			t.Fatal(err)
		}
		smooth, err := NewWeekly(WeeklyConfig{Recursive: true, Share: .3})
		if err != nil {
			t.Fatal(err)
		}
		now := l.tell(windowed)
		l.tell(smooth)
		windowed.Stay(now, 0) // which takes the time until now
		smooth.Stay(now, 0)
		for h := range 168 {
			at := now.Add(time.Duration(h) * time.Hour)
			r := readings[h]
			a, ok := windowed.Availability(at)
			b, ok2 := smooth.Availability(at)
			if ok != (len(r) > 0) || ok2 != ok {
				t.Fatalf("hour %d: known %v and %v of %v", h, ok, ok2, r)
			}
			want, guess := .5, .5
			if len(r) == 1 {
				want = r[0]
			} else if len(r) > 1 {
				want = .6*r[0] + .4*r[1]
			}
			for _, x := range slices.Backward(r) {
				guess = .3*x + .7*guess
			}
			near(t, "(3.1)", a, want)
			near(t, "(3.2)", b, guess)
		}
	})
}

// TestRecordsAgreeWithMinutes: what a record says of a host's past is what counting
// its minutes gives, where no count has faded and no hour is a cliff.
func TestRecordsAgreeWithMinutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := &Pool{}
		makePlain(pool)
		// of longer spells hours are not told apart
		l := drawLife(t, rapid.IntRange(1, 7).Draw(t, "days"), 130, 700, 1500, 3000)
		r := NewRecorder(pool)
		now := l.tell(Blend{r})
		r.Tick(now)
		r.Tick(now.Add(time.Millisecond)) // a tick in which a question is put leaves the record as it was then
		got := r.Record()
		var ends, lost [octaves]uint8
		var exits, exposure [24]float64
		since := 0
		for m, what := range l {
			if m > 0 && l[m-1] != what {
				since = m
			}
			if what == 'u' {
				exposure[m/60%24] += 1. / 60
			}
		}
		hoursUp, ended := 0.0, []float64{} // hours there when each session ended
		for m, run := 0, 0; m <= since; m++ {
			if m < since && l[m] == 'u' {
				run++
				continue
			}
			if run > 0 {
				k, _ := octave(int64(run) * msPerMinute)
				hoursUp += float64(run) / 60
				if l[m] == 'b' {
					lost[k]++
				} else {
					ends[k]++
					exits[m/60%24]++
					ended = append(ended, hoursUp)
				}
			}
			run = 0
		}
		if got.Ends != ends || got.Lost != lost {
			t.Fatalf("ends %v, lost %v; counted %v, %v", got.Ends, got.Lost, ends, lost)
		}
		last := l[len(l)-1]
		if got.Up != (last == 'u') || got.Blind != (last == 'b') ||
			int64(got.Since) != start.Add(minutes(float64(since))).Unix() || int(got.Known) != min(255, since/60) {
			t.Fatalf("up %v, blind %v, since %d, known %d h", got.Up, got.Blind, got.Since, got.Known)
		}
		for h := range 24 {
			if math.Abs(levels[got.Exposure[h]]-exposure[h]) > math.Abs(levels[level(exposure[h])]-exposure[h])+1e-9 ||
				levels[got.Exits[h]] != levels[level(exits[h])] {
				t.Fatalf("hour %d: exits %v in %v h; counted %v in %v h", h, levels[got.Exits[h]],
					levels[got.Exposure[h]], exits[h], exposure[h])
			}
		}
		// the hour in which a host is first seen counts as broken
		first := start.Unix() / 3600
		for h := since/60 - 1; h >= len(l)/60-wholeHours; h-- { // of a week until now
			whole := h > 0 && !slices.Contains(l.window(h*60, 60), false)
			bit := int((first + int64(h)) % wholeHours)
			if got.Whole[bit/8]>>(bit%8)&1 == 1 != whole {
				t.Fatalf("hour %d: whole %v, want %v", h, !whole, whole)
			}
		}
		for i, m := range memory {
			left := 0.0
			for _, h := range ended {
				left += math.Exp(-(hoursUp - h) / m)
			}
			there := 1 - math.Exp(-hoursUp/m)
			if d := int(got.RecentExits[i]) - int(fineStep(left)); d < -1 || d > 1 ||
				math.Abs(float64(got.RecentUp[i])/256-there) > 1./200 {
				t.Fatalf("memory %d: %v exits, %v there; counted %v, %v", i, fineValue(got.RecentExits[i]),
					float64(got.RecentUp[i])/256, left, there)
			}
		}
	})
}
