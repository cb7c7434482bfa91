package swarm

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"godwit/member"
	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/sim"
	"godwit/task"
	"godwit/trace"
)

// A world is one run. Its times are the machines', from the run's start.
type world struct {
	s     *sim.Scenario
	opt   Options
	cfg   scheduler.Config
	stats Stats
	err   error // the first fault
	timeline
	draws
	intake
	books

	nodes    []*node
	letters  letters
	byID     map[peerID]*node
	nowhere  *node  // stands for peers that do not exist
	stage    *Stage // of the attack; nil without one
	manifest overlay.Manifest
	overlay  overlay.ID
	// divisions are those that the overlay began with, by the cell that was divided.
	divisions map[overlay.Cell]overlay.Division

	slots   int
	every   time.Duration // between checkpoints; 0 for never, or where each node says
	canSave bool          // tasks have checkpoints at all
	sizes   map[task.CID]int64
	saves   map[task.CID]save
	checks  bool // the results of a job are checked, so that one that is held may be replaced
	stopped bool // an attack has ended the run
	drained bool // the run is over: what follows is in no report
}

// books are what a run is reported from.
type books struct {
	perDay      []day
	available   time.Duration // of slots
	changes     uint64
	checkpoints uint64
	moved       int64
	copies      uint64 // states that came with hand-overs
	in          int    // tasks in the system
	inAt        time.Duration
	area        float64 // of in over time
	residence   float64 // sum of the times of those that ended
}

// A node is one machine of the overlay, with all that package node has of it.
type node struct {
	w     *world
	index int
	key   ed25519.PrivateKey
	id    peerID
	host  *trace.Host // nil of one that only submits
	site  string      // "" for none

	lasting
	links
	agenda

	strange bool // it is a stranger of an attack, without machines
	up      bool
	refuses bool // while it is down: its machine is there and turns dials down
	life    int  // counts starts
	there   presence
	spell   host // what the trace says of it
	owner   message.OwnerState
	moveAt  time.Time // when runs that stand still go elsewhere; zero for never
	moved   bool      // that time has come, and they stand still yet
	runs    []*run    // in the order begun
	takes   map[attemptName]*take

	peer *member.Peer
	m    *member.Member
	said *overlay.Advert // the newest; nil before the first
	read reading
}

// lasting is what outlives a node: disk holds its machines' pairs, blocks what it has
// of jobs and checkpoints, recorder its history.
type lasting struct {
	disk     map[string][]byte
	blocks   map[task.CID]bool
	recorder *predictor.Recorder
	history  trace.History // the same, where the predictor needs it
	pool     *predictor.Pool
}

// An agenda is what a node has still to do, and when it wakes by itself.
type agenda struct {
	pending  []member.Effect // of this turn, not carried out yet
	spare    []member.Effect // memory for the next
	own      []message.Message
	lines    []line
	turning  bool
	ownWords member.Said // by which what it says to itself is told
	wakeAt   time.Time
	woken    func() // of the timer, in this life
}

// A line is what one turn has to say to one peer.
type line struct {
	to       *node
	messages []message.Message
}

type peerID = task.PeerID

// A machine is one of the scheduler's.
type machine = member.Machine

// A host is a node's place in its trace.
type host struct {
	next  int // spell that comes next
	state trace.State
	cpu   float64
	since time.Duration // of state
}

// note keeps the first fault of the machines or of the simulation: the run fails.
func (w *world) note(err error) {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("sim/swarm: at %v: %w", w.now.Round(time.Millisecond), err)
	}
}

// leaving reports whether the node has said goodbye.
func (n *node) leaving() bool { return n.peer.Leaves() }

// lends says whether the host's time is had by tasks.
func (n *node) lends() bool {
	return n.up && !n.leaving() && (n.spell.state == trace.Available || n.spell.state == trace.Leaving)
}

// standing says whether the owner has the runs stand still.
func (n *node) standing() bool { return stops(n.spell.state) }

func stops(s trace.State) bool { return s == trace.UserPresent || s == trace.CPUBusy }

// hands says whether a task that has to go is handed over or saved.
func (w *world) hands() bool { return w.cfg.Worker.HandOver && w.canSave && w.cfg.Moves() }

// moveRetry is how often tasks that cannot be saved, and that nobody else could
// take, are offered again, as of a live node.
const moveRetry = time.Minute

func isDown(s trace.State) bool { return s == trace.Unavailable || s == trace.Unobserved }

// onTheWay reports whether a run is being handed over from here, or saved to end.
func (n *node) onTheWay() bool {
	return slices.ContainsFunc(n.runs, func(r *run) bool { return r.give != nil || r.then != nil })
}
