package overlay

import "fmt"

// stateTexts are the states' names on the command line, in JSON and in logs,
// in the order of the constants.
var stateTexts = [...]string{"available", "user-present", "cpu-busy", "leaving", "unavailable"}

// Valid says whether s is one of the five states.
func (s State) Valid() bool { return int(s) < len(stateTexts) }

// String returns the state's name, such as "user-present".
func (s State) String() string {
	if !s.Valid() {
		return fmt.Sprintf("state(%d)", uint8(s))
	}
	return stateTexts[s]
}

// MarshalText returns the state's name; it fails for a value that is no state.
// CBOR keeps the number.
func (s State) MarshalText() ([]byte, error) {
	if !s.Valid() {
		return nil, fmt.Errorf("overlay: %d is not a member state", uint8(s))
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
	return fmt.Errorf("overlay: unknown member state %q", text)
}
