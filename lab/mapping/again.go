package mapping

import (
	"context"
	"slices"

	"godwit/api"
	"godwit/blocks"
	"godwit/scheduler/message"
	"godwit/task"
)

// Find returns the newest job of this node that is the plan's: of its name, program, arguments and inputs; ""
// if there is none.
func (p *Plan) Find(ctx context.Context, client *api.Client) (task.JobID, error) {
	jobs, err := client.Jobs(ctx)
	if err != nil {
		return "", err
	}
	for _, j := range jobs { // the newest first
		if j.Name != p.file.Name || j.Tasks.Total != p.table.Rows {
			continue
		}
		page, err := client.NewResults(ctx, string(j.ID), api.Have{Ranges: everything, Record: true})
		if err != nil {
			continue // another node's
		}
		same, err := p.same(ctx, client, j.ID, page.Record)
		if err != nil || same {
			return j.ID, err
		}
	}
	return "", nil
}

// everything is what a client has that wants no results.
var everything = []message.Range{{From: 0, To: task.MaxTasks}}

// same reports whether a job is the plan's.
func (p *Plan) same(ctx context.Context, client *api.Client, id task.JobID, rec *task.Record) (bool, error) {
	if rec == nil {
		return false, nil
	}
	spec, err := rec.OpenWhole()
	if err != nil || len(spec.Sweep.Axes) != 1 || !slices.Equal(spec.Args, p.file.Args) ||
		!slices.Equal(spec.Files, p.file.Files) {
		return false, nil
	}
	module, err := blocks.CIDOfBytes(p.code)
	t := spec.Sweep.Axes[0].Table
	if err != nil || module != spec.Module || t == nil || !slices.Equal(t.Columns, p.table.Columns) ||
		!slices.Equal(t.Pages, p.table.Pages) {
		return false, err
	}
	// The table is stored under a key of the job's own: what it holds is compared.
	theirs, err := FetchRows(ctx, client, id, spec)
	if err != nil {
		return false, err
	}
	defer theirs.Close()
	return equalFiles(theirs.file, p.rows)
}
