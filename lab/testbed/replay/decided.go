package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"godwit/api"
	"godwit/lab/table"
	"godwit/lab/testbed/clock"
	"godwit/node"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// decisionPoll is the interval at which nodes are asked for their decisions. A node that ends keeps none.
const decisionPoll = time.Second

// A decision is a placement, a move, or the choice to leave a task where it is.
type decision struct {
	AtS    float64 `json:"at_s"` // after the replay's begin, in the trace's time
	Action string  `json:"action"`
	Task   string  `json:"task"`
	Host   string  `json:"host"`
	Basis  basis   `json:"basis"`
	Reason string  `json:"reason"`
}

// A basis names what a decision rests on.
type basis string

const (
	fromHistory  basis = "history"  // a forecast from the gossiped past
	fromCPU      basis = "cpu"      // the share of the CPU that guests get
	fromNotice   basis = "notice"   // a member's notice that it leaves
	fromTail     basis = "tail"     // the rule for the last tasks of a job, which every policy has
	fromFallback basis = "fallback" // a policy that wanted a forecast, and had none
	fromOrder    basis = "order"    // nothing of these
)

// basisOf reads the basis of a decision from its reason.
func basisOf(reason string) basis {
	for _, b := range []struct {
		words string
		basis basis
	}{
		{"nothing is known", fromFallback}, {"with probability", fromHistory}, {"should end", fromTail},
		{"guests get", fromCPU}, {"gave notice", fromNotice},
	} {
		if strings.Contains(reason, b.words) {
			return b.basis
		}
	}
	return fromOrder
}

// A counted is what the decisions of a run come to.
type counted struct {
	Decisions int `json:"decisions"`
	History   int `json:"from_history"`
	CPU       int `json:"from_cpu"`
	Notice    int `json:"from_notice"`
	Fallback  int `json:"fallback"`
	// MovedBefore is the number of moves away from hosts that left later in the replay.
	MovedBefore int `json:"moved_before_host_left"`
	Done        int `json:"tasks_done"`
	Tasks       int `json:"tasks"`
}

// A collector has the decisions of all nodes, each once.
type collector struct {
	mu   sync.Mutex
	seen map[node.Decision]bool
}

// collect asks the nodes that are up for their decisions until ctx ends.
func (r *replay) collect(ctx context.Context) {
	for at := time.Now(); clock.SleepUntil(ctx, at); at = at.Add(decisionPoll) {
		r.collectOnce(ctx)
	}
}

func (r *replay) collectOnce(ctx context.Context) {
	for _, dir := range r.dirsUp() {
		client := api.Dial(dir)
		list, err := client.Decisions(ctx)
		client.Close()
		if err != nil {
			continue // it left, or is about to
		}
		r.decided.mu.Lock()
		if r.decided.seen == nil {
			r.decided.seen = map[node.Decision]bool{}
		}
		for _, d := range list {
			if d.Action == "placed" || d.Action == "moved" || d.Action == "stays" {
				r.decided.seen[d] = true
			}
		}
		r.decided.mu.Unlock()
	}
}

// decisions are those until the end of the replay, in order of time.
func (r *replay) decisions() (out []decision) {
	r.decided.mu.Lock()
	defer r.decided.mu.Unlock()
	names := map[task.PeerID]string{}
	for _, p := range r.players {
		names[p.peer] = p.planned.Host
	}
	numbers := map[task.JobID]int{}
	for i, h := range r.handed {
		numbers[h.id] = i
	}
	for d := range r.decided.seen {
		job, index, _ := strings.Cut(d.Task, "/")
		at := r.clock.Traced(d.At)
		if n, ok := numbers[task.JobID(job)]; ok && !at.After(r.plan.Scenario.End) {
			out = append(out, decision{AtS: at.Sub(r.clock.Start).Seconds(), Action: d.Action,
				Task: jobName(n) + "/" + index, Host: names[d.Peer], Basis: basisOf(d.Reason), Reason: d.Reason})
		}
	}
	slices.SortFunc(out, func(a, b decision) int { return cmp.Or(cmp.Compare(a.AtS, b.AtS), cmp.Compare(a.Task, b.Task)) })
	return out
}

// countDecisions adds decisions up, with what became of the jobs.
func (r *replay) countDecisions(all []decision, jobs []message.JobStatus, done uint64) *counted {
	c := &counted{Decisions: len(all), Done: int(done)}
	for _, d := range all {
		switch d.Basis {
		case fromHistory:
			c.History++
		case fromCPU:
			c.CPU++
		case fromNotice:
			c.Notice++
		case fromFallback:
			c.Fallback++
		}
	}
	for _, h := range r.handed {
		c.Tasks += h.planned.Tasks
	}
	for _, j := range jobs {
		for _, t := range j.TasksList {
			for _, a := range t.Attempts {
				if a.Outcome == ledger.Moved && r.leftAfter(a.Worker, a.End) {
					c.MovedBefore++
				}
			}
		}
	}
	return c
}

// leftAfter reports whether a node left between a time and the end of the replay.
func (r *replay) leftAfter(peer task.PeerID, at time.Time) bool {
	end := r.clock.Real(r.plan.Scenario.End)
	for _, p := range r.players {
		if p.peer == peer {
			return slices.ContainsFunc(p.ups, func(u uptime) bool { return u.to.After(at) && u.to.Before(end) })
		}
	}
	return false
}

// printDecisions writes each decision of a run with its reason.
func (rep *report) printDecisions(w io.Writer) {
	if rep.Counted == nil {
		return
	}
	fmt.Fprintln(w)
	for _, d := range rep.Decisions {
		fmt.Fprintf(w, "%8s  %-6s %-13s %-10s %-8s %s\n", table.Seconds(d.AtS), d.Action, d.Task, d.Host, d.Basis, d.Reason)
	}
}

// printCounted writes a line for each run with a past.
func (reps runs) printCounted(w io.Writer) {
	var rows [][]string
	for _, rep := range reps {
		if c := rep.Counted; c != nil {
			rows = append(rows, []string{rep.name, fmt.Sprint(c.Decisions), fmt.Sprint(c.History), fmt.Sprint(c.CPU),
				fmt.Sprint(c.Notice), fmt.Sprint(c.Fallback), fmt.Sprint(c.MovedBefore), fmt.Sprintf("%d of %d", c.Done, c.Tasks)})
		}
	}
	if len(rows) > 0 {
		fmt.Fprintln(w)
		table.Print(w, "POLICIES DECISIONS FROM-HISTORY FROM-CPU FROM-NOTICE FALLBACK MOVED-BEFORE-LEAVING DONE", rows)
	}
}
