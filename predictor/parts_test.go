package predictor

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/trace"
)

// TestOctaves: the bin of a length and how far it lies in it.
func TestOctaves(t *testing.T) {
	for _, c := range []struct {
		minutes float64
		bin     int
		in      float64
	}{
		{-5, 0, 0}, {0, 0, 0}, {.5, 0, .5}, {1, 1, 0}, {1.5, 1, math.Log2(1.5)}, {2, 2, 0}, {60, 6, math.Log2(60) - 5},
		{1024, 11, 0}, {32768, 16, 0}, {65536, 17, 0}, {131072, 17, 1}, {1048576, 17, 4},
	} {
		bin, in := octave(int64(c.minutes * msPerMinute))
		if bin != c.bin || math.Abs(in-c.in) > 1e-9 {
			t.Errorf("%v min: octave %d, %v in, want %d, %v", c.minutes, bin, in, c.bin, c.in)
		}
	}
	rapid.Check(t, func(t *rapid.T) { // longer is later
		a := rapid.Int64Range(0, 1<<40).Draw(t, "a")
		b := a + rapid.Int64Range(0, 1<<40).Draw(t, "more")
		j, x := octave(a)
		k, y := octave(b)
		if j > k || j == k && x > y {
			t.Fatalf("%d is in %d, %v; %d in %d, %v", a, j, x, b, k, y)
		}
	})
}

// TestHazardsAgreeWithALifeTable: each octave's hazard is ends over those that
// entered, written out as a sum for each.
func TestHazardsAgreeWithALifeTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Lives
		var prior [octaves]float64
		for k := range octaves {
			l.Ends[k], l.Lost[k] = float64(rapid.IntRange(0, 9).Draw(t, "ends")),
				float64(rapid.IntRange(0, 9).Draw(t, "lost"))
			prior[k] = rapid.Float64Range(0, 1).Draw(t, "prior")
		}
		weight := rapid.Float64Range(.1, 10).Draw(t, "weight")
		h := l.hazards(&prior, weight)
		c := newCurve(&h)
		survival := 1.0
		for k := range octaves {
			entered := l.Ends[k] + l.Lost[k]/2
			for j := k + 1; j < octaves; j++ {
				entered += l.Ends[j] + l.Lost[j]
			}
			want := min(surestEnd, (l.Ends[k]+weight*prior[k])/(entered+weight))
			near(t, "hazard", h[k], want)
			near(t, "survival to the octave", math.Exp(c.log(k, 0)), survival)
			near(t, "half way in", math.Exp(c.log(k, .5)), survival*math.Sqrt(1-want)) // even on the logarithm's scale
			survival *= 1 - want
		}
	})
}

// TestEmptyPoolIsTheLiteratures: sessions last as the Weibull law of shape 1/2 and
// scale 12 h has it, hosts leave once in a day at any hour, and
// opinions count as at first.
func TestEmptyPoolIsTheLiteratures(t *testing.T) {
	p := &Pool{}
	p.settle()
	for _, hours := range []float64{2. / 60, 16. / 60, 1024. / 60, 4096. / 60} { // at octaves' ends
		k, in := octave(int64(math.Round(hours * msPerHour)))
		want := math.Exp(-math.Sqrt(hours / 12))
		if got := math.Exp(p.life.log(k, in)); math.Abs(got-want) > 1e-9 {
			t.Errorf("%.4g h are outlasted with %v, by the law with %v", hours, got, want)
		}
	}
	if p.rate != 1./24 || p.prior != firstExcess {
		t.Errorf("%v exits an hour, excess %v", p.rate, p.prior)
	}
	for h, ratio := range p.ratio {
		if math.Abs(ratio-1) > 1e-9 {
			t.Errorf("hour %d: %v times the usual rate", h, ratio)
		}
	}
}

