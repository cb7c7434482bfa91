package message

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"godwit/scheduler/ledger"
	"godwit/task"
)

// The states of a job.
const (
	JobOffered   = "offered"   // kept by the submitter, not yet acknowledged by a leader
	JobRunning   = "running"   // acknowledged; tasks wait or run
	JobDone      = "done"      // every task done
	JobPartly    = "partly"    // every task ended, some failed
	JobFailed    = "failed"    // every task failed, or the job was refused
	JobCancelled = "cancelled" // ended by its submitter
	JobExpired   = "expired"   // its deadline passed
)

// FinalState says whether a job in that state is over.
func FinalState(state string) bool {
	switch state {
	case JobDone, JobPartly, JobFailed, JobCancelled, JobExpired:
		return true
	}
	return false
}

// A JobStatus is a job as people and scripts see it. It is a copy.
type JobStatus struct {
	ID        task.JobID  `json:"id"`
	Name      string      `json:"name"`
	Overlay   string      `json:"overlay"`
	Submitter task.PeerID `json:"submitter"`
	Submitted time.Time   `json:"submitted"`
	State     string      `json:"state"`
	Error     string      `json:"error,omitempty"` // why it was refused
	// Reason is why the job does not go on for now, for people; "" if it does.
	Reason string `json:"reason,omitempty"`
	// Note is what of the job's wishes does not count in its overlay, and why; "" for nothing.
	Note string `json:"note,omitempty"`
	// Slots is the largest number of slots that the job takes at once; 0 for no limit.
	Slots int        `json:"slots,omitempty"`
	Tasks TaskCounts `json:"tasks"`
	// Held is how many results the submitter has, Final whether it has all
	// there will be.
	Held uint64 `json:"held"`
	// Removed is the number of tasks that the owner removed. Tasks.Failed includes them.
	Removed uint64 `json:"removed,omitempty"`
	// Unchecked is the number of these that nobody has checked yet, until the job is delivered: those that are to be
	// checked, and those of strangers. 0 for a job whose results are not checked.
	Unchecked uint64 `json:"unchecked,omitempty"`
	// Taken are results that were not made for the job: they are of other jobs, in which tasks had the same names.
	Taken []Taken `json:"taken,omitempty"`
	// Adds is the job that this one adds tasks to; "" for none.
	Adds task.JobID `json:"adds,omitempty"`
	// Added are the jobs that add tasks to this one, the oldest first. Only the node that submitted them lists them.
	Added []Addition `json:"added,omitempty"`
	// Trials is the rule by which trials are added, for people; "" for none.
	Trials string `json:"trials,omitempty"`
	// Stages are those of a job that has some, in an order in which each comes after what it reads. Only the node that
	// submitted the job tells them.
	Stages []StageStatus `json:"stages,omitempty"`
	// Checks says how far the results are checked; nil of a job that wants none to be.
	Checks     *Checks `json:"checks,omitempty"`
	Final      bool    `json:"final"`
	Migrations uint64  `json:"migrations"`
	Reruns     uint64  `json:"reruns"`
	WastedCPU  float64 `json:"wasted_cpu_s"` // seconds
	UsefulCPU  float64 `json:"useful_cpu_s"` // seconds
	// Loans are the tasks that other cells have, by their cells; none where the overlay has one.
	Loans []LoanStatus `json:"loans,omitempty"`
	// Failures are tasks that failed, those of which the submitter heard last, the newest last: at most
	// MaxFailures since its node started. It is told of one job that is asked for.
	Failures []FailedTask `json:"failures,omitempty"`
	// TasksList has the tasks asked for, of which something is known.
	TasksList []TaskStatus `json:"tasks_list,omitempty"`
}

// An Addition is a job that adds tasks to another one.
type Addition struct {
	Job   task.JobID `json:"job"`
	State string     `json:"state"`
	Tasks uint64     `json:"tasks"`
	Final bool       `json:"final"` // as JobStatus.Final
}

// A LoanStatus is what the leader of another cell has of a job, by the word of the job's submitter.
type LoanStatus struct {
	Cell    string      `json:"cell"`    // its bits
	Leader  task.PeerID `json:"leader"`  // who has the tasks
	Tasks   uint64      `json:"tasks"`   // that it has and whose results are not held yet
	Running uint64      `json:"running"` // of these, by the leader's word
	Ranges  []LoanRange `json:"ranges"`  // which they are
	Since   time.Time   `json:"since"`   // when the leader was last given some
	// Until is when they come back if nothing is heard of the leader before, or nothing comes of them.
	Until time.Time `json:"until"`
}

// A LoanRange is tasks of a loan whose indices follow each other.
type LoanRange struct {
	From uint64 `json:"from"` // the first
	To   uint64 `json:"to"`   // one beyond the last
}

