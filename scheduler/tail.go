package scheduler

import (
	"fmt"
	"time"

	"godwit/migrate"
)

// The tail of a job: nothing of it waits, some of its tasks run, and members are
// idle. Then one task on a slow member, or on one that is likely to go, holds up
// the whole. What to do with it is decided here, and carried out in
// tails.go.
//
// How long a task is expected to take on a member is migrate.Alone. To move costs the time that
// hand-overs of the job took so far, as if the task stood still for all of it; a copy begins at the
// last checkpoint, and has to do the unsaved part too: whether it pays is migrate.CopyPays.

const (
	// tailMoveGain is how many times as long the task must be expected to take
	// here as there, the move included. How much is left is a guess from the job's
	// other tasks; one that is wrong by half must not move a task. And a task that
	// moved goes back only if estimates change by more than the square of it.
	tailMoveGain = 1.5
	// tailOverrun is the least part of its expected work that a task is taken to
	// have left, however long it has run: what takes longer than expected is not
	// about to end. A tenth keeps those that are nearly done from being copied.
	tailOverrun = 0.1
)

// A tailTask is one of a job's last tasks where it runs. Work is in time of the
// reference core.
type tailTask struct {
	left    time.Duration // work to be done
	unsaved time.Duration // work done since the last checkpoint that is held elsewhere
	movable bool          // it may move with its state
	at      tailHost
}

// A tailHost is a member that runs a task, or could.
type tailHost struct {
	speed float64                       // that it gives a task, relative to the reference core; 0: it stands still
	stay  func(d time.Duration) float64 // probability that it stays for so long
}

// A tailChoice is what to do with one of a job's last tasks.
type tailChoice uint8

const (
	tailStay tailChoice = iota
	tailMove
	tailCopy
)

// tailLeft is the work that a task has left of so much expected when so much is
// done.
func tailLeft(work, done time.Duration) time.Duration {
	return max(work-done, time.Duration(tailOverrun*float64(work)))
}

// expect is how long a task is expected to take at a host.
func (h *tailHost) expect(left, unsaved time.Duration) time.Duration {
	return migrate.Alone(left, unsaved, h.speed, h.stay)
}

// here is how long the task is expected to take where it is.
func (t *tailTask) here() time.Duration { return t.at.expect(t.left, t.unsaved) }

// decide reports whether a task that is expected to take so long here should go to an
// idle member, or be copied there, and how much sooner it is then expected to end.
// cost is what a move takes.
func (t *tailTask) decide(here time.Duration, there *tailHost, cost time.Duration) (tailChoice, time.Duration) {
	if t.movable {
		by := there.expect(t.left, t.unsaved) + cost
		if gain := here - by; gain >= migrate.TailLeast && float64(here) >= tailMoveGain*float64(by) {
			return tailMove, gain
		}
		return tailStay, 0
	}
	by := there.expect(t.left+t.unsaved, 0)
	if migrate.CopyPays(here, by) {
		return tailCopy, here - by
	}
	return tailStay, 0
}

// tailReason says for people why a task of a job's tail goes elsewhere.
func tailReason(t *tailTask, there *tailHost, gain time.Duration) string {
	here := "it stands still here"
	if t.at.speed > 0 {
		here = fmt.Sprintf("here it has a speed of %.2g", t.at.speed)
	}
	sooner := ""
	if gain < migrate.TailNever/2 {
		sooner = fmt.Sprintf(": it should end %v sooner", gain.Round(time.Second))
	}
	return fmt.Sprintf("nothing else of its job waits, %s and an idle member gives %.2g%s", here, there.speed, sooner)
}
