package task

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// AgainAxis is the only axis of a job that runs tasks of another again: its table has a row for each.
const AgainAxis = "again"

// An Again says how tasks of a job are run again by another job.
type Again struct {
	of      *Job
	columns []string
	old     bool // the job is such a one itself: its rows are taken as they are
}

// RunAgain returns how tasks of a job are run again.
func (j *Job) RunAgain() *Again {
	a := &Again{of: j}
	if axes := j.Sweep.Axes; len(axes) == 1 && axes[0].Name == AgainAxis && axes[0].Table != nil && j.Sweep.trials() == 1 {
		for _, c := range axes[0].Table.Columns {
			a.columns = append(a.columns, c.Name)
		}
		if a.old = a.columns[len(a.columns)-1] == AgainColumn; a.old {
			return a
		}
		a.columns = nil
	}
	for _, r := range j.Sweep.references() {
		name := clip(strings.ReplaceAll(r.name, ".", "_"), maxAgainName)
		if slices.Contains(a.columns, name) || name == AgainColumn {
			name = fmt.Sprintf("%s_%d", name, len(a.columns))
		}
		a.columns = append(a.columns, name)
	}
	a.columns = append(a.columns, AgainColumn)
	return a
}

// maxAgainName leaves room for what makes a name of a column differ from the others.
const maxAgainName = 60

// Runs reports whether the job itself runs tasks of another one.
func (a *Again) Runs() bool { return a.old }

// Columns are those of the table: a value of each axis or cell of the job, and AgainColumn.
func (a *Again) Columns() []string { return a.columns }

// Row is that of a task, in the table. rows gives the rows of the job's own tables.
func (a *Again) Row(index uint64, rows Rows) ([]string, error) {
	params, err := a.of.Sweep.PointBy(index, rows)
	if err != nil {
		return nil, fmt.Errorf("task %d: %w", index, err)
	}
	row := make([]string, 0, len(a.columns))
	for _, p := range params {
		row = append(row, p.Value)
	}
	if a.old {
		return row[:len(a.columns)], nil // without the trial
	}
	digits := len(strconv.FormatUint(a.of.Sweep.Count()-1, 10)) // as directories of results are called
	return append(row, fmt.Sprintf("%0*d", digits, index)), nil
}

// File returns the job file of the job that runs them again, whose table is to be set: see File.SetTable.
func (a *Again) File() (*File, error) {
	j := a.of
	f := newFile("")
	f.Name, f.Module, f.Outputs = j.Name, j.Name+".wasm", slices.Clone(j.Outputs)
	f.Work, f.Memory, f.Replicas, f.Retries = j.Work, j.Memory, j.Replicas, j.Retries
	f.Deadline, f.Timeout, f.Priority, f.Checkpoint = j.Deadline, j.Timeout, j.Priority, j.Checkpoint
	f.Class, f.Weight, f.Slots = j.Class, j.Weight, j.Slots
	f.VerifyOff = j.Verify == nil
	if v := j.Verify; v != nil {
		f.Verify, f.Auditors = v.with(v.Confirm), slices.Clone(v.Auditors)
		f.Verify.Draw = nil
	}
	f.Sweep.Axes = []Axis{{Name: AgainAxis, Table: new(Table)}}
	var err error
	turn := func(template string) (out string) {
		if err == nil {
			out, err = a.template(template)
		}
		return out
	}
	for _, t := range j.Args {
		f.Args = append(f.Args, turn(t))
	}
	for _, e := range j.Env {
		f.Env = append(f.Env, EnvVar{e.Name, turn(e.Value)})
	}
	for _, t := range j.Files {
		f.Files = append(f.Files, turn(t))
	}
	f.Stdin = turn(j.Stdin)
	return f, err
}

// Refile returns the job file of a job with stages, with their modules: to hand it in once more.
func Refile(j *Job) *File {
	f := newFile("")
	f.Name, f.Outputs = j.Name, nil
	f.Work, f.Memory, f.Replicas, f.Retries = j.Work, j.Memory, j.Replicas, j.Retries
	f.Deadline, f.Timeout, f.Priority, f.Checkpoint = j.Deadline, j.Timeout, j.Priority, j.Checkpoint
	f.Class, f.Weight, f.Slots = j.Class, j.Weight, j.Slots
	f.VerifyOff = j.Verify == nil
	for i := range j.Stages {
		s := &j.Stages[i]
		f.Stages = append(f.Stages, FileStage{s.clone(), s.Name + ".wasm"})
	}
	return f
}

// template is that of the job, over the columns.
func (a *Again) template(of string) (string, error) {
	if a.old {
		return of, nil
	}
	refs := a.of.Sweep.references()
	var b strings.Builder
	err := pieces(of, func(s string) error {
		b.WriteString(strings.ReplaceAll(s, "{{", `{{"{{"}}`))
		return nil
	}, func(name string) error {
		i := find(refs, name)
		if i < 0 {
			return unknownName(name, namesOf(refs))
		}
		fmt.Fprintf(&b, "{{.%s.%s}}", AgainAxis, a.columns[i])
		return nil
	})
	return b.String(), err
}

// PointBy is Point with the cells of tables, of which rows gives the rows: the values by the names that
// templates have for them, "axis" and "axis.column", then the trial.
func (s *Sweep) PointBy(i uint64, rows Rows) ([]EnvVar, error) { return s.expandPoint(i, rows) }

// Shown returns what tells a task of a job apart from the others, by the names that templates have: without the trial
// where each point has one, and of a task that runs again by the names that it had. rows gives the rows of tables.
func Shown(j *Job, index uint64, rows Rows) ([]EnvVar, error) {
	of, local := j.At(index)
	all, err := of.Sweep.PointBy(local, rows)
	if err != nil {
		return nil, err
	}
	var out []EnvVar
	for _, v := range all {
		name, again := strings.CutPrefix(v.Name, AgainAxis+".")
		if trial := name == Trial; again && name == AgainColumn || trial && of.Sweep.Repeat <= 1 {
			continue
		}
		out = append(out, EnvVar{Name: name, Value: v.Value})
	}
	return out, nil
}
