package exec

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"godwit/sandbox"
	"godwit/task"
)

// A wait is how far a waiting task is.
type wait struct {
	work    time.Duration // that the task waits in all, if it does so here
	speed   float64       // of the task here, above 0: what waits 1 s here is that much work
	before  time.Duration // of it, by the attempts that it goes on from
	here    time.Duration // by this one
	unsaved time.Duration // of that, since the last checkpoint
	fine    *fineTimer    // for the end of a short task; nil for none
}

const (
	// fineWork is the longest task whose end is waited for as exactly as the system can:
	// of a longer one a millisecond is less than a hundredth.
	fineWork = 100 * time.Millisecond
	// fineEnd is how long the end is. Meanwhile the task hears nothing; it is over sooner
	// than a person could have meant to stop it.
	fineEnd = 5 * time.Millisecond
)

func (w *wait) left() time.Duration { return w.work - w.before - w.here }

// on waits until the work is done, halt is closed or the task's state is wanted,
// which it saves then, and each s.Every as well. s may be nil.
func (w *wait) on(ctx context.Context, halt <-chan struct{}, s *State) (frozen bool, err error) {
	length := w.left()
	var save, due <-chan struct{}
	if s != nil {
		save, due = s.Save, s.Due
		if s.Every > 0 {
			length = min(length, max(0, s.Every-w.unsaved))
		}
	}
	begun, coarse := time.Now(), w.fine != nil && length > fineEnd
	switch {
	case coarse:
		length -= fineEnd
	case w.fine != nil:
		w.fine.wait(length)
	}
	t := time.NewTimer(length - time.Since(begun))
	defer t.Stop()
	pass := func(d time.Duration) { w.here, w.unsaved = w.here+d, w.unsaved+d }
	select {
	case <-t.C:
		if coarse {
			pass(min(w.left(), time.Since(begun)))
			return false, nil
		}
		pass(length)
		if w.left() > 0 {
			w.save(s)
		}
	case <-halt:
		pass(min(length, time.Since(begun)))
	case <-save:
		pass(min(length, time.Since(begun)))
		w.save(s)
	case <-due:
		pass(min(length, time.Since(begun)))
		w.save(s)
	case <-s.Stopping():
		pass(min(length, time.Since(begun)))
		w.freeze(s)
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
	return false, nil
}

func (w *wait) save(s *State) {
	w.unsaved = 0
	s.OnCheckpoint(w.state(), w.fuel(), w.here)
}

// freeze saves the state that the task has stopped with.
func (w *wait) freeze(s *State) { s.OnFrozen(w.state(), w.fuel(), w.here) }

func (w *wait) state() []byte { return waitedState(w.done()) }
func (w *wait) fuel() uint64  { return max(1, uint64(w.done())) }

// done is the work that is done: a state goes on at machines of other speeds.
func (w *wait) done() time.Duration { return time.Duration(float64(w.before+w.here) * w.speed) }

// saved reports a task that was saved on its way.
func (w *wait) saved() sandbox.Report {
	return sandbox.Report{Outcome: task.Interrupted, Message: "saved on its way", CPU: w.here, Wall: w.here}
}

// waitedMark begins the saved state of a waiting task. The work that it has
// done follows: 8 bytes, nanoseconds, the most significant first.
const waitedMark = "godwit waited 1\n"

func waitedState(d time.Duration) []byte {
	return binary.BigEndian.AppendUint64([]byte(waitedMark), uint64(d))
}

// readWaited reads a state, which may be anybody's, of a task with so much work.
func readWaited(state []byte, work time.Duration) (time.Duration, error) {
	rest, ok := strings.CutPrefix(string(state), waitedMark)
	if !ok || len(rest) != 8 {
		return 0, fmt.Errorf("%w: %d bytes that are no state of a waiting task", sandbox.ErrCheckpoint, len(state))
	}
	d := binary.BigEndian.Uint64([]byte(rest))
	if d > uint64(work) {
		return 0, fmt.Errorf("%w: a state after %d ns of a task that waits %d", sandbox.ErrCheckpoint, d, work)
	}
	return time.Duration(d), nil
}
