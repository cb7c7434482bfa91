package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/scheduler/message"
	"godwit/task"
)

// addFlags are the flags of `godwit add`.
type addFlags struct {
	client        clientFlags
	sweep, points []string // AXIS=VALUE,VALUE
	trials, most  uint64
	narrow        bool
	of, within    string
	out           string
	detach        bool
}

func newAdd() *cobra.Command {
	a := &addFlags{}
	cmd := &cobra.Command{
		Use:   "add ID",
		Short: "Add points or trials to a job that this node submitted",
		Long: `Add points or trials to a job that this node submitted, whether it runs or has ended. The
tasks are a job of their own with the same program, inputs and settings. They continue the
numbers of the first job's tasks, and its results include theirs.

With --until-narrow, points get trials in rounds until the 95 % confidence interval of a
mean is narrow enough, by the rule of the job file or of --of, --within and --most. Rounds
run only while this command runs. After an interrupt, call it again to continue.`,
		Args: cobra.ExactArgs(1),
		Example: `  godwit add greet --sweep who=lin,mia
  godwit add sensors --trials 50 --points nodes=100,200
  godwit add sensors --until-narrow`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.check(); err != nil {
				return err
			}
			return withClient(&a.client, func(client *api.Client) error {
				if a.narrow {
					return a.runRounds(cmd, client, args[0])
				}
				return a.run(cmd, client, args[0])
			})
		},
	}
	a.client.add(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&a.sweep, "sweep", nil, "new values of an axis, as `AXIS=VALUE,VALUE`; the new points are their product "+
		"with the values of the other axes (repeatable)")
	f.Uint64Var(&a.trials, "trials", 0, "number of further trials of each point; with --sweep of each new point (default: "+
		"as many as the job's points have)")
	f.StringArrayVar(&a.points, "points", nil, "points that get the trials, as `AXIS=VALUE,VALUE` (repeatable; default all)")
	f.BoolVar(&a.narrow, "until-narrow", false, "add trials until confidence intervals are narrow")
	f.StringVar(&a.of, "of", "", "name of the `NUMBER` in results, for --until-narrow (default: that of the job's rule, or value)")
	f.StringVar(&a.within, "within", "", "half `WIDTH` of a narrow interval, such as 2% of the mean or 0.05, for --until-narrow "+
		"(default: that of the job's rule)")
	f.Uint64Var(&a.most, "most", 0, "most trials of a point, for --until-narrow (default: that of the job's rule)")
	f.StringVar(&a.out, "out", "", "`DIR` for the results of the job with all that was added")
	f.BoolVar(&a.detach, "detach", false, "print the new job's ID once it is accepted, and return")
	for _, other := range []string{"sweep", "trials", "points", "detach"} {
		cmd.MarkFlagsMutuallyExclusive("until-narrow", other)
	}
	cmd.MarkFlagsMutuallyExclusive("sweep", "points")
	return cmd
}

// check refuses flags that make no sense together, before anything is asked.
func (a *addFlags) check() error {
	rule := a.of != "" || a.within != "" || a.most != 0
	switch {
	case !a.narrow && len(a.sweep) == 0 && a.trials == 0:
		return failure.Usage("for example --sweep who=lin,mia, --trials 50 or --until-narrow", "nothing is given to add")
	case !a.narrow && rule:
		return failure.Usage("add --until-narrow", "--of, --within and --most are of --until-narrow")
	}
	for flag, list := range map[string][]string{"sweep": a.sweep, "points": a.points} {
		if _, err := axisValues(flag, list); err != nil {
			return err
		}
	}
	if a.out != "" {
		if err := submission.CheckDir(a.out); err != nil {
			return failure.Usage("name a directory that can be written to with --out", "%w", err)
		}
	}
	return nil
}

// axisValues parses AXIS=VALUE,VALUE texts. An axis may be repeated.
func axisValues(flag string, texts []string) (map[string][]string, error) {
	var out map[string][]string
	for _, text := range texts {
		axis, values, found := strings.Cut(text, "=")
		if !found || axis == "" {
			return nil, failure.Usage("write AXIS=VALUE,VALUE", "--%s %q names no axis", flag, text)
		}
		if out == nil {
			out = map[string][]string{}
		}
		out[axis] = append(out[axis], strings.Split(values, ",")...)
	}
	return out, nil
}

