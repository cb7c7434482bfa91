package task

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"
)

// MaxLinks is how many of the states are named that the runs of a task went on from, one after the
// other. Whoever goes on from the last of more workers than that shows the last MaxLinks of them:
// a task moves seldom, and each link takes half a kilobyte in what is said of it.
const MaxLinks = 4

// MaxChain bounds a chain. So many states are shown of a task whose replicas must agree, and of one whose
// result may be run again: who answers for one is to be known back to its beginning. A task of a day that moves each
// half an hour has 48.
const MaxChain = 64

// Shown returns those of the states before one that are shown with it, of a task of the job; nil is
// one without replicas, whose results nobody checks.
func (j *Job) Shown(chain []Link) []Link {
	if j != nil && (j.Replicas > 1 || j.Verify != nil) {
		return chain[:min(len(chain), MaxChain-1)]
	}
	return chain[:min(len(chain), MaxLinks-1)]
}

// A Link is a state that a run went on from, with the word of the worker that left it there.
//
// The links of a run, its chain, are in the order of how late they are: the first is what the run
// itself began with, the next is what the run of the first one's worker began with, and so on.
// Each voucher has the digest of the next link as its Prior. So whoever runs the task again can
// tell, of a wrong end, in whose run it became wrong; and nobody can be blamed by a chain that
// another made up, since each worker has signed what it began with.
type Link struct {
	CID     CID           `cbor:"1,keyasint,omitempty"` // as State.CID
	Fuel    uint64        `cbor:"2,keyasint"`
	CPU     time.Duration `cbor:"3,keyasint"`
	Voucher Voucher       `cbor:"4,keyasint"`
	// With are other lines that came to the state, where as many replicas agree on it as the job asks for: see
	// Witness. At most one link of a chain has some. They are not in what PriorOf is of: they show for themselves.
	With []Witness `cbor:"5,keyasint,omitempty" most:"63"`
}

// ChainOn returns the chain of a run that goes on from a state, which left is the word of, and
// whose own run had the chain before, as far as that is shown: at most MaxChain. Where the state is agreed on, what
// was agreed on before it does not matter any more.
func ChainOn(left Link, before []Link) []Link {
	n := min(len(before), MaxChain-1)
	chain := append([]Link{left}, before[:n]...)
	if len(left.With) > 0 {
		for k := range chain[1:] {
			chain[k+1].With = nil
		}
	}
	return chain
}

// PriorOf is the Prior in the word of a worker whose run had that chain.
func PriorOf(chain []Link) []byte {
	if len(chain) == 0 {
		return nil
	}
	first := chain[0]
	first.With = nil
	b, err := Encode(&first)
	if err != nil { // of nothing that was decoded, or signed
		return nil
	}
	h := sha256.Sum256(b)
	return h[:]
}

// CutShort reports whether a chain of a task does not reach back to its beginning: the last
// link's worker went on from a state that is not among them.
func CutShort(chain []Link) bool {
	return len(chain) > 0 && len(chain[len(chain)-1].Voucher.Prior) > 0
}

// CheckChain checks of a chain that may be hostile all but who signed it: that there are not too
// many, and that each worker's word is of a run that began with the next. So two chains with the
// same first voucher are the same.
func CheckChain(chain []Link) error {
	if len(chain) > MaxChain {
		return fmt.Errorf("a chain of %d states, the most is %d", len(chain), MaxChain)
	}
	for k := range chain {
		prior, next := chain[k].Voucher.Prior, chain[k+1:]
		switch {
		case len(next) > 0 && next[0].Fuel > chain[k].Fuel:
			return errors.New("a chain of states that goes backwards")
		case len(next) > 0 && !bytes.Equal(prior, PriorOf(next)):
			return errors.New("a chain of states of which one did not begin with the next")
		case len(next) == 0 && len(prior) > 0 && len(chain) < MaxLinks:
			return errors.New("a chain of states that is cut short")
		}
	}
	return checkWitnesses(chain)
}

// VerifyChain checks a chain that may be hostile: what CheckChain does, and that each worker said
// so of the state it left, with the receipt of a lease of the task. Whether the states are right
// only a run can tell.
func VerifyChain(id TaskID, chain []Link) error {
	if err := CheckChain(chain); err != nil {
		return err
	}
	if err := verifyLinks(id, chain); err != nil {
		return err
	}
	return verifyWitnesses(id, chain)
}

func verifyLinks(id TaskID, chain []Link) error {
	for k := range chain {
		l := &chain[k]
		if err := l.Voucher.Verify(State{Task: id, CID: l.CID, Fuel: l.Fuel, CPU: l.CPU}); err != nil {
			return err
		}
	}
	return nil
}
