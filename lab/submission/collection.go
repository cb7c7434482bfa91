package submission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"godwit/api"
	"godwit/blocks/seal"
	"godwit/lab/files"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A collection is one call of Collect.
type collection struct {
	client   *api.Client
	ref, dir string
	show     io.Writer // takes standard outputs, if not nil
	how      Gather

	root   *os.Root // of dir, once there is something to write
	of     string   // the job that is collected: ref, then what was added to it
	points *Points  // of that
	done   Collected
}

func (c *collection) run(ctx context.Context) (Collected, error) {
	defer func() {
		if c.root != nil {
			c.root.Close()
		}
	}()
	through := EachTask
	if c.how.Follow {
		through = EachAsItEnds
	}
	ids, err := Family(ctx, c.client, c.ref, c.how.Alone)
	for _, id := range ids {
		if err == nil {
			c.of = string(id)
			err = through(ctx, c.client, c.of, func(spec *task.Job, sealer *seal.Sealer, t message.TaskSummary) error {
				return c.take(ctx, spec, sealer, &t)
			})
		}
		if c.points != nil {
			err = errors.Join(err, c.points.Close())
			c.points = nil
		}
	}
	return c.done, NotOver(err)
}

// take writes the outputs of a task.
func (c *collection) take(ctx context.Context, spec *task.Job, sealer *seal.Sealer,
	t *message.TaskSummary) (err error) {
	if t.Failed && c.show == nil || len(t.Results) == 0 {
		return nil
	}
	if c.how.Only == "" {
		c.done.misses(spec, t)
	}
	if c.points == nil {
		if c.points, err = FetchPoints(ctx, c.client, c.of, spec); err != nil {
			return err
		}
	}
	for _, o := range t.Results[0].Outputs {
		if t.Failed && o.Name == task.Stderr && !task.MatchOutput(spec.OutputsOf(t.Index), o.Name) {
			continue // what it said before it failed, for `godwit logs`
		}
		if c.how.Only != "" && !task.MatchOutput([]string{c.how.Only}, o.Name) {
			continue
		}
		if spec.HiddenOutput(t.Index, o.Name) {
			if len(c.done.Hidden) < maxHidden {
				c.done.Hidden = append(c.done.Hidden, o.Name)
			}
			continue
		}
		b, err := content(ctx, c.client, sealer, o)
		switch {
		case err != nil:
		case c.show != nil && o.Name == task.Stdout:
			_, err = c.show.Write(b)
		default:
			err = c.put(spec, t.Index, o.Name, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// put writes an output of a task.
func (c *collection) put(spec *task.Job, index uint64, name string, b []byte) (err error) {
	if c.root == nil {
		if c.root, err = openDir(c.dir); err != nil {
			return err
		}
	}
	number, err := c.points.Number(index)
	if err != nil {
		return err
	}
	switch {
	case spec.Tasks() == 1 && len(spec.Stages) == 0 && len(spec.Tables()) == 0:
	case c.how.Flat:
		name = strings.ReplaceAll(number+"/"+name, "/", "-")
	default:
		name = number + "/" + name
	}
	c.done.Files++
	return files.WriteNew(c.root, filepath.FromSlash(name), b)
}

// EachAsItEnds is EachTask in the order in which tasks end, until the job is over.
func EachAsItEnds(ctx context.Context, client *api.Client, ref string,
	f func(spec *task.Job, sealer *seal.Sealer, t message.TaskSummary) error) error {
	e := each{client: client, ref: ref, f: f}
	for {
		page, err := client.NewResults(ctx, ref, api.Have{Ranges: e.have(), Record: e.spec == nil})
		if err != nil || page.Final {
			return err
		}
		if err := e.take(&page); err != nil {
			return err
		}
	}
}

// Nothing is what EachTask may call to do nothing.
func Nothing(*task.Job, *seal.Sealer, message.TaskSummary) error { return nil }

// each goes through the tasks of a job.
type each struct {
	client *api.Client
	ref    string
	f      func(spec *task.Job, sealer *seal.Sealer, t message.TaskSummary) error
	id     task.JobID
	spec   *task.Job
	sealer *seal.Sealer
	seen   ledger.Set
}

// have are the tasks that need not be asked for again, as far as one request can say so.
func (e *each) have() []message.Range { return e.seen[:min(len(e.seen), message.MaxHave)] }

// take checks a page of results and hands them on, each task once.
func (e *each) take(page *api.Results) error {
	if e.spec == nil {
		if page.Record == nil {
			return errors.New("the node answers with results, and not with the job that they are of")
		}
		var err error
		if e.spec, err = page.Record.OpenWhole(); err != nil {
			return err
		}
		if e.sealer, err = seal.New(page.Record.Key); err != nil {
			return err
		}
		e.id = page.Record.ID()
	}
	for i := range page.Tasks {
		t := &page.Tasks[i]
		if e.seen.Contains(t.Index) {
			continue
		}
		err := Check(e.id, e.spec, t)
		if err == nil {
			err = e.f(e.spec, e.sealer, *t)
		}
		if err != nil {
			return fmt.Errorf("task %d: %w", t.Index, err)
		}
		e.seen.Add(t.Index)
	}
	return nil
}
