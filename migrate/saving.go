package migrate

import (
	"fmt"
	"time"
)

// The bounds of what SaveAfter chooses.
const (
	// leastSave is the least time between two checkpoints: the coordinators fetch
	// each and make it durable, and nobody minds ten seconds lost.
	leastSave = 10 * time.Second
	// mostSave is the most: what no history shows, a kill -9 or a power cut, then
	// costs five minutes in the mean, and the pauses less than a thousandth.
	mostSave = 10 * time.Minute
	// usualWork is what a task is taken to have left of which nobody knows: as
	// placement takes it.
	usualWork = time.Hour
)

// overrun is the least part of what a task was expected to take, or has taken, that
// it is believed to have left: what takes longer than expected is not about to end.
// It is that of the leader, for tails.
const overrun = 0.1

// Remaining is the work that a task has left which had told left, and did done since
// (below 0 where some of what told goes without has to be done again). Where nobody
// knows how much it had, told is 0, and so is the answer; else that is above 0.
func Remaining(told, done time.Duration) time.Duration {
	if told <= 0 {
		return 0
	}
	return max(told-done, time.Duration(overrun*float64(max(told, done))), 1)
}

// SaveAfter is after how much running time a task that runs should make its next
// checkpoint, and why, for people: Thrifty within bounds. left is the running time
// to its end, 0 if nobody knows; pause and transfer are what its checkpoints took,
// 0 before the first. What is known of left is a guess from other tasks: where none
// pays before it, the task is saved after the longest time all the same, if it still
// runs then. So it is never 0.
func SaveAfter(left, pause, transfer time.Duration, stay func(d time.Duration) float64) (time.Duration, string) {
	of := "a task with about " + left.Round(time.Second).String() + " left"
	if left <= 0 {
		left, of = usualWork, "a task of unknown length"
	}
	every := Thrifty(left, pause, transfer, stay)
	least := min(max(leastSave, saveRest*min(transfer, mostSave)), mostSave)
	switch {
	case every == 0:
		return mostSave, "no checkpoint pays before the end of " + of + "; one is made if it takes longer"
	case every > mostSave:
		return mostSave, "this host is likely to stay: a checkpoint against what no forecast sees, for " + of
	case every < least:
		return least, fmt.Sprintf("the least, for %s: checkpoints travel for %v", of, transfer.Round(time.Millisecond))
	}
	return every, fmt.Sprintf("for %s on a host that stays for that with probability %.3g: a checkpoint takes %v and "+
		"travels for %v",
		of, stay(left), pause.Round(time.Millisecond), transfer.Round(time.Millisecond))
}
