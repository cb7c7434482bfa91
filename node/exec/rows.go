package exec

import (
	"context"
	"fmt"
	"io"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/task"
	"godwit/task/table"
)

// jobRows are what was read of the tables of a job: a page of each.
type jobRows struct {
	turn    chan struct{} // holds one: who has it reads
	reader  *table.Reader
	ctx     context.Context // of who has the turn
	content Content
	sealer  *seal.Sealer
	holders []task.PeerID
}

// newRows returns the rows of a job that others hold as well; nil for one without tables.
func newRows(content Content, spec *task.Job, sealer *seal.Sealer, holders []task.PeerID) *jobRows {
	if len(spec.Tables()) == 0 {
		return nil
	}
	return rowsBy(content, sealer, holders)
}

// rowsBy returns the rows of any tables that holders have.
func rowsBy(content Content, sealer *seal.Sealer, holders []task.PeerID) *jobRows {
	r := &jobRows{turn: make(chan struct{}, 1), content: content, sealer: sealer, holders: holders}
	r.reader = table.NewReader(r.page)
	return r
}

// expand computes what a task runs with, from any goroutine. holders are asked for what is not here of the
// job's tables, and those that were named with the job.
func (j *Job) expand(ctx context.Context, index uint64, holders []task.PeerID) (task.Invocation, error) {
	r := j.rows
	if r == nil {
		return j.spec.Expand(index)
	}
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return task.Invocation{}, ctx.Err()
	}
	defer func() { <-r.turn }()
	r.ctx = ctx
	if len(holders) > 0 {
		r.holders = holders
	}
	return j.spec.ExpandBy(index, r.reader.Row)
}

// page brings a page here and reads it.
func (r *jobRows) page(t *task.Table, page int) ([]byte, error) {
	stride, length := int64(task.TablePage), int64(task.TablePage)
	if r.sealer != nil {
		stride, length = task.TableChunk, task.TableChunk
	}
	from := int64(page) * stride
	to := min(from+length, t.Size)
	if from >= to {
		return nil, fmt.Errorf("%w: it has no page %d", task.ErrTable, page)
	}
	// A page is on two leaves at most.
	if err := r.content.MakeRoom(r.ctx, 2*task.TableChunk, false); err != nil {
		return nil, err
	}
	store := r.content.Blocks()
	if err := store.FetchPart(r.ctx, t.CID, r.holders, blocks.Exactly(t.Size), from, to); err != nil {
		return nil, wrongTable(err)
	}
	f, _, err := store.Open(r.ctx, t.CID, blocks.Exactly(t.Size))
	if err != nil {
		return nil, wrongTable(err)
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return nil, err
	}
	b := make([]byte, to-from)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	if b, err = r.sealer.Open(b); err != nil {
		return nil, fmt.Errorf("%w: %w", task.ErrTable, err)
	}
	return b, nil
}

// wrongTable tells a table that nobody can have as it should be from one that is not to be had now.
func wrongTable(err error) error {
	if blocks.Wrong(err) {
		return fmt.Errorf("%w: %w", task.ErrTable, err)
	}
	return err
}

// Rows returns the rows of the tables of a job that are here, sealed by sealer or not.
func Rows(ctx context.Context, content Content, spec *task.Job, sealer *seal.Sealer) task.Rows {
	if len(spec.Tables()) == 0 {
		return nil
	}
	return TableRows(ctx, content, sealer)
}

// TableRows returns the rows of any tables that are here, sealed by sealer or not.
func TableRows(ctx context.Context, content Content, sealer *seal.Sealer) task.Rows {
	r := rowsBy(content, sealer, nil)
	r.ctx = ctx
	return r.reader.Row
}
