package overlay

import "time"

const (
	// lagSlack is the lateness that says nothing: what a renewal may be late by (LeaseTime).
	lagSlack = RenewEvery / 4
	// lagTurns is how often a process has to get the processor until a question is answered: on a
	// new connection each side shakes hands twice, reads, and has its loop take the question or
	// the answer in. Each time it waits as long as its lag, as the other does on the same machine.
	lagTurns = 6
	// lagFades is in how many ticks on time, of a second each, a lag is nearly forgotten.
	lagFades = 8
)

// A lag is by how much a process comes late to what is due. One that stands still for long, as
// a machine that sleeps does, is told by strain; this is of one that runs, but slowly, each time: as
// all do where hundreds share a processor. Silence within what the lag explains is no evidence of
// anything. The zero value is a process that is on time.
type lag time.Duration

// note takes in by how much a tick came late.
func (l *lag) note(late time.Duration) {
	if late > lagSlack && late < RenewEvery {
		*l = max(*l, lag(late))
		return
	}
	if *l -= *l / lagFades; time.Duration(*l) < lagSlack/lagFades {
		*l = 0
	}
}

// allowance is what a question may take longer for it.
func (l lag) allowance() time.Duration { return lagTurns * time.Duration(l) }
