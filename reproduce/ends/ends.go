// Package ends holds forecasts of jobs' ends to account: simulated jobs run on measured
// and made hosts, each is forecast as it is handed in and when half of it is done, from
// what a node would know then, and what was forecast stands beside what came.
package ends

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"godwit/trace"
)

// A Set is hosts that jobs run on.
type Set struct {
	Name     string
	Kind     string       // of trace.Synthesize, where nothing is measured
	Measured *trace.Trace // nil: hosts of that kind are made
}

// Options say how much is run.
type Options struct {
	Sets []Set  // at least one
	Jobs int    // of each set
	Seed uint64 // of everything drawn
	// Each calls run for 0 to n-1, in any order or at once.
	Each func(n int, run func(i int))
}

// A Trial is one forecast and what came.
type Trial struct {
	Set    string  `json:"set"`
	Job    int     `json:"job"`
	Moment string  `json:"moment"` // Begun or Half
	Hosts  int     `json:"hosts"`
	There  int     `json:"there"` // of the hosts, when it was handed in
	Tasks  int     `json:"tasks"`
	WorkS  float64 `json:"work_s"` // mean of a task
	Law    string  `json:"law"`
	Low    float64 `json:"low_s"`
	Median float64 `json:"median_s"`
	High   float64 `json:"high_s"`
	// Rate is what remaining work over present rate comes to.
	Rate float64 `json:"rate_s"`
	// Came is the time to the end; 0 where the job had not ended when its records did.
	Came float64 `json:"came_s"`
	// Watched is for how long the records went on.
	Watched float64 `json:"watched_s"`
}

// The moments at which jobs are forecast.
const (
	Begun = "handed in"
	Half  = "half done"
)

// Within says whether the end lay in the interval. A job that never ended while there
// are records does if the interval reaches beyond them.
func (t *Trial) Within() bool {
	if t.Came == 0 {
		return t.High >= t.Watched
	}
	return t.Low <= t.Came && t.Came <= t.High
}

// off is by which factor a time is off what came.
func (t *Trial) off(said float64) float64 {
	const second = 1.0 // what is shorter is as good as that
	return math.Exp(math.Abs(math.Log(max(said, second) / max(t.Came, second))))
}

// A Row sums up a set at a moment.
type Row struct {
	Set     string  `json:"set"`
	Moment  string  `json:"moment"`
	Trials  int     `json:"trials"`
	Never   int     `json:"never"`  // that had not ended when their records did
	Within  float64 `json:"within"` // share of ends in the interval
	WithinL float64 `json:"within_low"`
	WithinH float64 `json:"within_high"` // 95 % interval of that share (Wilson 1927)
	Early   float64 `json:"early"`       // share of ends before the interval
	Late    float64 `json:"late"`        // and after it
	// Off and RateOff are the medians of the factors by which the forecast's median, and
	// remaining work over present rate, were off; Off90 and RateOff90 what nine in ten
	// were off at most. Width is the median of the interval's end over its beginning.
	Off       float64 `json:"off"`
	Off90     float64 `json:"off_90"`
	RateOff   float64 `json:"rate_off"`
	RateOff90 float64 `json:"rate_off_90"`
	Width     float64 `json:"width"`
}

// Report is all of it.
type Report struct {
	Trials []Trial
	Rows   []Row
}

// MostJobs bounds the jobs of a set.
const MostJobs = 10_000

// Run runs the jobs.
func Run(o *Options) (*Report, error) {
	if len(o.Sets) == 0 || o.Jobs < 1 || o.Jobs > MostJobs {
		return nil, fmt.Errorf("%d sets and %d jobs: there must be a set, and 1 to %d jobs", len(o.Sets), o.Jobs, MostJobs)
	}
	all := make([][]Trial, len(o.Sets)*o.Jobs)
	errs := make([]error, len(all))
	o.Each(len(all), func(i int) {
		s := &o.Sets[i/o.Jobs]
		all[i], errs[i] = s.try(i%o.Jobs, o.Seed)
		if errs[i] != nil {
			errs[i] = fmt.Errorf("%s, job %d: %w", s.Name, i%o.Jobs, errs[i])
		}
	})
	r := &Report{Trials: slices.Concat(all...)}
	for i := range o.Sets {
		for _, m := range []string{Begun, Half} {
			r.Rows = append(r.Rows, sum(o.Sets[i].Name, m, r.Trials))
		}
	}
	r.Rows = append(r.Rows, sum("", "", r.Trials))
	return r, errors.Join(errs...)
}

// sum sums up the trials of a set and a moment; "" is any.
func sum(set, moment string, all []Trial) Row {
	r := Row{Set: cmp.Or(set, "all"), Moment: cmp.Or(moment, "both")}
	var off, rate, width []float64
	within := 0.0
	for i := range all {
		t := &all[i]
		if set != "" && t.Set != set || moment != "" && t.Moment != moment {
			continue
		}
		r.Trials++
		width = append(width, t.High/max(t.Low, 1))
		switch {
		case t.Within():
			within++
		case t.Came > 0 && t.Came < t.Low:
			r.Early++
		default:
			r.Late++
		}
		if t.Came == 0 {
			r.Never++
			continue
		}
		off, rate = append(off, t.off(t.Median)), append(rate, t.off(t.Rate))
	}
	n := max(1, float64(r.Trials))
	r.Within, r.Early, r.Late = within/n, r.Early/n, r.Late/n
	r.WithinL, r.WithinH = wilson(r.Within, n)
	const most = 0.9
	r.Off, r.Off90 = at(off, .5), at(off, most)
	r.RateOff, r.RateOff90 = at(rate, .5), at(rate, most)
	r.Width = at(width, .5)
	return r
}

// at is a quantile of numbers; 0 of none.
func at(x []float64, q float64) float64 {
	if len(x) == 0 {
		return 0
	}
	slices.Sort(x)
	return x[min(len(x)-1, int(q*float64(len(x))))]
}

// wilson is the 95 % interval of a share of n (Wilson 1927, equation 4).
func wilson(p, n float64) (low, high float64) {
	const z = 1.96
	mid := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, mid-half), min(1, mid+half)
}
