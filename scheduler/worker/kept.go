package worker

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/task"
)

// workerEnding begins the durable keys of results that no coordinator has
// taken: "w/e/" JOB "/" INDEX "/" ATTEMPT. Beside them the Worker persists its faults.
const workerEnding = "w/e/"

// keepAtOnce bounds the results made durable in one Step.
const keepAtOnce = message.MaxEndings

// endingKey names a result in durable keys. Attempts are in hexadecimal, so
// that keys sort as attempts do.
func endingKey(e *message.Ending) string {
	return fmt.Sprintf("%s/%016x.%016x", durable.TaskKey(workerEnding, e.Result.Task), e.Attempt.Epoch, e.Attempt.Seq)
}

// keepDue makes durable the results that have waited for so long, within, that their
// leader must be gone. Those that are acknowledged at once never cost a write.
func (r *results) keepDue(now time.Time, within time.Duration) {
	for n := 0; n < keepAtOnce; n++ {
		if due, ok := r.nextKeep(within); !ok || now.Before(due) {
			return
		}
		r.keepNext()
	}
}

// nextKeep returns when the next result is to be made durable. The results
// that are durable are in front: kept of them.
func (r *results) nextKeep(within time.Duration) (time.Time, bool) {
	if r.kept == len(r.all) {
		return time.Time{}, false
	}
	return r.all[r.kept].since.Add(within), true
}

func (r *results) keepNext() {
	u := r.all[r.kept]
	r.sign(r.all[r.kept:min(len(r.all), r.kept+keepAtOnce)]) // those that follow will be told or kept as well
	u.key = endingKey(&u.ending)
	r.kept++
	value, err := durable.Encode(&u.ending)
	if err != nil { // it is reported until it is acknowledged all the same
		r.out.emit(message.Decided{Task: u.ending.Result.Task, Action: "not kept", Reason: task.ClipMessage(err.Error())})
		return
	}
	r.out.emit(message.Persist{Key: u.key, Value: value})
}

// restore takes in a result of self's that was persisted, and returns the epoch of its
// attempt.
func (r *results) restore(self task.PeerID, key string, value []byte) (epoch uint64, err error) {
	var e message.Ending
	if err := task.Decode(value, &e); err != nil {
		return 0, err
	}
	switch {
	case endingKey(&e) != key:
		return 0, errors.New("it is another attempt's")
	case e.Result.Worker != self:
		return 0, fmt.Errorf("it is the result of %s", e.Result.Worker)
	}
	if err := e.Result.Verify(); err != nil {
		return 0, err
	}
	u := newUnacked(e, time.Time{})
	u.key = key
	r.add(u)
	r.kept++
	return e.Attempt.Epoch, nil
}

// deleteSpoiled deletes what restore could not read.
func (r *results) deleteSpoiled() {
	for _, key := range r.spoiled {
		r.out.emit(message.Persist{Key: key})
	}
	r.spoiled = nil
}

// Keep makes every result durable that is not yet. The driver carries the
// effects out before a clean stop; it may Step the machine after it.
func (w *Worker) Keep() []message.Effect {
	w.effects = nil
	for w.results.kept < len(w.results.all) {
		w.results.keepNext()
	}
	return w.effects
}

// Restore takes in what was persisted, before the first Step: results that are
// reported to whoever leads, as if they had just come. What cannot be read, or
// is not this worker's, is left out and told in the error, and deleted with the
// first Step: the task it belonged to is run again.
func (w *Worker) Restore(pairs map[string][]byte) error {
	var errs durable.Errors
	if value, ok := pairs[workerFaults]; ok {
		errs.Note(workerFaults, w.restoreFaults(value))
	}
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		if len(key) < len(workerEnding) || key[:len(workerEnding)] != workerEnding {
			continue
		}
		epoch, err := w.results.restore(w.self, key, pairs[key])
		if err != nil {
			errs.Note(key, err)
			w.results.spoiled = append(w.results.spoiled, key)
		}
		w.epoch = max(w.epoch, epoch)
	}
	return errs.Join()
}