// Set returns the tasks of the loan. It fails if they are none: another node may have told of it.
func (l *LoanStatus) Set() (ledger.Set, error) {
	ranges := make([]Range, 0, len(l.Ranges))
	for _, r := range l.Ranges {
		ranges = append(ranges, Range(r))
	}
	return ledger.MakeSet(ranges)
}

// MaxFailures is how many failures a status tells: as many as a person reads of those that come at once.
const MaxFailures = 16

// A FailedTask is a task that failed, and why: the last line that it printed on standard error among it.
type FailedTask struct {
	Index  uint64 `json:"index"`
	Name   string `json:"name"` // within the job, as task.Job.TaskName
	Reason string `json:"reason"`
}

// WhyFailed says why a task failed that ran, in one line.
func (t *TaskSummary) WhyFailed() string {
	if len(t.Results) == 0 {
		return t.Reason
	}
	return cmp.Or(t.Results[0].Message, t.Results[0].Outcome.String())
}

// A StageStatus is a stage of a job as people see it.
type StageStatus struct {
	Name   string   `json:"name"`
	Needs  []string `json:"needs,omitempty"` // "each clean", "by town of clean", "after fit"
	Tasks  uint64   `json:"tasks"`
	Done   uint64   `json:"done"` // whose results the submitter holds
	Failed uint64   `json:"failed"`
}

// StagesOf returns the stages of a job, of which nothing has ended.
func StagesOf(spec *task.Job) (out []StageStatus) {
	for k := range spec.Stages {
		from, to := spec.StageRange(k)
		s := StageStatus{Name: spec.Stages[k].Name, Tasks: to - from}
		for _, n := range spec.Stages[k].Needs {
			need := n.Kind.String() + " " + spec.Stages[n.Stage].Name
			if n.Kind == task.NeedBy {
				need = "by " + strings.Join(n.By, ", ") + " of " + spec.Stages[n.Stage].Name
			}
			s.Needs = append(s.Needs, need)
		}
		out = append(out, s)
	}
	return out
}

// TaskCounts counts a job's tasks. Total is the sum of the others.
type TaskCounts struct {
	Total   uint64 `json:"total"`
	Waiting uint64 `json:"waiting"`
	Running uint64 `json:"running"`
	Done    uint64 `json:"done"`
	Failed  uint64 `json:"failed"`
}

// RemovedReason is the reason of a failed task that the job's owner removed, for people.
const RemovedReason = "removed by its owner"

// A TaskStatus is one task of a job.
type TaskStatus struct {
	Index  uint64            `json:"index"`
	Params map[string]string `json:"params"`
	State  string            `json:"state"` // "waiting", "running", "done", "failed"
	Reason string            `json:"reason,omitempty"`
	// Completed is the share of a running task's expected work that is done, 0 to 1; 0 if that is not known.
	Completed float64         `json:"completed,omitempty"`
	Attempts  []AttemptStatus `json:"attempts"`
	Result    *ResultStatus   `json:"result,omitempty"`
	// Standing says how far the result is to be believed; "" where nothing is checked.
	Standing Standing `json:"standing,omitempty"`
	// Audited is set of one that was run again by its submitter, whatever came of it.
	Audited bool `json:"audited,omitempty"`
	// Parts says how much of the result was run again, where not all of it was; nil for no part.
	Parts *Parts `json:"parts,omitempty"`
	// Refuted is the result that Result takes the place of, since it was wrong; nil for none.
	Refuted *RefutedStatus `json:"refuted,omitempty"`
	// From is the task of another job that the result was taken from; nil where it was made for this one.
	From *task.TaskID `json:"from,omitempty"`
	// Missing are the outputs that the job names, not by patterns, and that a task that is done did not write.
	Missing []string `json:"missing,omitempty"`
}

// Lacks says for people which outputs a task that is done did not write; "" for none.
func (t *TaskStatus) Lacks() string { return WhatLacks(t.Missing) }

// WhatLacks says for people which outputs, named by a job, a task did not write; "" for none.
func WhatLacks(missing []string) string {
	if len(missing) == 0 {
		return ""
	}
	return "it wrote no " + strings.Join(missing, ", ") + ", which the job names as outputs"
}

// An AttemptStatus is one placement of a task.
type AttemptStatus struct {
	Worker task.PeerID `json:"worker"`
	Start  time.Time   `json:"start,omitzero"` // the leader gave the lease
	// Began is when the worker began it, by the leader's clock: see Begun. Zero while
	// it runs, and where the worker's word of its end is not known.
	Began          time.Time   `json:"began,omitzero"`
	End            time.Time   `json:"end,omitzero"` // absent while it runs
	Outcome        string      `json:"outcome"`
	FromCheckpoint bool        `json:"from_checkpoint"`
	SavedCPU       float64     `json:"saved_cpu_s"` // seconds of CPU that the checkpoint spared
	MovedTo        task.PeerID `json:"moved_to,omitempty"`
	// MovedBytes is what the network carried for its move between workers, and
	// DownS how long, in seconds up to End, it stood still for it; 0 if not known.
	MovedBytes int64   `json:"moved_bytes,omitempty"`
	DownS      float64 `json:"down_s,omitempty"`
	Reason     string  `json:"reason"`
}

