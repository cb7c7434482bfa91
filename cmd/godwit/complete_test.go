package main

import (
	"slices"
	"testing"
)

// TestPlainWords: whoever names an overlay types nothing into others' shells.
func TestPlainWords(t *testing.T) {
	got := plainWords([]string{"commons", "a b", "$(reboot)", "x;y", "-rf", "a\tb", "a\nb", "`id`",
		"\u202elab", "", "lab-2.x"})
	if want := []string{"commons", "lab-2.x"}; !slices.Equal(got, want) {
		t.Errorf("offered %q, want %q", got, want)
	}
}
