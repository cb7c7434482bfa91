package sim

import (
	"strings"
	"testing"
	"time"
)

// what tells what was decided about tasks, in hours after the beginning.
func what(t *testing.T, s *Scenario) (*Report, string) {
	t.Helper()
	var told []string
	s.Watch = func(d Decision) {
		if d.Action == "placed" || d.Action == "completed" {
			told = append(told, d.Action+string(rune('A'+d.Host))+" "+d.At.Sub(s.Trace.Start).String())
		}
	}
	r := mustRun(t, s)
	return r, strings.Join(told, ", ")
}

// A machine that fails is not missed for 20 hours, but its task times out after three
// times the half hour that it should take, and goes to the other.
func TestTimeoutFindsFailures(t *testing.T) {
	for timeout, want := range map[float64]string{
		0: "placedA 1h0m0s, placedB 21h15m0s, completedB 22h15m0s",
		3: "placedA 1h0m0s, placedB 2h30m0s, completedB 3h30m0s",
	} {
		r, got := what(t, &Scenario{
			Trace: hostTrace(t, 40, []float64{0, 1.25}, []float64{0}), Placement: "gcmu", Seed: 1,
			Network: Network{Detect: 20 * time.Hour},
			Workload: Workload{Requeue: true, Classes: []Class{{Name: "a", Arrival: AtTimes, Times: []time.Duration{time.Hour},
				Work: time.Hour}}},
			Rates: &Rates{Unit: time.Hour, Of: [][]float64{{2, 1}}, Timeout: timeout},
		})
		if got != want || r.Failed != 1 {
			t.Errorf("time-out after %v: %s, %d runs failed, want %s", timeout, got, r.Failed, want)
		}
	}
}

// Of a machine that is there, tasks that take longer than expected are given up and drawn
// anew, until all have taken no longer; a patient policy says so itself.
func TestTimeoutOfLongTasks(t *testing.T) {
	for _, c := range []struct {
		placement string
		timeout   float64
		late      bool
	}{{"gcmu", 0, true}, {"gcmu", 1, false}, {"gcmu:patience=1", 0, false}} {
		s := &Scenario{
			Trace: hostTrace(t, 400, []float64{0}, []float64{0}), Placement: c.placement, Seed: 1,
			Workload: Workload{Requeue: true, Redraw: true,
				Classes: []Class{{Name: "a", Arrival: Every, Interval: 2 * time.Hour, To: 300 * time.Hour, Work: time.Hour,
					WorkLaw: UniformWork}}},
			Rates: &Rates{Unit: time.Hour, Of: [][]float64{{1, 1}}, Availability: []float64{1, .5}, Overhead: time.Minute,
				Timeout: c.timeout},
		}
		r := mustRun(t, s)
		if r.Succeeded != r.Arrived || (r.Returned == 0) != c.late || r.Failed != 0 {
			t.Errorf("%+v: of %d tasks %d ended, %d runs were given up and %d failed", c, r.Arrived, r.Succeeded, r.Returned,
				r.Failed)
		}
		// Works are uniform up to two hours, and those kept up to one: means of 1 and 1/2.
		if mean := r.Classes[0].Execution / 3600; c.late != (mean > 1) {
			t.Errorf("%+v: tasks took %v h in the mean", c, mean)
		}
	}
}

// Rates that are not known are measured: the first task of a class goes where the
// reference core would have it, later ones where they proved to be quick.
func TestMeasuredRates(t *testing.T) {
	hours := func(n ...int) (out []time.Duration) {
		for _, h := range n {
			out = append(out, time.Duration(h)*time.Hour)
		}
		return out
	}
	for measured, want := range map[bool]string{
		false: "placedB 1h0m0s, completedB 1h15m0s, placedB 6h0m0s, completedB 6h15m0s, placedB 12h0m0s, completedB 12h15m0s",
		true:  "placedA 1h0m0s, completedA 3h0m0s, placedB 6h0m0s, completedB 6h15m0s, placedB 12h0m0s, completedB 12h15m0s",
	} {
		if _, got := what(t, &Scenario{
			Trace: hostTrace(t, 20, []float64{0}, []float64{0}), Placement: "met", Seed: 1,
			Workload: Workload{Requeue: true, Classes: []Class{{Name: "a", Arrival: AtTimes, Times: hours(1, 6, 12),
				Work: time.Hour}}},
			Rates: &Rates{Unit: time.Hour, Of: [][]float64{{.5, 4}}, Measured: measured},
		}); got != want {
			t.Errorf("measured %v: %s, want %s", measured, got, want)
		}
	}
}
