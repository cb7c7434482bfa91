package replay

import (
	"fmt"
	"io"
	"strings"
	"time"

	"godwit/lab/table"
	"godwit/lab/testbed/measure"
	"godwit/sim"
	reports "godwit/sim/report"
	machines "godwit/sim/swarm"
)

// A report is the JSON of `godwit swarm replay` and `classes`.
type report struct {
	Nodes   int      `json:"nodes"`
	Speedup float64  `json:"speedup"`
	Minutes float64  `json:"minutes"`
	FromS   float64  `json:"from_s"`     // of the window, after the trace's start
	Names   []string `json:"host_names"` // in the order of the nodes
	Seed    uint64   `json:"seed"`
	WorkS   float64  `json:"work_s"` // of all that arrived
	Jobs    int      `json:"jobs"`
	Starts  starts   `json:"starts"`
	DelayS  float64  `json:"delay_s"`    // of a message, measured
	Lost    int      `json:"unanswered"` // jobs whose peer went before it answered

	// Foretold are, with --foretell, the jobs with what was said of their ends before.
	Foretold []*foretold `json:"foretold,omitempty"`

	// Past is the length of the history that each node had at the start, and PastSource names its source; both are "" if
	// the nodes had none. Decisions and Counted are then what the nodes decided.
	Past       string     `json:"past,omitempty"`
	PastSource string     `json:"past_source,omitempty"`
	Decisions  []decision `json:"decisions,omitempty"`
	Counted    *counted   `json:"counted,omitempty"`

	Swarm      *sim.Report `json:"swarm"`
	Simulator  *sim.Report `json:"simulator,omitempty"`
	Difference *difference `json:"difference,omitempty"`

	// Of a test-bed: the unit of its rates in seconds of the trace, what came of each
	// class and of all, of each machine's rates, how the machines were there, and the
	// mean responses that were published, in units, by class and then of all; 0: none.
	UnitS float64 `json:"unit_s,omitempty"`
	// of a task beside its work, in the mean, in seconds of the trace
	OverheadS float64             `json:"overhead_s,omitempty"`
	Classes   []measure.ClassRow  `json:"classes,omitempty"`
	Rates     []measure.RateRow   `json:"rates,omitempty"`
	Servers   []measure.ServerRow `json:"servers,omitempty"`
	Published []float64           `json:"published,omitempty"`

	name     string       // of the plan
	measured *measure.Run // nil: no test-bed's
}

// starts says how long nodes took from being started to being ready, in real
// seconds.
type starts struct {
	N     int     `json:"n"`
	Cut   int     `json:"cut"` // hosts that went before their node was ready
	MeanS float64 `json:"mean_s"`
	MaxS  float64 `json:"max_s"`
}

// A difference compares the swarm with the simulator, in percent of the
// simulator's figure; nil where that is not defined.
type difference struct {
	SucceededPct *float64 `json:"succeeded_pct"`
	SuccessPct   *float64 `json:"success_pct"`
}

// simulated runs the scenario in the simulator with what was measured: over the
// trace as it was played, with the time that nodes took to start, and with the
// delay of messages.
func (r *replay) simulated() (*sim.Report, error) {
	if r.plan.Bed != nil {
		return r.simulatedBed()
	}
	s := *r.plan.Scenario
	s.Trace, s.Network.Delay = r.played(), r.delay
	opt := r.plan.Options()
	opt.Manifest = r.overlay
	rep, err := machines.Run(&s, opt)
	if err == nil {
		rep.Policy, rep.Migration = r.plan.Placement, r.plan.Migration
	}
	return rep, err
}

// simulatedBed simulates the policies of a test-bed alone, since simulated machines
// impose no rates. It draws the same jobs, and each task takes its machine as much
// longer as it did in the mean.
func (r *replay) simulatedBed() (*sim.Report, error) {
	s := *r.plan.Scenario
	rates := *s.Rates
	rates.Overhead = r.overhead
	s.Trace, s.Rates = r.played(), &rates
	s.Placement, s.Migration = r.plan.Placement, r.plan.Migration
	return sim.Run(&s)
}

