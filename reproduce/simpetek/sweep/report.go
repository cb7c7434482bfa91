package sweep

import (
	"slices"
	"time"

	"godwit/scheduler/chunk"
)

// A Report is what came of a scenario.
type Report struct {
	Policy   string
	Makespan time.Duration // when the last run was done, as the coordinator heard
	// Bound is the least makespan of work that can be divided at will and costs nothing
	// to send (the optimality principle of divisible load theory).
	Bound    time.Duration
	Chunks   int // given, without copies
	Copies   int
	Messages int   // chunks, copies and results
	Lost     int64 // runs that came back from nodes that left
	Nodes    []NodeReport
	Trace    []Chunk // if it was asked for: in the order given
}

// A NodeReport says how a node spent its time from 0 to the makespan. Busy, Duplicate,
// Redundant, Lost, Waiting and Idle add up to the makespan, less what it was not there.
type NodeReport struct {
	Name      string
	Runs      int64 // that it was the first to do
	Busy      time.Duration
	Duplicate time.Duration // on copies of others' chunks
	Redundant time.Duration // on chunks whose copies were done sooner
	Lost      time.Duration // on what it had when it left
	Waiting   time.Duration // for a chunk that was on its way
	Idle      time.Duration
	Finish    time.Duration // when it ended its last chunk
}

// A Chunk is what a node was given at once.
type Chunk struct {
	Start, End time.Duration // given; done, cancelled or lost
	Node       int
	Runs       int
	Copy       bool
	Over       bool // it was done; else cancelled or lost
	Reason     chunk.Reason
}

// Efficiency is the bound over the makespan: 1 is the best that could be.
func (r *Report) Efficiency() float64 { return r.Bound.Seconds() / r.Makespan.Seconds() }

// finishes returns the times at which nodes that did anything ended their last chunks.
func (r *Report) finishes() []time.Duration {
	var out []time.Duration
	for _, n := range r.Nodes {
		if n.Finish > 0 {
			out = append(out, n.Finish)
		}
	}
	return out
}

// Spread is the time between the first and the last node to finish.
func (r *Report) Spread() time.Duration {
	f := r.finishes()
	return slices.Max(f) - slices.Min(f)
}

// RelativeSpread is the spread over the last finish.
func (r *Report) RelativeSpread() float64 {
	return r.Spread().Seconds() / slices.Max(r.finishes()).Seconds()
}

// Optimality is the mean finish over the last: 1 where all end at the same instant.
func (r *Report) Optimality() float64 {
	f, sum := r.finishes(), 0.0
	for _, t := range f {
		sum += t.Seconds()
	}
	return sum / float64(len(f)) / slices.Max(f).Seconds()
}

// Sum returns the time of all nodes together that of reads.
func (r *Report) Sum(of func(n *NodeReport) time.Duration) time.Duration {
	sum := time.Duration(0)
	for i := range r.Nodes {
		sum += of(&r.Nodes[i])
	}
	return sum
}
