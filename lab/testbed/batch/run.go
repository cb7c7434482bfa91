// Package batch hands one job to nodes, and tells how long they took.
package batch

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"time"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/internal/noop"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/lab/testbed"
	"godwit/scheduler/message"
	"godwit/scheduler/place"
)

// Options are those of one job on equal nodes.
type Options struct {
	testbed.Options
	Tasks   uint64
	Work    time.Duration // of one task, for tasks that wait
	JobFile string        // to run instead of such tasks; "": none
	Out     string        // directory for the results; "": they are verified, not kept
}

// report is the JSON of `godwit swarm`.
type report struct {
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

	Course course `json:"course"`
}

// Run gives the job to the nodes, and reports.
func (o *Options) Run(ctx context.Context, out, log io.Writer) error {
	sub, err := o.submission()
	if err != nil {
		return err
	}
	return o.With(ctx, func(sw *testbed.Swarm, startup time.Duration) error {
		rep := report{Nodes: o.Nodes, Slots: o.Nodes * o.Cores, StartupS: startup.Seconds(),
			Policies: []string{place.Default}}
		end, err := o.runJob(ctx, sw, sub, &rep, o.NewProgress(log))
		if err != nil {
			return err
		}
		if err := o.Tell(out, &rep, rep.print); err != nil {
			return err
		}
		return submission.Verdict(end)
	})
}

// submission returns the job: the given file's, or a sweep of empty tasks.
func (o *Options) submission() (*submission.Job, error) {
	if o.Tasks < 1 || o.Cores < 1 || o.Work < 0 {
		return nil, failure.Usage("", "--tasks and --cores must be at least 1, --work not negative")
	}
	if o.JobFile != "" {
		return submission.Read(o.JobFile, nil, nil)
	}
	text := fmt.Sprintf("name: swarm\nmodule: noop.wasm\nverify: off\nwork: %s\nmemory: 1MiB\n"+
		"sweep:\n  task: {from: 1, to: %d}\n", o.Work, o.Tasks)
	sub, err := submission.New("swarm.yaml", text, noop.Module)
	if err != nil {
		return nil, fmt.Errorf("making the swarm's job: %w", err)
	}
	return sub, nil
}

// runJob hands the job to a random peer and waits for every result there.
func (o *Options) runJob(ctx context.Context, sw *testbed.Swarm, sub *submission.Job, rep *report,
	p *progress.Progress) (message.JobStatus, error) {
	rng := rand.New(rand.NewPCG(o.Seed, uint64(o.Nodes)))
	client := api.Dial(sw.Nodes[rng.IntN(len(sw.Nodes))].Dir)
	defer client.Close()
	before, err := termOf(ctx, client)
	if err != nil {
		return message.JobStatus{}, err
	}
	begun := time.Now()
	defer sub.Close()
	id, err := submission.Submit(ctx, client, sub)
	if err != nil {
		return message.JobStatus{}, err
	}
	if _, err := submission.Follow(ctx, client, id, p); err != nil {
		return message.JobStatus{}, err
	}
	rep.MakespanS = time.Since(begun).Seconds()
	after, err := termOf(ctx, client)
	if err != nil {
		return message.JobStatus{}, err
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
	keep := o.Out
	if keep == "" {
		keep = filepath.Join(sw.Dir, "results")
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
func (rep *report) print(out io.Writer) error {
	fmt.Fprintf(out, "%d nodes with %d slots, ready in %.2f s\n", rep.Nodes, rep.Slots, rep.StartupS)
	fmt.Fprintf(out, "%d of %d tasks done, %d failed, in %.2f s (%.0f tasks/s)\n",
		rep.Done, rep.Tasks, rep.Failed, rep.MakespanS, float64(rep.Done)/rep.MakespanS)
	rep.printIdeal(out)
	return nil
}
