package spec

import (
	"strings"
	"testing"
)

func TestDeclare(t *testing.T) {
	for _, tt := range []struct {
		name, params string
		taken        bool
		problem      string
	}{
		{"flp", "lambda wait", false, ""},
		{"equipartition-all", "", false, ""},
		{"tde5", " missing_days ", false, ""},
		{"", "", false, "is no name"},
		{"5tde", "", false, "is no name"},
		{"a:b", "", false, "is no name"},
		{"Flp", "", false, "is no name"},
		{"naïve", "", false, "is no name"},
		{strings.Repeat("a", longestName+1), "", false, "is no name"},
		{"flp", "", true, "twice"},
		{"flp", "a=b", false, `parameter "a=b" is no name`},
		{"flp", "a b a", false, "parameter a is there twice"},
	} {
		got := ""
		func() {
			defer func() {
				if r := recover(); r != nil {
					got = r.(string)
				}
			}()
			Declare("room", tt.name, tt.params, tt.taken)
		}()
		if tt.problem == "" && got != "" || tt.problem != "" &&
			(!strings.HasPrefix(got, "room: ") || !strings.Contains(got, tt.problem)) {
			t.Errorf("%q %q: got %q, want %q", tt.name, tt.params, got, tt.problem)
		}
	}
}
