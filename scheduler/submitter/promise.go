package submitter

import (
	"fmt"

	"godwit/credibility"
	"godwit/task"
)

// liarsIn is for which part of wrong results a job's promise is told: one worker in five invents all of its results.
const liarsIn = 5

// Promise tells people how likely it is that wrong results of a job of so many tasks remain unnoticed. least is the
// share that the overlay has checked at least.
func Promise(v *task.Verify, least float64, tasks uint64) string {
	switch {
	case v == nil:
		return "results are not checked: what workers signed is delivered as it is"
	case v.Target() > 0:
		return fmt.Sprintf("of results that are accepted, the chance of each to be wrong is at most %g, by what is known of "+
			"their workers", v.Target())
	case v.Share() >= 1:
		return "every result is checked: a wrong one is accepted only if this machine errs as well, or known workers agree on it"
	}
	checks := credibility.Checks(tasks, max(v.Share(), least))
	wrong := max(1, tasks/liarsIn)
	return fmt.Sprintf("if one worker in %d invents its results, the chance that none of at least %d checks notices it is %.2g %%; "+
		"strangers' results that were not checked stay \"unchecked\"", liarsIn, checks,
		100*credibility.Unnoticed(tasks, checks, wrong))
}
