package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	scenarioAudits = "audits"
	// auditNodes, and auditWarm tasks until their work is known, have each worker have done 300.
	auditNodes = 4
	auditWarm  = 300 * auditNodes
	// auditTasks and auditRounds are of the jobs that are timed, with checks and without in turns.
	auditTasks  = 200
	auditRounds = 4
	// auditCost and auditSpan are what checks may cost then: in runs, and in time.
	auditCost = .025
	auditSpan = 1.02
)

// audits measures what it costs to have results checked in an invited pool of honest workers that
// have done 300 tasks each.
func audits(ctx context.Context, t *trial) error {
	if err := t.addLocal(t.options.nodes); err != nil {
		return err
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	if err := t.foundInvited(ctx); err != nil {
		return err
	}
	l, err := t.labour(ctx)
	if err != nil {
		return err
	}
	checked := l
	checked.rules += "verify: " + t.lied.verify + "\n"
	at := t.nodes[len(t.nodes)-1]
	timed := func(name string, tasks int, l labour) (time.Duration, jobView, error) {
		j, err := t.submitLabour(ctx, at, name, tasks, l, acceptLimit)
		if err != nil {
			return 0, jobView{}, err
		}
		st, err := t.awaitChecked(ctx, j)
		took := time.Since(j.handed)
		if err != nil {
			return 0, st, err
		}
		return took, st, t.verify(ctx, j)
	}
	first, st, err := timed("warm", auditWarm, checked)
	if !t.report.must("the first job ends, all of it right", err) {
		return nil
	}
	t.report.show("run again of the first results", "", "%d of %d, in %.1f s", st.Checks.Right, auditWarm, first.Seconds())
	var ratios []float64
	again, results := uint64(0), uint64(0)
	for round := range auditRounds {
		plain, _, err := timed(fmt.Sprintf("plain-%d", round), auditTasks, l)
		if err != nil {
			return err
		}
		with, st, err := timed(fmt.Sprintf("checked-%d", round), auditTasks, checked)
		if err != nil {
			return err
		}
		ratios = append(ratios, with.Seconds()/plain.Seconds())
		again += uint64(st.Checks.Right + st.Checks.Wrong + st.Checks.Open)
		results += auditTasks
	}
	slices.Sort(ratios)
	t.report.show("run again of the next, all nodes' together", fmt.Sprintf("%.1f %%", 100*auditCost),
		"%.1f %% (%d of %d)", 100*float64(again)/float64(results), again, results)
	t.report.show("time with checks to time without, median", fmt.Sprint(auditSpan), "%.3f (%.3f to %.3f)",
		ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
	t.report.expect("hardly anything is run again", float64(again) <= auditCost*float64(results),
		"%d of %d are", again, results)
	return nil
}

// foundInvited has all nodes leave the open pool for one that members are invited to.
func (t *trial) foundInvited(ctx context.Context) error {
	const name = "known"
	if _, err := t.nodes[0].verb(ctx, "overlay", "create", name, "--admission", "invited"); err != nil {
		return err
	}
	ticket, err := t.nodes[0].verb(ctx, "overlay", "invite", name)
	if err != nil {
		return err
	}
	file := filepath.Join(t.dir, "ticket")
	if err := os.WriteFile(file, []byte(ticket+"\n"), 0o600); err != nil {
		return err
	}
	for _, n := range t.nodes[1:] {
		if _, err := n.verb(ctx, "overlay", "join", "@"+file); err != nil {
			return err
		}
	}
	for _, n := range t.nodes {
		if _, err := n.verb(ctx, "overlay", "leave", "commons"); err != nil {
			return err
		}
	}
	return t.awaitWhole(ctx, gatherLimit)
}
