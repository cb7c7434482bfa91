package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/node"
	"godwit/scheduler"
	"godwit/scheduler/place"
	"godwit/task"
)

// swarmFlags describe a swarm on this machine and its workload.
type swarmFlags struct {
	nodes   int
	cores   int
	runner  string
	tasks   uint64
	work    time.Duration
	jobFile string
	dir     string
	out     string
	report  string
	seed    uint64
	json    bool
	quiet   bool
	local   time.Duration // of work of local jobs beside guests; 0: none
	rounds  int
	replay  replayFlags
	sweep   sweepFlags
}

// swarmReport is the JSON of `godwit swarm`.
type swarmReport struct {
	Nodes      int      `json:"nodes"`
	Slots      int      `json:"slots"`
	Tasks      uint64   `json:"tasks"`
	Done       uint64   `json:"done"`
	Failed     uint64   `json:"failed"`
	StartupS   float64  `json:"startup_s"`  // until every node knew every other's slots
	MakespanS  float64  `json:"makespan_s"` // from handing in the job to holding every result
	IdealS     float64  `json:"ideal_s"`    // tasks x work / slots; 0 where the work is not known
	WavesS     float64  `json:"waves_s"`    // the same in whole waves: ceil(tasks / slots) x work
	Migrations uint64   `json:"migrations"`
	Takeovers  uint64   `json:"takeovers"` // times that the leadership passed on meanwhile
	UsefulCPUS float64  `json:"useful_cpu_s"`
	WastedCPUS float64  `json:"wasted_cpu_s"`
	Policies   []string `json:"policies"`

	Course swarmCourse `json:"course"`
}

