package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/lab/testbed"
	"godwit/node"
	"godwit/scheduler/chunk"
	"godwit/scheduler/message"
)

// SweepOptions are those of one sweep on members of unequal speed, by one policy of chunks after the other.
type SweepOptions struct {
	Options
	Speeds   string // of the nodes, with commas between them; "": 1 each
	Chunking string // policies of chunks, with commas between them; "": Usual
}

// Usual stands for no policy, as in an overlay that names none.
const Usual = "usual"

// A sweepReport is the JSON of `godwit swarm sweep`.
type sweepReport struct {
	Nodes  int        `json:"nodes"`
	Slots  int        `json:"slots"`
	Speeds []float64  `json:"speeds"` // of a slot of each node
	Tasks  uint64     `json:"tasks"`
	WorkS  float64    `json:"work_s"`  // of a task
	BoundS float64    `json:"bound_s"` // all work over all speed: the divisible-load bound
	Runs   []sweepRun `json:"runs"`
}

// A sweepRun is one policy's sweep.
type sweepRun struct {
	Chunking  string  `json:"chunking"`
	Done      uint64  `json:"done"`
	Failed    uint64  `json:"failed"`
	MakespanS float64 `json:"makespan_s"` // from handing in the job to holding every result
	// Efficiency is the bound over the makespan. OverheadS is the rest for each task: the
	// time for which a slot did nothing of it.
	Efficiency float64 `json:"efficiency"`
	OverheadS  float64 `json:"overhead_per_task_s"`
	CPUS       float64 `json:"cpu_per_task_s"` // processor time of all nodes; 0 where the system does not tell
	Load       float64 `json:"load"`           // of the machine as it ended, over a minute; 0 likewise
}

// Run does the sweep by each policy, and reports.
func (o *SweepOptions) Run(ctx context.Context, out, log io.Writer) error {
	speeds, err := readSpeeds(o.Speeds, o.Nodes)
	if err != nil {
		return err
	}
	policies, err := readChunkings(o.Chunking)
	if err != nil {
		return err
	}
	sub, err := o.submission()
	if err != nil {
		return err
	}
	rep := sweepReport{Nodes: o.Nodes, Slots: o.Nodes * o.Cores, Speeds: speeds, Tasks: sub.File.Sweep.Count(),
		WorkS: sub.File.Work.Seconds()}
	var power float64
	for _, v := range speeds {
		power += v * float64(o.Cores)
	}
	rep.BoundS = float64(rep.Tasks) * rep.WorkS / power
	for _, policy := range policies {
		done, err := o.sweepBy(ctx, policy, &rep, sub, o.NewProgress(log))
		if err != nil {
			return fmt.Errorf("the sweep by %s: %w", policy, err)
		}
		rep.Runs = append(rep.Runs, done)
	}
	return o.Tell(out, &rep, rep.print)
}

// readSpeeds reads so many speeds.
func readSpeeds(list string, nodes int) ([]float64, error) {
	speeds := make([]float64, nodes)
	if list == "" {
		for i := range speeds {
			speeds[i] = 1
		}
		return speeds, nil
	}
	parts := strings.Split(list, ",")
	if len(parts) != nodes {
		return nil, failure.Usage("give one for each node", "--speeds has %d speeds for %d nodes", len(parts), nodes)
	}
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v > 0) {
			return nil, failure.Usage("write numbers above 0 with commas between them", "--speeds: %q is no speed", part)
		}
		speeds[i] = v
	}
	return speeds, nil
}

// readChunkings reads policies with commas between them. A policy's own parameters have
// commas between them too: what has no name, only a value, belongs to the one before.
func readChunkings(list string) ([]string, error) {
	var out []string
	for part := range strings.SplitSeq(cmp.Or(list, Usual), ",") {
		name, _, _ := strings.Cut(part, ":")
		if strings.Contains(name, "=") && len(out) > 0 {
			out[len(out)-1] += "," + part
			continue
		}
		out = append(out, part)
	}
	for _, policy := range out {
		if policy == "" {
			return nil, failure.Usage("name policies with commas between them", "--chunking %q has an empty one", list)
		}
		if err := chunk.Check(specOf(policy)); err != nil {
			return nil, failure.Usage("", "--chunking: %w", err)
		}
	}
	return out, nil
}

// specOf is what an overlay's rules say for a policy of the list.
func specOf(policy string) string {
	if policy == Usual {
		return ""
	}
	return policy
}