// TestPoolsAreSums: a pool of records is the same in any order, whether they were
// added or renewed, and a thousand records of one kind outweigh every prior.
func TestPoolsAreSums(t *testing.T) {
	var records []Record
	for i := range 5 {
		r := NewRecorder(&Pool{})
		for d := range 3 + i {
			day := start.Add(time.Duration(d*24+i) * time.Hour)
			r.Observe(day, trace.Available)
			r.Observe(day.Add(time.Duration(1+i)*time.Hour), trace.Unavailable)
		}
		records = append(records, r.Record())
	}
	added, renewed := &Pool{}, &Pool{}
	for i := range records {
		added.Add(&records[i])
	}
	added.settle()
	renewed.Add(&Record{Known: 9})
	slices.Reverse(records)
	renewed.Renew(records)
	if added.Records() != 5 || renewed.Records() != 5 {
		t.Errorf("%d and %d records, want 5", added.Records(), renewed.Records())
	}
	ask := func(p *Pool) float64 {
		n := NewReader(&Record{Up: true, Since: uint32(start.Unix())}, p)
		got, _ := n.Stay(start.Add(90*time.Minute), 5*time.Hour)
		return got
	}
	if a, b := ask(added), ask(renewed); math.Abs(a-b) > 1e-12 {
		t.Errorf("%v of those added, %v of those renewed", a, b)
	}
	r := NewRecorder(&Pool{})
	for i := range 100 { // three hours there, three away, all the hours of the day
		at := start.Add(time.Duration(7*i) * time.Hour)
		r.Observe(at, trace.Available)
		r.Observe(at.Add(3*time.Hour), trace.Unavailable)
	}
	rec := r.Record()
	many := &Pool{}
	for range 1000 {
		many.Add(&rec)
	}
	many.settle()
	if got := many.rate; math.Abs(got-1./3) > .02 {
		t.Errorf("hosts that leave each three hours leave %v times an hour", got)
	}
	short, in := octave(2 * msPerHour)
	if got := math.Exp(many.life.log(short, in)); got < .99 {
		t.Errorf("two of three hours are outlasted with %v", got)
	}
	long, in := octave(5 * msPerHour)
	if got := math.Exp(many.life.log(long, in)); got > .01 {
		t.Errorf("five of three hours are outlasted with %v", got)
	}
}

// TestHazardOfTheDay: the hazard between two times is the sum of its minutes.
func TestHazardOfTheDay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c dayCourse
		for h := range c.rate {
			c.rate[h] = rapid.Float64Range(0, 2).Draw(t, "rate")
		}
		c.sum()
		from := rapid.Int64Range(0, 3*minutesADay).Draw(t, "from")
		length := rapid.Int64Range(0, 3*minutesADay).Draw(t, "length")
		want := 0.0
		for m := from; m < from+length; m++ {
			want += c.rate[m/60%24] / 60
		}
		if got := c.hazard(from*msPerMinute, length*msPerMinute); math.Abs(got-want) > 1e-6 {
			t.Fatalf("%v, the minutes sum to %v", got, want)
		}
	})
}

// TestCliffs: an hour at which a host nearly always leaves is a cliff, and one at
// which it left once is not; what is kept apart adds up to the whole.
func TestCliffs(t *testing.T) {
	var even [24]float64
	for h := range even {
		even[h] = 1
	}
	var day tallied
	for h := 9; h <= 17; h++ {
		day.up[h] = 20
	}
	day.exits[17], day.exits[11] = 18, 1
	rate, course, cliff := day.split(4, 2, 1./24, &even, cliffRatio)
	for h := range 24 {
		if (cliff.rate[h] > 0) != (h == 17) {
			t.Errorf("hour %d: a cliff of %v", h, cliff.rate[h])
		}
	}
	if want := 1.0 / 160; math.Abs(rate-want) > .01 {
		t.Errorf("the usual rate is %v, want about %v", rate, want)
	}
	whole := (18 + 2*rate) / 22
	if got := course.rate[17] + cliff.rate[17]; math.Abs(got-whole) > 1e-9 || course.rate[17] > rate {
		t.Errorf("at 17: %v and %v, together %v", course.rate[17], cliff.rate[17], whole)
	}
	_, course, cliff = day.split(4, 2, 1./24, &even, math.Inf(1))
	if cliff.upTo[24] != 0 || course.rate[17] < .7 {
		t.Errorf("without cliffs: %v and %v", course.rate[17], cliff.upTo[24])
	}
}

