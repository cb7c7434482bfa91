// Package shares runs policies of scheduler/share in virtual time: clusters whose
// local schedulers come first, and bags of tasks that take what is idle and give
// it back, as in Grundeken 2009 (Adding Cycle Scavenging Support to the Koala Grid
// Resource Manager, MSc thesis, Delft University of Technology).
//
// It models nodes one task at a time, a local scheduler that starts what waits in
// the order of arrival and takes time for each, launchers on nodes that were given
// to a bag, a scheduler that scans for idle nodes, and lookouts that poll the local
// queues. It does not model networks, failures, or launchers that time out.
// The package does no input or output and has no clock: equal scenarios give equal
// reports.
package shares

import (
	"errors"
	"fmt"
	"time"

	"godwit/scheduler/share"
)

// A Scenario is what to run.
type Scenario struct {
	Clusters []Cluster
	Bags     []Bag
	Higher   []Higher
	Policy   string // as share.Parse reads it
	GiveUp   string // as share.ParseGiver reads it

	// Scan is how often the scheduler looks for idle nodes and for higher-priority
	// work that it is to place; > 0.
	Scan time.Duration
	// Poll is how often a local queue is looked at; > 0. Where it begins is drawn.
	Poll time.Duration
	// Together has one lookout for all bags of a cluster, which asks for what is
	// still lacking. Otherwise each bag has its own, which asks for all that waits,
	// whatever is idle or being given back (Grundeken 2009, section 3.2.1).
	Together bool
	// Bounded keeps bags from asking for more nodes than they have tasks waiting.
	// Otherwise they take what they get (the default of Grundeken 2009, section 3.4.2).
	Bounded bool
	// Direct ends each launcher with its task, as where every task is submitted to
	// the local scheduler by itself.
	Direct bool
	// Checkpoint is how much work a task does between two checkpoints; 0: it has
	// none, and a task that is given up begins anew.
	Checkpoint time.Duration
	Costs      Costs

	Until time.Duration // when the run ends; 0: with the last bag and the last of Higher
	Seed  uint64        // of everything drawn
}

// A Cluster is nodes with a local scheduler.
type Cluster struct {
	Name  string
	Nodes int
	Speed float64 // of tasks of bags; 0 is 1
}

// A Bag is a job of tasks that do not wait for one another, at the lowest priority.
type Bag struct {
	Name  string
	At    time.Duration // when it comes
	Tasks int
	Work  time.Duration // of a task, at speed 1; the mean, if Vary > 0
	Vary  float64       // work is drawn within so much of Work, evenly: 0 to 1
}

// Anywhere, as Higher.Cluster, leaves it to the scheduler to place each part where
// most nodes can be had (worst fit): it is a grid job.
const Anywhere = -1

// A Higher is a job of higher priority than all bags.
type Higher struct {
	At      time.Duration
	Cluster int // index in Clusters of a local job, or Anywhere
	Parts   int // each starts by itself
	Nodes   int // of a part, which needs all at once
	Run     time.Duration
}

// Costs are how long things take besides work.
type Costs struct {
	Dispatch time.Duration // by a local scheduler for each part or launcher, one after the other
	Start    time.Duration // of a part or launcher after that
	Claim    time.Duration // from the placement of a grid job until its parts are submitted
	Task     time.Duration // from a launcher's asking for a task until it runs
	Stop     time.Duration // from an order to give a node back until the local scheduler has it
	StopEach time.Duration // the part of that which a cluster does for one node after the other
}

// Limits keep a run in bounds that a machine can hold.
const (
	maxNodes  = 1_000_000
	maxTasks  = 10_000_000
	maxHigher = 1_000_000
)

// validate returns what is wrong first.
func (s *Scenario) validate() error {
	if len(s.Clusters) == 0 {
		return errors.New("there is no cluster")
	}
	if s.Scan <= 0 || s.Poll <= 0 {
		return fmt.Errorf("scan is %v and poll %v: both must be longer than 0", s.Scan, s.Poll)
	}
	c := &s.Costs
	if min(c.Dispatch, c.Start, c.Claim, c.Task, c.Stop, c.StopEach, s.Until, s.Checkpoint) < 0 {
		return errors.New("a length of time is negative")
	}
	nodes, most := 0, 0
	for i, k := range s.Clusters {
		if k.Nodes < 1 || k.Nodes > maxNodes || !(k.Speed >= 0) || k.Speed > 1e6 {
			return fmt.Errorf("cluster %d: %d nodes of speed %v: write 1 to %d nodes of a speed from 0 to 1e6", i, k.Nodes,
				k.Speed, maxNodes)
		}
		nodes += k.Nodes
		most = max(most, k.Nodes)
	}
	tasks := 0
	for i, b := range s.Bags {
		if b.Tasks < 1 || b.Tasks > maxTasks || b.Work <= 0 || b.At < 0 || !(b.Vary >= 0 && b.Vary <= 1) {
			return fmt.Errorf("bag %d: %+v: write 1 to %d tasks of some work that varies by 0 to 1", i, b, maxTasks)
		}
		tasks += b.Tasks
	}
	if nodes > maxNodes || tasks > maxTasks || len(s.Higher) > maxHigher {
		return fmt.Errorf("%d nodes, %d tasks, %d jobs of higher priority: at most %d, %d, %d", nodes, tasks, len(s.Higher),
			maxNodes, maxTasks, maxHigher)
	}
	for i, h := range s.Higher {
		room := most
		if h.Cluster != Anywhere {
			if h.Cluster < 0 || h.Cluster >= len(s.Clusters) {
				return fmt.Errorf("higher %d: there is no cluster %d", i, h.Cluster)
			}
			room = s.Clusters[h.Cluster].Nodes
		}
		if h.At < 0 || h.Parts < 1 || h.Parts > maxNodes || h.Nodes < 1 || h.Nodes > room || h.Run <= 0 {
			return fmt.Errorf("higher %d: %+v: write some parts of 1 to %d nodes that run for a while", i, h, room)
		}
	}
	return nil
}

// Run runs a scenario.
func Run(s *Scenario) (*Report, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("shares: %w", err)
	}
	policy, err := share.Parse(s.Policy)
	if err != nil {
		return nil, err
	}
	if t := policy.Terms(); t.PerOwner || t.OnArrival {
		return nil, fmt.Errorf("shares: policy %q: here every bag is its own owner's and higher jobs always get slots "+
			"back: leave out per and shrink", s.Policy)
	}
	give, err := share.ParseGiver(s.GiveUp)
	if err != nil {
		return nil, err
	}
	w := newWorld(s, policy, give)
	w.run()
	return w.report(), nil
}
