package ledger

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"godwit/task"
)

// A Checkpoint is the frozen state of a task: what another worker needs to go
// on where it stopped.
type Checkpoint struct {
	CID task.CID `cbor:"1,keyasint"` // root of its blocks
	// Fuel is the work done when it was taken, in the task's own units, which
	// are the same on every machine. It is larger than 0.
	Fuel uint64        `cbor:"2,keyasint"`
	CPU  time.Duration `cbor:"3,keyasint"` // that the attempt had used; of all attempts before it too
	// Voucher is the word of the worker that took it; nil where nobody signs anything, as in
	// simulations.
	Voucher *task.Voucher `cbor:"4,keyasint,omitempty"`
	// Before is the chain of states that the run of that worker went on from: see task.Link.
	Before []task.Link `cbor:"5,keyasint,omitempty" most:"63"`
	// With are other lines of the task that came to it, where as many replicas agree on it as the job asks for: any may
	// go on from it. Of a lease alone; a row has none.
	With []task.Witness `cbor:"6,keyasint,omitempty" most:"63"`
}

// Chain is the chain of a run that goes on from the checkpoint; nil where nobody vouches for it.
func (c *Checkpoint) Chain() []task.Link {
	if c.Voucher == nil {
		return nil
	}
	return task.ChainOn(task.Link{CID: c.CID, Fuel: c.Fuel, CPU: c.CPU, Voucher: *c.Voucher, With: c.With}, c.Before)
}

// Valid says whether a checkpoint that arrived can be one.
func (c *Checkpoint) Valid() bool {
	return c.Fuel > 0 && c.CPU >= 0 && c.CID.Valid() && len(c.Before) < task.MaxChain &&
		(c.Voucher != nil || len(c.Before) == 0) && task.CheckChain(c.Chain()) == nil
}

// State is what a worker vouched for with it.
func (c *Checkpoint) State(id task.TaskID) task.State {
	return task.State{Task: id, CID: c.CID, Fuel: c.Fuel, CPU: c.CPU}
}

// ToVouch is what a worker vouches for of a state that it leaves, with that hash, if its run had
// that chain.
func (c *Checkpoint) ToVouch(id task.TaskID, hash [sha256.Size]byte, chain []task.Link) task.State {
	s := c.State(id)
	s.Hash, s.Prior = hash[:], task.PriorOf(chain)
	return s
}

// Vouched returns nil if a worker that had a lease of the task vouches for a checkpoint, and
// its work can have been done by now. Who gave the lease is for the caller to look at.
func (c *Checkpoint) Vouched(id task.TaskID, now time.Time) error {
	if c.Voucher == nil {
		return errors.New("nobody vouches for it")
	}
	if r := &c.Voucher.Receipt; !r.Plausible(c.Fuel, now) {
		return fmt.Errorf("no machine does work of %d since %d, when the first lease of it was given", c.Fuel, r.Begun())
	}
	return c.Voucher.Verify(c.State(id))
}

// VouchedWhole is Vouched, and checks that all said so who left the states before it: who answers for
// a replica is what its line shows.
func (c *Checkpoint) VouchedWhole(id task.TaskID, now time.Time) error {
	if err := c.Vouched(id, now); err != nil {
		return err
	}
	return task.VerifyChain(id, c.Chain())
}

// signature is that of who vouches for it, nil for nobody's.
func (c *Checkpoint) signature() []byte {
	if c.Voucher == nil {
		return nil
	}
	return c.Voucher.Signature
}

func compareCheckpoints(a, b *Checkpoint) int {
	return cmp.Or(cmp.Compare(a.Fuel, b.Fuel), cmp.Compare(b.CID, a.CID), cmp.Compare(b.CPU, a.CPU),
		bytes.Compare(a.signature(), b.signature()))
}