// TestRunsOfWholeHours: for each hour of the last week, how many whole ones follow.
func TestRunsOfWholeHours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		since := rapid.Int64Range(200, 400_000).Draw(t, "hour")
		r := Record{Up: true, Since: uint32(since * 3600)}
		for i := range r.Whole {
			r.Whole[i] = rapid.SampledFrom([]byte{0, 0xff, 0xff, 0xff, 0x7e, 0xc3}).Draw(t, "hours")
		}
		n := NewReader(&r, &Pool{})
		whole := func(h int64) bool {
			return h > since || h < since && h >= since-wholeHours && r.Whole[h%wholeHours/8]>>(h%wholeHours%8)&1 == 1
		}
		for h := since - 180; h < since+5; h++ {
			want := int64(0)
			for want < longestRun && whole(h+want) {
				want++
			}
			if h < since-wholeHours {
				want = 0
			}
			got := n.run(h)
			if h < since && h+want >= since { // it runs into the hour of Since, which is broken
				want = since - h
			}
			if got != want {
				t.Fatalf("hour %d of %d: %d whole ones, want %d", h, since, got, want)
			}
		}
	})
}

// TestOdds: log-odds and probabilities are each other's inverse, within the bound,
// and a hazard survives with e^-hazard.
func TestOdds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Float64Range(.001, .999).Draw(t, "p")
		near(t, "p", odds(logOdds(p)), p)
		h := rapid.Float64Range(.01, 6).Draw(t, "hazard")
		near(t, "a hazard", odds(survives(h)), math.Exp(-h))
	})
	for got, want := range map[float64]float64{logOdds(0): -mostOdds, logOdds(1): mostOdds, survives(0): mostOdds,
		survives(1e9): -mostOdds, odds(0): .5} {
		if got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	weight := [weights]float64{1, 0, 0, 0, 0, .5, -.25}
	x := [experts]float64{2, 9, 9, 9, 9, 3}
	if got, want := mix(&weight, &x), odds(2+1.5-.25); got != want {
		t.Errorf("mixed to %v, want %v", got, want)
	}
}

// TestLevels: a half byte names the nearest level, and a byte a fading count within
// three per cent.
func TestLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0, 40).Draw(t, "x")
		off := math.Abs(levels[level(x)] - x)
		for _, l := range levels {
			if math.Abs(l-x) < off-1e-12 {
				t.Fatalf("%v is called %v, and %v is nearer", x, levels[level(x)], l)
			}
		}
		y := rapid.Float64Range(.5, 190).Draw(t, "y")
		if got := fineValue(fineStep(y)); math.Abs(got-y) > .03*y {
			t.Fatalf("%v is kept as %v", y, got)
		}
	})
	if fineStep(0) != 0 || fineValue(0) != 0 || fineStep(1e9) != 255 {
		t.Error("a fading count of nothing, or of very many")
	}
	if millis(time.Unix(-5, 0)) != 0 || unixSeconds(1<<62) != math.MaxUint32 || unixSeconds(1999) != 1 {
		t.Error("times before 1970, after 2106 and within a second")
	}
}

