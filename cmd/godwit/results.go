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
	how      submission.Gather
}

func newResults() *cobra.Command {
	r := &resultFlags{}
	cmd := &cobra.Command{
		Use:   "results ID [--out DIR] [--table FILE]",
		Short: "Fetch and verify a job's results",
		Args:  cobra.ExactArgs(1),
		Example: `  godwit results render --out pictures --follow --only '*.png' --flat
  godwit results fit --table fit.csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
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
	f.StringVar(&r.how.Only, "only", "", "`PATTERN` of the names of outputs to fetch (default all)")
	f.BoolVar(&r.how.Flat, "flat", false, "write DIR/TASK-NAME, not DIR/TASK/NAME")
	f.BoolVar(&r.how.Follow, "follow", false, "fetch results as they come, until the job is over")
	return cmd
}

// check refuses flags that make no sense together, before anything is asked.
func (r *resultFlags) check() error {
	if r.dir == "" && r.tab == "" {
		return failure.Usage("for example --out results, or --table results.csv",
			"neither a directory nor a table is given for the results")
	}
	if r.how.Only != "" {
		if err := task.ValidOutputPattern(r.how.Only); err != nil {
			return failure.Usage("write a pattern such as '*.png'", "--only: %w", err)
		}
	}
	if r.tab != "" {
		return submission.CheckTable(r.tab)
	}
	return nil
}

func (r *resultFlags) run(ctx context.Context, out, say io.Writer, client *api.Client, ref string) error {
	done, st, err := r.fetch(ctx, client, ref)
	if err != nil {
		return err
	}
	rows := 0
	if r.tab != "" {
		if rows, err = r.tabulate(ctx, client, ref); err != nil {
			return err
		}
	}
	noteHidden(func(format string, args ...any) { fmt.Fprintf(say, format+"\n", args...) }, done)
	switch {
	case r.client.json:
		about := map[string]any{"id": st.ID, "state": st.State, "files": done.Files, "dir": r.dir}
		if len(done.Missing) > 0 {
			about["missing"] = done.Missing
		}
		if done.Faulty > 0 {
			about["faulty"] = done.Faulty
		}
		if r.tab != "" {
			about["table"], about["rows"] = r.tab, rows
		}
		if err := table.JSON(out, about); err != nil {
			return err
		}
	default:
		if r.dir != "" {
			fmt.Fprintf(say, "%d files fetched and written to %s\n", done.Files, r.dir)
		}
		if r.tab != "" {
			fmt.Fprintf(say, "%d rows written to %s\n", rows, r.tab)
		}
	}
	if err := resultVerdict(say, st); err != nil || done.Faulty == 0 {
		return err
	}
	return &failure.Error{Code: failure.ExitWrong,
		Err: fmt.Errorf("%d results come from workers with proven faults and were not checked", done.Faulty),
		Hint: fmt.Sprintf("`godwit job %s --audit %d` runs some of these tasks again; submit the job again to run all",
			table.ShortJob(st.ID), done.Faulty)}
}

// fetch fetches the results and the state of the job. Without --follow, the state is older than the results: if the
// state says that the job is over, all results were fetched.
func (r *resultFlags) fetch(ctx context.Context, client *api.Client, ref string) (
	done submission.Collected, st message.JobStatus, err error) {
	if r.how.Follow {
		if done, err = r.collect(ctx, client, ref); err != nil {
			return done, st, err
		}
	}
	if st, err = client.Job(ctx, ref); err != nil || r.how.Follow || r.dir == "" {
		return done, st, err
	}
	done, err = r.collect(ctx, client, ref)
	return done, st, err
}

func (r *resultFlags) collect(ctx context.Context, client *api.Client, ref string) (submission.Collected, error) {
	if r.dir != "" {
		return submission.CollectBy(ctx, client, ref, r.dir, r.how)
	}
	return submission.Collected{}, submission.EachAsItEnds(ctx, client, ref, submission.Nothing)
}

// tabulate writes the table: what was there is replaced by all of it, or stays.
func (r *resultFlags) tabulate(ctx context.Context, client *api.Client, ref string) (int, error) {
	f, err := os.CreateTemp(filepath.Dir(r.tab), ".godwit-table-*")
	if err != nil {
		return 0, failure.Usage("", "writing the table: %w", err)
	}
	defer os.Remove(f.Name()) // of no use after an error
	rows, err := submission.Tabulate(ctx, client, ref, f, strings.HasSuffix(r.tab, ".jsonl"))
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), r.tab)
	}
	if err != nil {
		return rows, fmt.Errorf("writing the table: %w", err)
	}
	return rows, nil
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
