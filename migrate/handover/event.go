package handover

import (
	"time"

	"godwit/task"
)

// An Event is something that happened, told to a machine by its driver. A
// machine ignores events that are none of its business or come late.
type Event interface{ event() }

// Wake says only that time has passed; the driver sends it at NextWake.
type Wake struct{}

// Received is a frame of the stream. Streams are numbered by the driver at the
// Taker, by Dial at the Giver.
type Received struct {
	Stream int
	Frame  Frame
}

// Broken says that a stream is gone, or, at the Giver, could not be had.
type Broken struct {
	Stream int
	Reason string
}

// Moved says that so many more bytes have left on, or come from, the stream:
// it lives. The driver tells it a few times a second while anything moves, and
// also while one frame is on its way, which may take a slow link a minute.
type Moved struct{ Bytes int64 }

// Cancel ends a machine from its own side: the attempt was dropped, the owner
// came, the sandbox failed, the disk is full.
type Cancel struct{ Reason string }

// Begin starts a Giver.
type Begin struct{}

// Dialled says that the stream of a Dial is open.
type Dialled struct{ Stream int }

// Saved answers Checkpoint: a checkpoint of the running guest, made after it
// was asked for, is here with all its blocks. Bytes is what blocks were new with
// it, as they travel: what changed since the Saved before. One that nobody asked
// for is told all the same, for that.
type Saved struct{ Bytes int64 }

// NotSaved answers Checkpoint: there is none; the guest runs on.
type NotSaved struct{ Reason string }

// Sent answers SendRound and SendFinal: all of it was written to the stream.
type Sent struct {
	Stream int
	N      int
	Blocks int   // sent for it
	Bytes  int64 // of blocks and manifest, as they travel
}

// Frozen answers Freeze: the guest stands still for good, and its state is here
// with all its blocks.
type Frozen struct{ Hash Hash } // of the state: Final.Hash

// NotFrozen answers Freeze: the guest was not frozen and runs on.
type NotFrozen struct{ Reason string }

// Ended says that the guest came to its own end at the source, before it was
// frozen.
type Ended struct{ Reason string }

// Hurry makes a Giver's hand-over urgent: no more rounds.
type Hurry struct{ Reason string }

// Offered tells a Taker what the leader offers: the guest that runs there as
// From is to become As here.
type Offered struct {
	Overlay string
	Task    task.TaskID
	As      Attempt
	Worker  task.PeerID // the source
	From    Attempt
}

// Opened tells a Taker of a stream whose first frame was Open, and from whom
// it came. Streams have numbers above 0, each its own.
type Opened struct {
	Stream int
	Peer   task.PeerID
	Open   Open
}

// Inspected answers Inspect.
type Inspected struct {
	N       int
	Missing int    // blocks that the manifest names and that are not here
	Problem string // why the manifest cannot be used; empty if it can
}

// Placed answers Place: the round is in the memory of the process that waits.
type Placed struct{ N int }

// Thawed answers Thaw: the guest runs here now.
type Thawed struct{}

func (Wake) event()      {}
func (Received) event()  {}
func (Broken) event()    {}
func (Moved) event()     {}
func (Cancel) event()    {}
func (Begin) event()     {}
func (Dialled) event()   {}
func (Saved) event()     {}
func (NotSaved) event()  {}
func (Sent) event()      {}
func (Frozen) event()    {}
func (NotFrozen) event() {}
func (Ended) event()     {}
func (Hurry) event()     {}
func (Offered) event()   {}
func (Opened) event()    {}
func (Inspected) event() {}
func (Placed) event()    {}
func (Thawed) event()    {}

// Stats say what a hand-over cost, as the Giver saw it; a Taker knows Bytes and
// Total alone.
type Stats struct {
	Rounds   []RoundStat   // in order, the Final's last
	Bytes    int64         // that travelled of blocks and manifests
	Downtime time.Duration // from the order to freeze until Resumed was heard; 0 without it
	Slowed   time.Duration // that the guest lost by being slowed, before it stood still
	Total    time.Duration // from Begin to Finish; at the Taker from the first Offered or Opened
}

// A RoundStat is one round.
type RoundStat struct {
	Blocks int
	Bytes  int64
	Took   time.Duration // from SendRound to Got; of the Final from SendFinal to Resumed
}
