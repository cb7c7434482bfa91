package ledger

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"godwit/task"
)

// An Attempt numbers the placements of a task: by the leader's epoch, then by
// the leader's own count within it. Attempts of one task are ordered, and a
// later one supersedes an earlier one.
type Attempt struct {
	Epoch uint64 `cbor:"1,keyasint" json:"epoch"`
	Seq   uint64 `cbor:"2,keyasint" json:"seq"`
}

// Less orders attempts.
func (a Attempt) Less(b Attempt) bool { return a.Compare(b) < 0 }

// Compare orders attempts as package cmp does.
func (a Attempt) Compare(b Attempt) int {
	return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Seq, b.Seq))
}

// An AttemptLog is one placement of a task and how it ended.
type AttemptLog struct {
	Attempt Attempt     `cbor:"1,keyasint" json:"attempt"`
	Worker  task.PeerID `cbor:"2,keyasint" json:"worker"`
	Start   task.Time   `cbor:"3,keyasint" json:"start"`
	End     task.Time   `cbor:"4,keyasint" json:"end"` // zero while it runs
	// task.Outcome's text, or "lost", "superseded", "refused", Moved, Overdue, Recalled, ""
	Outcome string `cbor:"5,keyasint" json:"outcome"`
	Reason  string `cbor:"6,keyasint" json:"reason"` // why there, or why it ended so
	// From is the fuel of the checkpoint that it went on from, and Saved the
	// CPU time that this spared; 0 for an attempt from the beginning.
	From  uint64        `cbor:"7,keyasint,omitempty" json:"from,omitempty"`
	Saved time.Duration `cbor:"8,keyasint,omitempty" json:"saved_ns,omitempty"`
	// MovedTo is the worker that the task was moved to, with its state; empty
	// unless Outcome is Moved.
	MovedTo task.PeerID `cbor:"9,keyasint,omitempty" json:"moved_to,omitempty"`
	// Bytes is what the network carried for a move between workers, and Down how
	// long the task stood still for it, up to End, as its source measured them; 0
	// where that is not known.
	Bytes int64         `cbor:"10,keyasint,omitempty" json:"moved_bytes,omitempty"`
	Down  time.Duration `cbor:"11,keyasint,omitempty" json:"down_ns,omitempty"`
	// CPU is the CPU time that an attempt used of which the row has no result, and
	// Lost what of that no state stands for: as its worker told it, or as the leader
	// estimated it of a worker that was lost. 0 where results tell it, or nothing.
	CPU  time.Duration `cbor:"12,keyasint,omitempty" json:"cpu_ns,omitempty"`
	Lost time.Duration `cbor:"13,keyasint,omitempty" json:"lost_ns,omitempty"`
	// Lag is how long after Start its worker began it, as the leader reckons from
	// what the worker tells with its end; 0 where it has told nothing, else above.
	Lag time.Duration `cbor:"14,keyasint,omitempty" json:"lag_ns,omitempty"`
}

// Moved is the outcome of an attempt that was ended so that it goes on elsewhere
// from where it stopped.
const Moved = "moved"

// Overdue is the outcome of an attempt that the leader gave up because it took too
// long: its end, if one comes, still counts.
const Overdue = "overdue"

// Recalled is the outcome of an attempt that the leader ended because others waited for its
// slot, with nothing saved: an end that comes all the same counts.
const Recalled = "recalled"

// A Failure is an attempt that ended by the task's own fault. It has the number of the lease
// that its receipt is of, if it has one: one run may be told under several attempts, of a
// worker that had a later lease meanwhile, and counts once.
type Failure struct {
	Attempt Attempt     `cbor:"1,keyasint"`
	Result  task.Result `cbor:"2,keyasint"`
}

// Bounds of a row. The log forgets its oldest entries beyond MaxLog; results
// and failures are bounded by the job's Replicas and Retries long before.
const (
	MaxLog     = 32
	MaxResults = 4096
)

// A Row is what is known of one task that was touched. The zero value is a
// task that nothing is known of. What its slices have is never written to, only
// replaced: copies of a row share them.
type Row struct {
	// Results are the completed runs, sorted by worker, digest and signature, each
	// once.
	Results []task.Result `cbor:"1,keyasint" most:"4096"`
	// Failures are the runs that failed by themselves, sorted by attempt, each
	// attempt once.
	Failures []Failure `cbor:"2,keyasint" most:"4096"`
	// Log has the latest MaxLog placements, sorted by attempt, each once.
	Log []AttemptLog `cbor:"3,keyasint" most:"32"`
	// Best is the checkpoint of most work done in this round; nil for none. It is read only.
	// See State.
	Best *Checkpoint `cbor:"4,keyasint,omitempty"`
	// Voided are the results and failures that count for nothing, sorted, each once: their outputs are lost, or the
	// job's submitter does not accept them. See Void and VoidRuns.
	Voided []VoidName `cbor:"5,keyasint,omitempty" most:"4096"`
	// Bad are the words of workers on states that they could not go on from, sorted by state,
	// each once; Round is how often that was the state to go on from.
	Bad   []task.Voucher `cbor:"6,keyasint,omitempty" most:"16"`
	Round uint64         `cbor:"7,keyasint,omitempty"`
	// Lines are the replicas of a task of a job that asks for some, sorted by root, each once: each
	// has a checkpoint of its own, and Best is nil. See Line.
	Lines []Line `cbor:"8,keyasint,omitempty" most:"16"`
}

