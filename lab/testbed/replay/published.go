package replay

import (
	"fmt"
	"io"
)

// printPublished writes the decisions of each run, and then the table.
func (reps runs) printPublished(w io.Writer) error {
	for _, rep := range reps {
		fmt.Fprintln(w, rep.name)
		rep.printHead(w)
		rep.printDecisions(w)
		fmt.Fprintln(w)
	}
	reps.printCounted(w)
	return nil
}

// checkForecasts returns an error if a policy decided without the forecast that it wanted.
func (reps runs) checkForecasts() error {
	for _, rep := range reps {
		if c := rep.Counted; c != nil && c.Fallback > 0 {
			return fmt.Errorf("%s: %d of %d decisions had no forecast, want 0 (the nodes may be too slow to gossip before the "+
				"first job: give a lower --speedup or --at-once 1)", rep.name, c.Fallback, c.Decisions)
		}
	}
	return nil
}
