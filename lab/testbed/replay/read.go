package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"godwit/api"
	"godwit/lab/files"
	"godwit/lab/table"
	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/plan"
	"godwit/lab/traces"
	"godwit/scheduler/message"
	"godwit/trace"
)

// settlePatience bounds how long the nodes may take to agree at the end;
// settlePoll is how often that is looked at, settleCalm how many looks in turn
// must find the same.
const (
	settlePatience = 45 * time.Second
	settlePoll     = 500 * time.Millisecond
	settleCalm     = 4
)

// jobs starts the nodes that are off, in which no owner lets tasks run any
// more, and reads the jobs when what is known of them changes no more.
func (r *replay) jobs(ctx context.Context) ([]message.JobStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, settlePatience)
	defer cancel()
	var wg sync.WaitGroup
	errs := make([]error, len(r.players))
	for i, p := range r.players {
		wg.Go(func() { errs[i] = p.again(ctx) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := r.swarm().AwaitMembers(ctx); err != nil {
		return nil, err
	}
	wanted := settleCalm
	if r.plan.Bed != nil {
		wanted = 1 // what ended later is not counted, and the nodes were up all the time
	}
	var last error
	before, calm := -1, 0
	for at := time.Now(); clock.SleepUntil(ctx, at); at = time.Now().Add(settlePoll) {
		jobs, told, err := r.ask(ctx)
		switch {
		case err != nil:
			last, calm = err, 0
		case told != before:
			before, calm = told, 0
		default:
			if calm++; calm == wanted {
				return jobs, nil
			}
		}
	}
	return nil, fmt.Errorf("the nodes did not agree on the jobs in %v after the end: %w", settlePatience,
		errors.Join(last, ctx.Err()))
}

// ask reads every job at the node that it was handed to, which keeps what
// became of its tasks when the coordinators have forgotten it, and counts what
// is told.
func (r *replay) ask(ctx context.Context) (jobs []message.JobStatus, told int, err error) {
	for _, p := range r.players {
		client := api.Dial(p.setup.Dir)
		defer client.Close()
		list, err := client.Jobs(ctx)
		if err != nil {
			return nil, 0, err
		}
		for _, j := range list {
			if j.Submitter != p.peer {
				continue
			}
			st, err := client.Job(ctx, string(j.ID))
			if err != nil {
				return nil, 0, err
			}
			jobs = append(jobs, st)
			told += r.countTold(&st)
		}
	}
	return jobs, told, nil
}

// countTold counts what a job's status tells. Nodes of a test-bed work on after the
// end: what they do then is no news.
func (r *replay) countTold(st *message.JobStatus) (told int) {
	end := r.clock.Real(r.plan.Scenario.End)
	for _, t := range st.TasksList {
		for _, a := range t.Attempts {
			if r.plan.Bed == nil || !a.Start.After(end) {
				told++
			}
			if r.plan.Bed != nil && !a.End.IsZero() && !a.End.After(end) {
				told++
			}
		}
		told++
	}
	return told + 1
}

// measureDelay takes the mean of what the nodes, all up, know of the ways to one
// another: half of a round trip.
func (r *replay) measureDelay(ctx context.Context) error {
	var sum time.Duration
	known := 0
	for _, p := range r.players {
		client := api.Dial(p.setup.Dir)
		defer client.Close()
		members, err := client.Peers(ctx, "")
		if err != nil {
			return fmt.Errorf("asking a node how far the others are: %w", err)
		}
		for _, m := range members {
			if m.LatencyMS > 0 {
				known++
				sum += time.Duration(m.LatencyMS * float64(time.Millisecond) / 2)
			}
		}
	}
	if known > 0 {
		r.delay = sum / time.Duration(known)
	}
	return nil
}

// keep writes what came of it below dir: the trace as it was played, for runs of
// the simulator, and the jobs, one a line.
func (r *replay) keep(dir string, jobs []message.JobStatus) error {
	if err := traces.Write(filepath.Join(dir, "played.csv"), r.played(), trace.CSV); err != nil {
		return fmt.Errorf("writing the trace as it was played: %w", err)
	}
	if r.plan.Bed != nil {
		err := files.Write(filepath.Join(dir, plan.ArrivalsFile),
			func(w io.Writer) error { return plan.WriteArrivals(w, r.plan.Jobs) })
		if err != nil {
			return fmt.Errorf("writing the set of jobs: %w", err)
		}
	}
	err := files.Write(filepath.Join(dir, "jobs.json"), func(w io.Writer) error {
		for _, j := range jobs {
			if err := table.JSON(w, j); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("writing the jobs: %w", err)
	}
	return nil
}
