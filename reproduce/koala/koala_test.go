package koala

import (
	"testing"

	"godwit/reproduce"
)

// TestKoala runs what Grundeken 2009 published: nothing may differ without a
// reason.
func TestKoala(t *testing.T) {
	for _, e := range Experiments() {
		t.Run(e.Name, func(t *testing.T) {
			r, err := e.Run(reproduce.Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Cells {
				t.Logf("%s: %s: published %s, obtained %s: %s (%s)", c.Experiment, c.Cell, c.Published, c.Obtained, c.Verdict,
					c.Note)
				if c.Unexplained() {
					t.Errorf("%s: published %s, obtained %s: %s", c.Cell, c.Published, c.Obtained, c.Verdict)
				}
			}
		})
	}
}
