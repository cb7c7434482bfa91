package task

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
)

// A Trail says how a worker's run of a task came to its end. Tasks are deterministic: whoever
// runs the task finds the same, by the same pass, on any machine.
type Trail struct {
	// Pass is the version of the pass by which fuel is counted and states are hashed: trails
	// of two versions say nothing about each other. At least 1.
	Pass uint32 `cbor:"1,keyasint" json:"pass"`
	// Fuel is what the task used from its beginning to its end, on whichever machines. At least 1.
	Fuel uint64 `cbor:"2,keyasint" json:"fuel"`
	// Last is the SHA-256 of the whole state at the end; empty for a task of less than
	// MinIntervals times DefaultSpacing, and for a state that cannot be described.
	Last []byte `cbor:"3,keyasint,omitempty" json:"last,omitempty"`
	// Boundaries is how many the worker came to itself, at most MaxBoundaries, and Root is
	// their TrailRoot; 0 and empty for none.
	Boundaries uint32 `cbor:"4,keyasint,omitempty" json:"boundaries,omitempty"`
	Root       []byte `cbor:"5,keyasint,omitempty" json:"root,omitempty"`
	// Began is the chain of states that the run went on from; empty where the worker ran the task
	// from its beginning. A worker answers for what came of the task from the first of them on, and
	// for all of it where there is none.
	Began []Link `cbor:"6,keyasint,omitempty" most:"64" json:"-"`
	// Engine is what ran it: the architecture that a compiler made code for, as GOARCH has it, or
	// EngineInterpreter. Empty where its worker does not say.
	Engine string `cbor:"7,keyasint,omitempty" json:"engine,omitempty"`
}

// EngineInterpreter is the engine that compiles nothing: it is the same program on every machine.
const EngineInterpreter = "interpreter"

// KnownEngine reports whether an engine is one by which this version, or one before it, runs programs; ""
// is what a worker says that says nothing.
func KnownEngine(name string) bool {
	switch name {
	case "", "amd64", "arm64", EngineInterpreter:
		return true
	}
	return false
}

// maxEngine is the longest name of an engine.
const maxEngine = 16

// The boundaries of a task, as docs/protocol.md has them.
const (
	// DefaultSpacing is how much fuel lies between two boundaries at first: programs use 2 to
	// 10 units a nanosecond (package freeze), so 2 to 8 s of the reference core.
	DefaultSpacing = 1 << 34
	// MaxBoundaries is how many are kept: with one more the spacing doubles.
	MaxBoundaries = 32
	// MinIntervals is how many spacings a task is long at least that has boundaries. One that
	// is shorter is run again as a whole for less than its states cost.
	MinIntervals = 8
)

// A Boundary is a point in a task's run that lies at the same fuel for everybody, where the
// whole state has a hash: the first safe point at or after a multiple of the spacing.
type Boundary struct {
	Fuel  uint64
	State [sha256.Size]byte
}

// The first bytes of what is hashed, so that no leaf is taken for a node (RFC 6962, section 2.1).
const (
	leafMark = 0
	nodeMark = 1
)

// TrailRoot returns the root of the Merkle tree over boundaries, as RFC 6962, section 2.1, has
// it: a leaf is the fuel, in 8 bytes, the greatest first, and the state's hash. It is empty for none.
func TrailRoot(boundaries []Boundary) []byte {
	if len(boundaries) == 0 {
		return nil
	}
	root := merkle(leavesOf(boundaries))
	return root[:]
}

func leavesOf(boundaries []Boundary) [][sha256.Size]byte {
	leaves := make([][sha256.Size]byte, len(boundaries))
	for i, b := range boundaries {
		leaves[i] = leafOf(b)
	}
	return leaves
}

// merkle is the root over at least one leaf: the left part is the largest power of two that is
// less than all.
func merkle(leaves [][sha256.Size]byte) [sha256.Size]byte {
	if len(leaves) == 1 {
		return leaves[0]
	}
	left := leftOf(len(leaves))
	l, r := merkle(leaves[:left]), merkle(leaves[left:])
	return nodeOf(l[:], r[:])
}

// leftOf is how many of at least two leaves are left.
func leftOf(n int) int {
	left := 1
	for 2*left < n {
		left *= 2
	}
	return left
}

func nodeOf(left, right []byte) [sha256.Size]byte {
	return sha256.Sum256(append(append([]byte{nodeMark}, left...), right...))
}

// validate checks the bounds of a trail that may be hostile; nil has none.
func (t *Trail) validate() error {
	switch {
	case t == nil:
		return nil
	case t.Pass == 0 || t.Fuel == 0:
		return errors.New("a trail without a version, or without fuel")
	case len(t.Last) != 0 && len(t.Last) != sha256.Size:
		return fmt.Errorf("a state's hash of %d bytes", len(t.Last))
	case t.Boundaries > MaxBoundaries:
		return fmt.Errorf("%d boundaries, the most is %d", t.Boundaries, MaxBoundaries)
	case !engineNamed(t.Engine):
		return errors.New("an engine whose name is none")
	case len(t.Began) > MaxChain:
		return fmt.Errorf("a chain of %d states, the most is %d", len(t.Began), MaxChain)
	case len(t.Began) > 0 && t.Began[0].Fuel > t.Fuel:
		return errors.New("a run that began beyond its end")
	case len(t.Root) != 0 && len(t.Root) != sha256.Size || (t.Boundaries > 0) != (len(t.Root) > 0):
		return fmt.Errorf("%d boundaries with a root of %d bytes", t.Boundaries, len(t.Root))
	}
	return nil
}

// engineNamed reports whether a name can be an engine's.
func engineNamed(name string) bool {
	return len(name) <= maxEngine && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
}

// Difference says in what a run here parts from a trail that was signed, and "" where it does not,
// as far as can be told: not where one of them has none, nor by passes of two versions. Boundaries
// are compared if both runs came to as many: one that began from a state came to the last alone.
func (t *Trail) Difference(here *Trail) string {
	switch {
	case t == nil || here == nil || t.Pass != here.Pass:
		return ""
	case t.Fuel != here.Fuel:
		return fmt.Sprintf("it used %d units of fuel here, %d by the result", here.Fuel, t.Fuel)
	case len(t.Last) > 0 && len(here.Last) > 0 && !bytes.Equal(t.Last, here.Last):
		return "it ended in another state here"
	case t.Boundaries == here.Boundaries && !bytes.Equal(t.Root, here.Root):
		return "it came to its end another way here"
	}
	return ""
}
