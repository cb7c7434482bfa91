package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/blocks/seal"
	"godwit/internal/failure"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/scheduler/message"
	"godwit/task"
)

func newLogs() *cobra.Command {
	var c clientFlags
	var failed bool
	cmd := &cobra.Command{
		Use:   "logs ID[/TASK]",
		Short: "What the tasks of a job printed, and why they failed",
		Long: "What the tasks of a job printed, on standard output and on standard error, as far as its outputs keep them\n" +
			"(`outputs: [stdout, stderr]`), and how each run of them ended.",
		Args: cobra.ExactArgs(1),
		Example: `  godwit logs render/7
  godwit logs render --failed`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, number, one := strings.Cut(args[0], "/")
			l := &logs{out: table.Printable(cmd.OutOrStdout()), failed: failed, one: one}
			if one {
				var err error
				if l.index, err = strconv.ParseUint(number, 10, 64); err != nil {
					return failure.Usage("write ID/0 for the first task", "%q is no number of a task", number)
				}
			}
			return withClient(&c, func(client *api.Client) error {
				l.client = client
				if err := submission.EachTask(cmd.Context(), client, ref, l.task(cmd.Context())); err != nil {
					return err
				}
				if l.shown == 0 && one {
					return failure.Usage(fmt.Sprintf("`godwit why %s --task %s` tells where it is", ref, number),
						"task %s has not ended here", number)
				}
				return nil
			})
		},
	}
	c.add(cmd)
	cmd.Flags().BoolVar(&failed, "failed", false, "of tasks that failed alone")
	return cmd
}

// logs are being printed.
type logs struct {
	client *api.Client
	out    io.Writer
	one    bool // the task of index alone
	index  uint64
	failed bool
	shown  int
}

func (l *logs) task(ctx context.Context) func(*task.Job, *seal.Sealer, message.TaskSummary) error {
	return func(spec *task.Job, sealer *seal.Sealer, t message.TaskSummary) error {
		if l.one && t.Index != l.index || l.failed && !t.Failed {
			return nil
		}
		l.shown++
		for i := range t.Results {
			if r := &t.Results[i]; i == 0 || t.Failed {
				if err := l.run(ctx, sealer, t.Index, r); err != nil {
					return err
				}
			}
		}
		for i, a := range t.Attempts {
			if a.Outcome != task.Completed.String() && a.Reason != "" {
				fmt.Fprintf(l.out, "==> task %d, run %d on %s: %s: %s\n", t.Index, i+1, table.ShortPeer(a.Worker), a.Outcome,
					a.Reason)
			}
		}
		if len(t.Results) == 0 {
			fmt.Fprintf(l.out, "==> task %d never ran: %s\n", t.Index, t.Reason)
		}
		return nil
	}
}

// run prints what a run of a task left.
func (l *logs) run(ctx context.Context, sealer *seal.Sealer, index uint64, r *task.Result) error {
	fmt.Fprintf(l.out, "==> task %d on %s: %s\n", index, table.ShortPeer(r.Worker), r.Ending())
	for _, o := range r.Outputs {
		if o.Name != task.Stdout && o.Name != task.Stderr || o.Size == 0 {
			continue
		}
		b, err := submission.Content(ctx, l.client, sealer, o)
		if err != nil {
			fmt.Fprintf(l.out, "--> %s of %s is not kept\n", o.Name, task.FormatSize(o.Size))
			continue
		}
		fmt.Fprintf(l.out, "--> %s\n", o.Name)
		if b[len(b)-1] != '\n' {
			b = append(b, '\n')
		}
		if _, err := l.out.Write(b); err != nil {
			return err
		}
	}
	return nil
}
