package task

import (
	"fmt"
	"slices"
)

// Outcome says how an attempt of a task ended.
type Outcome uint8

// The outcomes. Those from ExitFailure to InvalidModule are the task's own
// fault and count against Job.Retries; Interrupted and HostError are the
// host's and do not.
const (
	OutcomeUnknown Outcome = iota
	Completed              // exit code 0
	ExitFailure            // the program ended with another exit code
	Trapped                // a WebAssembly trap, or an import called against its contract
	OutOfMemory            // the program could not live in Job.Memory
	OverQuota              // files, their number or output beyond the limits
	TimedOut               // ran longer than the limit allows
	InvalidModule          // the module does not compile, an import is missing, or a table is not as the job says
	Interrupted            // stopped by the host: its owner, a cancel, a shutdown
	HostError              // the host could not run it (disk full, process lost)
)

// outcomeNames are the outcomes' texts, in their order.
var outcomeNames = []string{
	"unknown", "completed", "exit-failure", "trapped", "out-of-memory", "over-quota",
	"timed-out", "invalid-module", "interrupted", "host-error",
}

// String returns the outcome's text, "unknown" for numbers that are none.
func (o Outcome) String() string {
	if int(o) >= len(outcomeNames) {
		return outcomeNames[OutcomeUnknown]
	}
	return outcomeNames[o]
}

// OwnFault reports whether the task failed by its own fault, so that another
// host would most likely see the same.
func (o Outcome) OwnFault() bool { return o >= ExitFailure && o <= InvalidModule }

// Reproducible reports whether the outcome follows from the task alone, so that whoever runs it
// again comes to the same: it rests neither on time nor on what the machine has.
func (o Outcome) Reproducible() bool {
	switch o {
	case Completed, ExitFailure, Trapped, OverQuota:
		return true
	}
	return false
}

// MarshalText gives JSON the outcome's text. CBOR keeps the number.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (o *Outcome) UnmarshalText(text []byte) error {
	i := slices.Index(outcomeNames, string(text))
	if i < 0 {
		return fmt.Errorf("outcome %s is not known", quote(string(text)))
	}
	*o = Outcome(i)
	return nil
}
