package place

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"godwit/predictor"
	"godwit/task"
	"godwit/trace"
	"pgregory.net/rapid"
)

// The replay of the thesis's synthetic experiments: a grid of a few resources
// for a few days, a minute at a time. At one instant come completions, resources
// that come, arrivals, placements, resources that go, and then service, shared
// equally by a resource's jobs (docs/spec/zhang.md section 11.0). Times are minutes.
const replayDay = 24 * 60

type resource struct {
	name   string
	until  []int // of each day, available from its start
	speed  func(minute int) float64
	up     bool
	jobs   []*replayJob
	model  predictor.Predictor
	used   []float64
	offers []float64
}

type replayJob struct {
	remaining float64 // minutes on a resource of speed 1
	began     int
}

// tally is what came of a day: allocated, succeeded and failed jobs.
type tally struct{ a, s, f int }

func (t tally) String() string { return fmt.Sprintf("%d/%d/%d", t.a, t.s, t.f) }

type replay struct {
	policy    Policy
	resources []*resource
	work      float64
	arrivals  []int // nil: there is always one that waits
	arrived   int
	shown     int // to the policy
	days      []tally
	end       int
	makespan  []int
	where     []string
	watch     func(minute int)
}

// newReplay has resources r1, r2, ... that are available in each day until so
// many hours of it.
func newReplay(t testing.TB, policy string, hours float64, until ...[]float64) *replay {
	t.Helper()
	p, err := Parse(policy)
	if err != nil {
		t.Fatal(err)
	}
	model := "tde"
	if own := p.Traits().Predictor; own != "" {
		model = own
	}
	m, err := predictor.Parse(model)
	if err != nil {
		t.Fatal(err)
	}
	days := len(until[0])
	r := &replay{policy: p, work: hours * 60, watch: func(int) {}, days: make([]tally, days), end: days * replayDay}
	for i, u := range until {
		x := &resource{
			name: fmt.Sprint("r", i+1), speed: func(int) float64 { return 1 }, model: m.New(nil),
			used: make([]float64, days), offers: make([]float64, days),
		}
		for _, hours := range u {
			x.until = append(x.until, int(hours*60))
		}
		r.resources = append(r.resources, x)
	}
	return r
}

func instant(minute int) time.Time { return time.Unix(int64(minute)*60, 0) }

// Stay asks the resource's own predictor.
func (r *replay) Stay(peer task.PeerID, now time.Time, d time.Duration) (float64, bool) {
	i := slices.IndexFunc(r.resources, func(x *resource) bool { return x.name == string(peer) })
	return r.resources[i].model.Stay(now, d)
}

// Next shows the waiting jobs.
func (r *replay) Next() (Task, bool) {
	if r.arrivals != nil && r.shown >= r.arrived {
		return Task{}, false
	}
	t := Task{ID: task.TaskID{Job: "j", Index: uint64(r.shown)}, Work: time.Duration(r.work * float64(time.Minute))}
	r.shown++
	return t, true
}

func (r *replay) SkipJob() {}

func (x *resource) available(minute int) bool {
	return minute%replayDay < x.until[minute/replayDay]
}

func (r *replay) run() *replay {
	for minute := 0; minute <= r.end; minute++ {
		for _, x := range r.resources {
			r.complete(x, minute)
		}
		if minute == r.end {
			break
		}
		for _, x := range r.resources {
			if up := x.available(minute); up && !x.up {
				x.turn(minute, true)
			}
		}
		for r.arrived < len(r.arrivals) && r.arrivals[r.arrived] == minute {
			r.arrived++
		}
		r.place(minute)
		r.watch(minute)
		for _, x := range r.resources {
			if x.up && !x.available(minute) {
				r.fail(x, minute)
			}
			x.serve(minute)
		}
	}
	return r
}

func (x *resource) turn(minute int, up bool) {
	state := trace.Unavailable
	if up {
		state = trace.Available
	}
	x.up = up
	x.model.Observe(instant(minute), state)
}

func (r *replay) complete(x *resource, minute int) {
	x.jobs = slices.DeleteFunc(x.jobs, func(j *replayJob) bool {
		if j.remaining > 1e-6 {
			return false
		}
		r.days[(minute-1)/replayDay].s++
		r.makespan = append(r.makespan, minute-j.began)
		return true
	})
}

