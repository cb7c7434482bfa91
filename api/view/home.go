package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"godwit/node"
	"godwit/owner"
	"godwit/scheduler/message"
	"godwit/task"
	"godwit/trace"
)

// A Home is what this machine does and why, who is near, and the jobs of its owner.
type Home struct {
	Node     NodeName         `json:"node"`
	Sentence string           `json:"sentence"` // what this machine does
	Why      string           `json:"why"`      // and why
	Rule     string           `json:"rule"`     // of the owner's that decided; "" for none
	State    trace.State      `json:"state"`
	Since    time.Time        `json:"since,omitzero"`
	Until    time.Time        `json:"until,omitzero"`
	Stopped  bool             `json:"stopped"` // running tasks stand still
	Paused   bool             `json:"paused"`  // by the owner's word
	Drained  bool             `json:"drained"`
	Slots    int              `json:"slots"`
	Tasks    int              `json:"tasks"`
	Running  []node.LocalTask `json:"running"` // at most MaxRows
	Notices  []string         `json:"notices"`
	Overlays []HomePool       `json:"overlays"`
	Near     Near             `json:"near"`
	Jobs     []HomeJob        `json:"jobs"` // of this node, those that run first, at most homeJobs
	MoreJobs int              `json:"more_jobs"`
	Given    Given            `json:"given"`
}

// Given is what this machine gave since midnight, UTC, as submitters thank for it.
type Given struct {
	Tasks uint64   `json:"tasks"`
	CPU   float64  `json:"cpu_s"` // whole seconds
	For   []string `json:"for"`   // names of projects, a few
}

// A NodeName names a node and its program.
type NodeName struct {
	PeerID  task.PeerID `json:"peer_id"`
	Version string      `json:"version"`
}

// A HomePool is an overlay that this node serves.
type HomePool struct {
	ID      task.CID    `json:"id"`
	Name    string      `json:"name"`
	Members int         `json:"members"`
	Leader  task.PeerID `json:"leader"`
	Role    string      `json:"role"`
}

// Near says who is around.
type Near struct {
	Members   int       `json:"members"`   // of all overlays, this node among them
	Connected int       `json:"connected"` // of those
	Rows      []NearRow `json:"rows"`      // the nearest
}

// A NearRow is a member that is connected.
type NearRow struct {
	Peer      task.PeerID `json:"peer"`
	State     trace.State `json:"state"`
	LatencyMS float64     `json:"latency_ms"` // rounded; 0 unknown
}

// A HomeJob is a job of this node.
type HomeJob struct {
	ID     task.JobID         `json:"id"`
	Name   string             `json:"name"`
	State  string             `json:"state"`
	Reason string             `json:"reason,omitempty"` // why it does not go on for now
	Tasks  message.TaskCounts `json:"tasks"`
}

const (
	// NearRows is how many of the nearest members a Home has; homeJobs how many jobs.
	NearRows = 12
	homeJobs = 10
)

// NewHome makes a Home. jobs are all that this node knows.
func NewHome(st *node.Status, near []node.Member, connected int, jobs []message.JobStatus) Home {
	h := Home{Node: NodeName{st.PeerID, st.Version}, Why: st.Reason, Rule: st.Rule, State: st.State, Since: st.Since,
		Until: st.Until, Stopped: st.Stopped, Paused: st.Rule == owner.RulePause, Drained: st.Drained, Slots: st.Slots,
		Tasks: st.Tasks, Running: Within(st.Running[:min(MaxRows, len(st.Running))], SomeRows), Notices: st.Notices, Jobs: []HomeJob{},
		Overlays: []HomePool{}, Near: Near{Connected: connected, Rows: []NearRow{}}}
	h.Sentence = Sentence(st)
	h.Given = Given{st.Given.Tasks, math.Round(st.Given.CPU.Seconds()), []string{}}
	for _, name := range st.Given.For {
		h.Given.For = append(h.Given.For, clean(name))
	}
	for _, o := range st.Overlays[:min(MaxRows, len(st.Overlays))] {
		h.Overlays = append(h.Overlays, HomePool{o.ID, clean(o.Name), o.Members, o.Leader, o.Role})
		h.Near.Members += o.Members
	}
	h.Overlays = Within(h.Overlays, SomeRows)
	for _, m := range near {
		h.Near.Rows = append(h.Near.Rows, NearRow{m.Peer, m.State, coarse(m.LatencyMS)})
	}
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j message.JobStatus) bool { return j.Submitter != st.PeerID })
	slices.SortStableFunc(jobs, func(a, b message.JobStatus) int { return cmp.Compare(over(&a), over(&b)) })
	h.MoreJobs = max(0, len(jobs)-homeJobs)
	for _, j := range jobs[:len(jobs)-h.MoreJobs] {
		h.Jobs = append(h.Jobs, HomeJob{j.ID, clean(j.Name), j.State, clean(j.Reason), j.Tasks})
	}
	return h
}

// over puts jobs that are over behind others.
func over(j *message.JobStatus) int {
	if message.FinalState(j.State) {
		return 1
	}
	return 0
}

// coarse rounds a latency so that it changes when something has changed: to a fifth of its power of two.
func coarse(ms float64) float64 {
	if ms < 1 {
		return math.Ceil(ms)
	}
	const steps = 4
	unit := math.Exp2(math.Floor(math.Log2(ms))) / steps
	return math.Round(ms/unit) * unit
}

// Sentence says what a machine does. It has a subject and ends with a full stop.
func Sentence(st *node.Status) string {
	tasks := count(st.Tasks, "task")
	switch {
	case st.Rule == owner.RulePause && st.Tasks > 0:
		return fmt.Sprintf("This machine is paused: %s stand%s still.", tasks, third(st.Tasks))
	case st.Rule == owner.RulePause:
		return "This machine is paused: it runs nothing."
	case st.Drained && st.Tasks > 0:
		return fmt.Sprintf("This machine takes nothing new: %s go%s on elsewhere.", tasks, thirdO(st.Tasks))
	case st.Drained:
		return "This machine takes nothing new: it is drained."
	case st.Stopped && st.Tasks > 0:
		return fmt.Sprintf("This machine waits for its owner: %s stand%s still.", tasks, third(st.Tasks))
	case st.State != trace.Available:
		return "This machine runs nothing for others now."
	case st.Tasks > 0:
		return fmt.Sprintf("This machine runs %s for %s.", tasks, forWhom(st.Running))
	case st.Slots == 0:
		return "This machine takes nothing new now."
	case len(st.Overlays) == 0:
		return "This machine serves no overlay: it has nobody to work for."
	}
	return fmt.Sprintf("This machine is free: it waits for work, with room for %s.", count(st.Slots, "task"))
}

// forWhom names the overlays of what runs.
func forWhom(running []node.LocalTask) string {
	var names []string
	for _, t := range running {
		if name := clean(t.Overlay); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	const few = 3
	if len(names) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
	}
	if len(names) == 0 {
		return "others"
	}
	return strings.Join(names, " and ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// third is the ending of a verb of n things, thirdO of one in o.
func third(n int) string {
	if n == 1 {
		return "s"
	}
	return ""
}

func thirdO(n int) string {
	if n == 1 {
		return "es"
	}
	return ""
}
