package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/experiment"
	"godwit/lab/experiment/remote"
	"godwit/lab/table"
)

// experimentFlags select the service for a command.
type experimentFlags struct {
	dir  string
	json bool
}

func newExperiment() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "experiment",
		Short: "Define experiments, run them and control their servers",
		Long: `Define experiments with classes of tasks on machines of different speeds, solve the linear
program of LPAS_DG, and run the experiments on the simulator or on real nodes. The commands
send requests to the service that ` + "`godwit experiment serve`" + ` starts.`,
		Example: `  godwit experiment serve
  godwit experiment define examples/scenarios/mgst1.yaml
  godwit experiment solve exp-1
  godwit experiment start exp-1 --on nodes
  godwit experiment server run-1 M2 stop
  godwit experiment statistics run-1`,
		RunE: func(*cobra.Command, []string) error {
			return failure.Usage("`godwit experiment --help` lists the commands", "which command?")
		},
	}
	for _, c := range []*cobra.Command{
		newExperimentServe(), newExperimentDefine(), newExperimentList(), newExperimentShow(), newExperimentDelete(),
		newExperimentSolve(), newExperimentStart(), newExperimentRuns(), newExperimentStatistics(), newExperimentReport(),
		newExperimentServer(), newExperimentStop(),
	} {
		c.Args = explained(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// add adds the flags to a command.
func (f *experimentFlags) add(cmd *cobra.Command) *cobra.Command {
	f.addDir(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func (f *experimentFlags) addDir(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "dir", filepath.Join(defaultDataDir(), "experiments"), "service directory")
}

// with calls use with a client, and prints the result as JSON or with show.
func with[T any](f *experimentFlags, cmd *cobra.Command, use func(context.Context, *remote.Client) (T, error),
	show func(T) error) error {
	c, err := remote.Dial(f.dir)
	if err != nil {
		return experimentError(err)
	}
	defer c.Close()
	answer, err := use(cmd.Context(), c)
	if err != nil {
		return experimentError(err)
	}
	if f.json {
		return table.JSON(cmd.OutOrStdout(), answer)
	}
	return show(answer)
}

// experimentError adds an exit code and a hint.
func experimentError(err error) error {
	var answered *remote.Error
	switch {
	case errors.Is(err, remote.ErrNoService):
		return &failure.Error{Code: failure.ExitUnreachable, Err: err,
			Hint: "start one with `godwit experiment serve`, or name its directory with --dir"}
	case errors.As(err, &answered):
		code := failure.ExitFailed
		if answered.Status/100 == 4 {
			code = failure.ExitUsage
		}
		return &failure.Error{Code: code, Err: err, Hint: answered.Hint}
	}
	return err
}

func newExperimentServe() *cobra.Command {
	var f experimentFlags
	var listen string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve experiments on this machine until Ctrl-C",
		Long: `Serve experiments on a loopback address until Ctrl-C. The service stores experiments and
runs in memory only. Each request needs the content of experiment.token in the service
directory as its bearer token. lab/experiment/remote/openapi.yaml describes the API.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := remote.Listen(f.dir, listen, slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)))
			if err != nil {
				return failure.Usage("", "%w", err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "experiments are served at http://%s\n", s.Addr())
			return s.Run(cmd.Context())
		},
	}
	f.addDir(cmd)
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "loopback `ADDRESS` to listen on (port 0: any free port)")
	return cmd
}

func newExperimentDefine() *cobra.Command {
	var f experimentFlags
	return f.add(&cobra.Command{
		Use:   "define FILE",
		Short: "Define an experiment by a scenario file",
		Long: `Define an experiment by a scenario file with classes, rates and an end. Other files that the
scenario names, for example failures.csv, are sent too.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := experiment.Load(args[0])
			if err != nil {
				return err
			}
			return with(&f, cmd, func(ctx context.Context, c *remote.Client) (experiment.Definition, error) {
				return c.Define(ctx, source)
			}, func(d experiment.Definition) error {
				fmt.Fprintln(cmd.OutOrStdout(), d.ID)
				return nil
			})
		},
	})
}

func newExperimentList() *cobra.Command {
	var f experimentFlags
	return f.add(&cobra.Command{
		Use:   "list",
		Short: "List the experiments",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(&f, cmd, func(ctx context.Context, c *remote.Client) ([]remote.Summary, error) {
				return c.Definitions(ctx)
			}, func(all []remote.Summary) error { return printExperiments(cmd.OutOrStdout(), all) })
		},
	})
}

func newExperimentShow() *cobra.Command {
	var f experimentFlags
	var text bool
	cmd := f.add(&cobra.Command{
		Use:   "show ID",
		Short: "Show an experiment's classes, servers and policies",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(&f, cmd, func(ctx context.Context, c *remote.Client) (experiment.Definition, error) {
				return c.Definition(ctx, args[0])
			}, func(d experiment.Definition) error {
				if text {
					fmt.Fprint(cmd.OutOrStdout(), d.Scenario)
					return nil
				}
				return printExperiment(cmd.OutOrStdout(), &d)
			})
		},
	})
	cmd.Flags().BoolVar(&text, "scenario", false, "print the scenario file")
	return cmd
}

func newExperimentDelete() *cobra.Command {
	var f experimentFlags
	cmd := &cobra.Command{
		Use:   "delete ID",
		Short: "Delete an experiment that does not run",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(&f, cmd, func(ctx context.Context, c *remote.Client) (struct{}, error) {
				return struct{}{}, c.Delete(ctx, args[0])
			}, func(struct{}) error { return nil })
		},
	}
	f.addDir(cmd)
	return cmd
}

