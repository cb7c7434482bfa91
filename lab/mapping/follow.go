package mapping

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"godwit/api"
	"godwit/blocks/seal"
	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A Follower prints what the tasks of a map print, each whole, as they end.
type Follower struct {
	Client *api.Client
	Job    task.JobID
	Rows   *Rows
	Out    io.Writer // standard output of tasks
	Err    io.Writer // standard error of tasks and what is said of them; peers wrote parts of it

	KeepOrder bool
	Tag       bool
	Halt      Halt
	Log       *Log // nil: none
	// Progress tells how far the job is, and when it ends; nil: nobody is told.
	Progress *progress.Progress
	// Dir has the other outputs, below a directory for each input; "" for none.
	Dir string

	printed ledger.Set // by the number of the input, counted from 0
	seen    ledger.Set // tasks of the job that need not be asked for
	failed  uint64
	halted  bool      // no more is begun, since enough failed
	settled bool      // nothing more comes
	told    time.Time // when how far it is was last asked for
	awaits  int       // looks for the next in order
	missed  []string  // outputs of which was told that a task did not write them
	total   uint64
	spec    *task.Job
	sealer  *seal.Sealer
}

const (
	// firstPause and lastPause are between two tries to reach a node that does not answer.
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Run follows the job until it is over, and returns how many tasks failed. A node that does not answer is
// waited for, until ctx ends.
func (f *Follower) Run(ctx context.Context) (failed uint64, err error) {
	if f.Log != nil {
		f.printed.Union(f.Log.printed)
	}
	defer f.Progress.Hide()
	pause := firstPause
	for {
		page, err := f.Client.NewResults(ctx, string(f.Job), api.Have{Ranges: f.have(), Record: f.spec == nil})
		if err == nil {
			pause = firstPause
			f.Progress.Hide()
			err = f.take(ctx, &page)
			f.tell(ctx, page.Final)
		}
		var said *api.Error
		switch {
		case errors.Is(err, errHalted):
			return f.failed, f.halt(ctx)
		case err == nil && page.Final:
			return f.failed, f.early()
		case err == nil:
			continue
		case ctx.Err() != nil:
			return f.failed, ctx.Err()
		case errors.As(err, &said), errors.Is(err, errOurs):
			return f.failed, err
		}
		if pause == firstPause {
			fmt.Fprintf(f.Err, "godwit: the node does not answer; it is asked again until it does: %v\n", err)
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, lastPause)
		case <-ctx.Done():
			return f.failed, ctx.Err()
		}
	}
}

// tellEvery is how often it is asked how far the job is.
const tellEvery = time.Second

// tell shows how far the job is. That the node does not say is no failure.
func (f *Follower) tell(ctx context.Context, over bool) {
	if f.Progress == nil || over || time.Since(f.told) < tellEvery {
		return
	}
	f.told = time.Now()
	if st, err := f.Client.Job(ctx, string(f.Job)); err == nil && !st.Settled() {
		f.Progress.Show(st)
	}
}

// errOurs is of what no other answer mends.
var errOurs = errors.New("here")

// have are the tasks that are not to be asked for, as far as one request can say so.
func (f *Follower) have() []message.Range {
	if len(f.seen) <= message.MaxHave {
		return f.seen
	}
	return f.seen[:message.MaxHave]
}

// take prints a page of results.
func (f *Follower) take(ctx context.Context, page *api.Results) error {
	if f.spec == nil {
		if page.Record == nil {
			return fmt.Errorf("%w: the node answers without the job", errOurs)
		}
		var err error
		if f.spec, err = page.Record.OpenWhole(); err == nil {
			f.sealer, err = seal.New(page.Record.Key)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errOurs, err)
		}
		f.total = page.Total
	}
	for i := range page.Tasks {
		t := &page.Tasks[i]
		if f.seen.Contains(t.Index) {
			continue
		}
		if f.KeepOrder && !f.settled && t.Index != f.seen.NextMissing(0) {
			return f.await(ctx)
		}
		if err := submission.Check(f.Job, f.spec, t); err != nil {
			return fmt.Errorf("%w: task %d: %w", errOurs, t.Index, err)
		}
		if err := f.show(ctx, t); err != nil {
			return err
		}
		f.seen.Add(t.Index)
		switch {
		case f.halted || !f.Halt.reached(f.failed, f.total):
		case !f.Halt.soon:
			return errHalted
		default:
			if _, err := f.Client.CancelSoon(ctx, string(f.Job)); err != nil {
				return err
			}
			f.halted = true
			fmt.Fprintf(f.Err, "godwit: %d tasks failed: no more are begun, and what runs ends\n", f.failed)
		}
	}
	return nil
}

