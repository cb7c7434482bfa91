package published

import (
	"strings"
	"testing"

	"godwit/reproduce"
)

// TestTotalsLeaveOutFittedAndUnpublished: fitted and unpublished figures are listed beside
// the totals, never in them.
func TestTotalsLeaveOutFittedAndUnpublished(t *testing.T) {
	cell := func(v reproduce.Verdict) reproduce.Cell { return reproduce.Cell{Verdict: v, Note: "note"} }
	for _, tt := range []struct {
		cells []reproduce.Cell
		want  string
	}{
		{[]reproduce.Cell{cell(reproduce.Equal), cell(reproduce.Within), cell(reproduce.Fitted), cell(reproduce.Unpublished),
			cell(reproduce.Unpublished)},
			"2 figures: 1 equal, 1 within, 0 direction, 0 differs, 0 unrecoverable; 0 of those that differ are not explained\n" +
				"not counted: 1 fitted, 2 unpublished, 0 missed\n"},
		{[]reproduce.Cell{cell(reproduce.Direction), {Verdict: reproduce.Differs}},
			"2 figures: 0 equal, 0 within, 1 direction, 1 differs, 0 unrecoverable; 1 of those that differ are not explained\n"},
	} {
		var out strings.Builder
		printVerdicts(&out, tt.cells)
		if out.String() != tt.want {
			t.Errorf("got %q, want %q", out.String(), tt.want)
		}
	}
}