func newExperimentSolve() *cobra.Command {
	var f experimentFlags
	return f.add(&cobra.Command{
		Use:   "solve ID",
		Short: "Solve the linear program of LPAS_DG for an experiment",
		Long: `Solve the linear program of LPAS_DG for an experiment, with all servers up. lambda is the
largest factor by which all arrival rates could grow. The table contains each class's
share of each server.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(&f, cmd, func(ctx context.Context, c *remote.Client) (experiment.Allocation, error) {
				return c.Allocation(ctx, args[0])
			}, func(a experiment.Allocation) error { return printAllocation(cmd.OutOrStdout(), &a) })
		},
	})
}

func newExperimentStart() *cobra.Command {
	var f experimentFlags
	var o experiment.RunOptions
	var wait bool
	cmd := f.add(&cobra.Command{
		Use:   "start ID",
		Short: "Start a run of an experiment",
		Long: `Start a run of an experiment. It executes the policies one after the other with equal jobs.
The command prints the run's ID and returns before the run ends.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(&f, cmd, func(ctx context.Context, c *remote.Client) (experiment.RunStatus, error) {
				st, err := c.Start(ctx, args[0], o)
				if err != nil || !wait {
					return st, err
				}
				s, err := awaitRun(ctx, c, st.ID, func(s *experiment.Statistics) bool { return len(s.Results) > 0 })
				return s.RunStatus, err
			}, func(st experiment.RunStatus) error {
				fmt.Fprintln(cmd.OutOrStdout(), st.ID)
				return nil
			})
		},
	})
	fl := cmd.Flags()
	fl.StringVar(&o.On, "on", experiment.OnSimulator, `"simulator", or "nodes": real nodes on this machine`)
	fl.Uint64Var(&o.Seed, "seed", 1, "seed of arrivals and node keys")
	fl.Float64Var(&o.Speedup, "speedup", 0, "scenario time per real time, with --on nodes (default 600)")
	fl.BoolVar(&wait, "wait", false, "wait until the first policy's servers run")
	return cmd
}

// waitEvery is the interval between requests for the state of a run.
const waitEvery = 200 * time.Millisecond

// awaitRun waits until far returns true or the run has ended, and returns the statistics.
func awaitRun(
	ctx context.Context, c *remote.Client, id string, far func(*experiment.Statistics) bool,
) (s experiment.Statistics, err error) {
	for {
		s, err = c.Statistics(ctx, id)
		if err != nil || s.State != experiment.Running || far(&s) {
			return s, err
		}
		select {
		case <-time.After(waitEvery):
		case <-ctx.Done():
			return s, ctx.Err()
		}
	}
}

func newExperimentRuns() *cobra.Command {
	var f experimentFlags
	return f.add(&cobra.Command{
		Use:   "runs",
		Short: "List the runs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(&f, cmd, func(ctx context.Context, c *remote.Client) ([]experiment.RunStatus, error) {
				return c.Runs(ctx)
			}, func(all []experiment.RunStatus) error { return printRuns(cmd.OutOrStdout(), all) })
		},
	})
}

func newExperimentStatistics() *cobra.Command {
	var f experimentFlags
	var wait bool
	cmd := f.add(&cobra.Command{
		Use:   "statistics RUN",
		Short: "Show the current results of a run",
		Long: `Show the current results of a run by class and by server. Times are in units of the
experiment's rates.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(&f, cmd, func(ctx context.Context, c *remote.Client) (experiment.Statistics, error) {
				return awaitRun(ctx, c, args[0], func(*experiment.Statistics) bool { return !wait })
			}, func(s experiment.Statistics) error { return printStatistics(cmd.OutOrStdout(), &s) })
		},
	})
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the run has ended")
	return cmd
}

func newExperimentReport() *cobra.Command {
	var f experimentFlags
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Print the JSON reports of completed policies",
		Long: `Print the JSON reports of completed policies, one per line. They have the format of godwit
sim, or of godwit swarm classes for a run on nodes.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(&f, cmd, func(ctx context.Context, c *remote.Client) ([]experiment.Report, error) {
				return c.Reports(ctx, args[0])
			}, func(all []experiment.Report) error {
				for _, r := range all {
					fmt.Fprintf(cmd.OutOrStdout(), "%s\n", r.Report)
				}
				return nil
			})
		},
	}
	f.addDir(cmd)
	return cmd
}

func newExperimentServer() *cobra.Command {
	var f experimentFlags
	return f.add(&cobra.Command{
		Use:   "server RUN SERVER start|pause|ping|stop",
		Short: "Control a server of a run on nodes",
		Long: `Control a server of a run on nodes:

  stop   kill its node, which remains down until start
  pause  suspend its tasks and accept no more until start
  start  resume a paused server, or start its node
  ping   measure the response time of its node`,
		Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(&f, cmd, func(ctx context.Context, c *remote.Client) (experiment.ServerReply, error) {
				return c.Server(ctx, args[0], args[1], args[2])
			}, func(r experiment.ServerReply) error {
				if args[2] == experiment.ServerPing {
					fmt.Fprintf(cmd.OutOrStdout(), "%s answers in %.1f ms\n", r.Server, r.PingMS)
				}
				return nil
			})
		},
	})
}

func newExperimentStop() *cobra.Command {
	var f experimentFlags
	return f.add(&cobra.Command{
		Use:   "stop RUN",
		Short: "Stop a run",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(&f, cmd, func(ctx context.Context, c *remote.Client) (experiment.RunStatus, error) {
				return c.Stop(ctx, args[0])
			}, func(experiment.RunStatus) error { return nil })
		},
	})
}
