package mgst

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

const (
	// timeUnit is the thesis's time unit, which is none of the clock.
	timeUnit = time.Hour
	// meanUp and meanDown are the mean times between a machine's repair and its next
	// failure, and until it is repaired, both exponential.
	meanUp, meanDown = 50, 2

	// simulatedRuns is the number of runs of each policy, and testbedRuns of each in the
	// emulation. longUnits is the length of a run in time units, manyUnits with 21
	// machines, which have three times the jobs, and slowUnits under FCFS with HiHi,
	// which is near saturation. Emulated runs are as long as the testbed's.
	simulatedRuns = 8
	testbedRuns   = 20
	longUnits     = 10_000
	manyUnits     = 4_000
	slowUnits     = 40_000
	// growingRuns is how many runs there are of a system that is not stable, shortUnits
	// how long one is.
	growingRuns = 2
	shortUnits  = 2_000
)

// units is how long runs of a policy take.
func (t *rerun) units(policy int) float64 {
	switch {
	case t.system != hiHi:
		return manyUnits
	case policy == len(policies)-1:
		return slowUnits
	}
	return longUnits
}

// unstable says whether a policy's system is not stable: FCFS has a load of 1.196
// where half of three machines of HiHi is there, whether they fail or not. With
// failures alone it has 0.969, though the thesis prints N/A.
func (t *rerun) unstable(policy int) bool {
	return policy == len(policies)-1 && t.system == hiHi && t.available != nil
}

// stableNote is the reason why a simulated system is stable of which N/A is printed.
func (t *rerun) stableNote() string {
	return "N/A is a system that is not stable, but the load of FCFS is 0.969 here, and its mean response stays " +
		"between 2.5 and 2.6 from 1,000 to 16,000 time units; with a mean time to failure of 20, as in the text, the " +
		"load would be 1.025, but the columns of LPAS_DG and Gc-mu need 50; the testbed's system is not stable, " +
		"because of its overhead"
}

// introduce says what is run.
func (t *rerun) introduce(b *bench) {
	machines := "all of each machine"
	if t.available != nil {
		machines = fmt.Sprint("parts of machines ", t.available)
	}
	b.Say("%s, %d machines, %s; %d runs a policy, of %g time units (FCFS %g), the first tenth not counted; seeds from %d",
		t.system.name, len(t.system.mu[0]), machines, simulatedRuns, t.units(0), t.units(len(policies)-1), b.Seed)
	b.Say("jobs come at random and take exponential times; the machine that was idle longest goes first")
	b.Say("on the testbed jobs take even times, and %g, %g and %g s more under LPAS_DG, Gc-mu and FCFS; %d runs, each as "+
		"long as the testbed's (%g, %g and %g time units) and from an empty system", overheads[0], overheads[1],
		overheads[2], testbedRuns, t.ran[0], t.ran[1], t.ran[2])
	switch {
	case t.system == hiHi && t.fails:
		t.note = "with a mean time to failure of 50 time units, as experiments 11 and 12 state; the text's failure rate of " +
			"0.05, a mean of 20, gives .270 and .379 (experiment 3), .526 and .733 (experiment 4) of all with LPAS_DG and Gc-mu"
	case t.system == loLo:
		t.note = "Table 7.22 prints the rates of Table 7.17 again, with which these tables cannot come out (class 1 alone " +
			"would take 0.40 to 0.57 to execute); the rates here stand for those that are lost, and were searched for with " +
			"the means of LPAS_DG in experiments 9 and 10"
	}
}

// A way is a way of executing jobs.
type way struct {
	law      sim.Law
	overhead time.Duration // of a job, for which it occupies its machine
	warmup   float64       // share of a run that is not counted
}

// simulated is as the thesis's simulator has it: service times are exponential.
var simulated = way{sim.Exponential, 0, .1}

// overheads are the seconds a job that each policy adds on the testbed. Section 8.1.2
// prints their order: LPAS_DG's are the largest, Gc-mu's next, FCFS's the least. LPAS_DG's
// follow from experiment 4, whose jobs of 9 s took 13. The other two are fitted, to a half
// of a second, to one figure each: experiment 8 under Gc-mu and FCFS, whose load is the
// highest of the stable ones.
var overheads = [len(policies)]float64{4, 3, 1.5}

// fittedTestbed is the experiment whose testbed figures Gc-mu's and FCFS's overheads are
// fitted to.
const fittedTestbed = "exp8"

// emulated is as the testbed executes jobs under a policy: the length of a job's loops
// varies by a fortieth, and the policy's overhead is added. The run begins with an empty
// system, and all of it counts.
func (t *rerun) emulated(policy int) way {
	units := overheads[policy] / 60 / t.minutes[policy]
	return way{sim.CubedWork, time.Duration(units * float64(timeUnit)), 0}
}

// span is the length of so many time units.
func span(units float64) time.Duration {
	return time.Duration(units * float64(timeUnit)).Round(time.Millisecond)
}

// scenario is a run of an experiment for so many time units.
func (t *rerun) scenario(spec string, w way, units float64, seed uint64) (*sim.Scenario, error) {
	machines, err := t.machines(units, seed)
	if err != nil {
		return nil, err
	}
	s := &sim.Scenario{
		Trace: machines, Placement: spec, Warmup: span(w.warmup * units), Seed: seed,
		Workload: sim.Workload{Requeue: true, InOrder: true, Redraw: true},
		Rates:    &sim.Rates{Unit: timeUnit, Of: t.system.mu, Availability: t.available, Overhead: w.overhead},
	}
	for i, alpha := range t.system.alpha {
		s.Workload.Classes = append(s.Workload.Classes, sim.Class{
			Name: fmt.Sprint(i + 1), Arrival: sim.Poisson, Interval: time.Duration(float64(timeUnit) / alpha), Work: timeUnit,
			WorkLaw: w.law,
		})
	}
	return s, nil
}

// machines is the trace of a system's machines, up all the time or by turns.
func (t *rerun) machines(units float64, seed uint64) (*trace.Trace, error) {
	set := &trace.Trace{Name: t.system.name, Synthetic: "made by hand, as the publication says", Start: reproduce.Epoch,
		End: reproduce.Epoch.Add(span(units))}
	for j := range t.system.mu[0] {
		h := &trace.History{Host: fmt.Sprint("M", j+1)}
		if err := h.Append(set.Start, trace.Available, 1); err != nil {
			return nil, err
		}
		if t.fails {
			if err := failures(h, set.End, seed, j); err != nil {
				return nil, err
			}
		}
		h.Extend(set.End)
		set.Hosts = append(set.Hosts, trace.Host{History: h})
	}
	return set, nil
}

// failures writes a machine's failures and repairs.
func failures(h *trace.History, end time.Time, seed uint64, machine int) error {
	sum := sha256.Sum256(fmt.Appendf(nil, "godwit mgst failures %d %d", seed, machine))
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:])))
	at := reproduce.Epoch
	pass := func(mean float64) bool {
		at = at.Add(max(time.Millisecond, time.Duration(mean*rng.ExpFloat64()*float64(timeUnit)).Round(time.Millisecond)))
		return at.Before(end)
	}
	for pass(meanUp) {
		if err := h.Append(at, trace.Unavailable, 0); err != nil {
			return err
		}
		if !pass(meanDown) {
			return nil
		}
		if err := h.Append(at, trace.Available, 1); err != nil {
			return err
		}
	}
	return nil
}
