package exec

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"godwit/blocks"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// partLeast is how long a state may take to come in any case; else half as long as the part
	// takes to run from it. Where it takes longer the whole task is run again, for about as much.
	partLeast = 2 * time.Second
	partShare = 2
	// stateSpare is what a state may have beside memory and files: its manifest.
	stateSpare = maxManifest + task.MaxOutputBytes
	// beganMost is how long a state may take to come that a run begins with.
	beganMost = 2 * time.Minute
)

// ErrRefused is wrapped by Host.States where the worker was there, and did not name the states.
var ErrRefused = errors.New("node: the worker names no states")

// errFalse is wrapped by errors about states that are not those that their worker signed.
var errFalse = errors.New("what the worker kept is not what it signed")

// A broughtPart is what comes of bringing a part here; the zero value is of a whole task.
type broughtPart struct {
	part     *message.Part // with the states that the worker named; nil for none
	state    *State        // that it begins with; nil for the task's beginning
	stopAt   uint64
	release  func() // of the blocks of the state; nil for none
	unserved string
	refused  bool
	lost     bool
}

// drop gives up what was brought.
func (b *broughtPart) drop() {
	if b.release != nil {
		b.release()
	}
}

// bringPart brings the state here that a part begins with, as its worker kept it. It costs no more
// than the part is worth, whatever the worker does.
func (u *audit) bringPart(ctx context.Context, x *Executor, job *Job) (b broughtPart) {
	switch {
	case u.From != nil:
		return u.bringBegan(ctx, x, job)
	case u.Part == nil:
		return b
	}
	if u.signed == nil || u.signed.Trail == nil || u.Part.First < 0 || u.Part.First > u.Part.Last ||
		u.Part.Last >= u.signed.Trail.Intervals(job.spec.Spacing()) {
		b.unserved = "it has no such part"
		return b
	}
	part := *u.Part
	b.part = &part
	fuel := u.signed.Trail.Fuel / uint64(u.signed.Trail.Boundaries+1) * uint64(part.Last-part.First+1)
	takes := time.Duration(float64(fuel) / task.ReferenceFuel / x.speed() * float64(time.Second))
	within, cancel := context.WithTimeout(ctx, max(partLeast, takes/partShare))
	defer cancel()
	err := b.namePart(within, x, u, job.spec.Spacing())
	if err == nil {
		err = b.fetchPart(within, x, u, job)
	}
	if err != nil {
		b.unserved = task.ClipMessage(err.Error())
		late := within.Err() != nil
		b.refused = !late && (errors.Is(err, ErrRefused) || errors.Is(err, errFalse) || errors.Is(err, errBad))
		b.lost = !late && errors.Is(err, ErrLost)
	}
	return b
}

// bringBegan brings the state that a run begins with.
func (u *audit) bringBegan(ctx context.Context, x *Executor, job *Job) (b broughtPart) {
	within, cancel := context.WithTimeout(ctx, beganMost)
	defer cancel()
	if err := b.fetch(within, x, job, *u.From); err != nil {
		b.unserved = task.ClipMessage(err.Error())
	}
	return b
}

// speed is that of a core, relative to the reference core; 1 where it is unknown.
func (c *core) speed() float64 {
	s := 0.0
	_ = c.Host.Do(c.ctx, func() { s = c.Host.Speed() })
	if !(s > 0) {
		return 1
	}
	return s
}

// namePart asks the worker what it kept, unless that is known, and checks that it has signed it.
func (b *broughtPart) namePart(ctx context.Context, x *Executor, u *audit, spacing uint64) (err error) {
	t, part := u.signed.Trail, b.part
	if part.States == nil {
		if part.States, err = x.Host.States(ctx, u.of, u.signed); err != nil {
			return err
		}
	}
	of := part.States.Boundaries()
	if err := t.CheckBoundaries(of, spacing); err != nil {
		return fmt.Errorf("%w: %w", errFalse, err)
	}
	if part.Seek != nil {
		part.First = parted(of, part.Seek)
		part.Last = part.First
	}
	for part.First > 0 && part.States.States[part.First-1].CID == "" {
		part.First-- // the worker had room for fewer states: the part begins earlier
	}
	if part.Last < len(of) {
		b.stopAt = of[part.Last].Fuel
	}
	return nil
}

// fetchPart brings the state, of which the hash must be the one that was signed.
func (b *broughtPart) fetchPart(ctx context.Context, x *Executor, u *audit, job *Job) error {
	if b.part.First == 0 {
		if chain := u.signed.Trail.Began; b.part.Seek != nil && len(chain) > 0 {
			return b.fetch(ctx, x, job, message.Began{Fuel: chain[0].Fuel, Hash: chain[0].Voucher.Hash, CID: chain[0].CID,
				Holders: []task.PeerID{u.signed.Worker, chain[0].Voucher.Worker}})
		}
		return nil
	}
	before := &b.part.States.States[b.part.First-1]
	return b.fetch(ctx, x, job, message.Began{Fuel: before.Fuel, Hash: before.Hash, CID: before.CID,
		Holders: []task.PeerID{u.signed.Worker}})
}

// fetch brings a state, of which the hash must be the one that was signed.
func (b *broughtPart) fetch(ctx context.Context, x *Executor, job *Job, s message.Began) error {
	if s.CID == "" {
		return errors.New("nobody says where the state is")
	}
	_, most := job.spec.Memories()
	most += stateSpare
	if s.Most > 0 { // somebody else's
		most = min(most, s.Most)
		if err := x.Content.MakeRoom(ctx, most, false); err != nil {
			return err
		}
	}
	root := blocks.Root{CID: s.CID, Bound: blocks.AtMost(most)}
	b.release = x.Content.Hold([]task.CID{s.CID})
	pages := x.newPages(x.ctx, job.sealer)
	manifest, err := x.bringState(ctx, root, s.Holders, pages)
	if err != nil {
		return err
	}
	if h := sha256.Sum256(manifest); string(h[:]) != string(s.Hash) {
		return fmt.Errorf("%w: the state at fuel %d has another hash", errFalse, s.Fuel)
	}
	b.state = &State{From: manifest, Pages: pages}
	return nil
}

// parted returns the first interval of a run that ends in another state than one that came to some
// boundaries, or the last.
func parted(of, came []task.Boundary) int {
	for k, b := range of {
		if !slices.Contains(came, b) {
			return k
		}
	}
	return len(of)
}

// unthawed notes that the state of a part was refused by the sandbox, though it is what was signed.
func (u *audit) unthawed(err error) {
	if u.brought.state != nil && errors.Is(err, sandbox.ErrCheckpoint) {
		u.heard.Unserved, u.heard.Refused = task.ClipMessage(err.Error()), true
	}
}