// A ResultStatus is what a task came to. CID is of its first output.
type ResultStatus struct {
	CID     task.CID      `json:"cid"`
	Digest  task.Digest   `json:"digest"`
	Workers []task.PeerID `json:"workers"`
	Outputs []task.Output `json:"outputs"`
}

// A Page says which tasks of a job a status should list: at most Limit, from
// index From on. The zero value lists none.
type Page struct {
	From  uint64
	Limit int
}

// NewJobStatus returns what people are told of a job, without its tasks.
func NewJobStatus(id task.JobID, spec *task.Job, submitter task.PeerID, s JobSummary) JobStatus {
	trials := ""
	if t := spec.Trials; t != nil {
		trials = fmt.Sprintf("%d to %d of each point, until %s", spec.Sweep.Repeat, t.Most, t)
	}
	return JobStatus{
		ID: id, Name: spec.Name, Overlay: spec.Overlay, Submitter: submitter, Submitted: spec.Submitted.Time, State: s.State,
		Adds: spec.Adds, Trials: trials,
		Tasks:      TaskCounts{s.Total, s.Waiting, s.Running, s.Done, s.Failed},
		Slots:      spec.Slots,
		Reruns:     s.Reruns,
		Migrations: s.Migrations,
		WastedCPU:  s.WastedCPU.Seconds(), UsefulCPU: s.UsefulCPU.Seconds(),
	}
}

// NewTaskStatus returns what people are told of task i of a job. log is its attempts,
// in order, and results those that agreed.
func NewTaskStatus(spec *task.Job, i uint64, state string, log []AttemptLog, results []task.Result) TaskStatus {
	t := TaskStatus{Index: i, Params: map[string]string{}, State: state, Attempts: []AttemptStatus{}}
	of, local := spec.At(i)
	for _, p := range of.Sweep.Point(local) {
		if p.Name != task.Trial || of.Sweep.Repeat > 1 {
			t.Params[p.Name] = p.Value
		}
	}
	for _, l := range log {
		var began time.Time
		if l.Lag > 0 {
			began = l.Start.Add(l.Lag)
		}
		t.Attempts = append(t.Attempts, AttemptStatus{
			Worker: l.Worker, Start: l.Start.Time, Began: began, End: l.End.Time, Outcome: l.Outcome, Reason: l.Reason,
			FromCheckpoint: l.From > 0, SavedCPU: l.Saved.Seconds(), MovedTo: l.MovedTo, MovedBytes: l.Bytes,
			DownS: l.Down.Seconds(),
		})
	}
	if len(results) > 0 {
		r := &ResultStatus{Digest: results[0].Digest(), Outputs: results[0].Outputs}
		if len(r.Outputs) > 0 {
			r.CID = r.Outputs[0].CID
		}
		for i := range results {
			r.Workers = append(r.Workers, results[i].Worker)
		}
		t.Result = r
		if state == JobDone {
			t.Missing = task.Unwritten(spec, i, r.Outputs)
		}
	}
	return t
}

// EndState is the state of a job of which every task has ended.
func EndState(done, failed uint64) string {
	switch {
	case failed == 0:
		return JobDone
	case done == 0:
		return JobFailed
	}
	return JobPartly
}

// Status returns an ended task of a job as people see it. spec is the job's.
func (t *TaskSummary) Status(spec *task.Job) TaskStatus {
	state := JobDone
	if t.Failed {
		state = JobFailed
	}
	ts := NewTaskStatus(spec, t.Index, state, t.Attempts, t.Results)
	ts.Reason, ts.From = t.Reason, t.From
	if w := t.Refuted; w != nil {
		ts.Refuted = &RefutedStatus{By: w.By, Signed: w.Result.Worker, Why: w.Why, Part: w.Part}
	}
	return ts
}

// NotDone says how many tasks of the job ended without a result, for people: they failed, unless it was cancelled
// before they ran.
func (s *JobStatus) NotDone() string {
	if s.State == JobCancelled {
		return fmt.Sprintf("%d not done", s.Tasks.Failed)
	}
	if s.Removed > 0 {
		return fmt.Sprintf("%d failed, %d removed", s.Tasks.Failed-min(s.Removed, s.Tasks.Failed), s.Removed)
	}
	return fmt.Sprintf("%d failed", s.Tasks.Failed)
}

// StateText returns the job's state for people. The state of a job that is over includes the number of results that
// nobody has checked yet.
func (s *JobStatus) StateText() string {
	if !FinalState(s.State) || s.Unchecked == 0 {
		return s.State
	}
	return fmt.Sprintf("%s, %d results not checked", s.State, s.Unchecked)
}

