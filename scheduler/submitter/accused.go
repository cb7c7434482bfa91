package submitter

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/task"
)

// Who was proven wrong here is refused for good, by the jobs of this node. As long as the proof is new the
// member's coordinator, when it leads, gives that worker no lease of anybody's.

// ProvenFor is for how long a proof keeps all leases from a worker: a machine that was repaired comes back.
const ProvenFor = 30 * 24 * time.Hour

// accused are the workers of which a fault was found here, the newest of each.
type accused struct {
	by   map[task.PeerID]fault
	news []task.PeerID // those that nobody has taken yet
}

// A fault is the durable form of one, under the name of the worker.
type fault struct {
	At    int64      `cbor:"1,keyasint"` // Unix seconds
	Job   task.JobID `cbor:"2,keyasint"`
	Index uint64     `cbor:"3,keyasint,omitempty"`
	Why   string     `cbor:"4,keyasint"` // at most task.MaxMessage bytes
}

// note takes a fault of a worker in.
func (a *accused) note(worker task.PeerID, f fault) {
	if a.by == nil {
		a.by = map[task.PeerID]fault{}
	}
	a.by[worker] = f
	a.news = append(a.news, worker)
}

// restore takes in what was durable.
func (a *accused) restore(scan func(string) iter.Seq2[string, []byte], errs *durable.Errors) {
	a.by = map[task.PeerID]fault{}
	for key, value := range scan(submitterProven) {
		var f fault
		err := task.Decode(value, &f)
		if err == nil && (f.At < 0 || len(f.Why) > task.MaxMessage) {
			err = errors.New("a fault that is out of bounds")
		}
		if errs.Note(key, err); err == nil {
			a.by[task.PeerID(strings.TrimPrefix(key, submitterProven))] = f
		}
	}
}

func (a *accused) proven(worker task.PeerID) message.Proven {
	f := a.by[worker]
	return message.Proven{Task: task.TaskID{Job: f.Job, Index: f.Index}, Worker: worker, Why: f.Why,
		Until: time.Unix(f.At, 0).Add(ProvenFor)}
}

// all returns what is known of each worker, sorted.
func (a *accused) all() []message.Proven {
	out := make([]message.Proven, 0, len(a.by))
	for _, w := range slices.Sorted(maps.Keys(a.by)) {
		out = append(out, a.proven(w))
	}
	return out
}

// take returns what is new since it was last called.
func (a *accused) take() (out []message.Proven) {
	for _, w := range a.news {
		out = append(out, a.proven(w))
	}
	a.news = nil
	return out
}
