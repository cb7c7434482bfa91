package sim

import (
	"math"
	"testing"
	"time"

	"godwit/trace"
)

// Theory's servers are hosts that are always there and its customers tasks of a
// Poisson class. Each case is run with the seeds 1 to theoryRuns, which nobody
// chose for their outcome, and is right when the formula's mean response lies
// in the 95 % interval of the runs' means. The class has the case's name, so that
// no two cases have the same random numbers. As there are nine cases, of which
// one in three times some would be outside its own interval, the intervals that
// decide are those that hold for all nine at once with 95 % (Bonferroni).
const (
	theoryRuns   = 20
	theoryCases  = 10
	studentT     = 2.093 // two-sided, 95 %, theoryRuns-1 degrees of freedom
	studentAll   = 3.174 // the same of 1 - 5 %/theoryCases
	theoryTasks  = 12_500.0
	theoryWarmup = 2_500.0     // of those
	service      = time.Minute // mean work of a task
)

// alwaysThere is a trace of hosts that never leave.
func alwaysThere(t testing.TB, hosts int, span time.Duration) *trace.Trace {
	t.Helper()
	var each [][]float64
	for range hosts {
		each = append(each, []float64{0})
	}
	return hostTrace(t, span.Hours(), each...)
}

func TestTheory(t *testing.T) {
	cases := []struct {
		name      string
		hosts     int
		load      float64 // offered to each host
		law       Law
		placement string
		sharing   Sharing
		want      float64 // mean response, in mean services
	}{
		{"M/M/1", 1, .7, Exponential, "fcfs:order=turn", Queue, mmc(1, .7)},
		{"M/M/1 at high load", 1, .9, Exponential, "fcfs:order=turn", Queue, mmc(1, .9)},
		{"M/M/4", 4, .8, Exponential, "fcfs:order=turn", Queue, mmc(4, .8)},
		{"M/M/20", 20, .9, Exponential, "fcfs:order=turn", Queue, mmc(20, .9)},
		{"M/D/1", 1, .7, Fixed, "fcfs:order=turn", Queue, mg1(.7, 1)},
		{"M/U/1", 1, .7, UniformWork, "fcfs:order=turn", Queue, mg1(.7, 4.0/3)},
		{"M/Weibull/1", 1, .6, "weibull:shape=0.8", "fcfs:order=turn", Queue,
			mg1(.6, math.Gamma(1+2/.8)/(math.Gamma(1+1/.8)*math.Gamma(1+1/.8)))},
		{"M/M/1-PS", 1, .7, Exponential, "psopp", Share, ps(.7)},
		{"M/D/1-PS", 1, .7, Fixed, "psopp", Share, ps(.7)},
		{"M/U/1-PS", 1, .7, UniformWork, "psopp", Share, ps(.7)},
	}
	if len(cases) != theoryCases {
		t.Fatalf("%d cases, and the intervals are for %d", len(cases), theoryCases)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var ss []*Scenario
			between := float64(service) / (c.load * float64(c.hosts))
			set := alwaysThere(t, c.hosts, time.Duration(theoryTasks*between))
			for seed := range theoryRuns {
				ss = append(ss, &Scenario{
					Trace: set, Warmup: time.Duration(theoryWarmup * between), Placement: c.placement, Paper: true,
					Hosts: HostRules{Sharing: c.sharing, Ahead: maxAhead},
					Workload: Workload{Classes: []Class{{
						Name: c.name, Arrival: Poisson, Interval: time.Duration(between), Work: service, WorkLaw: c.law,
					}}},
					Seed: uint64(seed + 1),
				})
			}
			reports, err := RunAll(ss, onWorkers(2))
			if err != nil {
				t.Fatal(err)
			}
			var means []float64
			var n uint64
			for _, r := range reports {
				means = append(means, r.Response.Mean/service.Seconds())
				n += r.Response.N
			}
			mean, half := interval(means)
			t.Logf("mean response %.4f +- %.4f services of %d tasks; the formula's is %.4f", mean, half, n, c.want)
			if half *= studentAll / studentT; math.Abs(mean-c.want) > half {
				t.Errorf("mean response %.4f +- %.4f services (for all cases at once), the formula's is %.4f", mean, half, c.want)
			}
		})
	}
}

// interval is the mean of runs and half of its 95 % interval.
func interval(xs []float64) (mean, half float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	ss := 0.0
	for _, x := range xs {
		ss += (x - mean) * (x - mean)
	}
	n := float64(len(xs))
	return mean, studentT * math.Sqrt(ss/(n-1)/n)
}

// mmc is the mean response of M/M/c at a load of each server, by Erlang's C
// formula (Kleinrock 1975, volume 1, section 3.5).
func mmc(c int, load float64) float64 {
	offered := load * float64(c)
	term, sum := 1.0, 0.0 // offered^k / k!
	for k := range c {
		sum += term
		term *= offered / float64(k+1)
	}
	term /= 1 - load
	wait := term / (sum + term)
	return 1 + wait/(float64(c)*(1-load))
}

// mg1 is the mean response of M/G/1 whose service has this second moment (Pollaczek
// and Khinchine; Kleinrock 1975, section 5.6).
func mg1(load, second float64) float64 { return 1 + load*second/(2*(1-load)) }

// ps is the mean response of M/G/1 with processor sharing, whatever the law of
// service (Kleinrock 1976, volume 2, section 4.4).
func ps(load float64) float64 { return 1 / (1 - load) }

// The formulas agree where they meet, and with values that are known.
func TestFormulas(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"M/M/1", mmc(1, .5), 2}, {"M/G/1 with exponential service", mg1(.5, 2), mmc(1, .5)},
		{"M/D/1", mg1(.5, 1), 1.5}, {"M/M/2", mmc(2, .5), 1 / (1 - .25)}, {"M/M/1-PS", ps(.5), mmc(1, .5)},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

// One host that serves in turn is Lindley's recursion (1952): each task starts
// when it comes or when the one before it ends. The engine has its responses to
// the nanosecond.
func TestQueueIsLindleys(t *testing.T) {
	w := Workload{Classes: []Class{
		{Name: "a", Arrival: Poisson, Interval: 3 * time.Minute, Work: time.Minute, WorkLaw: Exponential},
		{Name: "b", Arrival: Poisson, Interval: 10 * time.Minute, Tasks: 3, Work: time.Minute, WorkLaw: UniformWork},
	}}
	const span = 30 * 24 * time.Hour
	var want []time.Duration
	free := time.Duration(0)
	for _, a := range drain(t, &w, span, 5) {
		free = max(free, a.at) + a.work
		want = append(want, free)
	}
	_, err := Run(&Scenario{
		Trace: alwaysThere(t, 1, span), Placement: "fcfs:order=turn", Workload: w, Paper: true, Seed: 5,
		Watch: func(d Decision) {
			if at := d.At.Sub(time.Unix(0, 0)); d.Action == "completed" && at != want[d.Task] {
				t.Fatalf("task %d ended at %v, by the recursion at %v", d.Task, at, want[d.Task])
			}
		},
	})
	if err != nil || len(want) < 10000 {
		t.Errorf("%d tasks, error %v", len(want), err)
	}
}
