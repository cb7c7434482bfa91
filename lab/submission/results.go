package submission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"godwit/api"
	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/scheduler/message"
	"godwit/task"
)

// Collected says what Collect wrote.
type Collected struct {
	Files int // written, or there with the same content
	// Hidden are names of outputs that were not written: they begin with a dot, and no
	// pattern of the job says so.
	Hidden []string
	// Missing are outputs that the job names, not by patterns, and that tasks did not write, in the order in which
	// that was seen; at most mostMissing.
	Missing []Missing
	// Faulty is the number of results of workers with proven faults that were not run again, and FirstFaulty the index of
	// the first of these tasks.
	Faulty      uint64
	FirstFaulty uint64
}

// A Missing is an output that tasks did not write.
type Missing struct {
	Name  string `json:"name"`
	Tasks uint64 `json:"tasks"`
	First uint64 `json:"first"` // the first of them that was seen
}

// mostMissing bounds Collected.Missing: a job of a thousand stages has many names.
const mostMissing = 20

// misses counts what a task that is done did not write, and whether its result is of a worker with a proven fault.
func (c *Collected) misses(spec *task.Job, t *message.TaskSummary) {
	if t.Faulty {
		if c.Faulty++; c.Faulty == 1 {
			c.FirstFaulty = t.Index
		}
	}
	if t.Failed || len(t.Results) == 0 {
		return
	}
	for _, name := range task.Unwritten(spec, t.Index, t.Results[0].Outputs) {
		k := slices.IndexFunc(c.Missing, func(m Missing) bool { return m.Name == name })
		if k < 0 {
			if len(c.Missing) == mostMissing {
				continue
			}
			k = len(c.Missing)
			c.Missing = append(c.Missing, Missing{Name: name, First: t.Index})
		}
		c.Missing[k].Tasks++
	}
}

// maxHidden bounds Collected.Hidden: people are told of a few.
const maxHidden = 10

// A Gather says which results Collect fetches, and how it names them. The zero value fetches all that are
// there, and writes DIR/INDEX/NAME.
type Gather struct {
	Only   string // pattern of outputs' names, as in a job file; "" for all
	Flat   bool   // DIR/INDEX-NAME, with - for each / of the name
	Follow bool   // goes on as results come, until the job is over
	Alone  bool   // leaves out the jobs that add tasks to this one
}

// Collect fetches every result of a job, checks it and writes it below dir: DIR/NAME for a
// job of one task, DIR/INDEX/NAME for a sweep, DIR/STAGE/INDEX/NAME for a job with stages. Results of jobs that add tasks
// lie among them. Nothing that is there is written over: a file of other content ends it with an error.
func Collect(ctx context.Context, client *api.Client, ref, dir string) (Collected, error) {
	return CollectBy(ctx, client, ref, dir, Gather{})
}

// CollectBy is Collect of what a Gather says.
func CollectBy(ctx context.Context, client *api.Client, ref, dir string, how Gather) (Collected, error) {
	c := &collection{client: client, ref: ref, dir: dir, how: how}
	return c.run(ctx)
}

// collect is Collect. A standard output goes to show and not to a file where show is not
// nil.
func collect(ctx context.Context, client *api.Client, ref, dir string, show io.Writer) (Collected, error) {
	c := &collection{client: client, ref: ref, dir: dir, show: show}
	return c.run(ctx)
}

// NotOver adds the way out to an error of a file that is in the way; others stay.
func NotOver(err error) error {
	if errors.Is(err, files.ErrThere) {
		return &failure.Error{Code: failure.ExitFailed, Err: err,
			Hint: "nothing is written over: name another directory with --out"}
	}
	return err
}