// Settled reports whether nothing of a job will change any more: its submitter has all results
// that there will be, and none is to be checked, or none without a word of its owner.
func (s *JobStatus) Settled() bool {
	return s.Final && (s.Checks == nil || s.Checks.Due == s.Checks.Waits)
}

// Checks says how far the results of a job are checked, in tasks.
type Checks struct {
	Verify string `json:"verify"` // as the job file has it, or the overlay's default
	// Promise tells people how likely it is that wrong results remain unnoticed.
	Promise string `json:"promise"`
	// Confirm is the condition of results that are all run again; "" for none.
	Confirm string `json:"confirm,omitempty"`
	Due     uint64 `json:"due"` // are to be run again, or may be
	// Waits is the number of results, of Due, that only this machine can check, beyond the limit of what a job's
	// checks may cost it: their owner decides.
	Waits uint64 `json:"waits,omitempty"`
	// NoCore reports that Waits counts results which this machine checks as soon as it lends a core. Otherwise they wait
	// for the owner's decision.
	NoCore  bool   `json:"no_core,omitempty"`
	Doubted uint64 `json:"doubted"` // of Due, of a worker that was wrong elsewhere
	Others  uint64 `json:"others"`  // of Due, run again by other members now
	Agreed  uint64 `json:"agreed"`  // of Accepted, other members came to the same
	Right   uint64 `json:"right"`   // gave the same when they were run again
	Wrong   uint64 `json:"wrong"`   // did not: what the submitter's node made takes their place
	Open    uint64 `json:"open"`    // it could not be told
	// Accepted, Unchecked and Final are how many results stand so: see Standing.
	Accepted  uint64 `json:"accepted"`
	Unchecked uint64 `json:"unchecked"`
	Final     uint64 `json:"final"`
	// Delivered is set once the job is over with nothing to be run again. Late are, of Wrong, those
	// that were found after that: who fetched the results before has wrong ones.
	Delivered bool   `json:"delivered"`
	Late      uint64 `json:"late"`
	// Key is that by which results were drawn that were run again, in hexadecimal, once Delivered:
	// before, whoever knows it could choose what to sign.
	Key string `json:"key,omitempty"`
	// Divergent lists the architectures, with commas between them, for which the program may be
	// compiled wrong: results that were made there are not those that it comes to here, compiled and
	// interpreted, and nobody is blamed for them. "" for none.
	Divergent string `json:"divergent,omitempty"`
	// Heard is what other submitters tell of workers of results that are accepted; nil where that
	// counts for none.
	Heard *Heard `json:"heard,omitempty"`
}

// Heard is how far the word of other submitters counts for results that were not run again.
type Heard struct {
	Tellers int     `json:"tellers"` // whose word counts
	Workers int     `json:"workers"` // of whom
	Own     float64 `json:"own"`     // tasks of these found right here, as far as they count
	Told    float64 `json:"told"`    // that count beside them
}

// Recalled is how many results of a job were delivered and are wrong, or in doubt now.
func (c *Checks) Recalled() uint64 {
	if c == nil || !c.Delivered {
		return 0
	}
	return c.Late + c.Doubted
}

// Parts are the intervals of a task's run that were run again, and are right.
type Parts struct {
	Checked int `json:"checked"`
	Of      int `json:"of"`
}

// A RefutedStatus is a result that was found wrong, and that the submitter's node replaced.
type RefutedStatus struct {
	Signed task.PeerID `json:"signed"`       // who signed it
	By     task.PeerID `json:"by,omitempty"` // in whose run it became wrong; "" where that cannot be told
	Why    string      `json:"why"`
	// Part is the interval that is wrong, where that was found.
	Part *RefutedPart `json:"part,omitempty"`
}

// A Standing says how far the result of a task is to be believed, of a job that wants its results
// checked.
type Standing string

// The standings of a result.
const (
	// StandingHeld is of one whose bytes are here and that is to be run again, or of which it could
	// not be told.
	StandingHeld Standing = "held"
	// StandingAccepted is of one that nobody ran again, because so much of its worker's was that it
	// is likely enough to be right.
	StandingAccepted Standing = "accepted"
	// StandingUnchecked is of a stranger's result that nobody ran again: nothing is known that speaks for it.
	StandingUnchecked Standing = "unchecked"
	// StandingFinal is of one that was run again here, or whose worker stayed clean for long enough
	// since: see credibility.Final.
	StandingFinal Standing = "final"
	// StandingReplaced is of one that was found wrong, and that this node made anew. It is final.
	StandingReplaced Standing = "replaced"
	// StandingDoubted is of one that is run again because its worker was wrong elsewhere.
	StandingDoubted Standing = "doubted"
)