// run hands in one addition.
func (a *addFlags) run(cmd *cobra.Command, client *api.Client, ref string) error {
	ctx := cmd.Context()
	req := api.AddRequest{Trials: a.trials}
	var err error
	if req.Sweep, err = axisValues("sweep", a.sweep); err != nil {
		return err
	}
	if req.Points, err = axisValues("points", a.points); err != nil {
		return err
	}
	added, err := client.Add(ctx, ref, req)
	if err != nil {
		return err
	}
	p := progress.New(cmd.ErrOrStderr(), a.client.json)
	if a.detach {
		if a.client.json {
			return table.JSON(cmd.OutOrStdout(), added)
		}
		return printID(cmd.OutOrStdout(), added.ID, false)
	}
	p.Note("%d tasks were added to job %s, as job %s", added.Tasks, table.ShortJob(added.To), added.ID)
	if added.Known > 0 {
		p.Note("the job has %d of these points already", added.Known)
	}
	end, err := submission.Follow(ctx, client, added.ID, p)
	if err != nil {
		return stillThere(err, added.ID)
	}
	noteWrong(p, end)
	if err := a.deliver(ctx, cmd.OutOrStdout(), client, added.To, p); err != nil {
		return err
	}
	return submission.Verdict(end)
}

// runRounds adds trials until intervals are narrow.
func (a *addFlags) runRounds(cmd *cobra.Command, client *api.Client, ref string) error {
	ctx := cmd.Context()
	ids, err := submission.Family(ctx, client, ref, true)
	if err != nil {
		return err
	}
	rule, err := a.rule(ctx, client, ids[0])
	if err != nil {
		return err
	}
	p := progress.New(cmd.ErrOrStderr(), a.client.json)
	verdict := untilNarrow(ctx, client, ids[0], rule, p)
	if verdict != nil && ctx.Err() != nil {
		return verdict
	}
	if err := a.deliver(ctx, cmd.OutOrStdout(), client, ids[0], p); err != nil {
		return err
	}
	return verdict
}

// rule returns the job's rule, changed by flags.
func (a *addFlags) rule(ctx context.Context, client *api.Client, id task.JobID) (*task.Trials, error) {
	rule, err := submission.RuleOf(ctx, client, string(id))
	if err != nil {
		return nil, err
	}
	if rule == nil {
		if a.within == "" || a.most == 0 {
			return nil, failure.Usage("give --within and --most, such as --within 2% --most 1000",
				"the job has no rule for its trials")
		}
		rule = &task.Trials{Of: task.ValueField}
	}
	if a.of != "" {
		rule.Of = a.of
	}
	if a.most != 0 {
		rule.Most = a.most
	}
	if rule.Most > task.MaxTrials {
		return nil, failure.Usage("", "--most %d: the most is %d", rule.Most, task.MaxTrials)
	}
	if a.within != "" {
		var ok bool
		if rule.Within, rule.Relative, ok = task.ParseWithin(a.within); !ok {
			return nil, failure.Usage("write a share of the mean, such as 2%, or a number, such as 0.05",
				"--within %q is not the half width of an interval", a.within)
		}
	}
	return rule, nil
}

// deliver writes the results of a job with all that was added to it, and prints the table of its points.
func (a *addFlags) deliver(ctx context.Context, w io.Writer, client *api.Client, id task.JobID, p *progress.Progress) error {
	if a.out != "" {
		done, err := submission.Collect(ctx, client, string(id), a.out)
		noteHidden(p.Note, done)
		if err != nil {
			return err
		}
		p.Note("%d files fetched and written to %s", done.Files, a.out)
	}
	if a.client.json {
		_, err := submission.WritePoints(ctx, client, string(id), w, true, false)
		return err
	}
	return printPoints(ctx, w, client, id)
}

// mostShown is the most points that are printed when a job has ended.
const mostShown = 100

// printPoints prints the statistics of a job's points, if these are not too many to be read.
func printPoints(ctx context.Context, w io.Writer, client *api.Client, id task.JobID) error {
	shown, err := submission.PrintPoints(ctx, client, string(id), table.Printable(w), false, mostShown)
	if err == nil && !shown {
		_, err = fmt.Fprintf(w, "more than %d points: `godwit results %s --points FILE.csv` writes their statistics\n",
			mostShown, table.ShortJob(id))
	}
	return err
}

// untilNarrow adds trials to a job until intervals are narrow.
func untilNarrow(ctx context.Context, client *api.Client, id task.JobID, rule *task.Trials, p *progress.Progress) error {
	of := id
	r := submission.Rounds{Client: client, Job: id, Rule: *rule, Note: p.Note}
	r.Follow = func(id task.JobID) (st message.JobStatus, err error) {
		of = id
		p.End = submission.Ends(ctx, client, id)
		if st, err = submission.Follow(ctx, client, id, p); err == nil && st.Checks != nil {
			noteWrong(p, st)
		}
		return st, err
	}
	err := r.Run(ctx)
	if err != nil && ctx.Err() != nil {
		return &failure.Error{Code: failure.ExitFailed, Err: err, Hint: fmt.Sprintf("`godwit add %s --until-narrow` goes on; "+
			"`godwit cancel %s` ends what runs", table.ShortJob(id), table.ShortJob(of))}
	}
	return err
}
