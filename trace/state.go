package trace

import "fmt"

// State is what a machine is doing, seen by whoever borrows it (Rood and Lewis
// 2008, via Zhang section 4.2.1).
type State uint8

// The five states.
const (
	Available   State = iota // runs tasks
	UserPresent              // its owner is there: tasks wait
	CPUBusy                  // its owner's programs use it: tasks wait
	Leaving                  // going soon: takes nothing new
	Unavailable              // gone
)

// Unobserved is no state of a machine: a history has it where nobody looked,
// such as the nights of a trace that was recorded in office hours. Taking it
// for Unavailable would invent failures, and for the state before it would
// invent presence, so it is neither: see History.Assume. It is never said of a
// live peer, and Valid, MarshalText and UnmarshalText do not accept it.
const Unobserved State = Unavailable + 1

// stateTexts are the states' names on the command line, in JSON and in logs,
// in the order of the constants.
var stateTexts = [...]string{"available", "user-present", "cpu-busy", "leaving", "unavailable"}

// Valid says whether s is one of the five states.
func (s State) Valid() bool { return int(s) < len(stateTexts) }

// String returns the state's name, such as "user-present".
func (s State) String() string {
	if s == Unobserved {
		return "unobserved"
	}
	if !s.Valid() {
		return fmt.Sprintf("state(%d)", uint8(s))
	}
	return stateTexts[s]
}

// MarshalText returns the state's name; it fails for a value that is no state.
// CBOR keeps the number.
func (s State) MarshalText() ([]byte, error) {
	if !s.Valid() {
		return nil, fmt.Errorf("trace: %d is not a state", uint8(s))
	}
	return []byte(stateTexts[s]), nil
}

// UnmarshalText reads a state's name.
func (s *State) UnmarshalText(text []byte) error {
	for i, name := range stateTexts {
		if name == string(text) {
			*s = State(i)
			return nil
		}
	}
	return fmt.Errorf("unknown state %q: it is one of available, user-present, cpu-busy, leaving, unavailable", text)
}
