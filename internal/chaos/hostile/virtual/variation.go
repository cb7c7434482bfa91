package virtual

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"godwit/overlay"
	"godwit/sim"
	"godwit/trace"
)

// A Variation is one setting of an attack. The zero value is not valid: use draw.
type Variation struct {
	Seed     uint64
	Hosts    int   // honest nodes, 3 to 1,000
	Bits     uint8 // of the pool's cells at the start; 0 means that the pool is undivided
	Keys     int   // of the attacker, at least 1
	Tasks    int   // of the honest job
	Replicas int   // of the honest job
	Work     time.Duration
	Delay    time.Duration // of a message
	First    time.Duration // when the attack begins
	Job      time.Duration // when the job is submitted
	Every    time.Duration // interval between two rounds of lies
	Late     int           // hosts that come into the pool during the attack
	Apart    time.Duration // how long such a host hears of no honest node
	End      time.Duration // when the run ends
}

const (
	fewestHosts = 3
	mostHosts   = 1000
	// perCell is the fewest hosts of a cell, on average, in divided pools.
	perCell  = 8
	mostBits = 4
)

// draw returns the variation of a seed. Pool sizes are distributed evenly on a logarithmic scale. Every other
// pool that has enough hosts is divided.
func draw(seed uint64, number int) (Variation, *rand.Rand) {
	rng := rand.New(rand.NewPCG(seed, uint64(number)))
	v := Variation{
		Seed:     seed + uint64(number),
		Hosts:    int(math.Round(fewestHosts * math.Pow(float64(mostHosts)/fewestHosts, rng.Float64()))),
		Keys:     1 + rng.IntN(8),
		Tasks:    1 + rng.IntN(60),
		Replicas: 1 + rng.IntN(3),
		Work:     time.Duration(5+rng.IntN(40)) * time.Second,
		Delay:    time.Duration(5+rng.IntN(120)) * time.Millisecond,
		First:    time.Minute + time.Duration(rng.IntN(240))*time.Second,
		Job:      time.Minute + time.Duration(rng.IntN(240))*time.Second,
		Every:    time.Duration(1+rng.IntN(20)) * time.Second,
		Apart:    time.Duration(rng.IntN(60)) * time.Second,
		End:      20 * time.Minute,
	}
	v.Tasks = min(v.Tasks, v.waves(4))
	divided := rng.IntN(2) == 1
	for divided && v.Bits < mostBits && v.Hosts>>(v.Bits+1) >= perCell && (v.Bits == 0 || rng.IntN(2) == 1) {
		v.Bits++
	}
	return v, rng
}

// lateAfter is how long after a newcomer came its cell is judged: it asks again after a minute.
const lateAfter = 8 * time.Minute

// comes returns when newcomers come.
func (v Variation) comes() time.Duration { return v.First + 10*time.Second }

// waves returns the number of tasks that all hosts together run in n rounds.
func (v Variation) waves(n int) int { return max(1, n*v.Hosts/v.Replicas) }

// String describes a variation in one line.
func (v Variation) String() string {
	cells := "undivided"
	if v.Bits > 0 {
		cells = fmt.Sprintf("%d cells", 1<<v.Bits)
	}
	return fmt.Sprintf("%d hosts, %s, %d keys, %d tasks of %v, %d replicas, attack at %v, job at %v", v.Hosts, cells,
		v.Keys, v.Tasks, v.Work, v.Replicas, v.First, v.Job)
}

// rule returns the cell rule by which the pool neither divides nor merges by itself.
func (v Variation) rule() overlay.CellRule {
	r := overlay.DefaultCellRule()
	if v.Bits == 0 {
		r.Most = max(r.Most, 2*v.Hosts)
		return r
	}
	each := v.Hosts >> v.Bits
	return overlay.CellRule{Most: 4 * each, Least: max(2, each/4), Join: max(1, each/4), Ready: max(2, each/2)}
}

// scenario returns a pool whose hosts stay available.
func (v Variation) scenario() (*sim.Scenario, error) {
	start := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	tr := &trace.Trace{Name: "attacked", Synthetic: "hosts that stay", Start: start, End: start.Add(v.End)}
	for i := range v.Hosts {
		h, at := &trace.History{}, start
		if i >= v.Hosts-v.Late {
			at = start.Add(v.comes())
		}
		if err := h.Append(at, trace.Available, 1); err != nil {
			return nil, err
		}
		h.Extend(tr.End)
		tr.Hosts = append(tr.Hosts, trace.Host{History: h})
	}
	none := sim.Class{Arrival: sim.AtTimes, Times: []time.Duration{2 * v.End}, Work: time.Minute} // jobs come from attacks
	return &sim.Scenario{Trace: tr, Seed: v.Seed, Workload: sim.Workload{Classes: []sim.Class{none}, Requeue: true},
		Network: sim.Network{Delay: v.Delay, Detect: time.Second}}, nil
}
