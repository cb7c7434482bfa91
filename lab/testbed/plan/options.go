package plan

import (
	"time"

	"godwit/internal/failure"
	"godwit/scheduler/place"
)

// Options describe what a swarm replays.
type Options struct {
	Classes bool // of a scenario that imposes rates by class: a node for each of its machines

	Trace      string
	Scenario   string // file; "" for the flags'
	From       time.Duration
	Speedup    float64
	Minutes    float64
	JobSize    time.Duration
	Arrival    time.Duration
	Policy     string
	Migration  string
	Predictor  string        // as the rules of an overlay name it; "" is the default
	Past       time.Duration // whole days of history that each node has at the start; 0 means none
	Every      time.Duration // between checkpoints; 0: none on the way
	Ends       string
	JobsFile   string // "": jobs are drawn
	CompareSim bool

	MinutesGiven bool // else a scenario's end goes before minutes
}

// MaxSpeedup and MaxMinutes bound what makes sense on one machine.
const (
	MaxSpeedup = 100_000
	MaxMinutes = 7 * 24 * 60
	// Speedup and Minutes replay forty hours.
	Speedup, Minutes = 600, 4
	// JobSize is ten minutes: short against the times that hosts stay.
	JobSize = 10 * time.Minute
	// busyShare is how much of the time that hosts are available the work asks
	// for when no --arrival is given: enough to keep them busy, and little enough
	// that the queue does not only grow.
	busyShare = 0.5
	// usualGrace is how long a stopped task waits, as owner.Default has it.
	usualGrace = 10 * time.Minute
	// NoMigration names the migration policy that moves nothing.
	NoMigration = "none"
)

// ForClasses returns the default options for a scenario with rates of classes.
func ForClasses(file string) Options {
	return Options{Classes: true, Scenario: file, Speedup: Speedup, Minutes: Minutes, JobSize: JobSize,
		Policy: place.Default, Migration: NoMigration, Ends: EndAsTraced}
}

// Check refuses what cannot be replayed.
func (f *Options) Check() error {
	switch {
	case f.Classes && f.Scenario == "":
		return failure.Usage("name the file with --scenario", "which classes?")
	case f.Trace == "" && f.Scenario == "":
		return failure.Usage("name a file with --trace or --scenario", "what is to be replayed?")
	case !(f.Speedup >= 1 && f.Speedup <= MaxSpeedup):
		return failure.Usage("", "--speedup %v: give 1 to %d", f.Speedup, MaxSpeedup)
	case !(f.Minutes > 0 && f.Minutes <= MaxMinutes):
		return failure.Usage("", "--minutes %v: give more than 0, at most %d", f.Minutes, MaxMinutes)
	case f.JobSize <= 0 || f.Arrival < 0 || f.From < 0 || f.Every < 0:
		return failure.Usage("", "--job-size must be above 0, --arrival, --from and --checkpoint-every not negative")
	case f.Scenario != "" && (f.Trace != "" || f.Arrival != 0 || f.JobSize != JobSize || f.Policy != place.Default ||
		f.Migration != NoMigration || f.Predictor != "" || f.Every != 0):
		return failure.Usage("leave them out", "with --scenario the file has what --trace, --job-size, --arrival, --policy, "+
			"--migration, --predictor and --checkpoint-every say")
	case f.JobsFile != "" && f.CompareSim:
		return failure.Usage("leave out one of them", "the simulator draws its jobs, and --jobs reads others")
	case f.Ends != EndAsTraced && f.Ends != endCrash && f.Ends != EndGoodbye:
		return failure.Usage("", "--ends %q: there are %s, %s and %s", f.Ends, EndAsTraced, endCrash, EndGoodbye)
	}
	return nil
}

// How the node of a host that goes off ends.
const (
	EndAsTraced = "traced"  // with a goodbye if the trace says leaving before, else killed
	endCrash    = "crash"   // killed
	EndGoodbye  = "goodbye" // told to end
)

// MaxNodes is far more than one machine runs well; it catches typing errors.
const MaxNodes = 1000