// A Rule is what a job asks of its tasks' results: see task.Job.
type Rule struct {
	Replicas, Retries int
	// Own is the job's submitter, whose own machine is believed of its own tasks: see Certain. Empty for nobody.
	Own task.PeerID
}

// A Verdict is what the results of a task amount to.
type Verdict uint8

// The verdicts. A later result can turn Failed into Done, never back.
const (
	Open   Verdict = iota // neither yet
	Done                  // enough workers agree
	Failed                // given up: see Row.Why
)

// AddResult takes in a result of the attempt. A host's fault is no fact about
// the task and changes nothing; neither does a result already there. It says
// whether the row changed.
func (r *Row) AddResult(a Attempt, res task.Result) bool {
	switch {
	case res.Outcome == task.Completed:
		return r.addCompleted(res)
	case res.Outcome.OwnFault():
		return r.addFailure(Failure{a, res})
	}
	return false
}

// addCompleted adds a completed run. A worker whose earlier run counts and is its own alone gets no second result, not
// even a different one: otherwise a single liar could fill the row. Another result of a worker that repeats a result
// counts only if other workers answer for the earlier one too, and only the worker itself for the new one.
func (r *Row) addCompleted(res task.Result) bool {
	for i := range r.Results {
		switch o := &r.Results[i]; {
		case o.Worker != res.Worker || r.IsVoid(o):
		case alone(o) && alone(&res), agree(o, &res) && (alone(o) || !alone(&res)):
			return false
		}
	}
	return r.insertResult(res)
}

// insertResult takes in a completed run as another copy has it.
func (r *Row) insertResult(res task.Result) bool {
	i, found := sort.Find(len(r.Results), func(i int) int { return compareResults(&res, &r.Results[i]) })
	if found {
		return false
	}
	r.Results = slices.Insert(slices.Clip(r.Results), i, res)
	return true
}

func (r *Row) addFailure(f Failure) bool {
	if of := f.Result.Receipt; of != nil {
		f.Attempt = Attempt{of.Epoch, of.Seq}
	}
	i, found := sort.Find(len(r.Failures), func(i int) int { return f.Attempt.Compare(r.Failures[i].Attempt) })
	if !found {
		r.Failures = slices.Insert(slices.Clip(r.Failures), i, f)
		return true
	}
	if bytes.Compare(f.Result.Mark(), r.Failures[i].Result.Mark()) >= 0 {
		return false
	}
	r.Failures = slices.Clone(r.Failures)
	r.Failures[i] = f
	return true
}

// Has reports whether the row, which may be nil, has a result to the last byte: the same
// fields under the same signature.
func (r *Row) Has(res *task.Result) bool {
	if r == nil {
		return false
	}
	same := func(o *task.Result) bool {
		return bytes.Equal(o.Signature, res.Signature) && reflect.DeepEqual(o, res)
	}
	for i := range r.Results {
		if same(&r.Results[i]) {
			return true
		}
	}
	for i := range r.Failures {
		if same(&r.Failures[i].Result) {
			return true
		}
	}
	return false
}

// compareResults orders completed results by worker, digest and signature.
func compareResults(a, b *task.Result) int {
	if c := cmp.Compare(a.Worker, b.Worker); c != 0 {
		return c
	}
	if !agree(a, b) {
		da, db := a.Digest(), b.Digest()
		return bytes.Compare(da[:], db[:])
	}
	return bytes.Compare(a.Mark(), b.Mark())
}

// agree says whether two results have the same digest. It compares what the
// digest is of, which costs no hash.
func agree(a, b *task.Result) bool {
	return a.Outcome == b.Outcome && a.ExitCode == b.ExitCode &&
		slices.EqualFunc(a.Outputs, b.Outputs, func(x, y task.Output) bool {
			return x.Name == y.Name && x.CID == y.CID && x.Size == y.Size
		})
}

// Note records a placement, or how a recorded one ended. It says whether the
// row changed.
func (r *Row) Note(l AttemptLog) bool {
	l.Reason = task.ClipMessage(l.Reason)
	return r.note(&l)
}

func (r *Row) note(l *AttemptLog) bool {
	i, found := sort.Find(len(r.Log), func(i int) int { return l.Attempt.Compare(r.Log[i].Attempt) })
	switch {
	case found && compareLogs(l, &r.Log[i]) <= 0:
		return false
	case found:
		r.Log = slices.Clone(r.Log)
		r.Log[i] = *l
		return true
	case i == 0 && len(r.Log) >= MaxLog:
		return false
	}
	r.Log = slices.Insert(slices.Clip(r.Log), i, *l)
	if len(r.Log) > MaxLog {
		r.Log = r.Log[1:] // it was made anew above
	}
	return true
}

