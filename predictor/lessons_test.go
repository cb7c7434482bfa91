package predictor

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/trace"
)

// drawSaid draws what may be said of a stay.
func drawSaid(t *rapid.T) (s said) {
	for i := range sayAge {
		s[i] = float32(rapid.Float64Range(-mostOdds, mostOdds).Draw(t, "odds"))
	}
	s[sayCliff] = -float32(math.Abs(float64(s[sayCliff])))
	for i := sayAge; i < sayAlways; i++ {
		s[i] = float32(rapid.Float64Range(0, 3).Draw(t, "rest"))
	}
	s[sayAlways] = 1
	return s
}

// TestLessonsBeatTheBound: whatever is said and whatever happens, also what is worst for it, a
// pool loses at most what each of its parts does, ln(1/its first weight) / 2 and 2 ln(2),
// the regression and its correction as they learn among them.
func TestLessonsBeatTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLesson(rapid.SampledFrom([]float64{1e-3, 1, 30}).Draw(t, "firm"))
		var total [parts]float64
		mixed, bad := 0.0, rapid.Bool().Draw(t, "the worst happens")
		for range rapid.IntRange(1, 60).Draw(t, "answers") {
			a := Answer{said: drawSaid(t), stayed: rapid.Bool().Draw(t, "stayed")}
			m := l.answer(&a.said)
			if bad {
				a.stayed = m < .5
			}
			y := 0.0
			if a.stayed {
				y = 1
			}
			var p [parts]float64
			l.parts(&p, &a.said, true)
			mixed += (m - y) * (m - y)
			for i := range total {
				total[i] += (p[i] - y) * (p[i] - y)
			}
			l.learn(&a)
			l.settle()
		}
		for i, lost := range total {
			if mixed > lost-math.Log(partWeights[i])/mixRate+math.Ln2/meanRate+1e-3 { // noWeight leaves a little out
				t.Fatalf("the pool lost %v, part %d %v", mixed, i, lost)
			}
		}
	})
}

// learned is a pool that learnt from answers that are drawn.
func learned(t *rapid.T) *Pool {
	pool := &Pool{}
	var answers []Answer
	for range rapid.IntRange(1, 100).Draw(t, "answers") {
		answers = append(answers, Answer{class: uint8(rapid.IntRange(0, classes-1).Draw(t, "class")),
			stayed: rapid.Bool().Draw(t, "stayed"), said: drawSaid(t)})
	}
	pool.Learn(answers)
	return pool
}

// TestLearntStaysFall: whatever a pool was taught, a forecast is a probability that falls
// with the horizon, is what the lessons say at the anchors unless that rises, and the same
// in whatever order it is asked.
func TestLearntStaysFall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := learned(t)
		r := NewRecorder(pool)
		now := drawLife(t, rapid.IntRange(1, 5).Draw(t, "days"), 1, 20, 90, 400, 1500).tell(Blend{r})
		r.Observe(now, trace.Available)
		now = now.Add(minutes(float64(rapid.IntRange(0, 3000).Draw(t, "age"))))
		r.Tick(now)
		n, last := r.Reader(), 1.0
		for d := time.Minute; d < 300*time.Hour; d += d / 7 {
			p, _ := n.Stay(now, d)
			rec := r.Record()
			fresh := NewReader(&rec, pool)
			again, _ := fresh.Stay(now, d)
			if !(p >= 0 && p <= last+1e-12) || p != again {
				t.Fatalf("a stay of %v: %v after %v, asked alone %v", d, p, last, again)
			}
			last = p
		}
		least := 1.0
		for c, d := range anchors {
			var s said
			n.say(&s, now.UnixMilli(), d)
			least = min(least, max(pool.lessons[c].answer(&s), math.Exp(-mostHazard)))
			if p, _ := n.Stay(now, time.Duration(d)*time.Millisecond); math.Abs(p-least) > 1e-9 {
				t.Fatalf("at anchor %d a stay has %v, the lessons say %v", c, p, least)
			}
		}
	})
}