// dirOf is the name of a directory for a policy.
func dirOf(policy string) string { return strings.ReplaceAll(policy, ":", "-") }

// sweepBy starts the nodes, founds an overlay if the policy needs one, and does the sweep.
func (o *SweepOptions) sweepBy(ctx context.Context, policy string, rep *sweepReport, sub *submission.Job,
	p *progress.Progress) (done sweepRun, err error) {
	dir, remove, err := o.MakeDir()
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if o.Dir != "" {
		dir = filepath.Join(dir, dirOf(policy))
	}
	args := make([][]string, o.Nodes)
	for i, v := range rep.Speeds {
		args[i] = append(o.NodeArgs(), "--impose", "*="+strconv.FormatFloat(v, 'g', -1, 64))
	}
	sw, err := testbed.StartUnequal(ctx, dir, args, o.Cores) // each stands for a machine of so many cores
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, sw.Stop()) }()
	if err := sw.AwaitMembers(ctx); err != nil {
		return done, err
	}
	if spec := specOf(policy); spec != "" {
		if _, err := sw.Associate(ctx, node.OverlayRules{Name: testbed.OverlayName, Admission: node.AdmitOpen,
			Chunking: spec}); err != nil {
			return done, err
		}
		if err := sw.AwaitMembers(ctx); err != nil {
			return done, err
		}
	}
	return o.sweepOn(ctx, sw, policy, rep, sub, p)
}

// sweepOn hands the sweep to a random peer and waits for every result there.
func (o *SweepOptions) sweepOn(ctx context.Context, sw *testbed.Swarm, policy string, rep *sweepReport,
	sub *submission.Job, p *progress.Progress) (sweepRun, error) {
	done := sweepRun{Chunking: policy}
	rng := rand.New(rand.NewPCG(o.Seed, uint64(o.Nodes)))
	client := api.Dial(sw.Nodes[rng.IntN(len(sw.Nodes))].Dir)
	defer client.Close()
	before, told := sw.CPUTime()
	begun := time.Now()
	id, err := submission.Submit(ctx, client, sub)
	if err != nil {
		return done, err
	}
	st, err := submission.Follow(ctx, client, id, p)
	if err != nil {
		return done, err
	}
	done.MakespanS = time.Since(begun).Seconds()
	done.Done, done.Failed = st.Tasks.Done, st.Tasks.Failed
	done.Efficiency = rep.BoundS / done.MakespanS
	done.OverheadS = (done.MakespanS - rep.BoundS) * float64(rep.Slots) / float64(rep.Tasks)
	if after, ok := sw.CPUTime(); ok && told {
		done.CPUS = (after - before).Seconds() / float64(rep.Tasks)
	}
	done.Load = testbed.MachineLoad()
	if o.Out != "" {
		out := o.Out
		if strings.Contains(o.Chunking, ",") { // each has results of its own, which are not to be mixed
			out = filepath.Join(out, dirOf(policy))
		}
		if _, err := submission.Collect(ctx, client, string(id), out); err != nil {
			return done, err
		}
	}
	return done, submission.Verdict(message.JobStatus{ID: id, State: st.State, Tasks: st.Tasks})
}

// print writes the report for people.
func (rep *sweepReport) print(w io.Writer) error {
	fmt.Fprintf(w, "%d tasks of %v on %d slots with speeds %v: at best %.2f s\n", rep.Tasks,
		time.Duration(rep.WorkS*float64(time.Second)), rep.Slots, rep.Speeds, rep.BoundS)
	var rows [][]string
	for _, d := range rep.Runs {
		cpu := "-"
		if d.CPUS > 0 {
			cpu = fmt.Sprintf("%.0f us", d.CPUS*1e6)
		}
		rows = append(rows, []string{
			d.Chunking, fmt.Sprintf("%d of %d", d.Done, rep.Tasks), fmt.Sprintf("%.2f s", d.MakespanS),
			fmt.Sprintf("%.3f", d.Efficiency),
			fmt.Sprintf("%.0f/s", float64(d.Done)/d.MakespanS), fmt.Sprintf("%.0f us", d.OverheadS*1e6), cpu,
			fmt.Sprintf("%.2f", d.Load),
		})
	}
	table.Print(w, "CHUNKING DONE MAKESPAN EFFICIENCY RATE IDLE/TASK CPU/TASK LOAD", rows)
	return nil
}