// TestRecordVector: each field of a record at its place, and what is wrong with one
// that is refused, to the word.
func TestRecordVector(t *testing.T) {
	r := Record{Up: true, Since: 0x01020304, Leave: 0x05060708, Known: 9}
	r.Ends[0], r.Ends[17], r.Lost[0], r.Lost[1], r.Lost[17] = 0xa0, 0xa1, 1, 2, 15
	r.Exits[0], r.Exposure[0], r.Exits[23], r.Exposure[23] = 3, 4, 5, 6
	r.Whole[0], r.Whole[20] = 0xb0, 0xb1
	r.RecentExits, r.RecentUp = [2]uint8{0xc0, 0xc2}, [2]uint8{0xc1, 0xc3}
	r.Excess = [opinions - 1]int8{1, 2, 3, 4, 5, 6, -1}
	zeros := func(n int) string { return strings.Repeat("00", n) }
	r.Lean = [leans]int8{-3, 2}
	want := "0255" + "01020304" + "05060708" + "09" + "a0" + zeros(16) + "a1" + "12" + zeros(7) + "0f" + "34" +
		zeros(22) + "56" +
		"b0" + zeros(19) + "b1" + "c0c1c2c3" + "010203040506ff"
	b, err := r.AppendBinary([]byte{0xee})
	if got := fmt.Sprintf("%x", b); err != nil || got != "ee"+want {
		t.Errorf("got  %s, %v\nwant ee%s", got, err, want)
	}
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		want   string
	}{
		"nothing":  {func([]byte) []byte { return nil }, "a survival record has 94 bytes, this one 0"},
		"one more": {func(b []byte) []byte { return append(b, 0) }, "a survival record has 94 bytes, this one 95"},
		"version 0": {func(b []byte) []byte { b[0] = 0; return b },
			"survival record of version 0: this program reads version 2"},
		"a lean too far": {func(b []byte) []byte { b[1] = 0x81; return b },
			"survival record leans by -4 steps (2): at most 3"},
		"both flags": {func(b []byte) []byte { b[1] = 3; return b },
			"survival record of a host both seen and not watched"},
		"no excess": {func(b []byte) []byte { b[len(b)-2] = 0x80; return b },
			"survival record has -128 for opinion 6: an excess is -127 to 127"},
	} {
		var got Record
		err := got.UnmarshalBinary(c.change(slices.Clone(b[1:])))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	for name, change := range map[string]func(*Record){
		"16 lost":      func(r *Record) { r.Lost[3] = 16 },
		"level 16":     func(r *Record) { r.Exits[7] = 16 },
		"hours of 16":  func(r *Record) { r.Exposure[7] = 16 },
		"no excess":    func(r *Record) { r.Excess[0] = -128 },
		"a lean of 4":  func(r *Record) { r.Lean[0] = 4 },
		"up and blind": func(r *Record) { r.Blind = true },
	} {
		bad := r
		change(&bad)
		if b, err := bad.AppendBinary([]byte{1, 2}); err == nil || len(b) != 2 {
			t.Errorf("%s: written as %x, %v", name, b, err)
		}
	}
}