// early says that not all was begun; nil where all was.
func (f *Follower) early() error {
	if left := f.total - min(f.total, f.seen.Count()); f.halted && left > 0 {
		return failure.Usage("", "%d tasks failed: the other %d were not begun", f.failed, left)
	}
	return nil
}

// await waits a moment: results are here, and not the one that is next. It never comes of a job that was
// ended early, so from time to time the node is asked whether any more will.
func (f *Follower) await(ctx context.Context) error {
	if f.awaits++; f.awaits%askSettled == 0 {
		st, err := f.Client.Job(ctx, string(f.Job))
		if err != nil {
			return err
		}
		f.settled = st.Settled()
	}
	select {
	case <-time.After(orderPause):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// askSettled is after how many looks the node is asked once whether anything more comes.
const askSettled = 10

// orderPause is between two looks whether the next in order has ended.
const orderPause = 100 * time.Millisecond

// show prints what a task printed, and notes how it ended.
func (f *Follower) show(ctx context.Context, t *message.TaskSummary) error {
	in, err := f.Rows.of(t.Index)
	if err != nil {
		return fmt.Errorf("%w: %w", errOurs, err)
	}
	if t.Failed {
		f.failed++
	}
	if f.printed.Contains(in.seq) {
		return nil
	}
	if len(t.Results) > 0 {
		if err := f.outputs(ctx, t, in); err != nil {
			return err
		}
	}
	if t.Failed {
		fmt.Fprintf(f.Err, "godwit: %s (input %d) failed: %s\n", in.shown, in.seq+1, t.WhyFailed())
	}
	f.printed.Add(in.seq)
	if err := f.Log.write(in, t); err != nil {
		return fmt.Errorf("%w: writing the log: %w", errOurs, err)
	}
	return nil
}

// outputs prints and writes what a task made.
func (f *Follower) outputs(ctx context.Context, t *message.TaskSummary, in input) error {
	if !t.Failed {
		f.misses(t, in)
	}
	for _, o := range t.Results[0].Outputs {
		stream := o.Name == task.Stdout || o.Name == task.Stderr
		if o.Size == 0 && stream || !stream && (f.Dir == "" || t.Failed || f.spec.HiddenOutput(t.Index, o.Name)) {
			continue
		}
		b, err := submission.Content(ctx, f.Client, f.sealer, o)
		switch {
		case err != nil && t.Failed: // nobody keeps much of what failed
			fmt.Fprintf(f.Err, "godwit: %s: its %s is not to be had: %v\n", in.shown, o.Name, err)
			continue
		case err != nil:
			return err
		}
		switch o.Name {
		case task.Stdout:
			prefix := ""
			if f.Tag {
				prefix = in.shown + "\t"
			}
			_, err = f.Out.Write(prefixed(prefix, b))
		case task.Stderr:
			_, err = f.Err.Write(prefixed(in.shown+": ", b))
		default:
			err = submission.WriteOutput(f.Dir, filepath.Join(fmt.Sprint(in.seq+1), filepath.FromSlash(o.Name)), b)
		}
		if err != nil {
			return fmt.Errorf("%w: writing %s: %w", errOurs, o.Name, err)
		}
	}
	return nil
}

// misses tells of outputs that the job names, not by patterns, and that a task did not write: of each name once.
func (f *Follower) misses(t *message.TaskSummary, in input) {
	for _, name := range task.Unwritten(f.spec, t.Index, t.Results[0].Outputs) {
		if !slices.Contains(f.missed, name) {
			f.missed = append(f.missed, name)
			fmt.Fprintf(f.Err, "godwit: %s (input %d) wrote no %s, which --output names; of others that is not told\n", in.shown,
				in.seq+1, name)
		}
	}
}

// prefixed puts a text before each line, and ends the last.
func prefixed(prefix string, b []byte) []byte {
	if prefix == "" || len(b) == 0 {
		return b
	}
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		out.WriteString(prefix)
		out.Write(line)
	}
	if b[len(b)-1] != '\n' {
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// halt ends the job, since enough of it failed.
func (f *Follower) halt(ctx context.Context) error {
	if _, err := f.Client.Cancel(ctx, string(f.Job)); err != nil {
		return err
	}
	return failure.Usage("", "%d tasks failed: the rest is cancelled", f.failed)
}

var errHalted = errors.New("halted")
