package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/scheduler/message"
	"godwit/task"
)

// resultFlags say what `godwit results` fetches.
type resultFlags struct {
	client   clientFlags
	dir, tab string
	points   string // file, or onScreen; "" for none
	how      submission.Gather
}

// onScreen is --points without a file.
const onScreen = "-"

func newResults() *cobra.Command {
	r := &resultFlags{}
	cmd := &cobra.Command{
		Use:   "results ID [--out DIR] [--table FILE] [--points [FILE]]",
		Short: "Fetch and verify a job's results",
		Long: `Fetch and verify a job's results. Results of jobs that add tasks to the job are
included; --alone leaves them out.

With --points there is a row for each point of the sweep, with the statistics of each
number in the results of its trials: how many, mean, standard deviation, half width of
the 95 % confidence interval of the mean, least, greatest, and a histogram.`,
		Args: cobra.RangeArgs(1, 2),
		Example: `  godwit results render --out pictures --follow --only '*.png' --flat
  godwit results fit --table fit.csv
  godwit results sensors --points
  godwit results sensors --points points.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				if r.points != onScreen {
					return failure.Usage("a file goes behind --points or --table", "results of one job, not of %q, too", args[1])
				}
				r.points = args[1]
			}
			if err := r.check(); err != nil {
				return err
			}
			return withClient(&r.client, func(client *api.Client) error {
				return r.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), client, args[0])
			})
		},
	}
	r.client.add(cmd)
	f := cmd.Flags()
	f.StringVar(&r.dir, "out", "", "`DIR` to write to")
	f.StringVar(&r.tab, "table", "", "`FILE` of a table, .csv or .jsonl: a row for each task, with its parameters "+
		"and the fields of its result.json or of the last line that it printed")
	f.StringVar(&r.points, "points", "", "print statistics for each point of the sweep, or write them to `FILE`, "+
		".csv or .jsonl")
	f.Lookup("points").NoOptDefVal = onScreen
	f.BoolVar(&r.how.Alone, "alone", false, "leave out jobs that add tasks to this one")
	f.StringVar(&r.how.Only, "only", "", "`PATTERN` of the names of outputs to fetch (default all)")
	f.BoolVar(&r.how.Flat, "flat", false, "write DIR/TASK-NAME, not DIR/TASK/NAME")
	f.BoolVar(&r.how.Follow, "follow", false, "fetch results as they come, until the job is over")
	return cmd
}

// check refuses flags that make no sense together, before anything is asked.
func (r *resultFlags) check() error {
	if r.dir == "" && r.tab == "" && r.points == "" {
		return failure.Usage("for example --out results, or --table results.csv, or --points",
			"neither a directory nor a table is given for the results")
	}
	if r.how.Only != "" {
		if err := task.ValidOutputPattern(r.how.Only); err != nil {
			return failure.Usage("write a pattern such as '*.png'", "--only: %w", err)
		}
	}
	if r.tab != "" {
		if err := submission.CheckTable("--table", r.tab); err != nil {
			return err
		}
	}
	if r.points != "" && r.points != onScreen {
		return submission.CheckTable("--points", r.points)
	}
	return nil
}

func (r *resultFlags) run(ctx context.Context, out, say io.Writer, client *api.Client, ref string) error {
	done, states, err := r.fetch(ctx, client, ref)
	if err != nil {
		return err
	}
	noteHidden(func(format string, args ...any) { fmt.Fprintf(say, format+"\n", args...) }, done)
	if err := r.tell(ctx, out, say, client, ref, done, states[0]); err != nil {
		return err
	}
	for _, st := range states {
		if err := resultVerdict(say, st); err != nil {
			return err
		}
	}
	if done.Faulty == 0 {
		return nil
	}
	return &failure.Error{Code: failure.ExitWrong,
		Err: fmt.Errorf("%d results come from workers with proven faults and were not checked", done.Faulty),
		Hint: fmt.Sprintf("`godwit job %s --audit %d` runs some of these tasks again; submit the job again to run all",
			table.ShortJob(states[0].ID), done.Faulty)}
}

// tell writes the tables, and what was written.
func (r *resultFlags) tell(ctx context.Context, out, say io.Writer, client *api.Client, ref string,
	done submission.Collected, st message.JobStatus) (err error) {
	about := map[string]any{"id": st.ID, "state": st.State, "files": done.Files, "dir": r.dir}
	if len(done.Missing) > 0 {
		about["missing"] = done.Missing
	}
	if done.Faulty > 0 {
		about["faulty"] = done.Faulty
	}
	note := func(format string, args ...any) {
		if !r.client.json {
			fmt.Fprintf(say, format+"\n", args...)
		}
	}
	if r.dir != "" {
		note("%d files fetched and written to %s", done.Files, r.dir)
	}
	if r.tab != "" {
		rows, err := r.write(r.tab, func(w io.Writer, asJSON bool) (int, error) {
			return submission.Tabulate(ctx, client, ref, w, asJSON, r.how.Alone)
		})
		if err != nil {
			return err
		}
		about["table"], about["rows"] = r.tab, rows
		note("%d rows written to %s", rows, r.tab)
	}
	points := func(w io.Writer, asJSON bool) (int, error) {
		return submission.WritePoints(ctx, client, ref, w, asJSON, r.how.Alone)
	}
	switch {
	case r.points == onScreen && r.client.json:
		_, err = points(out, true)
		return err
	case r.points == onScreen:
		_, err = submission.PrintPoints(ctx, client, ref, out, r.how.Alone, 0)
		return err
	case r.points != "":
		n, err := r.write(r.points, points)
		if err != nil {
			return err
		}
		about["points_file"], about["points"] = r.points, n
		note("%d points written to %s", n, r.points)
	}
	if r.client.json {
		return table.JSON(out, about)
	}
	return nil
}

// fetch fetches the results and the states of the job and of its additions. Without --follow, the states are older than
// the results: if the states say that the jobs are over, all results were fetched.
func (r *resultFlags) fetch(ctx context.Context, client *api.Client, ref string) (
	done submission.Collected, states []message.JobStatus, err error) {
	if r.how.Follow {
		if done, err = r.collect(ctx, client, ref); err != nil {
			return done, nil, err
		}
	}
	if states, err = r.states(ctx, client, ref); err != nil || r.how.Follow || r.dir == "" {
		return done, states, err
	}
	done, err = r.collect(ctx, client, ref)
	return done, states, err
}

// states returns the states of the job and of the jobs that add tasks to it, without their tasks.
func (r *resultFlags) states(ctx context.Context, client *api.Client, ref string) (out []message.JobStatus, err error) {
	ids, err := submission.Family(ctx, client, ref, r.how.Alone)
	for _, id := range ids {
		var st message.JobStatus
		if st, err = client.JobTasks(ctx, string(id), 0, 0); err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	return out, err
}

func (r *resultFlags) collect(ctx context.Context, client *api.Client, ref string) (submission.Collected, error) {
	if r.dir != "" {
		return submission.CollectBy(ctx, client, ref, r.dir, r.how)
	}
	ids, err := submission.Family(ctx, client, ref, r.how.Alone)
	for _, id := range ids {
		if err == nil {
			err = submission.EachAsItEnds(ctx, client, string(id), submission.Nothing)
		}
	}
	return submission.Collected{}, err
}

// write writes a table: what was in the file is replaced by all of it, or stays.
func (r *resultFlags) write(path string, rows func(w io.Writer, asJSON bool) (int, error)) (int, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".godwit-table-*")
	if err != nil {
		return 0, failure.Usage("", "writing the table: %w", err)
	}
	defer os.Remove(f.Name()) // of no use after an error
	n, err := rows(f, strings.HasSuffix(path, ".jsonl"))
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return n, fmt.Errorf("writing the table: %w", err)
	}
	return n, nil
}

// resultVerdict turns how a job stands into the exit code.
func resultVerdict(say io.Writer, st message.JobStatus) error {
	if !message.FinalState(st.State) {
		return &failure.Error{Code: failure.ExitPartly,
			Err:  fmt.Errorf("the job is still running: %d of %d tasks are done", st.Tasks.Done, st.Tasks.Total),
			Hint: "ask again when it has ended, or with --follow"}
	}
	if c := st.Checks; c != nil && c.Due > 0 {
		fmt.Fprintf(say, "%d of these results are still to be checked\n", c.Due)
	}
	if st.Checks != nil && st.Checks.Unchecked > 0 {
		fmt.Fprintf(say, "%d of these results are of strangers and were not checked\n", st.Checks.Unchecked)
	}
	if err := submission.Recalled(st); err != nil {
		return err
	}
	return submission.Verdict(st)
}
