package exec

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"godwit/migrate/handover"
	"godwit/scheduler/message"
	"godwit/task"
)

// A word is what this node says of a state that it hands over, for the Round or Final that brings
// it: nobody goes on from what no worker answers for.
type word struct {
	Voucher task.Voucher `cbor:"1,keyasint"`
	// Before is the chain that the run went on from itself: see task.Link.
	Before []task.Link `cbor:"2,keyasint,omitempty"`
}

// wordOf is what this node says of a state of an attempt; nil where the lease has no receipt, as in an
// overlay of one.
func (c *core) wordOf(a *attempt, by *saving, s snapshot) []byte {
	if a.receipt == nil {
		return nil
	}
	hash := sha256.Sum256(s.manifest)
	state := task.State{Task: a.name.Task, Fuel: s.fuel, CPU: s.cpu, Hash: hash[:]}
	a.vouches(&state)
	if of := by.vouches(&state); by.keeps != nil {
		c.kept.tell(by.keeps, of)
	}
	v, err := task.Vouch(c.Key, a.receipt, state)
	var body []byte
	if err == nil {
		body, err = task.Encode(&word{*v, a.shown(by.chain)})
	}
	if err == nil && len(body) > handover.MaxWord { // of a chain that is long, and whose state many agree on
		body, err = task.Encode(&word{*v, plain(a.shown(by.chain))})
	}
	if err != nil {
		c.Log.Error("vouching for a state that is handed over", "task", a.name.Task.String(), "err", err)
	}
	return body
}

// chainOf reads the word of who hands a state over, and returns the chain of a run that goes on
// from it. It checks nothing: see checkWord.
func chainOf(body []byte, s snapshot) ([]task.Link, error) {
	var w word
	if err := task.Decode(body, &w); err != nil {
		return nil, fmt.Errorf("reading the word of who hands the state over: %w", err)
	}
	if len(w.Before) >= task.MaxChain {
		return nil, fmt.Errorf("it names %d states before it, the most is %d", len(w.Before), task.MaxChain-1)
	}
	return task.ChainOn(task.Link{Fuel: s.fuel, CPU: s.cpu, Voucher: w.Voucher}, w.Before), nil
}

// believed is a chain without what it says that replicas agree on, unless as many do as the job asks for, by words
// that they signed: who answers for a run says so itself, and believes no leader.
func believed(job *task.Job, id task.TaskID, chain []task.Link) []task.Link {
	agreed := func(l task.Link) bool { return len(l.With) > 0 }
	if !slices.ContainsFunc(chain, agreed) ||
		job != nil && task.CheckAgreed(job, chain) == nil && task.VerifyChain(id, chain) == nil {
		return chain
	}
	return plain(chain)
}

// plain is a chain without what it says that replicas agree on.
func plain(chain []task.Link) []task.Link {
	chain = slices.Clone(chain)
	for k := range chain {
		chain[k].With = nil
	}
	return chain
}

// checkWord refuses a state that its source does not answer for, or that an attempt does not go on from.
func checkWord(body []byte, a *attempt, from task.PeerID, s snapshot) error {
	chain, err := chainOf(body, s)
	if err != nil {
		return err
	}
	var job *task.Job
	if a.job != nil {
		job = a.job.spec
	}
	chain = believed(job, a.name.Task, chain)
	if by := chain[0].Voucher.Worker; by != from {
		return fmt.Errorf("the word is %s's", by)
	}
	if err := a.mayGoOn(chain); err != nil {
		return err
	}
	return checkChain(a.name.Task, chain, s.manifest)
}

// chainFrom returns the chain of a run of a job's task that goes on from a checkpoint, whose manifest was fetched.
func chainFrom(job *task.Job, id task.TaskID, c *message.Checkpoint, manifest []byte) ([]task.Link, error) {
	if c.Voucher == nil {
		return nil, errors.New("nobody vouches for it")
	}
	chain := believed(job, id, c.Chain())
	if err := checkChain(id, chain, manifest); err != nil {
		return nil, fmt.Errorf("%w: %w", errBad, err)
	}
	return chain, nil
}

// checkChain checks that the first state of a chain is the one with that manifest.
func checkChain(id task.TaskID, chain []task.Link, manifest []byte) error {
	if hash := sha256.Sum256(manifest); !bytes.Equal(chain[0].Voucher.Hash, hash[:]) {
		return errors.New("the state is not the one that its worker vouched for")
	}
	return task.VerifyChain(id, chain)
}
