package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A double is a time in which a task ran on two nodes. Only the holder of its lease may
// say how far it is; but who is thought lost, or whose lease a leader took with it
// when it died, runs on until it hears of that.
type double struct {
	task        uint64
	first, then stint // in the order in which they began
	lasted      time.Duration
	why         string // by the leaders' log
	explained   bool   // that log says that one of the two had lost the lease
}

// doubleLeast is below what two looks at two processes may be apart.
const doubleLeast = 4 * watchEvery

// doubles returns those of all tasks, by task. peers are the nodes' names, by node.
func doubles(stints map[uint64][]stint, job jobView, peers []string) (out []double) {
	for _, id := range slices.SortedFunc(maps.Keys(stints), cmp.Compare) {
		list := stints[id]
		for k := range list {
			for i := range k {
				a, b := list[i], list[k]
				until := a.ended
				if b.ended.Before(until) {
					until = b.ended
				}
				if d := until.Sub(b.began); d > doubleLeast {
					double := double{task: id, first: a, then: b, lasted: d}
					double.explain(job, peers)
					out = append(out, double)
				}
			}
		}
	}
	return out
}

// attemptOf returns the placement that a stint was of, by the log; nil where there is
// none.
func attemptOf(s stint, job jobView, peers []string) (found *attemptView) {
	for t := range job.List {
		if uint64(job.List[t].Index) != s.task || s.node >= len(peers) {
			continue
		}
		for i := range job.List[t].Attempts {
			a := &job.List[t].Attempts[i]
			over := !a.End.IsZero() && a.End.Before(s.began) && a.Outcome != outcomeLost
			if a.Worker == peers[s.node] && a.Outcome != "refused" && !a.Start.After(s.ended) && !over &&
				(found == nil || a.Start.After(found.Start)) {
				found = a
			}
		}
	}
	return found
}

// How the log says that a placement ended whose worker was not to go on.
const (
	outcomeLost       = "lost"
	outcomeSuperseded = "superseded"
	reasonCopy        = "a copy, "
)

// explain finds out which of the two had lost its lease, and why.
func (d *double) explain(job jobView, peers []string) {
	var told []string
	for _, s := range []stint{d.first, d.then} {
		a := attemptOf(s, job, peers)
		switch {
		case a == nil:
			d.explained = true
			told = append(told, fmt.Sprintf("no lease of n%d is on record: whoever gave it died before it told of it", s.node))
		case a.Outcome == outcomeLost || a.Outcome == outcomeSuperseded:
			d.explained = true
			told = append(told, fmt.Sprintf("the lease of n%d ended as %s %.1f s before: %s", s.node, a.Outcome,
				d.then.began.Sub(a.End).Seconds(), a.Reason))
		case strings.HasPrefix(a.Reason, reasonCopy):
			d.explained = true
			told = append(told, fmt.Sprintf("n%d ran %s", s.node, a.Reason))
		default:
			told = append(told, fmt.Sprintf("that of n%d ended as %s", s.node, cmp.Or(a.Outcome, "running")))
		}
	}
	d.why = strings.Join(told, "; ")
}

// doubled adds what was seen of tasks that ran on two nodes at a time.
func (r *report) doubled(list []double) {
	bad := ""
	var lasted []time.Duration
	for i := range list {
		d := &list[i]
		lasted = append(lasted, d.lasted)
		said := fmt.Sprintf("task %d on n%d and n%d from %s for %.2f s: %s", d.task, d.first.node, d.then.node,
			d.then.began.UTC().Format("15:04:05.0"), d.lasted.Seconds(), d.why)
		r.show("ran on two nodes:", "", "%s", said)
		if !d.explained && bad == "" {
			bad = said
		}
	}
	r.show("times that a task ran on two nodes; for how long", "", "%s", spreadOf(lasted))
	r.expect("a task runs on two nodes only where one of them had lost its lease", bad == "", "%s", bad)
}
