package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"time"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/scheduler"
	"godwit/scheduler/place"
)

// batchOptions are those of one job on equal nodes.
type batchOptions struct {
	bedOptions
	tasks   uint64
	work    time.Duration // of one task, for tasks that wait
	jobFile string        // to run instead of such tasks; "": none
	out     string        // directory for the results; "": they are verified, not kept
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

// run gives the job to the nodes, and reports.
func (o *batchOptions) run(ctx context.Context, out, log io.Writer) error {
	sub, err := o.submission()
	if err != nil {
		return err
	}
	return o.with(ctx, func(sw *swarm, startup time.Duration) error {
		rep := swarmReport{Nodes: o.nodes, Slots: o.nodes * o.cores, StartupS: startup.Seconds(), Policies: []string{place.Default}}
		end, err := o.runJob(ctx, sw, sub, &rep, o.progress(log))
		if err != nil {
			return err
		}
		if err := o.tell(out, &rep, rep.print); err != nil {
			return err
		}
		return submission.Verdict(end)
	})
}

// submission returns the job: the given file's, or a sweep of empty tasks.
func (o *batchOptions) submission() (*submission.Job, error) {
	if o.tasks < 1 || o.cores < 1 || o.work < 0 {
		return nil, failure.Usage("", "--tasks and --cores must be at least 1, --work not negative")
	}
	if o.jobFile != "" {
		return submission.Read(o.jobFile, nil)
	}
	text := fmt.Sprintf("name: swarm\nmodule: noop.wasm\nwork: %s\nmemory: 1MiB\nsweep:\n  task: {from: 1, to: %d}\n",
		o.work, o.tasks)
	sub, err := submission.New("swarm.yaml", text, noop)
	if err != nil {
		return nil, fmt.Errorf("making the swarm's job: %w", err)
	}
	return sub, nil
}

// runJob hands the job to a random peer and waits for every result there.
func (o *batchOptions) runJob(ctx context.Context, sw *swarm, sub *submission.Job, rep *swarmReport, p *progress.Progress) (scheduler.JobStatus, error) {
	rng := rand.New(rand.NewPCG(o.seed, uint64(o.nodes)))
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
	keep := o.out
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

// print writes the report for people.
func (rep *swarmReport) print(out io.Writer) error {
	fmt.Fprintf(out, "%d nodes with %d slots, ready in %.2f s\n", rep.Nodes, rep.Slots, rep.StartupS)
	fmt.Fprintf(out, "%d of %d tasks done, %d failed, in %.2f s (%.0f tasks/s)\n",
		rep.Done, rep.Tasks, rep.Failed, rep.MakespanS, float64(rep.Done)/rep.MakespanS)
	rep.printIdeal(out)
	return nil
}