// TestScorerAgreesWithSums: every figure of a score, summed question by question.
func TestScorerAgreesWithSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var qs []Question
		groups := rapid.IntRange(1, 5).Draw(t, "groups")
		for g := range groups {
			for range rapid.IntRange(1, 4).Draw(t, "size") {
				qs = append(qs, Question{Host: rapid.IntRange(0, 3).Draw(t, "host"), Group: g,
					P:      float64(rapid.IntRange(0, 10).Draw(t, "p")) / 10,
					Stayed: rapid.Bool().Draw(t, "stayed"), Known: rapid.Bool().Draw(t, "known")})
			}
		}
		threshold := float64(rapid.IntRange(1, 10).Draw(t, "threshold")) / 10
		n := float64(len(qs))
		var base, unknown, brier, loss, pick float64
		var o Outcomes
		for _, q := range qs {
			given := 1 - q.P // to what happened
			if q.Stayed {
				base += 1 / n
				given = q.P
			}
			if !q.Known {
				unknown += 1 / n
			}
			brier += (1 - given) * (1 - given) / n
			loss -= math.Log(math.Max(given, .001)) / n
			switch {
			case q.P < threshold && !q.Stayed:
				o.CP1++
			case q.P < threshold:
				o.FA++
			case !q.Stayed:
				o.MD++
			default:
				o.CP2++
			}
		}
		for g := range groups {
			best, stayed, tied := -1.0, 0.0, 0.0
			for _, q := range qs {
				if q.Group == g && q.P > best {
					best, stayed, tied = q.P, 0, 0
				}
				if q.Group == g && q.P == best {
					tied++
					if q.Stayed {
						stayed++
					}
				}
			}
			pick += stayed / tied / float64(groups)
		}
		s := NewScorer(qs, threshold).Score()
		for what, c := range map[string][2]float64{"base rate": {s.BaseRate, base},
			"no history": {s.NoHistory, unknown}, "Brier": {s.Brier, brier},
			"log loss": {s.LogLoss, loss}, "pick": {s.Pick, pick}} {
			near(t, what, c[0], c[1])
		}
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if !same(s.Detection, float64(o.CP1)/float64(o.CP1+o.MD)) ||
			!same(s.Correct, float64(o.CP1)/float64(o.CP1+o.FA)) {
			t.Fatalf("detection %v, correct %v of %+v", s.Detection, s.Correct, o)
		}
		total := 0
		for _, b := range s.Reliability {
			total += b.N
			if b.N == 0 || b.Stayed < 0 || b.Stayed > 1 {
				t.Fatalf("a bin of %+v", b)
			}
		}
		if total != len(qs) {
			t.Fatalf("%d answers in the bins, of %d", total, len(qs))
		}
	})
}

// TestUndecided: figures that the questions cannot decide are NaN, and their interval
// is too; draws of one seed are the same draws.
func TestUndecided(t *testing.T) {
	qs := []Question{{Host: 2, P: .5, Stayed: true}, {Host: 0, Group: 1, P: .7, Stayed: true}}
	s := NewScorer(qs, .9).Score()
	if !math.IsNaN(s.AUC) || !math.IsNaN(s.Detection) || s.Correct != 0 || s.Pick != 1 {
		t.Errorf("%+v", s)
	}
	spread := NewScorer(qs, .9).Bootstrap(20, 3)
	if low, high := spread.Interval(AUC); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("AUC from %v to %v", low, high)
	}
	if low, high := spread.Interval(Pick); low != 1 || high != 1 {
		t.Errorf("all picked stayed, and the interval is %v to %v", low, high)
	}
	again, other := NewScorer(qs, .9).Bootstrap(20, 3), NewScorer(qs, .9).Bootstrap(20, 4)
	if !slices.Equal(spread[Brier], again[Brier]) || slices.Equal(spread[Brier], other[Brier]) {
		t.Error("draws do not follow from the seed alone")
	}
	if low, high := spread.Difference(&again, Brier); low != 0 || high != 0 {
		t.Errorf("a spread differs from itself by %v to %v", low, high)
	}
	x := make([]float64, 101)
	for i := range x {
		x[100-i] = float64(i)
	}
	// ranks of 2.5 and 97.5 of 0 to 100, rounded
	if low, high := interval(append(x, math.NaN())); low != 3 || high != 98 {
		t.Errorf("95 %% of 0 to 100 are %v to %v", low, high)
	}
	for m, want := range map[Measure]float64{AUC: 1, Brier: 2, LogLoss: 3, Pick: 4} {
		if got := m.Of(Score{AUC: 1, Brier: 2, LogLoss: 3, Pick: 4}); got != want {
			t.Errorf("measure %d is %v, want %v", m, got, want)
		}
	}
}

