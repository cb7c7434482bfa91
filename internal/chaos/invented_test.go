package main

import "testing"

// TestBelieved: a wrong result counts as delivered as right if it is accepted or final, or if its job is not
// checked at all.
func TestBelieved(t *testing.T) {
	h := harvest{right: map[string]int{"final": 7}, wrong: map[string]int{"": 1, "accepted": 2, "final": 4, "held": 8,
		"unchecked": 16, "doubted": 32, "replaced": 64}}
	if got := h.believed(); got != 7 {
		t.Errorf("%d wrong results are believed, want 7", got)
	}
}
