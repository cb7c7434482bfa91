// Package audit runs ended tasks of a job again, on this machine, and holds the workers'
// signed results against what comes out. Tasks are deterministic: what a worker signed is
// what anybody else gets, or it is wrong.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/api"
	"godwit/blocks/seal"
	"godwit/lab/submission"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// A Verdict says how a result stands to what came out here.
type Verdict string

// The verdicts.
const (
	Right   Verdict = "right"   // the same, byte for byte
	Differs Verdict = "differs" // something else came out here, compiled and interpreted alike
	Open    Verdict = "open"    // it cannot be told; Finding.Why says why
)

// A Finding is what came of one task.
type Finding struct {
	Task    uint64        `json:"task"`
	Workers []task.PeerID `json:"workers"` // who signed the result
	Verdict Verdict       `json:"verdict"`
	Why     string        `json:"why,omitempty"` // of all but Right
	Here    time.Duration `json:"cpu_ns"`        // that the task took here
	There   time.Duration `json:"signed_cpu_ns"` // that it took by the first worker's word
}

// A Runner runs one task, as sandbox.Pool does.
type Runner interface {
	Run(ctx context.Context, t sandbox.Task) (sandbox.Report, error)
}

// An Auditor runs tasks.
type Auditor struct {
	// Compiled runs tasks as nodes do. Interpreted is asked where something else came out
	// than a worker signed: so that a fault of the compiler here accuses nobody.
	Compiled, Interpreted Runner
	// Dir is where the files of jobs are put. It is the caller's to remove.
	Dir string
	// Client is of a node that has the job's files and results.
	Client *api.Client
	// Told is called before each task with how many there are in all; nil for nothing.
	Told func(done, of int, index uint64)
}

// Job audits so many ended tasks of the job that ref names, drawn at random with rng, all if
// there are fewer; or the task of index only, where that is not nil. It returns the findings
// by task, and how many ended tasks there are to draw from.
func (a *Auditor) Job(ctx context.Context, ref string, n int, only *uint64, rng *rand.Rand) ([]Finding, int, error) {
	d := draw{most: n, rng: rng, only: only}
	var job staged
	err := submission.EachTask(ctx, a.Client, ref, func(s *task.Job, sealer *seal.Sealer, t message.TaskSummary) error {
		job.spec, job.sealer = s, sealer
		if len(t.Results) > 0 {
			d.see(t)
		}
		return nil
	})
	if err != nil || len(d.drawn) == 0 {
		return nil, d.seen, err
	}
	if err := job.bring(ctx, a.Client, a.Dir); err != nil {
		return nil, d.seen, err
	}
	if err := job.makers(ctx, a.Client, ref, d.drawn); err != nil {
		return nil, d.seen, err
	}
	slices.SortFunc(d.drawn, func(x, y message.TaskSummary) int { return cmp.Compare(x.Index, y.Index) })
	var out []Finding
	for k := range d.drawn {
		if a.Told != nil {
			a.Told(k, len(d.drawn), d.drawn[k].Index)
		}
		f, err := a.task(ctx, &job, &d.drawn[k])
		if err != nil {
			return out, d.seen, fmt.Errorf("task %d: %w", d.drawn[k].Index, err)
		}
		out = append(out, f)
	}
	return out, d.seen, nil
}

// A draw takes some of the tasks that it sees, each with the same chance (Vitter 1985,
// algorithm R).
type draw struct {
	most  int
	only  *uint64
	rng   *rand.Rand
	seen  int
	drawn []message.TaskSummary
}

func (d *draw) see(t message.TaskSummary) {
	d.seen++
	switch {
	case d.only != nil:
		if t.Index == *d.only {
			d.drawn = append(d.drawn, t)
		}
	case len(d.drawn) < d.most:
		d.drawn = append(d.drawn, t)
	default:
		if i := d.rng.IntN(d.seen); i < d.most {
			d.drawn[i] = t
		}
	}
}

// task audits one.
func (a *Auditor) task(ctx context.Context, job *staged, t *message.TaskSummary) (Finding, error) {
	signed := &t.Results[0]
	f := Finding{Task: t.Index, There: signed.CPU}
	for i := range t.Results {
		f.Workers = append(f.Workers, t.Results[i].Worker)
	}
	if why := untold(signed.Outcome); why != "" {
		f.Verdict, f.Why = Open, "its result is that it "+why
		return f, nil
	}
	files, other, err := job.reads(t.Index, signed)
	if err != nil {
		return f, err
	}
	if other != "" {
		f.Verdict, f.Why = Open, other
		return f, nil
	}
	reads, err := job.bringReads(ctx, a.Client, files)
	if err != nil {
		return f, err
	}
	here, err := a.run(ctx, a.Compiled, job, t, reads)
	if err != nil {
		return f, err
	}
	f.Here = here.CPU
	if why := untold(here.Outcome); why != "" {
		f.Verdict, f.Why = Open, "here it "+why
		return f, nil
	}
	if job.difference(signed, here) == "" {
		f.Verdict = Right
		return f, nil
	}
	again, err := a.run(ctx, a.Interpreted, job, t, reads)
	if err != nil {
		return f, err
	}
	switch {
	case untold(again.Outcome) != "":
		f.Verdict, f.Why = Open, job.difference(signed, here)+"; interpreted here it "+untold(again.Outcome)
	case job.difference(here, again) != "":
		f.Verdict = Open
		f.Why = "this machine is at odds with itself: compiled and interpreted runs end otherwise (" +
			job.difference(here, again) + ")"
	default:
		f.Verdict, f.Why = Differs, job.difference(signed, here)
	}
	return f, nil
}

// run runs a task to a result, which nobody signs.
func (a *Auditor) run(ctx context.Context, on Runner, job *staged, t *message.TaskSummary, reads []task.FileRef) (
	*task.Result, error) {
	st, err := job.task(t.Index, t.Results[0].Task, reads)
	if err != nil {
		return nil, err
	}
	rep, err := on.Run(ctx, st)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return job.result(&rep)
}

// untold says what became of a task whose end depends on the machine, "" where it does not.
func untold(o task.Outcome) string {
	switch {
	case o.Reproducible():
		return ""
	case o == task.TimedOut:
		return "ran out of its time limit, which depends on the machine"
	case o == task.OutOfMemory:
		return "ran out of memory, which depends on the machine"
	case o == task.InvalidModule:
		return "could not be loaded, which depends on the version of godwit"
	}
	return "did not run to its end"
}

// errNoTask is returned where there is nothing to audit.
var errNoTask = errors.New("no task has ended of which there is a result")

// Nothing returns the error of an audit that found no task.
func Nothing(only *uint64) error {
	if only != nil {
		return fmt.Errorf("task %d: there is no result of it here", *only)
	}
	return errNoTask
}
