package simulation

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// The model says of the runs what they came to, also of the largest when it is fitted to the other two.
func TestModelFitsRuns(t *testing.T) {
	largest := len(fittedRuns) - 1
	for _, c := range []struct {
		name string
		m    model
		of   []cellRun
		most float64 // relative error of summaries, of which there are few
	}{
		{"all", fitModel(fittedRuns), fittedRuns, .2},
		{"the largest left out", fitModel(fittedRuns[:largest]), fittedRuns[largest:], .25},
	} {
		for i := range c.of {
			got, want := c.m.of(c.of[i]), c.of[i].scale()
			near := func(what string, got, want, most float64) {
				if math.Abs(got/want-1) > most {
					t.Errorf("%s: of %d hosts the model has %.4g %s, the run %.4g", c.name, c.of[i].hosts, got, what, want)
				}
			}
			near("adverts an hour", got.Adverts, want.Adverts, .1)
			near("messages a second", got.Messages, want.Messages, .1)
			near("tasks placed a second", got.Placed, want.Placed, .1)
			near("summaries an hour", got.Summaries, want.Summaries, c.most)
		}
	}
}

// A member of a larger overlay hears no more adverts, for its cell is no larger; a leader hears of more cells.
func TestModelOfMany(t *testing.T) {
	m := fitModel(fittedRuns)
	few, many := m.lasting(askedMembers/4, askedCells/4), m.lasting(askedMembers, askedCells)
	if few.Adverts != many.Adverts || few.Messages != many.Messages {
		t.Errorf("a member hears %.4g and %.4g adverts an hour, and %.4g and %.4g messages", few.Adverts, many.Adverts,
			few.Messages, many.Messages)
	}
	if many.Summaries <= few.Summaries || math.Abs(many.Placed/few.Placed-4) > 1e-9 {
		t.Errorf("from %+v to %+v", few, many)
	}
	if nothing := (&cellRun{}).scale(); nothing != (scale{}) || m.of(cellRun{}) != (scale{}) {
		t.Errorf("of no run: %+v", nothing)
	}
	if none := fitModel(nil); none != (model{}) {
		t.Errorf("fitted to nothing: %+v", none)
	}
}

// The table has a line for each run, one of the model under it, and that of the overlay that no run has.
func TestPrintScale(t *testing.T) {
	var b bytes.Buffer
	if err := printScale(&b, nil); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "model  "); got != len(fittedRuns)+1 {
		t.Errorf("%d lines of the model in\n%s", got, b.String())
	}
	if !strings.Contains(b.String(), " 100000  256.0 ") {
		t.Errorf("nothing of 100,000 members in\n%s", b.String())
	}
	if got := cellsPicture("out/a.b.svg"); got != "out/a.b-cells.svg" {
		t.Errorf("drawn to %s", got)
	}
}
