package ending

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/predictor"
	"godwit/task"
	"godwit/trace"
)

var noon = time.Date(2030, 1, 9, 12, 0, 0, 0, time.UTC)

// always are n members that never leave: their histories are of three weeks without a break.
func always(n, slots int) []Member {
	var out []Member
	since := noon.Add(-21 * 24 * time.Hour)
	r := predictor.NewRecorder(&predictor.Pool{})
	r.Observe(since, trace.Available)
	r.Tick(noon)
	rec := r.Record()
	h := &trace.History{}
	_ = h.Append(since, trace.Available, 1)
	h.Extend(noon)
	for i := range n {
		out = append(out, Member{Peer: task.PeerID(fmt.Sprintf("m%04d", i)), Since: since, Slots: slots, Memory: 1 << 30,
			Speed: 1, Record: &rec, Spells: h})
	}
	return out
}

// hourly are n members that come and go, there for so long in every hour.
func hourly(n int, there time.Duration) []Member {
	r := predictor.NewRecorder(&predictor.Pool{})
	h := &trace.History{}
	for at := noon.Add(-72 * time.Hour); at.Before(noon); at = at.Add(time.Hour) {
		for _, s := range []struct {
			at time.Time
			is trace.State
		}{{at, trace.Unavailable}, {at.Add(time.Hour - there), trace.Available}} {
			r.Observe(s.at, s.is)
			if noon.Sub(s.at) <= 4*time.Hour {
				_ = h.Append(s.at, s.is, 1)
			}
		}
	}
	r.Tick(noon)
	h.Extend(noon)
	rec := r.Record()
	var out []Member
	for i := range n {
		out = append(out, Member{Peer: task.PeerID(fmt.Sprintf("m%04d", i)), Slots: 1, Memory: 1 << 30, Speed: 1,
			Since: noon.Add(-there), Record: &rec, Spells: h})
	}
	return out
}

func ahead(t testing.TB, j *Job, s *Swarm) Forecast {
	t.Helper()
	f, err := Ahead(noon, j, s, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// ended are n tasks that took so long each.
func ended(n int, each time.Duration) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = each
	}
	return out
}

func TestMembersThatStay(t *testing.T) {
	for _, tt := range []struct {
		name  string
		job   Job
		slots int
		want  time.Duration // the middle, within a tenth
	}{
		{"one round", Job{Waiting: 10, Ended: ended(30, time.Hour)}, 1, time.Hour},
		{"rounds", Job{Waiting: 100, Ended: ended(30, 10*time.Minute)}, 1, 100 * time.Minute},
		{"slots", Job{Waiting: 100, Ended: ended(30, 10*time.Minute)}, 5, 20 * time.Minute},
		{"a limit of slots", Job{Waiting: 100, Slots: 2, Ended: ended(30, 10*time.Minute)}, 5, 500 * time.Minute},
		{"a limit for stages", Job{Slots: 4, Stages: []Stage{{Waiting: 20, Ended: ended(30, 10*time.Minute)},
			{Waiting: 20, Ended: ended(30, 10*time.Minute)}}}, 5, 100 * time.Minute},
		{"a million", Job{Waiting: 1_000_000, Ended: ended(30, time.Minute)}, 4, 25_000 * time.Minute},
		{"what runs", Job{Running: []Attempt{{"m0003", 45 * time.Minute}}, Ended: ended(30, time.Hour)}, 1, 15 * time.Minute},
		{"over", Job{}, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := ahead(t, &tt.job, &Swarm{Members: always(10, tt.slots), Detect: 10 * time.Second})
			if got, want := f.Median, tt.want.Seconds(); math.Abs(got-want) > want/10 {
				t.Errorf("the middle is %v s, want %v s", got, want)
			}
			if f.Low > f.Median || f.Median > f.High {
				t.Errorf("not in order: %+v", f)
			}
		})
	}
}

