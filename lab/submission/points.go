package submission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"godwit/api"
	"godwit/task"
	"godwit/task/table"
)

// Points tell what the tasks of a job run with, by its tables, which are brought here.
type Points struct {
	spec   *task.Job
	files  map[task.CID]*os.File
	reader *table.Reader
}

// FetchPoints brings the tables of a job that the node submitted and that ref names. Close it.
func FetchPoints(ctx context.Context, client *api.Client, ref string, spec *task.Job) (*Points, error) {
	p := &Points{spec: spec, files: map[task.CID]*os.File{}}
	p.reader = table.NewReader(func(t *task.Table, page int) ([]byte, error) { return table.PageOf(p.files[t.CID], page) })
	for _, t := range spec.Tables() {
		if err := p.fetch(ctx, client, ref, t.CID); err != nil {
			return nil, errors.Join(fmt.Errorf("bringing a table of the job: %w", err), p.Close())
		}
	}
	return p, nil
}

func (p *Points) fetch(ctx context.Context, client *api.Client, ref string, c task.CID) error {
	from, err := client.OpenFileOf(ctx, c, ref)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.CreateTemp("", "godwit-table-*")
	if err != nil {
		return err
	}
	p.files[c] = f
	os.Remove(f.Name()) // it lives as long as it is open
	_, err = io.Copy(f, from)
	return err
}

// Close removes the tables.
func (p *Points) Close() error {
	var err error
	for _, f := range p.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// Of returns what templates name of a task, in its stage: see task.Sweep.PointBy.
func (p *Points) Of(index uint64) ([]task.EnvVar, error) {
	of, local := p.spec.At(index)
	return of.Sweep.PointBy(local, p.reader.Row)
}

// Params are what tells the tasks of the job apart: see task.Shown.
func (p *Points) Params(index uint64) ([]task.EnvVar, error) {
	return task.Shown(p.spec, index, p.reader.Row)
}

// Number is the number that a task goes by: of one that runs again that of before, in as many digits as there.
// One of a stage has the stage before it, "fit/07", and is called as the stage where it is the only one.
func (p *Points) Number(index uint64) (string, error) {
	if len(p.spec.Stages) > 0 {
		of, local := p.spec.At(index)
		stage, _ := p.spec.StageOf(index)
		name := p.spec.Stages[stage].Name
		if total := of.Sweep.Count(); total > 1 {
			name += "/" + task.Padded(local, total)
		}
		return name, nil
	}
	axes := p.spec.Sweep.Axes
	if len(axes) == 1 && axes[0].Name == task.AgainAxis && axes[0].Table != nil {
		params, err := p.Of(index)
		if err != nil {
			return "", err
		}
		for _, v := range params {
			if _, err := strconv.ParseUint(v.Value, 10, 64); v.Name == task.AgainAxis+"."+task.AgainColumn && err == nil {
				return v.Value, nil
			}
		}
	}
	total := p.spec.Sweep.Count()
	return fmt.Sprintf("%0*d", len(strconv.FormatUint(total-1, 10)), index), nil
}
