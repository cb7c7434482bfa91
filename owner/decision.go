package owner

import (
	"time"

	"godwit/trace"
)

// A Decision is what the machine may do now, and why.
type Decision struct {
	State trace.State
	// Stop says that running tasks must stand still.
	Stop bool
	// Drained says that the owner wants nothing left here, whichever rule decides.
	Drained bool
	// Cores is how many tasks may run at once, Memory what they may need
	// together, in bytes; 0 cores is nothing new, and with Stop nothing at all.
	Cores  int
	Memory int64
	Disk   int64 // bytes for the data directory
	// Upload and Download are bytes a second; 0 for no limit.
	Upload, Download int64
	Relay            int64 // bytes a day carried for members that this node does not work with

	Rule   string // the rule that decided, such as "run_if_user_active"; "" for none
	Sensor string // what it read, such as "x11"; "" where nothing was read
	Reason string // for people, one line

	Since time.Time // when this rule began to decide
	// Until is when the state is known to end, such as the end of today's hours
	// or a planned shutdown; zero if that is not known.
	Until time.Time
	// Ends says what ends then, while the state is Available: "the hours to work
	// end". Empty if nothing is known to.
	Ends string
	// MoveAt is when what runs, or stands still, should go on elsewhere; zero for
	// never.
	MoveAt time.Time
	// Next is when time alone may change the decision; zero for never.
	Next time.Time
}

// The names of what decides beside the rules of the file.
const (
	RulePause = "pause" // the owner's word
	RuleGoing = "going" // the machine sleeps or shuts down
	RuleDrain = "drain" // the owner's word too
)

// A Pause is the owner's word that nothing is to run, or that nothing is to be left
// here. The zero value is neither.
type Pause struct {
	On bool `json:"on"`
	// Drain says that nothing new is taken and that what runs moves to others. It
	// goes on meanwhile, unless On. It holds until it is taken back.
	Drain bool      `json:"drain,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"` // zero: until resumed
}

// Holds says whether the pause is in force at now.
func (p Pause) Holds(now time.Time) bool {
	return p.On && (p.Until.IsZero() || now.Before(p.Until))
}

// A Machine is what there is to lend.
type Machine struct {
	Cores  int   // that may be lent
	Memory int64 // of the machine, in bytes
	Lent   int64 // the most of it that may be lent whatever the rules say; 0 for no such bound
	Disk   int64 // of the data directory's file system, in bytes
}
