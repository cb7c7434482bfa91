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
	asked    int // the leg whose worker was asked last
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
		u.Part.Last >= u.signed.Trail.LegIntervals(u.Part.Leg, job.spec.Spacing()) {
		b.unserved = "it has no such part"
		return b
	}
	part := *u.Part
	b.part = &part
	leg := u.signed.Trail.Leg(part.Leg)
	fuel := leg.Fuel
	if u.signed.Trail.Legs(job.spec.Spacing()) != nil {
		fuel -= leg.Base()
	}
	fuel = fuel / uint64(leg.Boundaries+1) * uint64(part.Last-part.First+1)
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

// nameLeg asks the worker of a leg what it kept, unless it came to no boundary, and checks that it has signed it.
func (b *broughtPart) nameLeg(ctx context.Context, x *Executor, u *audit, leg int, spacing uint64) (
	kept *task.KeptStates, err error) {
	r := u.signed.Leg(leg)
	if r.Trail.Boundaries == 0 {
		return &task.KeptStates{}, nil
	}
	b.asked = leg
	if kept, err = x.Host.States(ctx, u.of, r); err != nil {
		return nil, err
	}
	if err := r.Trail.CheckBoundaries(kept.Boundaries(), spacing); err != nil {
		return nil, fmt.Errorf("%w: %w", errFalse, err)
	}
	return kept, nil
}

// namePart brings what is known of the states of a part's leg, unless it is here.
func (b *broughtPart) namePart(ctx context.Context, x *Executor, u *audit, spacing uint64) (err error) {
	part := b.part
	b.asked = part.Leg
	if part.States == nil {
		if part.States, err = b.nameLeg(ctx, x, u, part.Leg, spacing); err != nil {
			return err
		}
	}
	of := part.States.Boundaries()
	if err := u.signed.Trail.Leg(part.Leg).CheckBoundaries(of, spacing); err != nil {
		return fmt.Errorf("%w: %w", errFalse, err)
	}
	if part.Seek != nil {
		fuel := u.signed.Trail.Fuel
		for _, b := range part.Seek {
			fuel = max(fuel, b.Fuel)
		}
		base := u.signed.Trail.Leg(part.Leg).Base()
		part.First, part.Last = parted(of, part.Seek, base, task.SpacingAt(spacing, fuel))
	}
	for part.First > 0 && part.States.States[part.First-1].CID == "" {
		part.First-- // the worker had room for fewer states: the part begins earlier
	}
	switch {
	case part.Last < len(of):
		b.stopAt = of[part.Last].Fuel
	case part.Leg > 0:
		b.stopAt = u.signed.Trail.Leg(part.Leg).Fuel
	}
	for part.First > 0 && b.stopAt > 0 && of[part.First-1].Fuel >= b.stopAt {
		part.First-- // the leg ends at its last boundary
	}
	return nil
}

// fetchPart brings the state, of which the hash must be the one that was signed.
func (b *broughtPart) fetchPart(ctx context.Context, x *Executor, u *audit, job *Job) error {
	leg := u.signed.Leg(b.part.Leg)
	if b.part.First > 0 {
		return b.fetchKept(ctx, x, job, leg.Worker, &b.part.States.States[b.part.First-1])
	}
	if chain := leg.Trail.Began; b.part.Seek != nil && len(chain) > 0 {
		return b.fetch(ctx, x, job, message.Began{Fuel: chain[0].Fuel, Hash: chain[0].Voucher.Hash, CID: chain[0].CID,
			Holders: []task.PeerID{leg.Worker, chain[0].Voucher.Worker}})
	}
	if u.signed.Trail.Legs(job.spec.Spacing()) == nil {
		return nil
	}
	return b.fetchBefore(ctx, x, u, job)
}

// fetchBefore brings the last state that a worker kept before the leg of a part began: the one with which that began
// was perhaps never stored, and nobody keeps it. Where there is none the part begins with the task.
func (b *broughtPart) fetchBefore(ctx context.Context, x *Executor, u *audit, job *Job) error {
	for leg := b.part.Leg + 1; leg <= len(u.signed.Trail.Began); leg++ {
		kept, err := b.nameLeg(ctx, x, u, leg, job.spec.Spacing())
		if err != nil {
			return err
		}
		for i := len(kept.States) - 1; i >= 0; i-- {
			if s := &kept.States[i]; s.CID != "" && (b.stopAt == 0 || s.Fuel < b.stopAt) {
				return b.fetchKept(ctx, x, job, u.signed.Leg(leg).Worker, s)
			}
		}
	}
	return nil
}

// fetchKept brings a state that a worker kept.
func (b *broughtPart) fetchKept(ctx context.Context, x *Executor, job *Job, by task.PeerID, s *task.KeptState) error {
	return b.fetch(ctx, x, job, message.Began{Fuel: s.Fuel, Hash: s.Hash, CID: s.CID, Holders: []task.PeerID{by}})
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

// parted returns the intervals of a run that began before these in which it parts from one that came to some
// boundaries, or the last. Those may lie further apart, at that spacing: then they are several.
func parted(of, came []task.Boundary, before, spacing uint64) (first, last int) {
	for k, b := range of {
		crosses := task.Crosses(before, b.Fuel, spacing)
		before = b.Fuel
		switch {
		case slices.Contains(came, b):
			first = k + 1
		case crosses:
			return first, k
		}
	}
	return first, len(of)
}

// unthawed notes that the state of a part was refused by the sandbox, though it is what was signed.
func (u *audit) unthawed(err error) {
	if u.brought.state != nil && errors.Is(err, sandbox.ErrCheckpoint) {
		u.heard.Unserved, u.heard.Refused = task.ClipMessage(err.Error()), true
	}
}