// TestPoolIsSetRight: hosts of which all is said to be well leave in four of ten hours. The
// pool's forecast of an hour comes to .6, that of a day, of which nothing came true, stays;
// and what two peers say that learnt nothing alike is the same.
func TestPoolIsSetRight(t *testing.T) {
	pool := &Pool{}
	now := start.Add(3 * time.Hour)
	r := Record{Up: true, Since: uint32(start.Unix()), Known: 100}
	ask := func(d time.Duration) (stay, told float64) {
		n := NewReader(&r, pool)
		stay, _ = n.Stay(now, d)
		return stay, n.Told(now, d)
	}
	const hour = 1
	hourBefore, hourTold := ask(time.Hour)
	var s said
	n := NewReader(&r, pool)
	n.say(&s, now.UnixMilli(), anchors[hour])
	random := rand.New(rand.NewPCG(1, 1))
	var answers []Answer
	for range 1000 {
		answers = append(answers, Answer{class: hour, stayed: random.Float64() < .6, said: s})
	}
	pool.Learn(answers)
	got, told := ask(time.Hour)
	if hourBefore < .7 || math.Abs(got-.6) > .05 || told != hourTold {
		t.Errorf("an hour: %.3f before, %.3f now; told %.3f and %.3f", hourBefore, got, hourTold, told)
	}
	pool.Renew([]Record{r})
	if p, _ := ask(time.Hour); math.Abs(p-.6) > .05 {
		t.Errorf("with other records %.3f", p)
	}
}

// TestFewLiarsTeachLittle: two hosts of forty say that they came a month ago and leave
// within the hour, always. What a pool says of an honest host then changes by less than a
// tenth.
func TestFewLiarsTeachLittle(t *testing.T) {
	teach := func(liars int) float64 {
		pool, random := &Pool{}, rand.New(rand.NewPCG(2, 2))
		honest := Record{Up: true, Since: uint32(start.Unix()), Known: 100}
		honest.Ends[8], honest.Exposure[9] = 9, 9
		liar := honest
		liar.Since -= 30 * 24 * 3600
		now := start.Add(2 * time.Hour)
		for range 100 {
			var answers []Answer
			for i := range 40 {
				rec, stays := &honest, random.Float64() < .8
				if i < liars {
					rec, stays = &liar, false
				}
				n := NewReader(rec, pool)
				var s said
				n.say(&s, now.UnixMilli(), anchors[1])
				answers = append(answers, Answer{class: 1, stayed: stays, said: s})
			}
			pool.Learn(answers)
		}
		n := NewReader(&honest, pool)
		p, _ := n.Stay(now, time.Hour)
		return p
	}
	if with, without := teach(2), teach(0); math.Abs(with-without) > .1 || math.Abs(without-.8) > .05 {
		t.Errorf("a stay of .8 is given %.3f, with liars %.3f", without, with)
	}
}

// TestDefaultIsAsGoodAsTheBest: on generated sets that were not looked at the default ranks
// within .005 as well as the best single expert and loses at most 1.01 of what it does.
func TestDefaultIsAsGoodAsTheBest(t *testing.T) {
	for kind, horizon := range map[string]time.Duration{"sdsc": time.Hour, "deug": 6 * time.Hour} {
		b := synthetic(t, kind, 60, 78)
		b.Horizon = horizon
		qs, err := b.Ask()
		if err != nil {
			t.Fatal(err)
		}
		mine := NewScorer(run(t, b, qs, "blend", forwards), .5).Score()
		for _, rival := range []string{"survival", "hour", "days", "logistic"} {
			s := NewScorer(run(t, b, qs, rival, forwards), .5).Score()
			if mine.AUC < s.AUC-.005 || mine.Brier > 1.01*s.Brier {
				t.Errorf("%s, %v: AUC %.3f, Brier %.4f; %s %.3f, %.4f", kind, horizon, mine.AUC, mine.Brier, rival, s.AUC,
					s.Brier)
			}
		}
	}
}