// TestMembersThatGo: with members that are there half of the time a job takes about twice as
// long, and who comes counts: those that are there alone would never do it.
func TestMembersThatGo(t *testing.T) {
	job := &Job{Waiting: 2000, Ended: ended(30, time.Minute), Save: time.Minute}
	stay := ahead(t, job, &Swarm{Members: always(10, 1), Detect: 10 * time.Second})
	go1 := ahead(t, job, &Swarm{Members: hourly(10, 30*time.Minute), Detect: 10 * time.Second})
	// Those that are there are half of all who come. They are forecast to leave rather too soon.
	if got := go1.Median / stay.Median; got < 0.7 || got > 1.7 {
		t.Errorf("20 members of which half are there take %.2f times as long as 10 that stay", got)
	}
	if go1.High/go1.Low < stay.High/stay.Low {
		t.Errorf("surer of members that go (%v) than of those that stay (%v)", go1, stay)
	}
	none := ahead(t, &Job{Waiting: 50, Ended: ended(30, 2*time.Hour)}, &Swarm{Members: hourly(10, 30*time.Minute)})
	saved := ahead(t, &Job{Waiting: 50, Ended: ended(30, 2*time.Hour), Save: time.Minute},
		&Swarm{Members: hourly(10, 30*time.Minute)})
	if none.Median < 2*saved.Median {
		t.Errorf("tasks of two hours on members of half an hour end after %v s without saves, %v s with", none.Median,
			saved.Median)
	}
}

func TestWhoSharesTakesLonger(t *testing.T) {
	job := Job{ID: "a", Waiting: 200, Ended: ended(30, 10*time.Minute)}
	alone := ahead(t, &job, &Swarm{Members: always(10, 1)})
	both := ahead(t, &job, &Swarm{Members: always(10, 1), Others: []Job{{ID: "b", Waiting: 10_000,
		Ended: ended(30, 10*time.Minute)}}})
	if got := both.Median / alone.Median; got < 1.8 || got > 2.3 {
		t.Errorf("beside another job it takes %.2f times as long, want about 2", got)
	}
}

func TestReasons(t *testing.T) {
	for _, tt := range []struct {
		name    string
		members []Member
		want    string
	}{
		{"nobody", nil, "no member is known"},
		{"no slot", always(3, 0), "lends a slot"},
		{"memory", always(3, 1), "memory"},
	} {
		f := ahead(t, &Job{Waiting: 1, Memory: 1 << 40}, &Swarm{Members: tt.members})
		if !strings.Contains(f.Reason, tt.want) || f.Median != 0 {
			t.Errorf("%s: got %+v, want a reason with %q", tt.name, f, tt.want)
		}
	}
	// Of a job of which nobody knows anything the forecast says so, and is wide.
	f := ahead(t, &Job{Waiting: 10}, &Swarm{Members: always(10, 1)})
	if !f.Unknown || len(f.Notes) == 0 || !strings.Contains(f.Notes[0], "nobody knows") || f.High < 20*f.Low {
		t.Errorf("of tasks of unknown length it says %+v", f)
	}
}

