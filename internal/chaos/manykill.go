package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"godwit/internal/pause"
)

// killMany kills a fifth of the nodes at once under a job, and looks how soon their tasks ran again.
func (t manyTrial) killMany(ctx context.Context, leader *node) error {
	j, err := t.manyJob(ctx, "killed")
	if err != nil {
		return err
	}
	// By the clock, not by results, which a busy machine shows late: the second of five rounds is under way.
	if err := pause.For(ctx, manyKillAfter); err != nil {
		return err
	}
	gone := map[string]bool{}
	var doomed []*node
	for _, i := range t.rng.Perm(len(t.nodes)) {
		if n := t.nodes[i]; n != leader && n != j.at && len(doomed) < len(t.nodes)/manyKill {
			doomed = append(doomed, n)
			gone[n.peer] = true
		}
	}
	at := time.Now()
	for _, n := range doomed { // at once: they are not waited for
		_ = n.proc.cmd.Process.Kill()
	}
	t.say("kill -9 of %d nodes", len(doomed))
	for _, n := range doomed {
		n.kill()
	}
	if err := t.awaitJob(ctx, j); err != nil {
		return err
	}
	final, _, _ := j.ended()
	rows, err := j.at.ask.tasks(ctx, j.id, j.tasks)
	if err != nil {
		return err
	}
	lost, worst, never := ranAgain(rows, gone, at)
	t.report.show(fmt.Sprintf("tasks of %d nodes that were killed at once", len(doomed)), "", "%d", lost)
	t.report.show("  until the last of them ran again", fmt.Sprintf("at most %v", manyAgain), "%.1f s", worst.Seconds())
	t.report.show("  until the job was over; the ideal of all, on those left", "", "%.1f s; %.1f s",
		final.Sub(at).Seconds(), t.ideal(len(t.nodes)-len(doomed)).Seconds()*(manyWay-1)/manyWay)
	t.report.expect("nodes that were killed had tasks", lost > 0, "%d", lost)
	t.report.expect("the tasks of nodes that were killed run again in time", worst <= manyAgain && never == 0,
		"the last after %v; %d never", worst, never)
	return nil
}

// ranAgain counts the tasks that nodes had when they were killed, and says after how long the last of
// them ran elsewhere, and how many never did.
func ranAgain(rows []taskView, gone map[string]bool, at time.Time) (lost int, worst time.Duration, never int) {
	for _, row := range rows {
		for k, a := range row.Attempts {
			if !gone[a.Worker] || a.Outcome != "lost" || a.End.Before(at) {
				continue
			}
			lost++
			if k+1 == len(row.Attempts) {
				if row.State != "done" { // else its result came all the same
					never++
				}
				continue
			}
			next := row.Attempts[k+1]
			began := next.Start
			if next.Began.After(began) {
				began = next.Began
			}
			worst = max(worst, began.Sub(at))
		}
	}
	return lost, worst, never
}

// tasksPage is how many tasks are asked for at once.
const tasksPage = 1000

// tasks returns all tasks of a job.
func (a *asker) tasks(ctx context.Context, id string, n int) (rows []taskView, err error) {
	for from := 0; from < n; from += tasksPage {
		q := url.Values{"from": {strconv.Itoa(from)}, "limit": {strconv.Itoa(tasksPage)}}
		var j jobView
		if err := a.get(ctx, "/v1/jobs/"+id+"?"+q.Encode(), &j); err != nil {
			return nil, err
		}
		rows = append(rows, j.List...)
	}
	return rows, nil
}

// A processCost is what a process took so far.
type processCost struct {
	cpu    time.Duration
	memory int64 // resident now, in bytes; what it shares with others counts
}

// costs are those of all nodes that run, where the system tells them (proc_pid_stat(5)).
func (t manyTrial) costs() []processCost {
	out := make([]processCost, len(t.nodes))
	for i, n := range t.nodes {
		if n.proc != nil {
			out[i] = costOf(n.proc.cmd.Process.Pid)
		}
	}
	return out
}

const (
	// tick is the kernel's unit of processor time in /proc.
	tick = 10 * time.Millisecond
	// statUser, statSystem and statResident are where a process's line has them, from its third
	// field on, the state.
	statUser, statSystem, statResident = 14 - 3, 15 - 3, 24 - 3
)

func costOf(pid int) processCost {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return processCost{}
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) <= statResident {
		return processCost{}
	}
	number := func(i int) int64 { n, _ := strconv.ParseInt(f[i], 10, 64); return n }
	return processCost{
		cpu:    time.Duration(number(statUser)+number(statSystem)) * tick,
		memory: number(statResident) * int64(os.Getpagesize()),
	}
}
