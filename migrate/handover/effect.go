package handover

import "time"

// An Effect is something that a driver must now do, in the order given.
type Effect interface{ effect() }

// Dial opens a stream to the destination; the number names it from now on.
type Dial struct{ Stream int }

// Send writes a small frame to a stream. It may be lost with the stream.
type Send struct {
	Stream int
	Frame  Frame
}

// Hang ends a stream, or its Dial, and all that is being sent on it, between two
// frames; what Send put there before still goes. A Reason that is not empty is
// said to the other side as Failed, if the stream still takes it within HangTime.
// Nothing more is told of the stream. It may be gone already.
type Hang struct {
	Stream int
	Reason string
}

// HangTime is how long a Failed may take to be written: several round trips
// around the world, and too short to keep anybody waiting.
const HangTime = 2 * time.Second

// Checkpoint asks the sandbox for a checkpoint of the running guest now.
type Checkpoint struct{}

// SendRound sends all blocks of the newest checkpoint that were not sent on
// this stream before, in Pages frames, then Round N with its manifest.
type SendRound struct {
	Stream int
	N      int
}

// Slow lets the guest run only that share of the time, above 0 and at most 1,
// until the next Slow; 1 is no bound, and what holds before the first. Whoever
// stands still, stands still.
type Slow struct{ Share float64 }

// Freeze freezes the guest, out of a standstill too. It does not run again
// here, unless NotFrozen answers.
type Freeze struct{}

// SendFinal sends the blocks of the frozen state that were not sent on this
// stream before, then Final N. A SendRound under way ends first.
type SendFinal struct {
	Stream int
	N      int
}

// Store keeps blocks that came, and may give them to the process that waits
// (Stage.Ahead). The driver reads no further frame before it is done: that is
// the back-pressure.
type Store struct{ Blocks []Block }

// Inspect checks a state: that its manifest can be read and fits the task, which
// of its blocks are missing, and that the source says with its word that it is so.
type Inspect struct {
	N        int
	Manifest []byte
	Fuel     uint64
	CPU      time.Duration
	Word     []byte // the source's about the state
}

// Place gives a round's manifest to the process that waits, as a stage that is
// not the last. It may be answered when the process has compiled.
type Place struct {
	N        int
	Manifest []byte
}

// Thaw gives the last stage: the guest goes on from this state, here.
type Thaw struct {
	Manifest []byte
	Fuel     uint64
	CPU      time.Duration
	Word     []byte // the source's about the state
}

// Finish is the last effect of a machine.
type Finish struct {
	Outcome Outcome
	Reason  string // for people
	Stats   Stats
	Best    *State // a Taker's, of NotArrived: the newest state that is whole here; nil if none is
}

// A State is a checkpoint whose blocks are all here.
type State struct {
	Manifest []byte
	Fuel     uint64
	CPU      time.Duration
	Word     []byte // the source's about it
	Frozen   bool   // it is that of a Final: nobody has run beyond it
}

// An Outcome is how a hand-over came out, at one side.
type Outcome int

// The outcomes.
const (
	// Handed: the destination runs the guest; the attempt here is over.
	Handed Outcome = iota + 1
	// Stays: the guest goes on here, as if nothing had been.
	Stays
	// Stopped: the guest was frozen for it, or may have been, and never runs
	// here again; nobody said that it runs there. The attempt ends interrupted,
	// with its frozen state if there is one.
	Stopped
	// Over: the guest came to its own end here meanwhile.
	Over
	// Arrived: the guest runs here now.
	Arrived
	// NotArrived: it does not, and will not: Best is what there is.
	NotArrived
	// NotOffered: a stream came for a task that the leader has not offered; it
	// was refused, and there is nothing to report.
	NotOffered
)

var outcomes = [...]string{Handed: "handed", Stays: "stays", Stopped: "stopped", Over: "over", Arrived: "arrived",
	NotArrived: "not arrived", NotOffered: "not offered"}

// String names the outcome.
func (o Outcome) String() string {
	if o < Handed || int(o) >= len(outcomes) {
		return "unknown"
	}
	return outcomes[o]
}

func (Dial) effect()       {}
func (Send) effect()       {}
func (Hang) effect()       {}
func (Checkpoint) effect() {}
func (SendRound) effect()  {}
func (Slow) effect()       {}
func (Freeze) effect()     {}
func (SendFinal) effect()  {}
func (Store) effect()      {}
func (Inspect) effect()    {}
func (Place) effect()      {}
func (Thaw) effect()       {}
func (Finish) effect()     {}