// startsOf adds up how long nodes took to start.
func (r *replay) startsOf() (out starts) {
	for _, p := range r.players {
		for _, u := range p.ups {
			if u.ready.IsZero() {
				out.Cut++
				continue
			}
			took := u.ready.Sub(u.from).Seconds()
			out.N++
			out.MeanS += took
			out.MaxS = max(out.MaxS, took)
		}
	}
	if out.N > 0 {
		out.MeanS /= float64(out.N)
	}
	return out
}

// compared fills in the simulator's side.
func (rep *report) compared(simulator *sim.Report) {
	rep.Simulator = simulator
	rep.Difference = &difference{SucceededPct: percentOf(float64(rep.Swarm.Succeeded)-float64(simulator.Succeeded),
		float64(simulator.Succeeded))}
	if a, b := rep.Swarm.SuccessPct, simulator.SuccessPct; a != nil && b != nil {
		rep.Difference.SuccessPct = percentOf(*a-*b, *b)
	}
}

// runs are those of runs that differ in their policies, at least one.
type runs []*report

// writeJSON writes an object a line.
func (reps runs) writeJSON(w io.Writer) error {
	for _, rep := range reps {
		if err := table.JSON(w, rep); err != nil {
			return err
		}
	}
	return nil
}

// print writes the reports for people.
func (reps runs) print(w io.Writer) error {
	var sides []*sim.Report
	for i, rep := range reps {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if len(reps) > 1 {
			fmt.Fprintln(w, rep.name)
		}
		rep.printHead(w)
		rep.printMeasured(w)
		rep.printDecisions(w)
		if sides = append(sides, rep.Swarm); rep.Simulator != nil {
			sides = append(sides, rep.Simulator)
		}
	}
	fmt.Fprintln(w)
	if err := reports.Table(w, sides,
		reports.Options{Notes: []string{"Of live nodes, checkpoints and the bytes of those that moved are not " +
			"counted."}}); err != nil {
		return err
	}
	reps.printClasses(w)
	reps.printCounted(w)
	for _, rep := range reps {
		printForetold(w, rep.Foretold)
	}
	return nil
}

// printHead writes what a run was of, and how far it is from its simulation.
func (rep *report) printHead(w io.Writer) {
	fmt.Fprintf(w, "%d nodes replayed %s of %s, from %s of it on, %g times as fast; seed %d\n", rep.Nodes,
		table.Rough(time.Duration(rep.Swarm.Days*24*float64(time.Hour))), rep.Swarm.Trace,
		time.Duration(rep.FromS*float64(time.Second)), rep.Speedup, rep.Seed)
	if rep.Swarm.Synthetic != "" {
		fmt.Fprintf(w, "the trace is synthetic: %s\n", rep.Swarm.Synthetic)
	}
	if rep.Past != "" {
		fmt.Fprintf(w, "past       %s, %s\n", rep.Past, rep.PastSource)
	}
	fmt.Fprintf(w, "hosts      %s\n", strings.Join(rep.Names, " "))
	fmt.Fprintf(w, "jobs       %d with %s of work in all; %d whose peer went before it answered\n", rep.Jobs,
		table.Seconds(rep.WorkS), rep.Lost)
	fmt.Fprintf(w, "starts     %d, %.2f s in the mean, at most %.2f s (%s of the trace); %d hosts went before their "+
		"node was ready\n",
		rep.Starts.N, rep.Starts.MeanS, rep.Starts.MaxS, table.Seconds(rep.Starts.MeanS*rep.Speedup), rep.Starts.Cut)
	fmt.Fprintf(w, "messages   %.2f ms from node to node\n", 1000*rep.DelayS)
	if rep.Simulator != nil {
		fmt.Fprintf(w, "difference %s of what the simulator (depth: %s) succeeded in, %s of its success\n",
			signed(rep.Difference.SucceededPct), rep.Simulator.Depth, signed(rep.Difference.SuccessPct))
	}
}

// signed writes a difference in percent; "-" where there is none to tell.
func signed(percent *float64) string {
	if percent == nil {
		return "-"
	}
	return fmt.Sprintf("%+.1f%%", *percent)
}
