package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/mapping"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/task"
)

// mapFlags are what `godwit map` is told beside the inputs.
type mapFlags struct {
	client                clientFlags
	of                    mapping.Options
	follow                mapping.Follower
	overlay, halt, log    string
	resume, again, detach bool
	eta                   bool
}

func newMap() *cobra.Command {
	m := &mapFlags{}
	m.client.raw = true
	cmd := &cobra.Command{
		Use:   "map MODULE.wasm [::: VALUES | :::: FILES] [-- ARGS]",
		Short: "Run a program once for each of many inputs, as one job",
		Long: "Run a program once for each of many inputs, as one job: lines of standard input, values after :::, or\n" +
			"lines of files after :::: (of .csv, .tsv and .jsonl files their rows, with {column}); several make their\n" +
			"product. In ARGS {} is the input, {.} without its extension, {/} without its directory, {//} that directory,\n" +
			"{/.} without either, {#} its number, {1} and so on the values of one source. The exit code is the number of\n" +
			"tasks that failed, at most 101.",
		Args: cobra.MinimumNArgs(1),
		Example: `  ls frames/*.pgm | godwit map blur.wasm --file {} --out out -- -radius 3 {}
  godwit map sim.wasm :::: params.csv -- --alpha {alpha} --beta {beta}
  godwit map sim.wasm ::: low high ::: 1 2 3 --keep-order -- --quality {1} --seed {2}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args, m.of.Args = args[:at], args[at:]
			}
			rest, sources, err := mapping.ParseSources(args)
			if err != nil {
				return err
			}
			if len(rest) != 1 {
				return failure.Usage("write the program's arguments after --", "a map takes one module, not %d", len(rest))
			}
			m.of.Module, m.of.Sources = rest[0], sources
			return m.run(cmd)
		},
	}
	m.client.add(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&m.of.Files, "file", nil, "`FILE` that a task reads, with placeholders: each gets its own")
	f.StringArrayVar(&m.of.Outputs, "output", nil, "`PATTERN` of files that tasks write and that are results")
	f.StringVar(&m.follow.Dir, "out", "", "`DIR` for those files, in a directory for each input")
	f.StringVar(&m.of.Name, "name", "", "`NAME` of the job (default the module's)")
	f.StringVar(&m.of.Memory, "memory", "", "`SIZE` of memory that a task may have (default 256MiB)")
	f.StringVar(&m.of.Timeout, "timeout", "", "`DURATION` of the longest run of a task")
	f.IntVar(&m.of.Retries, "retries", -1, "how often a task that fails runs again (default 3)")
	f.BoolVarP(&m.follow.KeepOrder, "keep-order", "k", false, "print in the order of the inputs, not as tasks end")
	f.BoolVar(&m.follow.Tag, "tag", false, "put the input and a tab before each line")
	f.StringVar(&m.halt, "halt", "never", "when failures end it early: now,fail=1 cancels the rest, "+
		"soon,fail=10% lets what runs end and begins no more")
	f.StringVar(&m.log, "joblog", "", "`FILE` that gets a line for each task that was printed")
	f.BoolVar(&m.resume, "resume", false, "go on with the newest job of the same name, program and inputs: "+
		"what the joblog has is not printed again")
	f.BoolVar(&m.again, "retry-failed", false, "like --resume, and run what failed again")
	f.StringVar(&m.overlay, "overlay", "", "`OVERLAY` to hand the job to (default commons, or the node's first)")
	f.BoolVar(&m.eta, "eta", false, "tell on standard error how far the map is and when it ends; on a terminal it is "+
		"told without this")
	f.BoolVar(&m.detach, "detach", false, "print the job's ID once it is accepted, and return")
	return cmd
}

func (m *mapFlags) run(cmd *cobra.Command) (err error) {
	m.resume = m.resume || m.again
	if m.follow.Halt, err = mapping.ParseHalt(m.halt); err != nil {
		return err
	}
	m.of.Check = checkModule
	plan, err := mapping.NewPlan(m.of, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer plan.Close()
	client, err := m.client.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	var log *mapping.Log
	if m.log != "" {
		if log, err = mapping.OpenLog(m.log, m.resume, m.again); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	id, err := m.job(cmd.Context(), cmd.ErrOrStderr(), client, plan)
	if err != nil {
		return err
	}
	if m.detach {
		return printID(cmd.OutOrStdout(), id, m.client.json)
	}
	f := &m.follow
	f.Client, f.Job, f.Rows, f.Log = client, id, plan.Rows(), log
	if m.again {
		if f.Rows, err = mapping.RowsOf(cmd.Context(), client, id); err != nil {
			return err
		}
		defer f.Rows.Close()
	}
	f.Out, f.Err = cmd.OutOrStdout(), table.Printable(cmd.ErrOrStderr())
	if p := progress.New(cmd.ErrOrStderr(), false); m.eta || p.Terminal {
		f.Progress, p.End = p, submission.Ends(cmd.Context(), client, id)
	}
	if progress.IsTerminal(f.Out) {
		f.Out = table.Printable(f.Out)
	}
	return m.print(cmd, client, id)
}

// job is the job to follow: one that is there already, or a new one.
func (m *mapFlags) job(ctx context.Context, say io.Writer, client *api.Client, plan *mapping.Plan) (task.JobID, error) {
	if m.resume {
		id, err := plan.Find(ctx, client)
		if err == nil && id != "" && m.again {
			if id, err = client.Retry(ctx, string(id), "", ""); err == nil {
				fmt.Fprintf(say, "job %s accepted: what failed\n", table.ShortJob(id))
			}
		}
		if err != nil || id != "" {
			return id, err
		}
		fmt.Fprintf(say, "no job %s with these inputs is here: it is handed in\n", plan.Name())
	}
	id, err := plan.Submit(ctx, client, m.overlay)
	if err == nil {
		fmt.Fprintf(say, "job %s accepted: %d tasks\n", table.ShortJob(id), plan.Tasks())
	}
	return id, err
}

// print follows the job. The first interrupt says how to end it, the second leaves it running.
func (m *mapFlags) print(cmd *cobra.Command, client *api.Client, id task.JobID) error {
	ctx, leave := context.WithCancel(context.WithoutCancel(cmd.Context()))
	defer leave()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	told := make(chan struct{})
	go func() {
		defer close(told)
		for once := false; ; once = true {
			select {
			case <-ctx.Done():
				return
			case s := <-signals:
				if once || s == syscall.SIGTERM {
					leave()
					return
				}
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "the job goes on: interrupt again to leave it running; `godwit cancel %s` ends it\n",
				table.ShortJob(id))
		}
	}()
	failed, err := m.follow.Run(ctx)
	left := ctx.Err() != nil
	leave()
	<-told
	switch {
	case left:
		return &failure.Error{Code: failure.ExitPartly, Err: errors.New("interrupted"),
			Hint: "the job goes on: the same line with --resume takes it up again"}
	case failed > 0:
		say := fmt.Errorf("%d of %d tasks failed", failed, m.follow.Rows.Count())
		return &failure.Error{Code: int(min(failed, mostFailed)), Err: errors.Join(err, say),
			Hint: fmt.Sprintf("`godwit retry %s` runs them again", table.ShortJob(id))}
	}
	return err
}

// mostFailed is the exit code for as many failures as that and more, as GNU parallel has it.
const mostFailed = 101
