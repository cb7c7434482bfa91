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

	// simulatedRuns is how many runs there are of each policy, and testbedRuns of each in the
	// emulation; the first tenth of a run is not counted. longUnits is how many time
	// units one takes, manyUnits with 21 machines, which have three times the jobs, and
	// slowUnits under FCFS with HiHi, which is near saturation.
	simulatedRuns = 8
	testbedRuns   = 3
	longUnits     = 10_000
	manyUnits     = 4_000
	slowUnits     = 40_000
	// growingRuns is how many runs there are of a system that is not stable, shortUnits
	// how long one is.
	growingRuns = 2
	shortUnits  = 2_000
)

// units is how long runs of a policy take.
func (t *rerun) units(policy int) int {
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

// stableNote is why a system is stable of which N/A is printed.
func (t *rerun) stableNote() string {
	return "N/A is a system that is not stable, but the load of FCFS here is 0.969; with a mean time to failure of 20, " +
		"as in the text, it would be 1.025"
}

// introduce says what is run.
func (t *rerun) introduce(b *bench) {
	machines := "all of each machine"
	if t.available != nil {
		machines = fmt.Sprint("parts of machines ", t.available)
	}
	b.Say("%s, %d machines, %s; %d runs a policy, of %d time units (FCFS %d), the first tenth not counted; seeds from %d",
		t.system.name, len(t.system.mu[0]), machines, simulatedRuns, t.units(0), t.units(len(policies)-1), b.Seed)
	b.Say("jobs come at random and take exponential times; the machine that was idle longest goes first; on the testbed "+
		"they take even times and three seconds more (%d runs)", testbedRuns)
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

// A way is one of executing jobs.
type way struct {
	law      sim.Law
	overhead time.Duration
}

// simulated is as the thesis's simulator has it: service times are exponential.
var simulated = way{sim.Exponential, 0}

// emulated is as the testbed does, where a time unit took so many minutes: the
// length of a job's loops varies by a fortieth, and each job takes its machine three
// seconds more, which were chosen of three values as what fits experiments 1, 5 and 8
// best.
func emulated(minutes float64) way {
	const overhead = 3. / 60 // minutes
	return way{sim.CubedWork, time.Duration(overhead / minutes * float64(timeUnit))}
}

// scenario is a run of an experiment for so many time units.
func (t *rerun) scenario(spec string, w way, units int, seed uint64) (*sim.Scenario, error) {
	machines, err := t.machines(units, seed)
	if err != nil {
		return nil, err
	}
	s := &sim.Scenario{
		Trace: machines, Placement: spec, Warmup: time.Duration(units) * timeUnit / 10, Seed: seed,
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
func (t *rerun) machines(units int, seed uint64) (*trace.Trace, error) {
	set := &trace.Trace{Name: t.system.name, Synthetic: "made by hand, as the publication says", Start: reproduce.Epoch,
		End: reproduce.Epoch.Add(time.Duration(units) * timeUnit)}
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
