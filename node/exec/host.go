package exec

import (
	"context"
	"time"

	"godwit/blocks"
	"godwit/migrate/handover"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// A Client is who has attempts carried out: the worker of one overlay. Clients are
// compared with ==, and their methods are called on the loop.
type Client interface {
	// Overlay is the overlay that the worker is of.
	Overlay() overlay.ID
	// Report gives the worker what came of one of its effects.
	Report(ev message.Event)
	// Moves reports whether the overlay's rules let running tasks move.
	Moves() bool
	// Forecast returns the probability that this machine runs tasks for so long from
	// now without a break, as is known now.
	Forecast() func(d time.Duration) float64
}

// A Host is the node around an Executor.
type Host interface {
	// Now is the time of the loop's clock; any goroutine may ask.
	Now() time.Time
	// Post has the loop do something, from any other goroutine. It waits while the loop
	// has much to do, and gives up when the node stops.
	Post(do func())
	// PostEnd is Post for the end of an attempt. One that completed need not come after
	// what was posted before.
	PostEnd(o task.Outcome, do func())
	// Do is Post that returns when it is done, or with an error when the node stops or
	// ctx ends first.
	Do(ctx context.Context, do func()) error
	// HandOver opens a stream to a member, from any goroutine.
	HandOver(ctx context.Context, to task.PeerID) (Stream, error)

	// States asks a result's worker, in the overlay of a client, for the states that it kept of its
	// run, from any goroutine. Its error wraps ErrRefused where the worker answered with none.
	States(ctx context.Context, of Client, signed *task.Result) (*task.KeptStates, error)

	// What follows is called on the loop.

	// Client returns the worker of an overlay that admits a peer, or nil.
	Client(of overlay.ID, peer task.PeerID) Client
	// Speed is that of a core, relative to the reference core; 0 is unknown.
	Speed() float64
	// MustGo reports whether what runs here has to be gone, and goes on elsewhere
	// without its state if it cannot be saved.
	MustGo() bool
	// CountChanged is called when an attempt has begun or ended.
	CountChanged()
	// StateSaved is called when an attempt has ended with its state, which others are
	// still to fetch.
	StateSaved()
}

// A Content is what the node keeps by its content. It is safe for any goroutine.
type Content interface {
	Blocks() *blocks.Store
	// Fetch brings whole DAGs here from the holders, each of the size that its bound
	// allows, and makes them durable.
	Fetch(ctx context.Context, roots []blocks.Root, holders []task.PeerID) error
	// Record returns the job of an ID and who submitted it, from here or from the holders, its
	// signature checked.
	Record(ctx context.Context, id task.JobID, holders []task.PeerID) (*task.Job, task.PeerID, error)
	// MakeRoom returns when so many bytes more can be kept, or says why they cannot be.
	// owed is what the node has promised: results, and states of tasks; new work is not,
	// and leaves some room.
	MakeRoom(ctx context.Context, bytes int64, owed bool) error
	// Hold keeps content from being removed until release is called, once.
	Hold(cids []task.CID) (release func())
	// Failed takes in why something could not be stored: a full disk is given room.
	Failed(err error)
	// Worked adds CPU time that a submitter's task took here, as this machine measured it. Audits are not included.
	Worked(submitter task.PeerID, cpu time.Duration)
}

// A Stream carries one hand-over: a p2p.HandOverStream. One goroutine may send while
// another receives; Moved, Hang and Close may be called from any.
type Stream interface {
	Send(f handover.Frame) error
	Receive() (handover.Frame, error)
	// Moved returns how many bytes went out and came in so far.
	Moved() (out, in int64)
	// Hang ends the stream with a reason that the other side is told; "" says none.
	Hang(reason string)
	Close() error
}
