package task

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Where as many replicas of a task came to one state as its job asks for to agree, that state is as sure as a
// result: any replica may go on from it, whoever left it, and who made it answers for nothing that comes of it.
// Whoever counts sees that by what their workers signed: the state's own line with its voucher, each other one as a
// Witness.

// A Witness is the word of another line of a task on a state that a link has: its worker came to the same, at the
// same fuel.
type Witness struct {
	// Chain is that of a state which the line left there or later, back to the beginning of the task: the worker of
	// the first link came to the state itself. At most MaxWitnessLinks.
	Chain []Said `cbor:"1,keyasint" most:"16"`
	// Path leads from the boundary there, number Place of those that the first link's worker signed, to their root:
	// hashes as RFC 6962, section 2.1.1, has them. Empty where the first link's state is the one.
	Place uint32   `cbor:"2,keyasint,omitempty"`
	Path  [][]byte `cbor:"3,keyasint,omitempty" most:"5"`
}

// A Said is a Link without what others say of its state.
type Said struct {
	CID     CID           `cbor:"1,keyasint,omitempty"`
	Fuel    uint64        `cbor:"2,keyasint"`
	CPU     time.Duration `cbor:"3,keyasint"`
	Voucher Voucher       `cbor:"4,keyasint"`
}

const (
	// MaxWitnesses bounds those of a state: a job asks for 64 runs that agree at most.
	MaxWitnesses = 63
	// MaxWitnessLinks bounds the states that a witness shows, and those of all witnesses together. A line that moved
	// more often vouches for no other.
	MaxWitnessLinks = 16
	maxWitnessed    = 64
	// maxWay is how long the way from one of MaxBoundaries boundaries to their root is.
	maxWay = 5
)

// Boundaries are MaxBoundaries at most, which a path of that length must lead to.
const _ = uint(1<<maxWay - MaxBoundaries)

// Witnessed is the witness that the first worker of a chain is of a state at that fuel: it left it itself, or came to
// it as to a boundary, of all that it signed with the first link. nil where it cannot be shown to have.
func Witnessed(chain []Link, of []Boundary, at Boundary) *Witness {
	for len(chain) > 1 && chain[1].Fuel >= at.Fuel {
		chain, of = chain[1:], nil
	}
	if len(chain) == 0 || len(chain) > MaxWitnessLinks || CutShort(chain) {
		return nil
	}
	w := &Witness{Chain: make([]Said, len(chain))}
	for k := range chain {
		w.Chain[k] = Said{chain[k].CID, chain[k].Fuel, chain[k].CPU, chain[k].Voucher}
	}
	if chain[0].Fuel != at.Fuel {
		k := slices.Index(of, at)
		if k < 0 || !bytes.Equal(TrailRoot(of), chain[0].Voucher.Root) {
			return nil
		}
		w.Place, w.Path = uint32(k), pathTo(leavesOf(of), k)
	}
	if w.saw(at) != nil {
		return nil
	}
	return w
}

// links are the chain as others have it.
func (w *Witness) links() []Link {
	out := make([]Link, len(w.Chain))
	for k, s := range w.Chain {
		out[k] = Link{CID: s.CID, Fuel: s.Fuel, CPU: s.CPU, Voucher: s.Voucher}
	}
	return out
}

// saw returns nil if the first worker of the chain signed that it came to a state.
func (w *Witness) saw(at Boundary) error {
	first, base := &w.Chain[0], uint64(0)
	if len(w.Chain) > 1 {
		base = w.Chain[1].Fuel
	}
	v := &first.Voucher
	switch {
	case len(w.Path) == 0 && w.Place == 0 && first.Fuel == at.Fuel && bytes.Equal(v.Hash, at.State[:]):
		return nil
	case at.Fuel <= base || at.Fuel > first.Fuel || w.Place >= v.Boundaries || v.Boundaries > MaxBoundaries:
		return errors.New("a witness that did not come to the state")
	}
	root, err := rootBy(leafOf(at), int(w.Place), int(v.Boundaries), w.Path)
	if err == nil && !bytes.Equal(root[:], v.Root) {
		err = errors.New("a witness that came to another state")
	}
	return err
}