func (r *replay) place(minute int) {
	var hosts []Host
	for _, x := range r.resources {
		if x.up {
			hosts = append(hosts, Host{Peer: task.PeerID(x.name), Slots: 1, Running: len(x.jobs), Free: 9, Memory: 1,
				MemoryFree: 1, Speed: x.speed(minute)})
		}
	}
	if len(hosts) == 0 {
		return
	}
	r.shown = len(r.where)
	for _, p := range r.policy.Place(instant(minute), r, hosts, r, rand.New(rand.NewPCG(1, uint64(minute)))) {
		i := slices.IndexFunc(r.resources, func(x *resource) bool { return x.name == string(p.Peer) })
		x := r.resources[i]
		x.jobs = append(x.jobs, &replayJob{r.work, minute})
		r.where = append(r.where, x.name)
		r.days[minute/replayDay].a++
	}
}

func (r *replay) fail(x *resource, minute int) {
	if lost := r.policy.Traits().Lost; lost != nil {
		lost(instant(minute), len(x.jobs))
	}
	r.days[minute/replayDay].f += len(x.jobs)
	x.jobs = nil
	x.turn(minute, false)
}

func (x *resource) serve(minute int) {
	if !x.up {
		return
	}
	speed, day := x.speed(minute+1), minute/replayDay
	x.offers[day] += speed
	for _, j := range x.jobs {
		j.remaining -= speed / float64(len(x.jobs))
		x.used[day] += speed / float64(len(x.jobs))
	}
}

const published = "fcfs:order=turn"

// TestSystemCases is Appendix B.I-1: which of the five cases of chapter 5 each
// scenario is, FCFS against FCFSPP, and how much of day 2 was used.
func TestSystemCases(t *testing.T) {
	for i, tt := range []struct {
		until        []float64
		first        string
		fcfs, fcfspp string
		used         float64
	}{
		{[]float64{24, 24}, "1/1/0", "1/1/0", "1/1/0", 1},
		{[]float64{24, 12}, "1/1/0", "1/0/1", "1/0/1", 1},
		{[]float64{12, 10}, "1/0/1", "1/0/1", "0/0/0", 0},
		{[]float64{12, 24}, "1/0/1", "1/1/0", "0/0/0", 0},
		{[]float64{10, 12}, "1/0/1", "1/0/1", "0/0/0", 0},
	} {
		for _, p := range []struct {
			spec, second string
			used         float64
		}{{published, tt.fcfs, 1}, {"fcfspp:t=1,n=1,m=1", tt.fcfspp, tt.used}} {
			r := newReplay(t, p.spec, 24, tt.until).run()
			x := r.resources[0]
			if r.days[0].String() != tt.first || r.days[1].String() != p.second || x.used[1]/x.offers[1] != p.used {
				t.Errorf("scenario %d, %s: got %v and %v, %v used; want %s and %s, %v", i+1, p.spec, r.days[0], r.days[1],
					x.used[1]/x.offers[1], tt.first, p.second, p.used)
			}
		}
	}
}

// TestInfluenceOfDifference is Appendix B.I-2. All readings of a past day agree
// where T is 100 %.
func TestInfluenceOfDifference(t *testing.T) {
	for i, want := range []string{"0/0/0", "1/1/0", "1/1/0", "2/2/0", "2/2/0", "3/2/1", "3/2/1"} {
		until := []float64{float64(3 * (i + 1)), 12}
		if got := newReplay(t, published, 6, until).run().days[1].String(); got != "3/2/1" {
			t.Errorf("scenario %d, FCFS: got %s", i+1, got)
		}
		for _, reading := range []string{"transitional", "prefix", "fraction"} {
			if got := newReplay(t, "fcfspp:reading="+reading, 6, until).run().days[1].String(); got != want {
				t.Errorf("scenario %d, FCFSPP, %s: got %s, want %s", i+1, reading, got, want)
			}
		}
	}
}

