package worker

import (
	"fmt"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// workerFaults is the durable key of the faults that are remembered.
	workerFaults = "w/f/all"
	// maxFaults is how many are: the owner needs to see that there are some, and of how many jobs.
	maxFaults = 16
	// faultAge is how long one is told of.
	faultAge = 30 * 24 * time.Hour
)

// A Fault is a result of this worker that its submitter says is wrong. It is that submitter's
// word.
type Fault struct {
	Task task.TaskID `cbor:"1,keyasint"`
	By   task.PeerID `cbor:"2,keyasint"` // who says so
	Why  string      `cbor:"3,keyasint"` // in words
	At   int64       `cbor:"4,keyasint"` // when that was heard: Unix seconds
}

// found takes in that a result is wrong, if it is this worker's.
func (w *Worker) found(from task.PeerID, m *message.Wrong) {
	r := &m.Result
	known := slices.IndexFunc(w.faults, func(f Fault) bool { return f.Task == r.Task && f.By == from })
	if r.Worker != w.self || known >= 0 || r.Verify() != nil {
		return
	}
	f := Fault{Task: r.Task, By: from, Why: task.ClipMessage(m.Why), At: w.now.Unix()}
	w.faults = append(w.faults[max(0, len(w.faults)+1-maxFaults):], f)
	if value, err := task.Encode(w.faults); err == nil {
		w.effects.emit(message.Persist{Key: workerFaults, Value: value})
	}
	w.effects.emit(message.Decided{Task: r.Task, Action: "found wrong here", Peer: from, Reason: f.Why})
}

// Faults are the results of this worker that their submitters found wrong of late, the oldest
// first: at most 16. The caller owns the slice.
func (w *Worker) Faults(now time.Time) []Fault {
	return slices.DeleteFunc(slices.Clone(w.faults), func(f Fault) bool {
		return now.Sub(time.Unix(f.At, 0)) > faultAge
	})
}

func (w *Worker) restoreFaults(value []byte) error {
	var all []Fault
	if err := task.Decode(value, &all); err != nil {
		return err
	}
	if len(all) > maxFaults {
		return fmt.Errorf("%d faults, the most is %d", len(all), maxFaults)
	}
	for i := range all {
		all[i].Why = task.ClipMessage(all[i].Why)
	}
	w.faults = all
	return nil
}