// checkWitnesses checks all but the signatures of what others say of states of a chain: at most one is agreed on; each
// witness came to it; and no worker answers for two of them, or for one and the state itself.
func checkWitnesses(chain []Link) error {
	agreed := slices.IndexFunc(chain, func(l Link) bool { return len(l.With) > 0 })
	if agreed < 0 {
		return nil
	}
	l := &chain[agreed]
	if slices.ContainsFunc(chain[agreed+1:], func(l Link) bool { return len(l.With) > 0 }) || len(l.With) > MaxWitnesses ||
		len(l.Voucher.Hash) != sha256.Size {
		return errors.New("a chain with states that are agreed on beyond what one has")
	}
	by, whole := plainly(l.Voucher.Worker, chain[agreed+1:])
	if !whole {
		return errors.New("a state that is agreed on, whose line is cut short")
	}
	links := 0
	for i := range l.With {
		w := &l.With[i]
		if links += len(w.Chain); len(w.Chain) == 0 || len(w.Chain) > MaxWitnessLinks || links > maxWitnessed {
			return fmt.Errorf("a witness with %d states", len(w.Chain))
		}
		if err := w.saw(Boundary{l.Fuel, [sha256.Size]byte(l.Voucher.Hash)}); err != nil {
			return err
		}
		its := w.links()
		if err := CheckChain(its); err != nil {
			return fmt.Errorf("a witness: %w", err)
		}
		others, whole := plainly(its[0].Voucher.Worker, its[1:])
		if !whole || !Apart(by, others) {
			return errors.New("a worker answers for two of those that came to a state")
		}
		by = append(by, others...)
	}
	return nil
}

// verifyWitnesses checks that each witness said so, with the receipt of a lease of the task.
func verifyWitnesses(id TaskID, chain []Link) error {
	for k := range chain {
		for i := range chain[k].With {
			if err := verifyLinks(id, chain[k].With[i].links()); err != nil {
				return fmt.Errorf("a witness: %w", err)
			}
		}
	}
	return nil
}

// CheckAgreed refuses a chain with a state of which it is said that replicas agreed on it, where fewer did than the
// job asks for.
func CheckAgreed(j *Job, chain []Link) error {
	for k := range chain {
		if n := len(chain[k].With); n > 0 && (j.Replicas < 2 || n+1 < j.Replicas) {
			return fmt.Errorf("%d replicas agree on a state, the job asks for %d", n+1, max(2, j.Replicas))
		}
	}
	return nil
}

// Agree returns as many of the witnesses as it takes, beside who left a state itself, for so many replicas to agree on
// it; nil where they are too few. Those that a worker of another answers for are left out.
func Agree(left Link, before []Link, with []*Witness, replicas int) []Witness {
	by, whole := plainly(left.Voucher.Worker, before)
	if !whole {
		return nil
	}
	var out []Witness
	links := 0
	for _, w := range with {
		its := w.links()
		others, _ := plainly(its[0].Voucher.Worker, its[1:])
		if len(out)+1 >= replicas || !Apart(by, others) || links+len(its) > maxWitnessed {
			continue
		}
		out, by, links = append(out, *w), append(by, others...), links+len(its)
	}
	if len(out) == 0 || len(out)+1 < replicas {
		return nil
	}
	return out
}

// pathTo is the way from a leaf to the root over all, as RFC 6962, section 2.1.1, has it.
func pathTo(leaves [][sha256.Size]byte, k int) [][]byte {
	if len(leaves) == 1 {
		return nil
	}
	left := leftOf(len(leaves))
	if k < left {
		r := merkle(leaves[left:])
		return append(pathTo(leaves[:left], k), r[:])
	}
	l := merkle(leaves[:left])
	return append(pathTo(leaves[left:], k-left), l[:])
}

// rootBy is the root to which a path leads from leaf k of n, above k.
func rootBy(leaf [sha256.Size]byte, k, n int, path [][]byte) ([sha256.Size]byte, error) {
	switch {
	case n == 1 && len(path) == 0:
		return leaf, nil
	case n == 1 || len(path) == 0 || len(path[len(path)-1]) != sha256.Size:
		return leaf, errors.New("a way to no root of boundaries")
	}
	left, rest, other := leftOf(n), path[:len(path)-1], path[len(path)-1]
	if k < left {
		l, err := rootBy(leaf, k, left, rest)
		return nodeOf(l[:], other), err
	}
	r, err := rootBy(leaf, k-left, n-left, rest)
	return nodeOf(other, r[:]), err
}

// leafOf is the leaf of a boundary.
func leafOf(b Boundary) [sha256.Size]byte {
	leaf := binary.BigEndian.AppendUint64([]byte{leafMark}, b.Fuel)
	return sha256.Sum256(append(leaf, b.State[:]...))
}