// TestFLPReplay is Appendix B.II with the controls that tell the readings and
// the starts apart.
func TestFLPReplay(t *testing.T) {
	const flp = "flp:lambda=1,interval=1h,reading="
	for i, tt := range []struct {
		until                              []float64
		fcfs, fcfspp, flp, start, fraction string
	}{
		{[]float64{20, 23}, "2/1/1", "1/1/0", "1/1/0", "2/1/1", "2/1/1"},
		{[]float64{20, 24}, "2/2/0", "1/1/0", "1/1/0", "2/2/0", "2/1/0"},
		{[]float64{23, 23}, "2/1/1", "1/1/0", "2/1/1", "2/1/1", "2/1/1"},
		{[]float64{23, 24}, "2/2/0", "1/1/0", "2/2/0", "2/2/0", "2/2/0"},
	} {
		for _, p := range []struct{ spec, want string }{
			{published, tt.fcfs},
			{"fcfspp:reading=prefix", tt.fcfspp},
			{flp + "prefix", tt.flp},
			{flp + "transitional", tt.fcfspp},
			{flp + "prefix,from=start", tt.start},
			{flp + "fraction", tt.fraction},
		} {
			if got := newReplay(t, p.spec, 12, tt.until).run().days[1].String(); got != p.want {
				t.Errorf("scenario %d, %s: got %s, want %s", i+1, p.spec, got, p.want)
			}
		}
	}
}

// TestFLPThreshold: T is 100 % at 24 h and 88 % at 36 h, where the job's
// probability is 8/12 or 11/12; adjusted from the start it is 66 %.
func TestFLPThreshold(t *testing.T) {
	for _, tt := range []struct {
		from string
		want [2]float64
		last float64
		rap  float64
	}{
		{"first-prediction-day", [2]float64{1, 0.88}, 20, 8. / 12},
		{"first-prediction-day", [2]float64{1, 0.88}, 23, 11. / 12},
		{"start", [2]float64{0.78, 0.66}, 20, 8. / 12},
	} {
		r := newReplay(t, "flp:interval=1h,reading=prefix,from="+tt.from, 12, []float64{tt.last, 23})
		var got [2]float64
		var rap float64
		r.watch = func(minute int) {
			switch minute {
			case 24 * 60:
				got[0] = r.policy.(*FLP).Threshold
			case 36 * 60:
				got[1] = r.policy.(*FLP).Threshold
				rap, _ = r.Stay("r1", instant(minute), 12*time.Hour)
			}
		}
		r.run()
		if got != tt.want || rap != tt.rap {
			t.Errorf("from %s, %v: got %v with %v, want %v with %v", tt.from, tt.last, got, rap, tt.want, tt.rap)
		}
	}
}

// TestDelayedDecision is section 7.3's example: a job of an hour is refused at
// first, and taken ten minutes later when too little is left.
func TestDelayedDecision(t *testing.T) {
	until := []float64{0.5, 1}
	r := newReplay(t, "fcfspp:reading=prefix,t=0.6", 1, until)
	r.watch = func(minute int) {
		want := map[int]float64{replayDay: 0.5, replayDay + 10: 20. / 60}[minute]
		if rap, _ := r.Stay("r1", instant(minute), time.Hour); want > 0 && rap != want {
			t.Errorf("minute %d: got %v, want %v", minute, rap, want)
		}
		if minute == replayDay+9 {
			r.policy.(*FCFSPP).Threshold = 0.3
		}
	}
	if got := r.run().days[1].String(); got != "1/0/1" {
		t.Errorf("got %s, want 1/0/1", got)
	}
	if got := newReplay(t, published, 1, until).run().days[1].String(); got != "2/1/1" {
		t.Errorf("FCFS: got %s: the first succeeds, and one is begun as the resource goes", got)
	}
}

// TestCheckingDays is chapter 5 (docs/spec/zhang.md section 6.2, S7): available for t1, then for
// more on the day after, a second checking day costs a job that would have been
// completed, or saves one that would have been lost.
func TestCheckingDays(t *testing.T) {
	for _, tt := range []struct {
		until    []float64
		one, two string
	}{
		{[]float64{4, 12, 8}, "1/1/0", "0/0/0"},
		{[]float64{4, 12, 5}, "1/0/1", "0/0/0"},
		{[]float64{7, 12, 8}, "1/1/0", "1/1/0"}, // the job fits all three
		{[]float64{4, 5, 8}, "0/0/0", "0/0/0"},  // and neither of the checked
	} {
		for n, want := range map[int]string{1: tt.one, 2: tt.two} {
			r := newReplay(t, fmt.Sprintf("fcfspp:n=%d", n), 6, tt.until)
			r.arrivals = hourly([]int{48})
			if got := r.run().days[2].String(); got != want {
				t.Errorf("%v, N=%d: got %s, want %s", tt.until, n, got, want)
			}
		}
	}
}