// compareLogs orders what may be said of one attempt; the larger is kept. An
// attempt that ended is larger than one that runs, and among ends a result is
// larger than a mere suspicion: a lease that was thought lost did come back.
func compareLogs(a, b *AttemptLog) int {
	if *a == *b {
		return 0
	}
	return cmp.Or(
		cmp.Compare(logRank(a), logRank(b)),
		a.End.Compare(b.End.Time), strings.Compare(a.Outcome, b.Outcome), strings.Compare(a.Reason, b.Reason),
		a.Start.Compare(b.Start.Time), cmp.Compare(a.Worker, b.Worker),
		cmp.Compare(a.From, b.From), cmp.Compare(a.Saved, b.Saved), cmp.Compare(a.MovedTo, b.MovedTo),
		cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Down, b.Down),
		cmp.Compare(a.CPU, b.CPU), cmp.Compare(b.Lost, a.Lost), cmp.Compare(a.Lag, b.Lag))
}

// Moves counts the attempts of the log that were moved, and Reruns those beyond
// the first that were not begun by a move.
func (r *Row) Moves() (n uint64) {
	for i := range r.Log {
		if r.Log[i].Outcome == Moved {
			n++
		}
	}
	return n
}

// Reruns counts as Moves says. A move whose destination is not in the log yet is
// no rerun.
func (r *Row) Reruns() uint64 {
	n, m := uint64(len(r.Log)), r.Moves()
	return n - min(n, m+1)
}

func logRank(l *AttemptLog) int {
	var o task.Outcome
	switch {
	case l.End.IsZero():
		return 0
	case l.Outcome != Moved && o.UnmarshalText([]byte(l.Outcome)) != nil:
		return 1
	}
	return 2
}

// Agreed returns the results that agree and are independent, if they are of at least one worker
// and more than any others: of the largest group, of those the one with the
// smallest digest. The slice is sorted by worker, each once, and is read only.
func (r *Row) Agreed() []task.Result {
	agreed, _ := r.agreed()
	return agreed
}

// agreed returns the results that Agreed does, and all that say the same.
func (r *Row) agreed() (best, same []task.Result) {
	said := r.Said()
	if len(said) <= 1 {
		return said, said
	}
	groups := map[task.Digest][]task.Result{}
	for _, res := range said {
		d := res.Digest()
		groups[d] = append(groups[d], res)
	}
	var bestDigest task.Digest
	for d, all := range groups {
		g := independent(all)
		if c := cmp.Or(cmp.Compare(len(g), len(best)), bytes.Compare(bestDigest[:], d[:])); best == nil || c > 0 {
			best, same, bestDigest = g, all, d
		}
	}
	return best, same
}

// Said returns the results that count: of each worker and digest one that is
// not void, if there is one that for which nobody else answers. The slice is sorted by worker and is read only.
func (r *Row) Said() []task.Result {
	if len(r.Results) <= 1 && len(r.Voided) == 0 {
		return r.Results
	}
	var out []task.Result
	for i := range r.Results {
		res := &r.Results[i]
		n := len(out)
		switch again := n > 0 && out[n-1].Worker == res.Worker && agree(&out[n-1], res); {
		case r.IsVoid(res):
		case !again:
			out = append(out, *res)
		case !alone(&out[n-1]) && alone(res):
			out[n-1] = *res
		}
	}
	return out
}

// Verdict derives whether the task is over.
func (r *Row) Verdict(rule Rule) Verdict {
	if len(r.Results) == 0 && len(r.Failures) <= min(rule.Retries, 1) {
		return Open
	}
	switch said := r.Said(); {
	case len(said) >= rule.Replicas && len(r.Agreed()) >= rule.Replicas:
		return Done
	case len(r.ByFault(rule)) > 0, ranEnough(said, rule):
		return Failed
	}
	return Open
}

// ranEnough reports whether a task was run as often as its rule says by independent workers, or so often that the row
// has no room for more. A submitter accepts only runs of different workers as proof that a task failed: see
// submitter.checkFailed.
func ranEnough(said []task.Result, rule Rule) bool {
	n := len(said)
	if n >= rule.Most() && n < sides*rule.Most() {
		n = len(independent(said))
	}
	return n >= rule.Most()
}

// Most is how many completed runs are made in the hope that Replicas of them
// agree. With 2r-1 runs, r agree if a majority is honest and the task is
// deterministic; Retries are granted on top.
func (rule Rule) Most() int { return 2*rule.Replicas - 1 + rule.Retries }

// Why says why the task failed for good, for people; "" if it did not.
func (r *Row) Why(rule Rule) string {
	if r.Verdict(rule) != Failed {
		return ""
	}
	failed := r.ByFault(rule)
	if len(failed) == 0 {
		return fmt.Sprintf("%d runs completed and no %d of them agree: the task is not deterministic, or workers are wrong",
			len(r.Said()), rule.Replicas)
	}
	if len(failed) <= rule.Retries {
		return rule.whyCertain(failed)
	}
	last := failed[len(failed)-1].Result
	why := last.Ending()
	if n := len(failed); n > 1 {
		why = fmt.Sprintf("%s (attempt %d of %d)", why, n, rule.Retries+1)
	}
	return why
}
