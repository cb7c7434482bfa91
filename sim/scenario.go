package sim

import (
	"time"

	"godwit/trace"
)

// A Scenario is one experiment, with everything that decides how it goes. Equal
// scenarios give equal reports. Run changes nothing of it, so that scenarios
// may share traces and logs.
type Scenario struct {
	// Trace has the hosts. Through Unobserved spells a host is unavailable: see
	// trace.Trace.Assume for other readings.
	Trace *trace.Trace
	// Start and End bound the run; zero times are the trace's.
	Start, End time.Time
	// Warmup is left out of the report: tasks placed before Start+Warmup are in
	// no count, but hosts are watched and predictors learn.
	Warmup time.Duration

	Placement string // as place.Parse reads it, or "oracle"; "" is place.Default
	Migration string // as migrate.Parse reads it; "" is none
	// Copies is the rule by which the last tasks are run a second time, as
	// migrate.CopierOf reads it; "" is none.
	Copies string
	// Fairness and Chunking are the policies of shares and of chunks, as share.Parse
	// and chunk.Parse read them; "" is the usual. Whole nodes obey them (sim/swarm);
	// Run refuses a scenario that names one.
	Fairness, Chunking string
	// Predictor is the model of all forecasts, as predictor.Parse reads it. "" is
	// the one that a policy was published with, or "blend".
	Predictor string

	Workload    Workload
	Hosts       HostRules
	Network     Network
	Checkpoints Checkpoints
	// Rates, if not nil, are imposed on hosts. Then the report tells of each class.
	Rates *Rates

	// Paper has the rules of the published simulator (docs/spec/zhang.md section 8.1): scheduling
	// that knows at once and costs nothing, transfers that take no time, no
	// checkpoints, tasks lost when a host leaves. It overrules Network,
	// Checkpoints and Hosts.Owner. Report.Differences lists what it changes.
	Paper bool
	// ScanAll has the migration policy predict for every available host, as in
	// Zhang's section 7.5; otherwise for those that run tasks.
	ScanAll bool

	Seed uint64

	// Watch, if not nil, is told of every decision as it is made.
	Watch func(Decision)
	// Stopped, if not nil, is called periodically during Run. If it returns true, Run returns ErrStopped.
	Stopped func() bool
}

// HostRules say what hosts do with tasks.
type HostRules struct {
	Slots   int     // tasks that a host runs at once; 0 is 1
	Memory  int64   // bytes that each lends; 0 is no limit
	Sharing Sharing // what a host does with tasks beyond its slots
	// Ahead is how many tasks beyond its slots a host may be given, by policies
	// that give tasks to busy hosts. 0 is none, or eight to each slot under a
	// policy that always does (place.Traits.Shares).
	Ahead  int
	Speeds Speeds
	Owner  OwnerRule
	// Sites are names of groups of hosts. The hosts, in the order of the trace, are
	// divided among them in parts as equal as can be, one after the other; without
	// names they belong to none. Whole nodes tell them; Run refuses them.
	Sites []string
	// Grace is how long a suspended task waits for the owner to go before it
	// ends there (and goes on elsewhere, from its last checkpoint). 0 is forever.
	Grace time.Duration
}

// Sharing is what a host does with more tasks than it has slots.
type Sharing uint8

// The ways of sharing.
const (
	// Queue: they wait for a slot, first come, first served.
	Queue Sharing = iota
	// Share: all of a host's tasks get equal parts of its slots (processor
	// sharing, docs/spec/zhang.md section 8.1). Only policies that offer tasks to busy hosts, such
	// as psopp, make a difference.
	Share
)

// Speeds say how fast hosts work.
type Speeds uint8

// The kinds of speed.
const (
	// Uniform: every host is the reference core whenever it is available.
	Uniform Speeds = iota
	// Traced: its clock rate in GHz (1 where unknown) times the share of its
	// processors that the trace gives.
	Traced
)

// OwnerRule is what happens to tasks when the owner comes back, or his programs
// need the machine (UserPresent, CPUBusy).
type OwnerRule uint8

// The owner's rules.
const (
	// Suspend: tasks stand still until he is gone; see HostRules.Grace.
	Suspend OwnerRule = iota
	// Kill: tasks are lost at once (docs/spec/zhang.md section 1.6, A2).
	Kill
)

// A Network is what lies between hosts.
type Network struct {
	Delay time.Duration // one way
	// Upload and Download bound a host's transfers, in bytes a second; 0 is no
	// bound. A transfer goes at the lesser of the sender's and the receiver's.
	Upload, Download float64
	// Detect is how long a host that vanished is still believed to be there. Live
	// it is at most scheduler.Config.LeaseTTL. Hosts that say goodbye are known
	// at once.
	Detect time.Duration
}

// Checkpoints say what tasks save.
type Checkpoints struct {
	Every time.Duration // of running time; 0: never, unless Auto
	// Auto chooses the interval anew for each run of a task: by migrate.Interval,
	// from the forecast of its host then. Every must be 0.
	Auto bool
	// Thrifty has automatic checkpoints take their transfer into account:
	// migrate.Thrifty in place of migrate.Interval.
	Thrifty bool
	// Pause is how long a task stands still for one, for each 64 MiB of state
	// (in proportion, at least for 1 MiB).
	Pause time.Duration
	// Away says that checkpoints are sent to another machine, so that they
	// outlive their host; otherwise a task goes on from one only where it was.
	Away bool
}

// A Decision is what a policy, or the engine, did about a task.
type Decision struct {
	At   time.Time
	Task uint64 // in the order of arrival, from 0
	// Action is "arrived", "placed", "moved", "copied", "completed", "lost", "suspended",
	// "resumed" or "impossible".
	Action string
	Host   int // of Scenario.Trace; -1 for none
	From   int // for "moved" and "copied"; else -1
	Reason string
}
