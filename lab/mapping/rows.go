package mapping

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"godwit/api"
	"godwit/blocks"
	"godwit/task"
	"godwit/task/table"
)

// Rows are the inputs of a job, as its table has them.
type Rows struct {
	file   *os.File
	table  *task.Table
	reader *table.Reader
	shown  int // column of what is shown
	seq    int // column of the input's number, where that is not the task's; else -1
}

// An input is one of a map.
type input struct {
	seq   uint64 // counted from 0
	shown string
}

// newRows are those of a table whose file is here.
func newRows(file *os.File, t *task.Table) *Rows {
	r := &Rows{file: file, table: t, seq: -1}
	r.reader = table.NewReader(func(_ *task.Table, page int) ([]byte, error) { return table.PageOf(file, page) })
	for i, c := range t.Columns {
		switch c.Name {
		case "", axis:
			r.shown = i
		case task.AgainColumn:
			r.seq = i
		}
	}
	return r
}

// Rows returns the inputs of the plan, which stays open as long as they are used.
func (p *Plan) Rows() *Rows { return newRows(p.rows, &p.table) }

// FetchRows brings the table of a job here. Close it.
func FetchRows(ctx context.Context, client *api.Client, id task.JobID, spec *task.Job) (*Rows, error) {
	tables := spec.Sweep.Tables()
	if len(tables) != 1 || len(spec.Sweep.Axes) != 1 {
		return nil, fmt.Errorf("the job is no map")
	}
	from, err := client.OpenFileOf(ctx, tables[0].CID, string(id))
	if err != nil {
		return nil, err
	}
	defer from.Close()
	f, err := os.CreateTemp("", "godwit-map-*")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	if _, err := io.Copy(f, from); err != nil {
		return nil, errors.Join(fmt.Errorf("bringing the inputs: %w", err), f.Close())
	}
	return newRows(f, tables[0]), nil
}

// RowsOf is FetchRows of a job that the node submitted.
func RowsOf(ctx context.Context, client *api.Client, id task.JobID) (*Rows, error) {
	page, err := client.NewResults(ctx, string(id), api.Have{Ranges: everything, Record: true})
	if err != nil {
		return nil, err
	}
	if page.Record == nil {
		return nil, errors.New("the node answers without the job")
	}
	spec, err := page.Record.OpenWhole()
	if err != nil {
		return nil, err
	}
	return FetchRows(ctx, client, id, spec)
}

// Close removes the file.
func (r *Rows) Close() error { return r.file.Close() }

// of returns the input of a task.
func (r *Rows) of(index uint64) (input, error) {
	cells, err := r.reader.Row(r.table, index)
	if err != nil {
		return input{}, fmt.Errorf("reading input %d: %w", index+1, err)
	}
	in := input{index, cells[r.shown]}
	if r.seq >= 0 {
		if in.seq, err = strconv.ParseUint(cells[r.seq], 10, 64); err != nil {
			return in, fmt.Errorf("reading input %d: %w", index+1, err)
		}
	}
	return in, nil
}

// equalFiles reports whether two files have the same content.
func equalFiles(a, b io.ReaderAt) (bool, error) {
	const most = 1 << 62
	x, err := blocks.CIDOf(context.Background(), io.NewSectionReader(a, 0, most))
	if err != nil {
		return false, err
	}
	y, err := blocks.CIDOf(context.Background(), io.NewSectionReader(b, 0, most))
	return x == y, err
}

// Count returns how many inputs there are.
func (r *Rows) Count() uint64 { return r.table.Rows }
