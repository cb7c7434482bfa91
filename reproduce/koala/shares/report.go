package shares

import "time"

// A Report is what came of a scenario.
type Report struct {
	Bags   []BagReport
	Higher []HigherReport
	Length time.Duration // of the run

	// What nodes did, as parts of all nodes and the whole length: idle, with
	// bags, and with work of higher priority.
	Idle, Held, Above float64
	// Vacated is from an order to give a node back until the local scheduler had it.
	Vacated Times
}

// A BagReport is what became of a bag.
type BagReport struct {
	Name       string
	Completed  int           // tasks
	Throughput float64       // tasks completed a second from its coming to its end or the run's
	Held       time.Duration // of nodes together, until they were ordered back
	Preempted  int           // launchers that were ordered away
	Lost       time.Duration // work done in vain, at speed 1
	Makespan   time.Duration // from its coming to the end of its last task; 0: it has some left
}

// A HigherReport is what became of a job of higher priority.
type HigherReport struct {
	Wait     time.Duration // until its last part had its nodes
	Makespan time.Duration // until its last part ended; 0: it has not
}

// Times are lengths of time that were counted.
type Times struct {
	Count     int
	Mean, Max time.Duration
}

// tally sums up lengths of time.
type tally struct {
	n        int
	sum, max time.Duration
}

func (t *tally) add(d time.Duration) {
	t.n++
	t.sum += d
	t.max = max(t.max, d)
}

func (t *tally) times() Times {
	if t.n == 0 {
		return Times{}
	}
	return Times{t.n, t.sum / time.Duration(t.n), t.max}
}

// Spread is how far the throughputs are apart: the largest less the smallest, by
// the smallest (Grundeken 2009, section 4.4, which says it in percent). It is 0 of
// no bags, and +Inf if one completed nothing and another something.
func (r *Report) Spread() float64 {
	if len(r.Bags) == 0 {
		return 0
	}
	low, high := r.Bags[0].Throughput, r.Bags[0].Throughput
	for _, b := range r.Bags {
		low, high = min(low, b.Throughput), max(high, b.Throughput)
	}
	if high == low {
		return 0
	}
	return (high - low) / low
}

// Throughput is that of all bags.
func (r *Report) Throughput() float64 {
	sum := 0.0
	for _, b := range r.Bags {
		sum += b.Throughput
	}
	return sum
}

// Preempted is how many launchers of all bags were ordered away.
func (r *Report) Preempted() int {
	n := 0
	for _, b := range r.Bags {
		n += b.Preempted
	}
	return n
}

// Lost is the work of all bags that was done in vain, at speed 1.
func (r *Report) Lost() time.Duration {
	var d time.Duration
	for _, b := range r.Bags {
		d += b.Lost
	}
	return d
}

func (w *world) report() *Report {
	r := &Report{Length: w.now, Vacated: w.orders.times()}
	nodes := 0
	var idle, bags time.Duration
	for _, c := range w.clusters {
		nodes += c.Nodes
		idle += c.idle
		bags += c.bags
	}
	if all := float64(nodes) * float64(w.now); all > 0 {
		r.Idle, r.Held = float64(idle)/all, float64(bags)/all
		r.Above = 1 - r.Idle - r.Held
	}
	for _, b := range w.bags {
		br := BagReport{Name: b.Name, Completed: b.completed, Held: b.held, Preempted: b.preempted, Lost: b.lost,
			Makespan: b.took}
		for _, ls := range b.launchers {
			for _, l := range ls {
				br.Held += w.now - l.begun
			}
		}
		during := b.took
		if during == 0 {
			during = w.now - b.At
		}
		if during > 0 {
			br.Throughput = float64(b.completed) / during.Seconds()
		}
		r.Bags = append(r.Bags, br)
	}
	for _, j := range w.higher {
		r.Higher = append(r.Higher, HigherReport{j.waited, j.took})
	}
	return r
}
