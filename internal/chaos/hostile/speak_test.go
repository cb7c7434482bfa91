package hostile

import (
	"testing"

	"godwit/task"
)

// What strangers sign bears: a node finds no fault but what was put into it.
func TestSignatures(t *testing.T) {
	key := newKey()
	rec, err := record(key, "overlay", 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	if j, err := rec.Open(); err != nil || j.Sweep.Count() != 3 {
		t.Errorf("a record does not open as a job of three tasks: %v", err)
	}
	r, err := signedBy(key, saying(rec.ID(), 1, "forged"))
	if err != nil || r.Verify() != nil {
		t.Errorf("a result does not verify: %v, %v", err, r.Verify())
	}
	r.Outcome = task.Trapped
	if r.Verify() == nil {
		t.Error("another result verifies")
	}
}
