package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/scheduler/message"
	"godwit/task"
)

func newRun() *cobra.Command {
	var c clientFlags
	var f runFlags
	c.raw = true // a task's standard output is printed as it is
	cmd := &cobra.Command{
		Use:   "run JOB.yaml|MODULE.wasm|SCRIPT [-- ARGS]",
		Short: "Hand in a job, show its progress and collect its results",
		Args:  cobra.MinimumNArgs(1),
		Example: `  godwit run render.yaml --out pictures
  godwit run primes.wasm -- 1000000
  godwit run primes.py -- 1000000
  godwit run render.yaml --overlay lab`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.detach && f.tell != "" {
				return failure.Usage("leave one of them out", "with --detach nobody waits for the job's end, which --notify is of")
			}
			sub, done, err := readJob(args[0], args[1:])
			if err != nil {
				return err
			}
			defer func() { sub.Close(); done() }()
			sub.Overlay, sub.Reuse = f.overlay, !f.fresh
			return withClient(&c, func(client *api.Client) error { return f.run(cmd, client, sub, c.json) })
		},
	}
	c.add(cmd)
	f.add(cmd.Flags())
	return cmd
}

// runFlags say how a job is handed in and what becomes of its results.
type runFlags struct {
	out, overlay, tell   string
	detach, quiet, fresh bool
}

func (f *runFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.out, "out", "", "`DIR` for the results (default NAME.out, or NAME-2.out and so on if that is not "+
		"empty; a single task's standard output is printed)")
	fl.StringVar(&f.overlay, "overlay", "",
		"`OVERLAY` to hand the job to: name, ID or end of it (default commons, or the node's first)")
	fl.StringVar(&f.tell, "notify", "", "`COMMAND` for the shell when the job has ended and its results are here; its "+
		"environment has GODWIT_NAME, _JOB, _STATE, _DONE and _FAILED")
	fl.BoolVar(&f.detach, "detach", false, "print the job's ID once it is accepted, and return")
	fl.BoolVar(&f.quiet, "quiet", false, "show no progress")
	fl.BoolVar(&f.fresh, "fresh", false, "run every task, also those whose results the node holds of other jobs: "+
		"of the same module, point, arguments, environment and inputs")
}

// run hands a job in, and waits for its results unless it is told not to.
func (f *runFlags) run(cmd *cobra.Command, client *api.Client, sub *submission.Job, asJSON bool) error {
	ctx := cmd.Context()
	p := progress.New(cmd.ErrOrStderr(), f.quiet)
	sub.Import = p.Import
	if f.out != "" && !f.detach {
		if err := submission.CheckDir(f.out); err != nil {
			return failure.Usage("name a directory that can be written to with --out", "%w", err)
		}
	}
	id, err := submission.Submit(ctx, client, sub)
	p.Begin()
	if err != nil {
		return err
	}
	if f.detach {
		if sub.File.Trials != nil {
			p.Note("`godwit add %s --until-narrow` adds trials when these have ended", table.ShortJob(id))
		}
		return printID(cmd.OutOrStdout(), id, asJSON)
	}
	p.Note("job %s accepted", id)
	noteTaken(ctx, p, client, id)
	p.End = submission.Ends(ctx, client, id)
	end, err := submission.Follow(ctx, client, id, p)
	if err != nil {
		return stillThere(err, id)
	}
	noteWrong(p, end)
	defer notify(ctx, cmd.ErrOrStderr(), f.tell, end)
	verdict := submission.Verdict(end)
	if rule := sub.File.Trials; rule != nil {
		if verdict = untilNarrow(ctx, client, id, rule, p); verdict != nil && ctx.Err() != nil {
			return verdict
		}
	}
	if asJSON {
		return errors.Join(collectQuietly(ctx, client, id, f.out), printFinal(ctx, cmd.OutOrStdout(), client, id), verdict)
	}
	err = deliver(ctx, cmd.OutOrStdout(), client, id, sub, f.out, p)
	if err == nil && sub.File.Sweep.Repeat > 1 {
		err = printPoints(ctx, cmd.OutOrStdout(), client, id)
	}
	return errors.Join(err, verdict)
}

