package sandbox

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"godwit/task"
)

// boundary takes a boundary in, with its state where the parent keeps that.
func (v *conversation) boundary(b *boundary, body []byte) error {
	at := task.Boundary{Fuel: b.Fuel}
	switch {
	case b.Kept:
		if !v.t.keeps() {
			return errors.New("the sandbox process sent the state at a boundary that no one asked for")
		}
		man, _, err := v.complete(body)
		if err != nil {
			return err
		}
		if man.State.Fuel != b.Fuel {
			return fmt.Errorf("the sandbox process sent the state at fuel %d for a boundary at %d", man.State.Fuel, b.Fuel)
		}
		at.State = sha256.Sum256(body)
		v.blocks = 0
	case len(body) != sha256.Size:
		return fmt.Errorf("the sandbox process sent a boundary with a state of %d bytes", len(body))
	default:
		at.State = [sha256.Size]byte(body)
	}
	if err := v.trail.add(at, min(b.Pause, time.Since(v.since))); err != nil {
		return err
	}
	if v.t.OnBoundary != nil {
		v.t.OnBoundary(at)
	}
	if b.Kept && !v.enough && !v.t.OnState(at, body) {
		v.enough = true
		_ = v.tell(request{Order: &order{Enough: true}}) // a child that is gone is noticed elsewhere
	}
	return nil
}

// keeps reports whether the states at boundaries are wanted.
func (t *Task) keeps() bool { return t.OnState != nil && t.Pages != nil && t.Spacing > 0 }
