package sandbox

import (
	"context"
	"time"

	"godwit/sandbox/freeze"
)

// note hashes the state of a guest that is at a boundary, and stands still for as long. Nothing of it is sent but the
// hash. A state that cannot be described has none.
func (x *execution) note(ctx context.Context, m *freeze.Machine) error {
	fuel, before := m.Fuel(), x.noted
	x.noted = fuel
	m.NoteEvery(spacingAfter(x.req.Spacing, fuel), x.note)
	if !crosses(before, fuel, spacingAt(x.req.Spacing, fuel)) {
		return nil // it would be forgotten at once
	}
	h, err := x.hash(ctx)
	if err != nil {
		return nil
	}
	m.WhenGoesOn(func(still time.Duration) { // a parent that is gone ends the child anyway
		_ = x.out.event(event{Boundary: &boundary{Fuel: fuel, Pause: still}}, h[:])
	})
	x.tidy()
	return nil
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