// TestPSOPPWorkload is section 7.4.1: where tasks come faster than they are
// done, PSOPP shares the resource between them.
func TestPSOPPWorkload(t *testing.T) {
	for i, tt := range []struct {
		arrivals                []int
		checked, psopp          string
		checkedSpan, swarmsSpan int
	}{
		{[]int{32}, "1/1/0", "1/1/0", 12, 12},
		{[]int{24, 36}, "2/2/0", "2/2/0", 12, 12},
		{[]int{24, 32, 40}, "2/2/0", "3/1/0", 12, 16},
	} {
		for _, p := range []struct {
			spec, want string
			span       int
		}{
			{published, tt.checked, tt.checkedSpan}, {"fcfspp", tt.checked, tt.checkedSpan},
			{"flp:interval=1h", tt.checked, tt.checkedSpan}, {"psopp:iterations=1", tt.psopp, tt.swarmsSpan},
		} {
			r := newReplay(t, p.spec, 12, []float64{24, 24})
			r.arrivals = hourly(tt.arrivals)
			r.run()
			if got := r.days[1].String(); got != p.want || slices.Max(r.makespan) != p.span*60 ||
				slices.Min(r.makespan) != p.span*60 {
				t.Errorf("scenario %d, %s: got %s, makespans %v; want %s, %d h", i+1, p.spec, got, r.makespan, p.want, p.span)
			}
		}
	}
}

// TestPSOPPFitness is section 7.4.2: the faster resource is better for both
// jobs, unless it slows down when both are there.
func TestPSOPPFitness(t *testing.T) {
	for _, tt := range []struct {
		spec  string
		swaps bool
		where []string
		want  string
	}{
		{published, false, []string{"r1", "r2"}, "2/1/0"},
		{"fcfspp", false, []string{"r1", "r2"}, "2/1/0"},
		{"flp:interval=1h", false, []string{"r1", "r2"}, "2/1/0"},
		{"psopp", false, []string{"r1", "r1"}, "2/2/0"},
		{published, true, []string{"r1", "r2"}, "2/2/0"},
		{"fcfspp", true, []string{"r1", "r2"}, "2/2/0"},
		{"flp:interval=1h", true, []string{"r1", "r2"}, "2/2/0"},
		{"psopp", true, []string{"r1", "r1"}, "2/1/0"},
	} {
		r := newReplay(t, tt.spec, 24, []float64{24, 24}, []float64{24, 24})
		for i, fast := range []bool{true, false} {
			r.resources[i].speed = func(minute int) float64 {
				if fast == (tt.swaps && minute > 36*60) {
					return 1
				}
				return 2
			}
		}
		r.arrivals = hourly([]int{24, 36})
		r.run()
		if got := r.days[1].String(); got != tt.want || !slices.Equal(r.where, tt.where) {
			t.Errorf("%s, swapped %v: got %s on %v, want %s on %v", tt.spec, tt.swaps, got, r.where, tt.want, tt.where)
		}
	}
}

func hourly(at []int) []int {
	out := slices.Clone(at)
	for i := range out {
		out[i] *= 60
	}
	return out
}

// TestPredictorNeverCostsReliability is chapter 5 (docs/spec/zhang.md section 6.2, S1 and S8) for a single
// resource: FCFSPP neither completes nor loses more than FCFS, and with T = 0 it
// is FCFS.
func TestPredictorNeverCostsReliability(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		half := func(name string) float64 { return float64(rapid.IntRange(1, 48).Draw(rt, name)) / 2 }
		until, hours := []float64{half("t1"), half("t2")}, half("length")
		fcfs := newReplay(t, published, hours, until).run().days
		if open := newReplay(t, "fcfspp:t=0", hours, until).run().days; !slices.Equal(open, fcfs) {
			rt.Fatalf("with T = 0 got %v, FCFS %v", open, fcfs)
		}
		pp := newReplay(t, "fcfspp", hours, until).run().days
		if pp[0] != fcfs[0] || pp[1].s > fcfs[1].s || pp[1].f > fcfs[1].f {
			rt.Fatalf("got %v, FCFS %v", pp, fcfs)
		}
	})
}
