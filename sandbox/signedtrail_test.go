package sandbox

import (
	"bytes"
	"testing"

	"godwit/sandbox/freeze"
	"godwit/task"
)

// Of an end that the machine may have brought about, no trail is signed.
func TestSignedTrail(t *testing.T) {
	for o := task.OutcomeUnknown; o <= task.HostError; o++ {
		own := o == task.Completed || o.OwnFault() && o != task.TimedOut
		got := (&Report{Outcome: o, Fuel: 9}).SignedTrail()
		if (got != nil) != own || own && (got.Fuel != 9 || got.Pass != freeze.PassVersion) {
			t.Errorf("%v: %+v", o, got)
		}
		if (&Report{Outcome: o}).SignedTrail() != nil {
			t.Errorf("%v: a trail without fuel", o)
		}
	}
}

// A task that is long enough signs its last state and its boundaries; a shorter one does not, even
// where its state was asked for.
func TestSignedTrailOfLongTask(t *testing.T) {
	const long = task.MinIntervals * task.DefaultSpacing
	way := []task.Boundary{{Fuel: task.DefaultSpacing, State: [32]byte{1}}, {Fuel: long, State: [32]byte{2}}}
	got := (&Report{Outcome: task.Completed, Fuel: long, StateHash: [32]byte{3}, Trail: way}).SignedTrail()
	if got.Last[0] != 3 || got.Boundaries != 2 || !bytes.Equal(got.Root, task.TrailRoot(way)) {
		t.Errorf("%+v", got)
	}
	got = (&Report{Outcome: task.Completed, Fuel: long - 1, StateHash: [32]byte{3}}).SignedTrail()
	if got.Last != nil || got.Boundaries != 0 || got.Root != nil {
		t.Errorf("of a short task: %+v", got)
	}
	if got = (&Report{Outcome: task.Completed, Fuel: long}).SignedTrail(); got.Last != nil {
		t.Errorf("of a state that cannot be described: %+v", got)
	}
}
