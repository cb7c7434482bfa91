package worker

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/task"
)

// workerEnding begins the durable keys of results that no coordinator has
// taken: "w/e/" JOB "/" INDEX "/" ATTEMPT. The Worker persists nothing else.
const workerEnding = "w/e/"

const (
	// maxUnacked is how many results a worker keeps that no leader has
	// acknowledged. With more it starts nothing new: work must not be done only
	// to be forgotten.
	maxUnacked = 4096
	// keepAtOnce bounds the results made durable in one Step.
	keepAtOnce = message.MaxEndings
)

// An unacked result waits for a leader to make it durable.
type unacked struct {
	ending message.Ending
	since  time.Time           // when it came
	taken  time.Time           // its lease; zero: not known, like begun
	begun  time.Time           // its run
	sent   time.Time           // zero: not yet
	key    string              // of its durable form; "" while it has none
	bytes  int64               // what it takes of MaxUnackedBytes
	saved  *message.Checkpoint // where it stopped without completing: what to go on from
	took   *message.Checkpoint // the same, if it was taken here: it is told with the result
}

// endingKey names a result in durable keys. Attempts are in hexadecimal, so
// that keys sort as attempts do.
func endingKey(e *message.Ending) string {
	return fmt.Sprintf("%s/%016x.%016x", durable.TaskKey(workerEnding, e.Result.Task), e.Attempt.Epoch, e.Attempt.Seq)
}

// newUnacked returns a result that no leader has seen.
func newUnacked(e message.Ending, since time.Time) *unacked {
	u := &unacked{ending: e, since: since}
	for i := range e.Result.Outputs {
		u.bytes += max(0, e.Result.Outputs[i].Size)
	}
	return u
}

// add takes in a result to be reported until it is acknowledged.
func (w *Worker) add(u *unacked) {
	w.endings = append(w.endings, u)
	w.unackedBytes += u.bytes
}

// tooMuchKept says why nothing new may be started, or "".
func (w *Worker) tooMuchKept() string {
	if len(w.endings) < maxUnacked && w.unackedBytes < w.cfg.MaxUnackedBytes {
		return ""
	}
	return "the worker keeps " + strconv.Itoa(len(w.endings)) + " results of " + task.FormatSize(w.unackedBytes) +
		" that no coordinator has taken"
}

// keepUnacked makes durable the results that have waited for so long that their
// leader must be gone. Those that are acknowledged at once never cost a write.
func (w *Worker) keepUnacked() {
	for n := 0; n < keepAtOnce; n++ {
		if due, ok := w.nextKeep(); !ok || w.now.Before(due) {
			return
		}
		w.keepNext()
	}
}

// nextKeep returns when the next result is to be made durable. The results
// that are durable are in front: w.kept of them.
func (w *Worker) nextKeep() (time.Time, bool) {
	if w.kept == len(w.endings) {
		return time.Time{}, false
	}
	return w.endings[w.kept].since.Add(w.timing.ReportEvery), true
}

func (w *Worker) keepNext() {
	u := w.endings[w.kept]
	u.key = endingKey(&u.ending)
	w.emit(message.Persist{Key: u.key, Value: durable.Encode(&u.ending)})
	w.kept++
}

// Keep makes every result durable that is not yet. The driver carries the
// effects out before a clean stop; it may Step the machine after it.
func (w *Worker) Keep() []message.Effect {
	w.effects = nil
	for w.kept < len(w.endings) {
		w.keepNext()
	}
	return w.effects
}

// unkeep forgets a result's durable form.
func (w *Worker) unkeep(u *unacked) {
	if u.key != "" {
		w.emit(message.Persist{Key: u.key})
	}
}

// forgetEndings drops the results for which acknowledged is true.
func (w *Worker) forgetEndings(acknowledged func(*unacked) bool) {
	w.endings = slices.DeleteFunc(w.endings, func(u *unacked) bool {
		if !acknowledged(u) {
			return false
		}
		w.unackedBytes -= u.bytes
		if u.key != "" {
			w.kept--
		}
		w.unkeep(u)
		return true
	})
}

// Restore takes in what was persisted, before the first Step: results that are
// reported to whoever leads, as if they had just come. What cannot be read, or
// is not this worker's, is left out and told in the error, and deleted with the
// first Step: the task it belonged to is run again.
func (w *Worker) Restore(pairs map[string][]byte) error {
	var errs durable.Errors
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		if len(key) < len(workerEnding) || key[:len(workerEnding)] != workerEnding {
			continue
		}
		if err := w.restoreEnding(key, pairs[key]); err != nil {
			errs.Note(key, err)
			w.spoiled = append(w.spoiled, key)
		}
	}
	return errs.Join()
}

func (w *Worker) restoreEnding(key string, value []byte) error {
	var e message.Ending
	if err := task.Decode(value, &e); err != nil {
		return err
	}
	switch {
	case endingKey(&e) != key:
		return errors.New("it is another attempt's")
	case e.Result.Worker != w.self:
		return fmt.Errorf("it is the result of %s", e.Result.Worker)
	}
	if err := e.Result.Verify(); err != nil {
		return err
	}
	u := newUnacked(e, time.Time{})
	u.key = key
	w.add(u)
	w.kept++
	w.epoch = max(w.epoch, e.Attempt.Epoch)
	return nil
}

// deleteSpoiled deletes what Restore could not read.
func (w *Worker) deleteSpoiled() {
	for _, key := range w.spoiled {
		w.emit(message.Persist{Key: key})
	}
	w.spoiled = nil
}

// renewed says whether a lease is of a task whose result is here already, and
// reports that result as the lease's.
func (w *Worker) renewed(done map[task.TaskID]*unacked, l *message.Lease) bool {
	u := done[l.Task]
	if u == nil {
		return false
	}
	if u.ending.Attempt.Less(l.Attempt) {
		u.ending.Attempt = l.Attempt
	}
	u.sent = time.Time{}
	w.urgent = true
	return true
}

// completed lists the results that need no other run, by task.
func (w *Worker) completed() map[task.TaskID]*unacked {
	if len(w.endings) == 0 {
		return nil
	}
	done := map[task.TaskID]*unacked{}
	for _, u := range w.endings {
		if u.ending.Result.Outcome == task.Completed {
			done[u.ending.Result.Task] = u
		}
	}
	return done
}

// Roots lists the blocks that this worker needs kept: the outputs of results
// that no coordinator has taken, the checkpoints that tasks here began from or
// stopped at and have no newer one of, the states that arrived without their
// tasks, for keepArrived, and the records of the jobs prepared;
// the modules and inputs of those are the driver's to add. Sorted, each once.
// What is not listed any more may be collected.
func (w *Worker) Roots() []task.CID {
	var roots durable.RootSet
	for _, u := range w.endings {
		roots.Add(message.RemoteOutputs(&u.ending.Result)...)
		if u.saved != nil {
			roots.Add(u.saved.CID)
		}
	}
	for id := range w.jobs {
		roots.Add(task.CID(id))
	}
	for _, h := range w.held {
		if c := h.newest(); c != nil {
			roots.Add(c.CID)
		}
	}
	for i := range w.orphans {
		roots.Add(w.orphans[i].saved.Checkpoint.CID)
	}
	return roots.Sorted()
}

// newest returns the checkpoint that a lease would go on from, or nil.
func (h *heldLease) newest() *message.Checkpoint {
	if h.saved != nil {
		return h.saved
	}
	return h.from
}