// CheckDir says why results could not be written below a directory, before they are there. It makes nothing: of one
// that is not there it looks at the nearest above.
func CheckDir(dir string) error {
	at, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("looking at the results' directory: %w", err)
	}
	for {
		st, err := os.Stat(at)
		switch up := filepath.Dir(at); {
		case (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) && up != at:
			at = up
			continue
		case err != nil:
			return fmt.Errorf("looking at the results' directory: %w", err)
		case !st.IsDir():
			return fmt.Errorf("making the results' directory %s: %s is a file", dir, at)
		}
		f, err := os.CreateTemp(at, ".godwit-*")
		if err != nil {
			return fmt.Errorf("the results' directory %s cannot be written to: %w", dir, err)
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}
}

func openDir(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the results' directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the results' directory: %w", err)
	}
	return root, nil
}

// WriteOutput writes an output below a directory, which is made where it is not there. A file of other
// content is not written over: that is an error.
func WriteOutput(dir, name string, b []byte) error {
	root, err := openDir(dir)
	if err != nil {
		return err
	}
	return NotOver(errors.Join(files.WriteNew(root, name, b), root.Close()))
}

// EachTask calls f for every ended task of a job that the node holds, in order, after checking that
// it is the job's, that its outputs are such as the job asks for, and the workers'
// signatures. What its inputs and outputs hold sealer opens.
func EachTask(ctx context.Context, client *api.Client, ref string,
	f func(spec *task.Job, sealer *seal.Sealer, t message.TaskSummary) error) error {
	e := each{client: client, ref: ref, f: f}
	for from := uint64(0); ; {
		page, err := client.Results(ctx, ref, from)
		if err != nil || len(page.Tasks) == 0 {
			return err
		}
		if err := e.take(&page); err != nil {
			return err
		}
		from = page.Tasks[len(page.Tasks)-1].Index + 1
	}
}

// Check refuses results that are not signed, or not the job's.
func Check(id task.JobID, spec *task.Job, t *message.TaskSummary) error {
	made := task.TaskID{Job: id, Index: t.Index}
	if t.From != nil { // the node, whose jobs both are, says that they are one
		made = *t.From
	}
	for i := range t.Results {
		r := &t.Results[i]
		if r.Task != made || t.Index >= spec.Tasks() {
			return fmt.Errorf("the result of %s is of task %v", r.Worker, r.Task)
		}
		signed := t.AsSigned(i)
		if err := signed.Verify(); err != nil {
			return fmt.Errorf("the result of %s does not verify: %w", r.Worker, err)
		}
		if err := spec.CheckResult(r); err != nil {
			return fmt.Errorf("the result of %s: %w", r.Worker, err)
		}
	}
	return nil
}

// content returns an output's bytes, which sealer opens, and an error unless they are the ones
// that the signed result names.
func content(ctx context.Context, client *api.Client, sealer *seal.Sealer, o task.Output) ([]byte, error) {
	if o.Size > task.MaxOutputBytes {
		return nil, fmt.Errorf("%s has %s by its worker's word, and no task may write more than %s",
			o.Name, task.FormatSize(o.Size), task.FormatSize(task.MaxOutputBytes))
	}
	b := o.Inline
	if int64(len(b)) != o.Size {
		r, err := client.OpenFile(ctx, o.CID)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", o.Name, err)
		}
		defer r.Close()
		if b, err = io.ReadAll(io.LimitReader(r, o.Size+1)); err != nil {
			return nil, fmt.Errorf("reading %s: %w", o.Name, err)
		}
	}
	c, err := blocks.CIDOfBytes(b)
	if err != nil {
		return nil, fmt.Errorf("checking %s: %w", o.Name, err)
	}
	if c != o.CID {
		return nil, fmt.Errorf("%s is not what its worker signed: content %s, result %s", o.Name, c, o.CID)
	}
	if b, err = sealer.OpenFile(b); err != nil {
		return nil, fmt.Errorf("opening %s: %w", o.Name, err)
	}
	return b, nil
}

// Print prints the standard output of a job's only task, and writes its other outputs, where
// there are any, below dir, as Collect does.
func Print(ctx context.Context, w io.Writer, client *api.Client, id task.JobID, dir string) (Collected, error) {
	return collect(ctx, client, string(id), dir, w)
}
