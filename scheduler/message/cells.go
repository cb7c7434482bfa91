package message

import "godwit/task"

// CellsAre tells a Submitter which cells the overlay has beside the node's own, whose
// leaders may be lent tasks of its jobs. It comes again when that has changed, and with
// every fresh summary. No other cells is what a Submitter begins with.
type CellsAre struct {
	Slots  int        // of the node's own cell
	Idle   int        // of these, those without a task
	Others []CellLoad // all that are known: the Submitter has to do with MaxCells of them
}

// A CellLoad is a cell as its leader sums it up. Nothing of it is more than that one's word.
type CellLoad struct {
	Leader task.PeerID
	Cell   string // its bits: two that say that they lead one cell have the same
	Slots  int    // of all members that run tasks
	Idle   int    // of the slots, those without a task
}

// MaxCells bounds the cells that a Submitter has to do with, and so the connections that it
// asks for: with cells of 500 members sixteen thousand of these.
const MaxCells = 32

func (CellsAre) event() {}
