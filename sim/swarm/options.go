package swarm

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"godwit/member"
	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/sim"
	"godwit/task"
)

// Options say what a Scenario does not: how the nodes are set up. The zero value
// is ready.
type Options struct {
	// Config is of every node; the zero Config is scheduler.Default. The Scenario's
	// policies go before its own, and its key is each node's: see Key.
	Config scheduler.Config
	// Cells divides an overlay of many nodes into cells; the zero rule does not. Bits is how
	// many bits the cells have at the start.
	Cells overlay.CellRule
	Bits  uint8
	// Coordinators is how many nodes hold the ledger, at most overlay.MaxGroup; 0
	// is overlay.GroupSize.
	Coordinators int
	// Submitters is how many nodes beside the hosts are always up, run no task and
	// are given the jobs, in turn. 0: a job is given to a host drawn from those
	// that are up.
	Submitters int
	// Overlay is the overlay's name, on which the choice of coordinators rests; "" is
	// "commons".
	Overlay string
	// Manifest is the overlay, if somebody founded it; its name and ID go before
	// Overlay. The policies are the Scenario's all the same; whether it is open counts,
	// which without a Manifest it is not.
	Manifest overlay.Manifest
	// Found has the first node that comes up lead at once, as a live one that knows
	// of nobody does. Otherwise all wait for one another, as live ones that do.
	Found bool
	// Speedup is how many times as fast the trace's time runs as the machines';
	// 0 is 1.
	Speedup float64
	// Jitter is the most that a message takes beyond Scenario.Network.Delay.
	Jitter time.Duration
	// Loss is the share of messages between nodes that are lost, 0 to below 1.
	Loss float64
	// Gossip is how long an advert takes to reach the other members; 0 is 200 ms.
	Gossip time.Duration
	// Ends is how the node of a host ends whose owner takes it away.
	Ends Ending
	// Walled says that the machine of a node that has ended turns no dial down, as
	// behind a firewall that drops what nobody listens for: only silence tells
	// then that the node is gone.
	Walled bool
	// Script fixes what is otherwise drawn.
	Script Script
	// Signed has results, receipts, adverts and summaries be signed and verified, as live ones are. It is
	// slow, and needed only if somebody lies.
	Signed bool
	// Attack adds peers that lie; nil adds none. It needs Signed.
	Attack *Attack
	// Watch, if not nil, is told of every decision of every machine, in order.
	Watch func(Decision)
	// Led, if not nil, is told whenever a node begins to lead, goes on in another
	// epoch or leads no longer, in order.
	Led func(Leading)
	// Noticed, if not nil, is told of what nodes have to tell their operators, in order.
	Noticed func(Notice)
	// Stats, if not nil, is filled in.
	Stats *Stats
}

// Ending is how nodes end.
type Ending uint8

// The ways to end.
const (
	// AsTraced: with a goodbye when the trace says Leaving before, else silently.
	AsTraced Ending = iota
	Crash           // silently, always
	Goodbye         // never silently
)

// A Decision is one scheduler.Decided and who came to it.
type Decision struct {
	At      time.Time // of the machines' clock, which begins at the run's start
	Node    int       // host of the trace; beyond those the submitters
	Machine string    // "coordinator", "replica", "worker" or "submitter"
	message.Decided
	PeerNode int // of Decided.Peer; -1 for none
}

// A Leading is a change of who leads.
type Leading struct {
	At    time.Time // as Decision.At
	Node  int
	Epoch uint64 // that the node leads in from now on; 0 for none
}

// A Notice is what a node has to tell its operator.
type Notice struct {
	At   time.Time // as Decision.At
	Node int
	member.Notice
}

// Stats are counts that a sim.Report has no place for.
type Stats struct {
	Steps       uint64 // events of the simulation: messages, timers, changes of hosts
	Messages    uint64 // sent from one node's machines to another's
	Adverts     uint64 // heard by a node from another, of its cell
	Summaries   uint64 // heard by the leader of a cell from another
	Divided     uint64 // times that a leader took its cell's members into a half
	Joined      uint64 // times that one took them into the cell that theirs is a half of
	Lent        uint64 // loans of tasks to other cells
	TakenBack   uint64 // of these, those that came back
	Leaders     uint64 // times that a node became the leader, or began another term
	Takeovers   uint64 // of these, times that it did not lead already; the first of all included
	Delivered   uint64 // results held by their submitters
	Kept        uint64 // ended tasks whose submitters are down at the end and do not hold the results
	Undelivered uint64 // those whose submitters are up and do not either, minutes after the end

	// Ran is how long the run took by the machines' clock, with the minutes after its end; Up is for how long
	// nodes were up in that time, and Led for how long they led, all together: with one leader each, Led by Ran
	// is the mean number of cells.
	Ran, Up, Led time.Duration
}

