package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"godwit/blocks/seal"
	"godwit/node/exec"
	"godwit/task"
	"godwit/task/table"
)

var (
	// ErrNothingToAdd is returned for an addition that has no tasks.
	ErrNothingToAdd = errors.New("node: there is nothing to add")
	// ErrOtherTasks is returned if the number of the job's tasks is not the one that the caller expects.
	ErrOtherTasks = errors.New("node: the job has other tasks by now")
	// ErrTooManyTasks is returned if an addition, or all additions to a job, would have too many tasks.
	ErrTooManyTasks = errors.New("node: too many tasks are added")
)

// An Addition says which tasks are added to a job. Either Sweep, or Trials, or More has to be given.
type Addition struct {
	// Sweep has values of axes: each new point gets tasks, of the product with all values of the other axes.
	Sweep map[string][]string
	// Trials is the number of trials of each new point; 0 means as many as the points of the job have. Without Sweep it
	// is the number of further trials of each point that Points selects.
	Trials uint64
	// Points selects points by values of axes, by the names that templates have; nil selects all.
	Points map[string][]string
	// More are numbers of further trials of single points.
	More []MoreTrials
	// Tasks is the expected number of tasks of the job with all additions. If the actual number differs, nothing is
	// added, so concurrent callers do not add the same tasks. 0 means any number.
	Tasks uint64
}

// MoreTrials is a number of further trials of a point.
type MoreTrials struct {
	Task   uint64 `json:"task"` // number of a task of the point
	Trials uint64 `json:"trials"`
}

// Added is an addition that was handed in.
type Added struct {
	Job   task.JobID
	To    task.JobID // job that the tasks were added to
	Tasks uint64
	Known uint64 // points of Sweep that were there already
}

// AddTasks submits a job that adds tasks to another job of this node. If that job is an addition itself, the tasks are
// added to its first job. The new job has the program, inputs and settings of the first one and continues the numbers of
// its tasks. AddTasks returns when Submit would.
func (ss *submissions) AddTasks(ctx context.Context, id task.JobID, add Addition) (Added, error) {
	select {
	case ss.adding <- struct{}{}: // so that no number is given twice
		defer func() { <-ss.adding }()
	case <-ctx.Done():
		return Added{}, ctx.Err()
	}
	rec, spec, err := ss.queries.Submitted(ctx, id)
	if err == nil && spec.Adds != "" {
		id = spec.Adds
		rec, spec, err = ss.queries.Submitted(ctx, id)
	}
	if err != nil {
		return Added{}, err
	}
	a, err := task.NewAdditions(spec)
	if err != nil {
		return Added{}, err
	}
	g := growth{ss: ss, spec: spec, key: rec.Key, add: &add, Additions: a, out: Added{To: id}}
	if err := g.readEarlier(ctx, id); err != nil {
		return Added{}, err
	}
	if add.Tasks != 0 && add.Tasks != g.total {
		return Added{}, fmt.Errorf("%w: %d, not %d", ErrOtherTasks, g.total, add.Tasks)
	}
	s := Submission{Module: spec.Module, Inputs: map[string]task.FileRef{}, Overlay: spec.Overlay, sealedBy: rec.Key,
		adds: id}
	for _, in := range spec.Inputs {
		s.Inputs[in.Name] = in
	}
	if s.File, err = g.File(); err != nil {
		return Added{}, fmt.Errorf("adding tasks: %w", err)
	}
	made, err := g.table(ctx)
	if err != nil {
		return Added{}, err
	}
	if err := s.File.SetTable(task.AgainAxis, made); err != nil {
		return Added{}, fmt.Errorf("adding tasks: %w", err)
	}
	g.out.Tasks = made.Rows
	g.out.Job, err = ss.Submit(ctx, s)
	return g.out, err
}

// growth is an addition in the making.
type growth struct {
	ss   *submissions
	spec *task.Job
	key  []byte // of the job
	add  *Addition
	*task.Additions
	out   Added
	total uint64              // tasks of the job and of earlier additions
	asked map[uint64][]string // values of the points of earlier additions that More names, by the task
}

