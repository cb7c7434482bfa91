package node

import (
	"context"
	"errors"

	"godwit/blocks/seal"
	"godwit/node/exec"
	"godwit/scheduler/message"
	"godwit/task"
)

// What is read of tables to tell what the tasks of one answer run with. Beyond that the rows keep their numbers.
const (
	shownPages = 64      // of 256 KiB each: some tens of milliseconds
	shownBytes = 4 << 20 // of texts of all tasks, as an answer is held in memory
	shownRow   = 1 << 10 // of the texts of one task: nobody reads more in a list
)

// errShown says that no more pages are read for an answer.
var errShown = errors.New("node: pages enough were read")

// ShowRows puts the values of rows of tables in place of their numbers, of the tasks that a status lists, where this
// node submitted the job and has its tables. What it cannot tell stays as it is.
func (q *queries) ShowRows(ctx context.Context, st *message.JobStatus) {
	if len(st.TasksList) == 0 {
		return
	}
	rec, spec, err := q.Submitted(ctx, st.ID)
	if err != nil || len(spec.Tables()) == 0 {
		return
	}
	sealer, err := seal.New(rec.Key)
	if err != nil {
		return
	}
	showRows(spec, fewPages(exec.TableRows(ctx, q.content, sealer)), st.TasksList)
}

// showRows puts values in place of numbers of rows, which rows gives.
func showRows(spec *task.Job, rows task.Rows, tasks []message.TaskStatus) {
	left := shownBytes
	for i := range tasks {
		point, err := task.Shown(spec, tasks[i].Index, rows)
		if err != nil || left < 0 {
			return
		}
		params, size := make(map[string]string, len(point)), 0
		for _, p := range point {
			params[p.Name] = p.Value
			size += len(p.Name) + len(p.Value)
		}
		if size <= shownRow {
			tasks[i].Params = params
			left -= size
		}
	}
}

// fewPages gives rows until pages enough of tables were read.
func fewPages(rows task.Rows) task.Rows {
	last, read := map[*task.Table]int{}, 0
	return func(t *task.Table, i uint64) ([]string, error) {
		page, _ := t.Page(i)
		if before, known := last[t]; !known || before != page {
			if read++; read > shownPages {
				return nil, errShown
			}
			last[t] = page
		}
		return rows(t, i)
	}
}