// crowd returns a pool that learnt for ten days of 200 hosts, their records and the time of these.
func crowd(t testing.TB) (pool *Pool, records []Record, now time.Time) {
	pool = &Pool{}
	set, err := trace.Synthesize("skype06", trace.SynthConfig{Hosts: 200, Days: 10, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	recorders, next := make([]*Recorder, len(set.Hosts)), make([]int, len(set.Hosts))
	for i := range recorders {
		recorders[i] = NewRecorder(pool)
	}
	for now = set.Start; now.Before(set.End); now = now.Add(DefaultRound) {
		records = nil
		var answers []Answer
		for i, h := range set.Hosts {
			for ; next[i] < h.History.Len() && h.History.Spell(next[i]).Start.Before(now); next[i]++ {
				s := h.History.Spell(next[i])
				recorders[i].Observe(s.Start, s.State)
			}
			recorders[i].Tick(now)
			records = append(records, recorders[i].Record())
			answers = append(answers, recorders[i].Answers()...)
		}
		pool.Renew(records)
		pool.Learn(answers)
	}
	return pool, records, now
}

// BenchmarkBulk asks of 10,000 members at one time, as who places tasks does: of records that
// were read before, at a time that was not asked about; and reads them.
func BenchmarkBulk(b *testing.B) {
	pool, records, now := crowd(b)
	const members = 10_000
	readers := make([]Reader, members)
	read := func() {
		for i := range readers {
			readers[i] = NewReader(&records[i%len(records)], pool)
		}
	}
	read()
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			read()
		}
	})
	for _, d := range []time.Duration{time.Minute, time.Hour, 2 * time.Hour, 24 * time.Hour} {
		b.Run(d.String(), func(b *testing.B) {
			for b.Loop() {
				now = now.Add(time.Millisecond)
				for i := range readers {
					readers[i].Stay(now, d)
				}
			}
		})
	}
}

// BenchmarkLearntStay asks a reader whose pool has learnt: of a time that was not asked about
// before, and of one that was.
func BenchmarkLearntStay(b *testing.B) {
	pool := &Pool{}
	blend := NewBlend(pool)
	noon := office(blend).Add(12 * time.Hour)
	pool.Learn(blend.Answers())
	blend.Tick(noon)
	n := blend.Reader()
	for _, d := range []time.Duration{10 * time.Minute, time.Hour, 24 * time.Hour, 3 * 24 * time.Hour} {
		b.Run(d.String(), func(b *testing.B) {
			b.ReportAllocs()
			now := noon
			for b.Loop() {
				now = now.Add(time.Millisecond)
				n.Stay(now, d)
			}
		})
		b.Run(d.String()+" again", func(b *testing.B) {
			for b.Loop() {
				n.Stay(noon, d)
			}
		})
	}
}

// TestHeightsAgreeWithTerms: a correction by its heights is that by its terms.
func TestHeightsAgreeWithTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLesson(DefaultFirm)
		for i := range slopes + 1 {
			l.right.weight[i] = rapid.Float64Range(leastSlope, mostSlope).Draw(t, "weight")
			l.final.curve.weight[i] = rapid.Float64Range(leastSlope, mostSlope).Draw(t, "weight")
		}
		l.weigh()
		l.final.weigh()
		z := rapid.Float64Range(2*knots[0], 2*knots[slopes]).Draw(t, "log-odds")
		var x [terms]float64
		bend(z, &x)
		if got, want := l.bent.at(z), l.right.odds(&x); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v is corrected to %v, want %v", z, got, want)
		}
		for i := range x {
			x[i] -= even[i]
		}
		if got, want := l.final.bent.at(z), l.final.curve.odds(&x); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v is set to %v at last, want %v", z, got, want)
		}
	})
}