// readEarlier notes the rows of all earlier additions.
func (g *growth) readEarlier(ctx context.Context, id task.JobID) error {
	var earlier []task.JobID
	if err := g.ss.do(ctx, func() {
		m := g.ss.overlays.submitted(id)
		if m == nil {
			return // forgotten since
		}
		st, _ := m.Submitter().Job(id)
		for _, a := range st.Added {
			earlier = append(earlier, a.Job)
		}
	}); err != nil {
		return err
	}
	g.asked = map[uint64][]string{}
	for _, m := range g.add.More {
		if m.Task >= g.spec.Tasks() {
			g.asked[m.Task] = nil
		}
	}
	g.total = g.spec.Tasks()
	for _, id := range earlier {
		rec, spec, err := g.ss.queries.Submitted(ctx, id)
		if errors.Is(err, ErrUnknownJob) {
			continue // forgotten since
		}
		if err != nil {
			return err
		}
		if g.total += spec.Tasks(); g.total-g.spec.Tasks() > task.MaxAdditions {
			return fmt.Errorf("%w: the most in all additions to a job is %d", ErrTooManyTasks, uint64(task.MaxAdditions))
		}
		if err := g.readAddition(ctx, &rec, spec); err != nil {
			return fmt.Errorf("reading what job %s added: %w", id, err)
		}
	}
	return nil
}

// readAddition notes the rows of one addition.
func (g *growth) readAddition(ctx context.Context, rec *task.Record, spec *task.Job) error {
	sealer, err := seal.New(rec.Key)
	if err != nil {
		return fmt.Errorf("%w: %w", task.ErrKey, err)
	}
	axes := spec.Sweep.Axes
	if len(axes) != 1 || axes[0].Name != task.AgainAxis || axes[0].Table == nil {
		return errors.New("it is none")
	}
	rows := exec.Rows(ctx, g.ss.content, spec, sealer)
	for i := range axes[0].Table.Rows {
		row, err := rows(axes[0].Table, i)
		if err != nil {
			return err
		}
		if err := g.Note(row); err != nil {
			return err
		}
		if len(g.asked) == 0 {
			continue
		}
		n, err := strconv.ParseUint(row[len(row)-1], 10, 64)
		if _, asked := g.asked[n]; asked && err == nil {
			g.asked[n] = slices.Clone(row[:len(row)-2])
		}
	}
	return nil
}

// table stores the table of the new tasks.
func (g *growth) table(ctx context.Context) (task.Table, error) {
	sealer, err := seal.New(g.key)
	if err != nil {
		return task.Table{}, fmt.Errorf("%w: %w", task.ErrKey, err)
	}
	from, to := io.Pipe()
	w := table.NewWriter(to, g.Columns())
	var made task.Table
	done := make(chan error, 1)
	go func() {
		err := g.rows(exec.Rows(ctx, g.ss.content, g.spec, sealer), func(row []string) error {
			if w.Rows() == task.MaxAdded {
				return fmt.Errorf("%w: the most at once is %d", ErrTooManyTasks, uint64(task.MaxAdded))
			}
			return w.Add(row...)
		})
		if err == nil && w.Rows() == 0 {
			err = ErrNothingToAdd
			if g.out.Known > 0 {
				err = fmt.Errorf("%w: the job has these %d points already", ErrNothingToAdd, g.out.Known)
			}
		}
		if err == nil {
			made, err = w.Close()
		}
		to.CloseWithError(err)
		done <- err
	}()
	cid, size, err := g.ss.content.blocks.Import(ctx, sealer.Sealing(from))
	from.CloseWithError(err)
	if e := <-done; e != nil {
		return task.Table{}, e
	}
	made.CID, made.Size = cid, size
	return made, err
}

// rows calls add with the row of each new task.
func (g *growth) rows(rows task.Rows, add func(row []string) error) (err error) {
	switch {
	case len(g.add.Sweep) > 0:
		trials := g.add.Trials
		if trials == 0 {
			trials = g.First()
		}
		g.out.Known, err = g.NewPoints(g.add.Sweep, rows, func(values []string) error {
			return g.Trials(values, 0, trials, add)
		})
		return err
	case g.add.Trials > 0:
		return g.Points(g.add.Points, rows, func(values []string, first uint64) error {
			return g.Trials(values, first, g.add.Trials, add)
		})
	}
	for _, m := range g.add.More {
		values, first := g.asked[m.Task], uint64(0)
		if m.Task < g.spec.Tasks() {
			if values, err = g.PointOf(m.Task, rows); err != nil {
				return err
			}
			first = g.First()
		}
		if values == nil {
			return fmt.Errorf("%w: the job has no task %d", ErrNothingToAdd, m.Task)
		}
		if err := g.Trials(values, first, m.Trials, add); err != nil {
			return err
		}
	}
	return nil
}
