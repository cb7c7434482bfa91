package message

import "godwit/task"

// CellsAre tells a Submitter which cells the overlay has beside the node's own, whose
// leaders may be lent tasks of its jobs. It comes again when that has changed, and with
// every fresh summary. No other cells is what a Submitter begins with.
type CellsAre struct {
	Slots  int        // of the node's own cell
	Others []CellLoad // by leader; at most MaxCells
}

// A CellLoad is a cell as its leader sums it up. Nothing of it is more than that one's word.
type CellLoad struct {
	Leader task.PeerID
	Cell   string // its bits: two that say that they lead one cell have the same
	Slots  int    // of all members that run tasks
	Idle   int    // of the slots, those without a task
}

// MaxCells bounds the cells that a Submitter is told of, and so the connections that one
// job can ask for.
const MaxCells = 32

func (CellsAre) event() {}