// noteWrong warns of results that a check found wrong, and of those that are not checked.
func noteWrong(p *progress.Progress, end message.JobStatus) {
	if c := end.Checks; c != nil && c.Wrong > 0 {
		p.Note("warning: %d of %d checked results were wrong, and are replaced: `godwit why %s` names their workers", c.Wrong,
			c.Right+c.Wrong+c.Open, table.ShortJob(end.ID))
	}
	if end.Checks == nil {
		p.Note("%s", submission.Checked(end))
	}
	if c := end.Checks; c != nil && c.Unchecked > 0 {
		p.Note("%d results are of strangers and were not checked", c.Unchecked)
	}
}

// noteTaken says which results need not be made.
func noteTaken(ctx context.Context, p *progress.Progress, client *api.Client, id task.JobID) {
	st, err := client.Job(ctx, string(id))
	if err != nil {
		return // it is shown with the job
	}
	if st.Checks != nil { // else the job is off, or its submitter has not begun with it
		p.Note("%s", submission.Checked(st))
	}
	for _, t := range st.Taken {
		p.Note("%d of %d results are taken from job %s; --fresh runs all tasks", t.Tasks, st.Tasks.Total,
			table.ShortJob(t.Job))
	}
}

// deliver writes what a finished job produced: the standard output of a job of one task to
// the terminal, everything else to a directory.
func deliver(ctx context.Context, w io.Writer, client *api.Client, id task.JobID, s *submission.Job, out string,
	p *progress.Progress) error {
	collect := func(dir string) (submission.Collected, error) {
		return submission.Collect(ctx, client, string(id), dir)
	}
	if out == "" {
		out = freeDir(s.File.Name + ".out")
		if s.File.Tasks() == 1 {
			if progress.IsTerminal(w) {
				w = table.Printable(w) // a worker wrote it
			}
			collect = func(dir string) (submission.Collected, error) { return submission.Print(ctx, w, client, id, dir) }
		}
	}
	done, err := collect(out)
	if done.Files > 0 && err == nil {
		p.Note("%d files fetched and written to %s", done.Files, out)
	}
	noteHidden(p.Note, done)
	return err
}

// noteHidden says which outputs were not written, here or by their tasks.
func noteHidden(note func(format string, args ...any), done submission.Collected) {
	for _, name := range done.Hidden {
		note("not written: %q, which begins with a dot; outputs of the job file would have to say so", name)
	}
	for _, m := range done.Missing {
		tasks := "1 task"
		if m.Tasks > 1 {
			tasks = fmt.Sprintf("%d tasks", m.Tasks)
		}
		note("warning: %s wrote no %s, which the job names as an output, task %d first", tasks, m.Name, m.First)
	}
	if done.Faulty > 0 {
		note("warning: %d results come from workers with proven faults and were not checked, task %d first", done.Faulty,
			done.FirstFaulty)
	}
}

// freeDir returns a directory for results that are not to be mixed with others: that of the
// name where there is none yet, else one with a number.
func freeDir(name string) string {
	const most = 1000 // then the user is told that files are in the way
	base := strings.TrimSuffix(name, ".out")
	for n := 2; n < most; n++ {
		if entries, err := os.ReadDir(name); err != nil || len(entries) == 0 {
			return name
		}
		name = fmt.Sprintf("%s-%d.out", base, n)
	}
	return name
}

func collectQuietly(ctx context.Context, client *api.Client, id task.JobID, out string) error {
	if out == "" {
		return nil
	}
	_, err := submission.Collect(ctx, client, string(id), out)
	return err
}

// stillThere reminds that an interrupted `run` does not end the job.
func stillThere(err error, id task.JobID) error {
	hint := fmt.Sprintf("the job goes on: `godwit job %[1]s` shows it, `godwit cancel %[1]s` ends it", table.ShortJob(id))
	return &failure.Error{Code: classify(err).Code, Err: err, Hint: hint}
}

func printID(w io.Writer, id task.JobID, asJSON bool) error {
	if asJSON {
		return table.JSON(w, api.SubmitReply{ID: id})
	}
	_, err := fmt.Fprintln(w, id)
	return err
}

func printFinal(ctx context.Context, w io.Writer, client *api.Client, id task.JobID) error {
	st, err := client.Job(ctx, string(id))
	if err != nil {
		return err
	}
	return table.JSON(w, st)
}