func newSwarm() *cobra.Command {
	s := swarmFlags{}
	cmd := &cobra.Command{
		Use:   "swarm [N]",
		Short: "Run N real nodes on this machine, give them a job, and report",
		Long: `Run N real nodes on this machine: separate processes with data directories and
ports of their own. A peer chosen at random hands in the job; when its results
are there, the nodes are ended and the report is printed.

With --trace each node replays one host of a trace, faster: it behaves as if the
host's owner came and went, its process is ended when the host goes off, and
started again when it is back. Hosts are drawn from those that are available at
some time of the replay. Jobs arrive at random times (Poisson) and are handed to
peers that are up, drawn by --seed, until --minutes have passed. Their tasks only
wait their work time (--runner sleep), standing still while the owner is there,
so that many nodes fit one machine; all else is real. With --policy or --migration
the nodes first found an overlay with these policies, whose lengths of time are
the trace's too; a task that moves goes on where it stopped. What policies foresee
rests on what the nodes saw since they began, at their own pace. The report is the
simulator's, in the trace's time; --compare-sim runs the simulator on the same
hosts, arrivals and overlay, with the times that the nodes took to start.

With --scenario a file says what is replayed, as the simulator reads it. Several
policies are run one after the other on fresh nodes, with equal jobs. A scenario
with rates is a test-bed: each machine is a node that works on each class of jobs as
fast as the file says, and machines that fail are killed and started again.

With --speeds or --chunking the nodes do one sweep of tasks that only wait, on members of
unequal speed, by one policy of chunks after the other, and what each took is printed
beside the least that it could: all work over all speed.`,
		Args: cobra.MaximumNArgs(1),
		Example: `  godwit swarm 5 --tasks 200
  godwit swarm --scenario examples/scenarios/koala-two.yaml
  godwit swarm 20 --trace phones.csv.gz --speedup 600 --minutes 4 --compare-sim
  godwit swarm --scenario examples/scenarios/mgst1.yaml
  godwit swarm 12 --trace phones.csv.gz --policy uptime --migration pspp:p=20m
  godwit swarm 8 --tasks 100000 --work 5ms --speeds 2,1.5,1.25,1,.75,.75,.5,.25 --chunking paced,one
  godwit swarm 17 --cores 4 --runner sleep --tasks 1000 --work 1s --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.choose(cmd, args) },
	}
	f := cmd.Flags()
	f.IntVar(&s.cores, "cores", 1, "tasks that each node runs at once")
	f.StringVar(&s.runner, "runner", node.RunWasm, `"wasm", or "sleep": tasks only wait their work time`)
	f.Uint64Var(&s.tasks, "tasks", 100, "tasks of the job")
	f.DurationVar(&s.work, "work", 0, "work of one task, for --runner sleep")
	f.StringVar(&s.jobFile, "job", "", "job file to run instead of tasks that do nothing")
	f.StringVar(&s.out, "out", "", "directory for the job's results (default: they are verified, not kept)")
	f.StringVar(&s.dir, "dir", "", "directory for the nodes' data and logs, and of a replay for the jobs and the trace as it was played (default a temporary one, removed)")
	f.StringVar(&s.report, "report", "", "file to write the JSON report to as well")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the choice of peers that hand in jobs, and of hosts and arrivals")
	f.DurationVar(&s.local, "local", 0, "measure how guests that never end delay jobs of this machine's owner, with so much work on each core")
	f.IntVar(&s.rounds, "rounds", localRounds, "how often --local measures each way")
	s.replay.add(f)
	s.sweep.add(f)
	f.BoolVar(&s.json, "json", false, "print JSON")
	f.BoolVar(&s.quiet, "quiet", false, "show no progress")
	return cmd
}

// count reads how many nodes there are: of a test-bed's scenario nobody has to say.
func (s *swarmFlags) count(args []string) error {
	if len(args) == 0 {
		if s.replay.scenario == "" {
			return failure.Usage("say `godwit swarm 5`", "how many nodes?")
		}
		return nil
	}
	if _, err := fmt.Sscanf(args[0], "%d", &s.nodes); err != nil || s.nodes < 1 || s.nodes > maxSwarm {
		return failure.Usage(fmt.Sprintf("give a number from 1 to %d", maxSwarm), "cannot run %q nodes", args[0])
	}
	return nil
}

// choose runs what the flags ask for.
func (s *swarmFlags) choose(cmd *cobra.Command, args []string) error {
	if e, err := s.replay.bagsOf(); err != nil || e != nil {
		return s.runSites(cmd, args, e, err)
	}
	if err := s.count(args); err != nil {
		return err
	}
	if s.tasks < 1 || s.cores < 1 || s.work < 0 {
		return failure.Usage("", "--tasks and --cores must be at least 1, --work not negative")
	}
	replays := false
	for _, name := range replayFlagNames {
		replays = replays || cmd.Flags().Changed(name)
	}
	if replays {
		if !cmd.Flags().Changed("runner") {
			s.runner = node.RunSleep
		}
		s.replay.minutesGiven = cmd.Flags().Changed("minutes")
		return s.runReplay(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	if slices.ContainsFunc(sweepFlagNames, cmd.Flags().Changed) {
		if !cmd.Flags().Changed("runner") {
			s.runner = node.RunSleep
		}
		return s.runSweeps(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	if s.local > 0 {
		return s.runLocal(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return s.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
}

// maxSwarm is far more than one machine runs well; it catches typing errors.
const maxSwarm = 1000

// run starts the swarm, gives it its job, and ends it, whatever happens.
func (s *swarmFlags) run(ctx context.Context, out, log io.Writer) (err error) {
	sub, err := s.submission()
	if err != nil {
		return err
	}
	dir, remove, err := s.makeDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	begun := time.Now()
	sw, err := startSwarm(ctx, dir, s.nodes, s.nodeArgs())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sw.stop()) }()
	if err := sw.awaitMembers(ctx); err != nil {
		return err
	}
	rep := swarmReport{Nodes: s.nodes, Slots: s.nodes * s.cores, StartupS: time.Since(begun).Seconds(), Policies: []string{place.Default}}
	end, err := s.runJob(ctx, sw, sub, &rep, progress.New(log, s.quiet || s.json))
	if err != nil {
		return err
	}
	if err := s.write(out, rep); err != nil {
		return err
	}
	return submission.Verdict(end)
}

// makeDir returns where the swarm's data go, and what removes them if nobody named
// a place.
func (s *swarmFlags) makeDir() (dir string, remove func() error, err error) {
	if s.dir != "" {
		return s.dir, func() error { return nil }, nil
	}
	if dir, err = os.MkdirTemp("", "godwit-swarm-"); err != nil {
		return "", nil, fmt.Errorf("making the swarm's directory: %w", err)
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

func (s *swarmFlags) nodeArgs() []string {
	return []string{"--cores", fmt.Sprint(s.cores), "--runner", s.runner}
}

// submission returns the job: the given file's, or a sweep of empty tasks.
func (s *swarmFlags) submission() (*submission.Job, error) {
	if s.jobFile != "" {
		return submission.Read(s.jobFile, nil)
	}
	text := fmt.Sprintf("name: swarm\nmodule: noop.wasm\nwork: %s\nmemory: 1MiB\nsweep:\n  task: {from: 1, to: %d}\n", s.work, s.tasks)
	f, err := task.ParseFile("swarm.yaml", []byte(text))
	if err != nil {
		return nil, fmt.Errorf("making the swarm's job: %w", err)
	}
	return &submission.Job{Name: "swarm.yaml", Text: text, File: f, Code: noop}, nil
}

// runJob hands the job to a random peer and waits for every result there.
func (s *swarmFlags) runJob(ctx context.Context, sw *swarm, sub *submission.Job, rep *swarmReport, p *progress.Progress) (scheduler.JobStatus, error) {
	rng := rand.New(rand.NewPCG(s.seed, uint64(s.nodes)))
	client := api.Dial(sw.nodes[rng.IntN(len(sw.nodes))].dir)
	defer client.Close()
	before, err := termOf(ctx, client)
	if err != nil {
		return scheduler.JobStatus{}, err
	}
	begun := time.Now()
	id, err := submission.Submit(ctx, client, sub)
	if err != nil {
		return scheduler.JobStatus{}, err
	}
	if _, err := submission.Follow(ctx, client, id, p); err != nil {
		return scheduler.JobStatus{}, err
	}
	rep.MakespanS = time.Since(begun).Seconds()
	after, err := termOf(ctx, client)
	if err != nil {
		return scheduler.JobStatus{}, err
	}
	rep.Takeovers = after - before
	st, err := client.Job(ctx, string(id))
	if err != nil {
		return st, err
	}
	rep.Tasks, rep.Done, rep.Failed = st.Tasks.Total, st.Tasks.Done, st.Tasks.Failed
	rep.Migrations, rep.UsefulCPUS, rep.WastedCPUS = st.Migrations, st.UsefulCPU, st.WastedCPU
	rep.IdealS = float64(st.Tasks.Total) * sub.File.Work.Seconds() / float64(rep.Slots)
	rep.WavesS = wavesOf(st.Tasks.Total, rep.Slots, sub.File.Work)
	rep.Course = courseOf(begun, rep.Nodes, rep.Slots, st.TasksList)
	keep := s.out
	if keep == "" {
		keep = filepath.Join(sw.dir, "results")
	}
	_, err = submission.Collect(ctx, client, string(id), keep)
	return st, err
}

// termOf returns the term of the leader that a node follows.
func termOf(ctx context.Context, client *api.Client) (uint64, error) {
	st, err := client.Status(ctx)
	if err != nil {
		return 0, err
	}
	if len(st.Overlays) == 0 {
		return 0, nil
	}
	return st.Overlays[0].Term, nil
}

func (s *swarmFlags) write(out io.Writer, rep swarmReport) error {
	if s.report != "" {
		if err := files.SaveJSON(s.report, rep); err != nil {
			return err
		}
	}
	if s.json {
		return table.JSON(out, rep)
	}
	fmt.Fprintf(out, "%d nodes with %d slots, ready in %.2f s\n", rep.Nodes, rep.Slots, rep.StartupS)
	fmt.Fprintf(out, "%d of %d tasks done, %d failed, in %.2f s (%.0f tasks/s)\n", rep.Done, rep.Tasks, rep.Failed, rep.MakespanS, float64(rep.Done)/rep.MakespanS)
	rep.printIdeal(out)
	return nil
}
