package overlay

import (
	"strings"
	"testing"
)

// What a version ends with says what its program reads, in whatever order a node has said it, and the version is
// told without that. A version without room for it stays as it is, and so does what it says.
func TestMarks(t *testing.T) {
	for _, version := range []string{"", "1.2.3", "1.2.3+dirty", strings.Repeat("v", MaxVersion-len(togetherMark))} {
		a := Advert{Version: version}
		a.MarkTogether()
		a.MarkTogether()
		if !a.ReadsTogether() || a.KnowsCells() || a.Program() != version {
			t.Errorf("%q became %q", version, a.Version)
		}
		room := len(a.Version)+len(cellsMark) <= MaxVersion
		a.MarkCells()
		a.MarkCells()
		a.MarkTogether()
		if !a.ReadsTogether() || a.KnowsCells() != room || a.Program() != version || len(a.Version) > MaxVersion {
			t.Errorf("%q became %q", version, a.Version)
		}
	}
	full := Advert{Version: strings.Repeat("v", MaxVersion)}
	if full.MarkTogether(); full.ReadsTogether() || len(full.Version) != MaxVersion {
		t.Errorf("a version without room became %q", full.Version)
	}
	before := Advert{Version: "1.2.3" + cellsMark}
	if before.ReadsTogether() || !before.KnowsCells() || before.Program() != "1.2.3" {
		t.Errorf("a node of before reads %v", before.ReadsTogether())
	}
}
