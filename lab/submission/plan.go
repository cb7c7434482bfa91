package submission

import (
	"context"
	"fmt"
	"io"
	"time"

	"godwit/api"
	"godwit/ending"
	"godwit/lab/table"
	"godwit/node"
	"godwit/task"
)

// A Planned job is what would become of it.
type Planned struct {
	Name string `json:"name"`
	node.Plan
	// Bytes is what the node would be sent: the modules, of each stage its own, and every input once.
	Bytes int64 `json:"bytes"`
	Files int   `json:"files"` // of those, inputs
	// Trials is the rule by which trials are added, for people, and MostTasks the most tasks that the job may have with
	// these; "" and 0 for none. The forecast is of the tasks with which it begins.
	Trials    string `json:"trials,omitempty"`
	MostTasks uint64 `json:"most_tasks,omitempty"`
	// AtOnce is the largest number of slots that the job takes at once; 0 for no limit.
	AtOnce int `json:"at_once,omitempty"`
}

// Plan asks what would become of a job. Nothing of its files is sent, but for tables where it takes results of others:
// see Job.Reuse.
func Plan(ctx context.Context, client *api.Client, s *Job) (Planned, error) {
	p := Planned{Name: s.File.Name, Bytes: int64(len(s.Code)), Files: len(s.inputs)}
	for _, in := range s.inputs {
		p.Bytes += in.info.Size()
	}
	for _, t := range s.tables {
		p.Bytes += int64(t.table.Size)
	}
	for _, code := range s.stages {
		p.Bytes += int64(len(code))
	}
	if t := s.File.Trials; t != nil {
		p.Trials, p.MostTasks = t.String(), s.File.Tasks()/s.File.Sweep.Repeat*t.Most
	}
	saves := !s.File.Checkpoint.Off
	job, err := s.named(ctx, client)
	if err != nil {
		return p, err
	}
	p.Plan, err = client.Plan(ctx, api.PlanRequest{Tasks: s.File.Tasks(), Work: s.File.Work.Seconds(),
		Memory: s.File.Memory, Replicas: s.File.Replicas, AtOnce: s.File.Slots, Saves: &saves, Overlay: s.Overlay,
		Stages: planStages(s.File), Job: job})
	p.AtOnce = s.File.Slots
	return p, err
}

// planStages are the stages of a job file as a node plans them.
func planStages(f *task.File) (out []api.PlanStage) {
	for _, o := range f.Outline() {
		s := api.PlanStage{Tasks: o.Tasks, Work: o.Work, Memory: o.Memory}
		for _, n := range o.Needs {
			s.Needs = append(s.Needs, api.PlanNeed(n))
		}
		out = append(out, s)
	}
	return out
}

// Print writes it for people.
func (p *Planned) Print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, %s to send to %s\n", p.Name, counted(p.Tasks, "task"), task.FormatSize(p.Bytes), p.Overlay)
	if p.Runs > p.Tasks {
		fmt.Fprintf(w, "each task runs on %d members\n", p.Runs/max(1, p.Tasks))
	}
	if p.Trials != "" {
		fmt.Fprintf(w, "trials are added until %s: at most %s\n", p.Trials, counted(p.MostTasks, "task"))
	}
	fmt.Fprintf(w, "verify: %s; %s\n", p.Verify, p.Promise)
	taken := uint64(0)
	for _, t := range p.Taken {
		taken += t.Tasks
		fmt.Fprintf(w, "%d of %d results would be taken from job %s; --fresh runs all tasks\n", t.Tasks, p.Tasks,
			table.ShortJob(t.Job))
	}
	if taken > 0 && taken == p.Tasks {
		fmt.Fprintln(w, "nothing is left to run")
		return
	}
	fmt.Fprintf(w, "%s could run it now, with %s\n", counted(uint64(len(p.Ready)), "member"),
		counted(uint64(p.Slots), "slot"))
	if p.AtOnce > 0 {
		fmt.Fprintf(w, "it takes at most %s at once\n", counted(uint64(p.AtOnce), "slot"))
	}
	for _, r := range p.Unfit {
		fmt.Fprintf(w, "%6d could not: %s%s\n", len(r.Peers), r.Reason, shortPeers(r.Peers))
	}
	if p.Forecast.Reason != "" {
		fmt.Fprintln(w, "it would not end: "+p.Forecast.Reason)
		return
	}
	if p.Forecast.Unknown {
		fmt.Fprintln(w, "nobody knows when it would end; if its tasks were like others, in "+Between(&p.Forecast))
	} else {
		fmt.Fprintln(w, "it would end in "+Between(&p.Forecast))
	}
	for _, n := range p.Forecast.Notes {
		fmt.Fprintln(w, "  "+n)
	}
}

// Between tells a forecast in one breath.
func Between(f *ending.Forecast) string {
	return fmt.Sprintf("%s (nine times in ten: %s to %s)", rough(f.Median), rough(f.Low), rough(f.High))
}

// Ends tells a progress how long a job takes yet. It gives up quickly: the job comes first.
func Ends(ctx context.Context, client *api.Client, id task.JobID) func() string {
	return func() string {
		switch f := forecast(ctx, client, id); {
		case f == nil:
			return ""
		case f.Unknown:
			return "end not known yet"
		default:
			return fmt.Sprintf("about %s to go (%s to %s)", rough(f.Median), rough(f.Low), rough(f.High))
		}
	}
}

// ToGo says when a job ends, for a column; "" where nobody can say.
func ToGo(ctx context.Context, client *api.Client, id task.JobID) string {
	switch f := forecast(ctx, client, id); {
	case f == nil:
		return ""
	case f.Unknown:
		return "not known yet"
	default:
		return fmt.Sprintf("%s (%s to %s)", rough(f.Median), rough(f.Low), rough(f.High))
	}
}

// forecast is that of a job; nil where there is none.
func forecast(ctx context.Context, client *api.Client, id task.JobID) *ending.Forecast {
	const patience = 3 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	e, err := client.End(ctx, string(id))
	if err != nil || e.Reason != "" || e.Left == 0 {
		return nil
	}
	return &e.Forecast
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func rough(s float64) string { return table.Rough(inSeconds(s)) }

func counted(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// shortPeers names a few.
func shortPeers(peers []task.PeerID) string {
	const few = 3
	out := ""
	for i, p := range peers {
		if i == few {
			return out + " ..."
		}
		out += " " + table.ShortPeer(p)
	}
	return out
}