func TestRefused(t *testing.T) {
	good := func() (*Job, *Swarm, Options) { return &Job{Waiting: 1}, &Swarm{Members: always(1, 1)}, Options{} }
	for name, change := range map[string]func(*Job, *Swarm, *Options){
		"draws":   func(_ *Job, _ *Swarm, o *Options) { o.Draws = MaxDraws + 1 },
		"tasks":   func(j *Job, _ *Swarm, _ *Options) { j.Waiting = MaxTasks + 1 },
		"work":    func(j *Job, _ *Swarm, _ *Options) { j.Ended = []time.Duration{-1} },
		"running": func(j *Job, _ *Swarm, _ *Options) { j.Running = []Attempt{{"m", -1}} },
		"speed":   func(_ *Job, s *Swarm, _ *Options) { s.Members[0].Speed = math.NaN() },
		"state":   func(_ *Job, s *Swarm, _ *Options) { s.Members[0].State = 99 },
		"policy":  func(_ *Job, s *Swarm, _ *Options) { s.Placement = "none such" },
		"detect":  func(_ *Job, s *Swarm, _ *Options) { s.Detect = -1 },
	} {
		j, s, o := good()
		change(j, s, &o)
		if _, err := Ahead(noon, j, s, o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestOneThatBoasts: a member that claims to be faster than all others together does not make
// the job end at once.
func TestOneThatBoasts(t *testing.T) {
	job := &Job{Waiting: 2000, Ended: ended(30, time.Hour)}
	honest := ahead(t, job, &Swarm{Members: always(20, 1)})
	liar := always(1, 4096)[0]
	liar.Peer, liar.Speed, liar.Memory = "liar", 1e6, 1<<50
	told := ahead(t, job, &Swarm{Members: append(always(20, 1), liar)})
	if most := 20. / (20 + mostSlots*mostFaster); told.Median < 0.8*most*honest.Median {
		t.Errorf("with one that boasts it ends after %v s, without after %v s", told.Median, honest.Median)
	}
}

// TestAnyJob: whatever the members say of themselves, a forecast is in order, within bounds and
// the same each time.
func TestAnyJob(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &Swarm{Placement: rapid.SampledFrom([]string{"", "fcfs", "random", "lpas"}).Draw(rt, "policy"),
			Detect: 10 * time.Second, Grace: time.Minute}
		for i := range rapid.IntRange(1, 8).Draw(rt, "members") {
			m := hourly(1, time.Duration(rapid.IntRange(1, 59).Draw(rt, "there"))*time.Minute)[0]
			m.Peer = task.PeerID(fmt.Sprint("p", i))
			m.State = trace.State(rapid.IntRange(0, 4).Draw(rt, "state"))
			m.Slots, m.Speed = rapid.IntRange(0, 5).Draw(rt, "slots"), rapid.Float64Range(0, 100).Draw(rt, "speed")
			if rapid.Bool().Draw(rt, "silent") {
				m.Record, m.Spells, m.Since = nil, nil, time.Time{}
			}
			if rapid.Bool().Draw(rt, "goes") {
				m.Until = noon.Add(time.Duration(rapid.IntRange(-100, 100).Draw(rt, "until")) * time.Minute)
			}
			s.Members = append(s.Members, m)
		}
		length := rapid.Custom(func(rt *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(rt, "length"))
		})
		j := &Job{ID: "j", Waiting: rapid.Uint64Range(0, 5000).Draw(rt, "tasks"),
			Ended:    rapid.SliceOfN(length, 0, 20).Draw(rt, "ended"),
			Declared: length.Draw(rt, "declared"), Save: rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(rt, "save")}
		for i := range rapid.IntRange(0, 4).Draw(rt, "running") {
			j.Running = append(j.Running, Attempt{task.PeerID(fmt.Sprint("p", 2*i)), length.Draw(rt, "did")})
		}
		f, err := Ahead(noon, j, s, Options{Draws: 3})
		if err != nil {
			rt.Fatal(err)
		}
		if !(0 <= f.Low && f.Low <= f.Median && f.Median <= f.High && f.High <= MaxAhead.Seconds()) {
			rt.Fatalf("not in order or out of bounds: %+v", f)
		}
		again, _ := Ahead(noon, j, s, Options{Draws: 3})
		if !reflect.DeepEqual(f, again) {
			rt.Fatalf("two forecasts of the same: %+v and %+v", f, again)
		}
	})
}

// TestBoundedWork: thousands of members and a million tasks take no more steps than a draw may.
func TestBoundedWork(t *testing.T) {
	s := &Swarm{Members: hourly(3000, 30*time.Minute), Detect: 10 * time.Second}
	job := &Job{Waiting: 1_000_000, Ended: ended(30, time.Hour)}
	c := newCrowd(noon, s, 1e6)
	w, err := newWorld(c, job, []*known{know(job, s)}, s, 1, 0, &storage{})
	if err != nil {
		t.Fatal(err)
	}
	if end := w.run(); end <= 0 || w.count > c.events+1 || len(w.hosts) > c.drawn {
		t.Errorf("ends at %v after %d events on %d hosts", end, w.count, len(w.hosts))
	}
}