// TestQuestionsAreWhatHappened: each group is asked at one time of up to ten hosts that
// are there, and the answer is what their histories say.
func TestQuestionsAreWhatHappened(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &Backtest{Horizon: time.Duration(rapid.IntRange(1, 400).Draw(t, "horizon")) * time.Minute,
			From: start.Add(6 * time.Hour),
			End:  start.Add(2 * 24 * time.Hour), Questions: rapid.IntRange(1, 60).Draw(t, "questions"),
			Seed: rapid.Uint64().Draw(t, "seed")}
		var lives []life
		for range rapid.IntRange(1, 14).Draw(t, "hosts") {
			l := drawLife(t, 2, 5, 60, 300, 1500)
			h := &trace.History{}
			for m, what := range l {
				if m > 0 && l[m-1] == what {
					continue
				}
				at := start.Add(minutes(float64(m)))
				if what == 'b' {
					_ = h.Gap(at)
					continue
				}
				if err := h.Append(at, map[byte]trace.State{'u': trace.Available, 'a': trace.Leaving}[what],
					1); err != nil {
					t.Fatal(err)
				}
			}
			h.Extend(b.End)
			lives, b.Histories = append(lives, l), append(b.Histories, h)
		}
		qs, err := b.Ask()
		if err != nil {
			if err != ErrNoQuestions {
				t.Fatal(err)
			}
			return
		}
		again, _ := b.Ask()
		if len(qs) > b.Questions || !slices.Equal(qs, again) {
			t.Fatalf("%d questions of %d, and %d again", len(qs), b.Questions, len(again))
		}
		for i, q := range qs {
			if q.At.Before(b.From) || q.At.Add(b.Horizon).After(b.End) {
				t.Fatalf("asked at %v", q.At)
			}
			from := q.At.Sub(start)
			first, last := int(from/time.Minute), int((from+b.Horizon-1)/time.Minute)
			stay := lives[q.Host][first : last+1]
			broken := slices.IndexFunc(stay, func(what byte) bool { return what != 'u' })
			if stay[0] != 'u' || broken >= 0 && stay[broken] == 'b' || q.Stayed != (broken < 0) {
				t.Fatalf("host %d at minute %d: stayed %v, its minutes %s", q.Host, first, q.Stayed, stay)
			}
			for _, o := range qs[:i] {
				if o.Group == q.Group && (o.Host == q.Host || !o.At.Equal(q.At)) {
					t.Fatalf("one group asks %+v and %+v", o, q)
				}
			}
			size := 0
			for _, o := range qs {
				if o.Group == q.Group {
					size++
				}
			}
			if size > GroupSize {
				t.Fatalf("a group of %d", size)
			}
		}
	})
}

// TestBacktestRefuses: a horizon or a round of no time.
func TestBacktestRefuses(t *testing.T) {
	m, err := Parse("age")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []Backtest{{Horizon: 0}, {Horizon: -1}, {Horizon: time.Hour, Round: -time.Second}} {
		if _, err := b.Run(m, nil, forwards); err == nil ||
			!strings.HasSuffix(err.Error(), "both are longer than nothing") {
			t.Errorf("%+v: got %v", b, err)
		}
	}
}

// TestKindsAreListed: every kind can be read by its name, is described in a line, and
// a name that is taken is no name for another.
func TestKindsAreListed(t *testing.T) {
	names, lines := Names(), strings.Split(strings.TrimSpace(Describe()), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, " ") }) // of defaults
	if len(names) != len(lines) || names[0] != "blend:firm=" {
		t.Errorf("%d names, the first %q, %d lines", len(names), names[0], len(lines))
	}
	for i, name := range names {
		kind, _, _ := strings.Cut(name, ":")
		if !strings.HasPrefix(lines[i], name+": ") {
			t.Errorf("%s is described as %q", name, lines[i])
		}
		m, err := Parse(" " + kind + " ")
		if err != nil || m.Name != kind {
			t.Errorf("%s: %q, %v", kind, m.Name, err)
		}
	}
	for _, bad := range []string{"blend", "", "a b", "a:b", "a,b"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is taken for a new kind", bad)
				}
			}()
			Register(bad, Kind{Make: plain(nil)})
		}()
	}
	if _, err := ParseList("blend,nosuch"); err == nil ||
		!strings.HasPrefix(err.Error(), `unknown predictor "nosuch": it is one of blend:firm=, `) {
		t.Errorf("got %v", err)
	}
}
