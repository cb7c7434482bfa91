package sweep

import (
	"errors"
	"fmt"
	"math"
	"time"

	"godwit/scheduler/chunk"
)

// A Scenario is one sweep on some nodes, by one policy.
type Scenario struct {
	Policy string // as chunk.Parse reads it; "" is chunk.Default
	// Wrap returns a policy that takes the place of Policy's; nil leaves it as it is.
	Wrap   func(chunk.Policy) chunk.Policy
	Runs   int64 // 1 to MaxRuns
	Trials int   // Monte Carlo trials of each run; 0 is 1
	Nodes  []Node

	// Chunk is what a chunk costs its node before it begins: the way there and back.
	Chunk time.Duration
	// Serve is what a message costs the coordinator, which serves one at a time: a
	// chunk to a node, and one or all results of it, as Each says.
	Serve time.Duration
	// Each has results told run by run; else they come with the end of the chunk.
	Each bool
	// Spread is the coefficient of variation of trials' lengths, which are gamma
	// distributed; 0 all are equal. The lengths follow from Seed and the run, and are
	// the same whoever does it.
	Spread float64
	Seed   uint64
	// Trace keeps the chunks, for Report.Trace.
	Trace bool
}

// MaxRuns is the most runs of a scenario: each is followed.
const MaxRuns = 100_000_000

// A Node does runs.
type Node struct {
	Name  string
	Slots int           // trials at once; at least 1
	Cores int           // told to the policy; 0 is Slots
	Time  time.Duration // of a trial on a slot (tau); more than 0
	Told  float64       // the speed that the policy is told; 0 nothing
	// Way is what a chunk costs beyond Scenario.Chunk before it begins.
	Way time.Duration
	// Slowed says when another program has a part of the node.
	Slowed Slowed
	// Joins and Leaves are when it comes and goes; Leaves 0 is never. What it has then
	// is lost and done again.
	Joins, Leaves time.Duration
}

// Slowed is a square wave: for the first For of every Every from time 0 on, a node does
// Speed of what it else does. Every 0 is never.
type Slowed struct {
	Every, For time.Duration
	Speed      float64 // more than 0, to 1
}

func (s *Scenario) validate() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf("sweep: "+format, args...)) }
	if s.Runs < 1 || s.Runs > MaxRuns {
		fail("%d runs: there can be 1 to %d", s.Runs, MaxRuns)
	}
	if s.Trials < 0 || s.Chunk < 0 || s.Serve < 0 {
		fail("trials and costs must not be negative")
	}
	if !(s.Spread >= 0) || math.IsInf(s.Spread, 1) {
		fail("a spread of %v: it is 0 or more", s.Spread)
	}
	if len(s.Nodes) == 0 {
		fail("there are no nodes")
	}
	for i, n := range s.Nodes {
		w := n.Slowed
		switch {
		case n.Slots < 1 || n.Cores < 0:
			fail("node %d (%s): it needs a slot", i, n.Name)
		case n.Time <= 0:
			fail("node %d (%s): a trial needs time", i, n.Name)
		case n.Way < 0:
			fail("node %d (%s): its way must not be negative", i, n.Name)
		case n.Joins < 0 || n.Leaves < 0 || n.Leaves > 0 && n.Leaves <= n.Joins:
			fail("node %d (%s): it leaves before it joins", i, n.Name)
		case w.Every < 0 || w.Every > 0 && (w.For < 0 || w.For > w.Every || !(w.Speed > 0 && w.Speed <= 1)):
			fail("node %d (%s): it is slowed for a part of a period, to a speed above 0 and at most 1", i, n.Name)
		}
	}
	if err := chunk.Check(s.Policy); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
