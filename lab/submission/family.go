package submission

import (
	"context"
	"errors"

	"godwit/api"
	"godwit/scheduler/message"
	"godwit/task"
)

// Family returns the job that ref names and the jobs that add tasks to it, the oldest first. With alone it is that job
// only.
func Family(ctx context.Context, client *api.Client, ref string, alone bool) ([]task.JobID, error) {
	st, err := client.JobTasks(ctx, ref, 0, 0)
	if err != nil {
		return nil, err
	}
	ids := []task.JobID{st.ID}
	if alone {
		return ids, nil
	}
	for _, a := range st.Added {
		ids = append(ids, a.Job)
	}
	return ids, nil
}

// everything requests a job without its results.
var everything = []message.Range{{From: 0, To: task.MaxTasks}}

// specOf returns the job that ref names, which the node submitted, as it was signed.
func specOf(ctx context.Context, client *api.Client, ref string) (*task.Job, error) {
	page, err := client.NewResults(ctx, ref, api.Have{Ranges: everything, Record: true})
	if err != nil {
		return nil, err
	}
	if page.Record == nil {
		return nil, errors.New("the node answers without the job itself")
	}
	return page.Record.OpenWhole()
}
