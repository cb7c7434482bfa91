package sandbox

import (
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
