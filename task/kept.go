package task

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"
)

// KeptFor is for how long a worker keeps the states of a run after it has ended, at most. After that
// nobody may expect them of it.
const KeptFor = 24 * time.Hour

// A KeptState is a boundary of a worker's run, and what it kept of the state there.
type KeptState struct {
	Fuel uint64 `cbor:"1,keyasint"`
	Hash []byte `cbor:"2,keyasint"` // as Boundary.State
	// CID is the root of the state's blocks, as of a checkpoint; "" where the worker has the hash alone.
	CID CID `cbor:"3,keyasint,omitempty"`
}

// KeptStates are those of one run, in order.
type KeptStates struct {
	States []KeptState `cbor:"1,keyasint" most:"32"`
}

// maxKept bounds their encoding, in bytes: a CID has 59.
const maxKept = 8 << 10

// DecodeKept reads states that a worker says it kept; the bytes may be hostile.
func DecodeKept(b []byte) (*KeptStates, error) {
	if len(b) > maxKept {
		return nil, fmt.Errorf("reading kept states: %d bytes, the most is %d", len(b), maxKept)
	}
	k := new(KeptStates)
	if err := Decode(b, k); err != nil {
		return nil, fmt.Errorf("reading kept states: %w", err)
	}
	if err := k.validate(); err != nil {
		return nil, fmt.Errorf("reading kept states: %w", err)
	}
	return k, nil
}

func (k *KeptStates) validate() error {
	if len(k.States) > MaxBoundaries {
		return fmt.Errorf("%d states, the most is %d", len(k.States), MaxBoundaries)
	}
	for i := range k.States {
		s := &k.States[i]
		switch {
		case len(s.Hash) != sha256.Size:
			return fmt.Errorf("a state's hash of %d bytes", len(s.Hash))
		case s.CID != "" && !s.CID.Valid():
			return errors.New("a state whose CID is none")
		case i > 0 && s.Fuel <= k.States[i-1].Fuel:
			return errors.New("states that are not in order")
		}
	}
	return nil
}

// Boundaries returns the boundaries alone, of states that are valid.
func (k *KeptStates) Boundaries() []Boundary {
	out := make([]Boundary, len(k.States))
	for i := range k.States {
		out[i] = Boundary{Fuel: k.States[i].Fuel, State: [sha256.Size]byte(k.States[i].Hash)}
	}
	return out
}