// What options are when nothing is said, and the most that they may be.
const (
	usualOverlay  = "commons"
	usualGossip   = 200 * time.Millisecond
	maxNodes      = 5000 // all know all: beyond, adverts alone are billions
	maxInCells    = 50_000
	maxSubmitters = 1000
)

// Check says what no machine does of a valid scenario with these options, or nil:
// what Run says before it begins.
func (o Options) Check(s *sim.Scenario) error { return o.complete(s) }

// complete fills in what was not said and says what cannot be.
func (o *Options) complete(s *sim.Scenario) error {
	if o.Config.LeaseTTL == 0 && o.Config.ReportEvery == 0 {
		o.Config = scheduler.Default()
		o.Config.Migration = "" // a Scenario that names no policy moves nothing
	}
	o.Config.Predictor = cmp.Or(o.Config.Predictor, predictor.Default)
	if o.Coordinators == 0 {
		o.Coordinators = overlay.GroupSize
	}
	if o.Overlay == "" {
		o.Overlay = usualOverlay
	}
	if o.Speedup == 0 {
		o.Speedup = 1
	}
	if o.Gossip == 0 {
		o.Gossip = usualGossip
	}
	var errs []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("sim/swarm: "+format, args...))
		}
	}
	refuse(o.Coordinators < 1 || o.Coordinators > overlay.MaxGroup, "coordinators: %d, want 1 to %d", o.Coordinators,
		overlay.MaxGroup)
	refuse(o.Submitters < 0 || o.Submitters > maxSubmitters, "submitters: %d, want 0 to %d", o.Submitters, maxSubmitters)
	refuse(!(o.Speedup >= minSpeedup && o.Speedup <= maxSpeedup), "speedup: %v, want %v to %v", o.Speedup, minSpeedup,
		maxSpeedup)
	refuse(o.Jitter < 0 || o.Gossip < 0, "jitter and gossip must not be negative")
	refuse(!(o.Loss >= 0 && o.Loss < 1), "loss: %v, want 0 to below 1", o.Loss)
	refuse(o.Ends > Goodbye, "ends: %d is no way to end", o.Ends)
	most := maxNodes
	if o.Cells.On() {
		most = maxInCells
	}
	refuse(o.Bits > overlay.MaxCellBits || o.Bits > 0 && !o.Cells.On(), "bits: %d, want at most %d, and cells", o.Bits,
		overlay.MaxCellBits)
	refuse(len(s.Trace.Hosts)+o.Submitters > most, "%d nodes, at most %d: use the policy-level simulator for more",
		len(s.Trace.Hosts)+o.Submitters, most)
	refuse(s.Paper, "the published simulator's rules are not the machines': run it with sim.Run")
	refuse(s.Hosts.Sharing != sim.Queue, "workers do not share slots: set sharing to queue")
	refuse(s.Rates != nil, "no machine imposes rates: they are for sim.Run")
	for i := range s.Workload.Classes {
		name := s.Workload.Classes[i].Name
		refuse(len(name) > task.MaxClass || strings.ContainsFunc(name, unicode.IsControl),
			"class %d: %.80q is no name of a job's class: write at most %d bytes, all printable", i, name, task.MaxClass)
	}
	refuse(s.Placement == sim.Oracle || s.Placement == sim.OracleSoonest,
		"no machine knows the future: the oracle is for sim.Run")
	refuse(!s.Workload.Requeue, "the machines run lost tasks again: set the workload's requeue")
	refuse((s.Checkpoints.Every > 0 || s.Checkpoints.Auto) && !s.Checkpoints.Away,
		"the machines send checkpoints to the coordinators: set the checkpoints' away")
	refuse(s.ScanAll, "the coordinator scans the hosts that run tasks: leave scan_all out")
	refuse(o.Attack != nil && !o.Signed, "an attack on machines that verify no signature shows nothing: set signed")
	errs = append(errs, o.Script.check(len(s.Trace.Hosts)+o.Submitters, len(s.Trace.Hosts)))
	return errors.Join(errs...)
}

// The bounds of Speedup: from one that lets a day take a year, to one that makes
// a minute less than a millisecond.
const (
	minSpeedup = 1.0 / 365
	maxSpeedup = 60_000
)
