package predictor

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/trace"
)

// count says how many answers of each class are stays, and how many there are.
func count(all []Answer) (stays, n [classes]int) {
	for i := range all {
		n[all[i].class]++
		if all[i].stayed {
			stays[all[i].class]++
		}
	}
	return stays, n
}

// TestWitnessSeesWhatCameTrue: a host that is seen to come at noon and to leave four hours
// later: stays of ten minutes came true but the last, and those of six hours did not, which
// is told when the six hours are over and not before.
func TestWitnessSeesWhatCameTrue(t *testing.T) {
	pool, w := &Pool{}, &Witness{}
	rec := NewRecorder(pool)
	const step = 15 * time.Minute
	begin, end := start.Add(12*time.Hour), start.Add(16*time.Hour+time.Minute)
	var all []Answer
	early := [classes]int{}
	rec.Observe(begin, trace.Available)
	for at := begin; at.Before(start.Add(3 * 24 * time.Hour)); at = at.Add(step) {
		if at.Sub(end) >= 0 && at.Sub(end) < step {
			rec.Observe(end, trace.Unavailable)
		}
		rec.Tick(at)
		r := rec.Record()
		w.See("host", &r, at, pool)
		all = append(all, w.Answers(at)...)
		if at.Equal(start.Add(17 * time.Hour)) {
			_, early = count(all)
		}
	}
	stays, n := count(all)
	if n[0] != 5 || stays[0] < 4 || n[1] != 5 || stays[1] != 4 || n[3] == 0 || stays[3] != 0 || early[3] != 0 {
		t.Errorf("%v of %v came true; of six hours %d were told early", stays, n, early[3])
	}
	if len(w.hosts) != 0 {
		t.Errorf("%d hosts are kept that are gone", len(w.hosts))
	}
}

// TestWitnessMissesWhoIsGone: a host that is not seen any more has left; what it was asked
// and was over by then is not known, and what was not is a departure.
func TestWitnessMissesWhoIsGone(t *testing.T) {
	pool, w := &Pool{}, &Witness{}
	r := Record{Up: true, Since: uint32(start.Unix()), Known: 50}
	for i := range 4 {
		w.See("host", &r, start.Add(time.Duration(i)*time.Hour), pool)
		w.Answers(start.Add(time.Duration(i) * time.Hour))
	}
	var all []Answer
	for i := 4; i < 40; i++ {
		all = append(all, w.Answers(start.Add(time.Duration(i)*time.Hour))...)
	}
	stays, n := count(all)
	if n[0] != 0 || n[1] != 0 || n[2] != 2 || stays[2] != 0 || n[4] == 0 || stays[4] != 0 || len(w.hosts) != 0 {
		t.Errorf("%v of %v came true; %d hosts are kept", stays, n, len(w.hosts))
	}
}

// TestWitnessIsBounded: of more hosts than it follows it keeps the first; and whatever a host
// claims, backwards in time too, its quiz holds what it can.
func TestWitnessIsBounded(t *testing.T) {
	pool, w := &Pool{}, &Witness{}
	r := Record{Up: true, Since: uint32(start.Unix())}
	for i := range mostWitnessed + 10 {
		w.See(fmt.Sprint(i), &r, start, pool)
	}
	if len(w.hosts) != mostWitnessed || w.hosts["0"] == nil {
		t.Errorf("it follows %d hosts", len(w.hosts))
	}
	rapid.Check(t, func(t *rapid.T) {
		w := &Witness{}
		for range rapid.IntRange(1, 60).Draw(t, "adverts") {
			r := Record{Up: rapid.Bool().Draw(t, "up"), Since: rapid.Uint32().Draw(t, "since")}
			r.Blind = !r.Up && rapid.Bool().Draw(t, "blind")
			at := start.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "hours")) * time.Hour)
			w.See("liar", &r, at, pool)
			if rapid.Bool().Draw(t, "a round ends") {
				if got := w.Answers(at); len(got) > mostAnswers {
					t.Fatalf("%d answers of one host", len(got))
				}
			}
		}
	})
}

// TestRecorderAnswersForItself: a host that stays for two days and leaves tells the same as a
// witness would, its stays and its departure, once.
func TestRecorderAnswersForItself(t *testing.T) {
	r := NewRecorder(&Pool{})
	var all []Answer
	r.Observe(start, trace.Available)
	for h := 1; h < 96; h++ {
		at := start.Add(time.Duration(h) * time.Hour)
		if h == 48 {
			r.Observe(at, trace.Unavailable)
		}
		r.Tick(at)
		all = append(all, r.Answers()...)
	}
	stays, n := count(all)
	if n[1] < 50 || stays[1] != n[1]-1 || n[4] < 10 || n[4]-stays[4] < 5 || len(r.Answers()) != 0 {
		t.Errorf("%v of %v came true", stays, n)
	}
	r = NewRecorder(&Pool{plain: true})
	r.Observe(start, trace.Available)
	r.Tick(start.Add(48 * time.Hour))
	if got := r.Answers(); len(got) != 0 {
		t.Errorf("for a pool that does not learn %d answers are kept", len(got))
	}
}

// TestLostSessionsAnswerNothing: what was open when nobody looked any more is not known.
func TestLostSessionsAnswerNothing(t *testing.T) {
	r := NewRecorder(&Pool{})
	r.Observe(start, trace.Available)
	r.Tick(start.Add(90 * time.Minute))
	r.Blind(start.Add(90 * time.Minute))
	r.Tick(start.Add(60 * time.Hour))
	if stays, n := count(r.Answers()); stays != n || n[1] != 0 || n[4] != 0 {
		t.Errorf("%v of %v came true", stays, n)
	}
}

// TestWitnessBelievesWhatItSees: one host stays, another says that it does and is never there
// when it is looked at. What is learnt of the first are stays, of the other departures, each
// once: to talk more does not make it heard more.
func TestWitnessBelievesWhatItSees(t *testing.T) {
	pool, w := &Pool{}, &Witness{}
	honest := Record{Up: true, Since: uint32(start.Unix()), Known: 99}
	liar := honest
	var all []Answer
	for i := range 200 {
		now := start.Add(time.Duration(i) * 15 * time.Minute)
		w.See("honest", &honest, now, pool)
		if i%8 == 0 { // it comes each two hours, says that it never was away, says so again, and goes
			for range 20 {
				w.See("liar", &liar, now, pool)
			}
		}
		all = append(all, w.Answers(now)...)
	}
	stays, n := count(all)
	if left := n[1] - stays[1]; stays[1] < 45 || left < 10 || left > 25 {
		t.Errorf("%v of %v came true", stays, n)
	}
}
