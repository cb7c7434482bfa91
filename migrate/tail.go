package migrate

import "time"

// The tail of a job: nothing of it waits, some of its tasks run, and members are idle.
// What a run is expected to take, and whether a copy pays, is said here for coordinators and
// for the simulation of policies.

const (
	// TailLeast is the least gain for which anything is done: two reports, before which
	// nobody knows what came of it.
	TailLeast = 4 * time.Second
	// TailNever is how long a run is expected to take that stands still, or whose member is
	// silent: longer than any other.
	TailNever = 1000 * time.Hour
	// copyGain is how many times as long a task must be expected to take where it runs
	// as its copy: with twice, it ends, expected, before the two members together have
	// spent more than the one would have (Mantri's rule: Ananthanarayanan et al.,
	// "Reining in the outliers in Map-Reduce clusters using Mantri", OSDI 2010, section
	// 5.1).
	copyGain = 2
)

// Alone is how long a run is expected to take on a member of a speed, relative to the
// reference core, which nobody helps:
//
//	(left + (1-p) (unsaved + left/2)) / speed
//
// left is the work to be done, unsaved what was done since the last checkpoint that outlives
// the member, both in time of the reference core; p is what stay says of left/speed, as far as
// it lies in [0, 1]: the probability that the member stays for so long. The second term is what
// is done twice if it goes: all that is not saved, and on average half of what is left. It is
// at most TailNever, which it is also at speed 0 or less.
func Alone(left, unsaved time.Duration, speed float64, stay func(d time.Duration) float64) time.Duration {
	if !(speed > 0) {
		return TailNever
	}
	alone := float64(left) / speed
	if alone >= float64(TailNever) {
		return TailNever
	}
	p := min(1, max(0, stay(time.Duration(alone))))
	again := (1 - p) * (float64(unsaved) + float64(left)/2) / speed
	return time.Duration(min(float64(TailNever), alone+again))
}

// CopyPays says whether to run a task a second time that is expected to take so long where it
// is, and its copy so long.
func CopyPays(here, there time.Duration) bool {
	return here-there >= TailLeast && float64(here) >= copyGain*float64(there)
}
