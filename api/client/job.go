package client

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"godwit/api"
	"godwit/lab/submission"
	"godwit/scheduler/message"
	"godwit/task"
)

// A Job is a job that is made in memory. SubmitFile takes one that is in files.
type Job struct {
	// File is the text of a job file, as docs/jobs.md describes it. Empty: Module is run once with Args.
	File   string
	Args   []string
	Module []byte            // the program; what File says of its module is a name for messages
	Inputs map[string][]byte // by the names that File has for them
	// Overlay to hand it to: name, ID or enough of the ID's end; "" leaves it to the node.
	Overlay string
}

// Submit hands in a job and returns once the swarm has accepted it: then it outlives this program and its node. An
// error in the job file is a *task.Error with its place.
func (c *Client) Submit(ctx context.Context, j Job) (task.JobID, error) {
	req := api.SubmitRequest{FileName: "job", File: j.File, Args: j.Args, Overlay: j.Overlay}
	names, err := j.inputs()
	if err != nil {
		return "", err
	}
	m, err := c.API.PutFile(ctx, bytes.NewReader(j.Module))
	if err != nil {
		return "", err
	}
	req.Module = m.CID
	if len(names) > 0 {
		if req.Key, err = c.API.NewKey(ctx, j.Overlay); err != nil {
			return "", err
		}
	}
	for _, name := range names {
		f, err := c.API.PutSealed(ctx, req.Key, bytes.NewReader(j.Inputs[name]))
		if err != nil {
			return "", fmt.Errorf("storing %s: %w", name, err)
		}
		req.Inputs = append(req.Inputs, task.FileRef{Name: name, CID: f.CID, Size: f.Size})
	}
	return c.API.Submit(ctx, req)
}

// inputs returns the names of the inputs that the job file has, all of which are there.
func (j *Job) inputs() ([]string, error) {
	if j.File == "" {
		return nil, nil
	}
	f, err := task.ParseFile("job", []byte(j.File))
	if err != nil {
		return nil, err
	}
	if unread := f.Unread(); len(unread) > 0 {
		return nil, f.ErrorAt("sweep."+unread[0], "its rows are in a file", "hand the job in with SubmitFile")
	}
	names, err := f.InputNames()
	if err != nil {
		return nil, err
	}
	dirs, err := f.InputDirs()
	if err != nil {
		return nil, err
	}
	if len(dirs)+len(f.InputPatterns()) > 0 { // what of these belongs to the job is seen when it is handed in
		return slices.Sorted(maps.Keys(j.Inputs)), nil
	}
	for _, name := range names {
		if _, found := j.Inputs[name]; !found {
			return nil, f.InputError(name, "it is not among the job's inputs", "put its content into Job.Inputs")
		}
	}
	return names, nil
}

// SubmitFile is Submit of a job file, or of a module that is run once with arguments, with all files that it names.
// They are read and checked before anything is sent, but for the modules' code, which the node validates.
func (c *Client) SubmitFile(ctx context.Context, path, overlay string, args ...string) (task.JobID, error) {
	j, err := submission.Read(path, args, nil)
	if err != nil {
		return "", err
	}
	defer j.Close()
	j.Overlay = overlay
	return submission.Submit(ctx, c.API, j)
}

// Follow calls f with the job's status each time that it changed, and returns when the node has every result and has
// checked those that are to be. f may be nil. That tasks failed is no error: see JobStatus.State.
func (c *Client) Follow(ctx context.Context, id task.JobID, f func(message.JobStatus)) (message.JobStatus, error) {
	var last message.JobStatus
	for !last.Settled() {
		err := c.API.Watch(ctx, string(id), func(st message.JobStatus) bool {
			last = st
			if f != nil {
				f(st)
			}
			return true
		})
		if err != nil {
			return last, err
		}
		if err := ctx.Err(); err != nil {
			return last, err
		}
	}
	return last, nil
}
