package sandbox

import (
	"context"
	"time"

	"godwit/sandbox/freeze"
	"godwit/task"
)

// note hashes the state of a guest that is at a boundary, and stands still for as long. Where states are kept the
// blocks that changed are sent, else nothing but the hash. A state that cannot be described has none.
func (x *execution) note(ctx context.Context, m *freeze.Machine) error {
	fuel, before := m.Fuel(), x.noted
	x.noted = fuel
	m.NoteEvery(spacingAfter(x.req.Spacing, fuel), x.note)
	if !task.Crosses(before, fuel, task.SpacingAt(x.req.Spacing, fuel)) {
		return nil // it would be forgotten at once
	}
	x.boundaries++
	x.mishapBefore(x.boundaries)
	kept := x.req.Keeps && !x.mail.hasEnough()
	state, err := x.stateHere(ctx, kept)
	if err != nil {
		return nil
	}
	m.WhenGoesOn(func(still time.Duration) { // a parent that is gone ends the child anyway
		_ = x.out.event(event{Boundary: &boundary{Fuel: fuel, Kept: kept, Pause: still}}, state)
	})
	if x.awaited.Swap(false) {
		return x.save(ctx, m)
	}
	x.tidy()
	return nil
}

// stateHere is the hash of the guest's state, or, where that is kept, its manifest, once the blocks are sent. A
// checkpoint that is under way is waited for then, and what is done ahead of one ends, and is of use.
func (x *execution) stateHere(ctx context.Context, kept bool) ([]byte, error) {
	if !kept {
		h, err := x.hash(ctx)
		return h[:], err
	}
	x.ready.halt()
	defer x.ready.letGo()
	x.writing.Wait()
	return x.described(ctx)
}

// noteBoundaries has the boundaries noted from here on, if the parent wants any.
func (x *execution) noteBoundaries() {
	if x.req.Spacing > 0 {
		x.noted = x.machine.Fuel()
		x.machine.NoteEvery(spacingAfter(x.req.Spacing, x.noted), x.note)
	}
	x.mishap()
}

// hashesEnd reports whether the parent wants the state at the end.
func (x *execution) hashesEnd() bool {
	return x.req.Hash || x.req.Spacing > 0 && longEnough(x.req.Spacing, x.machine.Fuel())
}

// tracks reports whether it pays to know what the guest writes.
func (r *runReq) tracks() bool { return r.Saves || r.Spacing > 0 }
