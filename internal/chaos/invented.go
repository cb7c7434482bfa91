package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/internal/chaos/hostile"
)

const (
	scenarioInvented = "invented"
	// inventedNodes are the workers of the pool: the submitter is one of them.
	inventedNodes = 10
	inventedTasks = 100
	// inventingShare is the share of workers that invent results: one in five.
	inventingShare = 5
	// inventedSpin is how many turns a task takes: some hundredths of a second of a core.
	inventedSpin  = 30_000_000
	inventedLimit = 4 * time.Minute // for one job
)

// inventingKinds are the ways in which the workers lie, run by run: they run nothing, and are so fast that they get
// most tasks; or they take their time, and agree.
var inventingKinds = []string{"lazy", "agreed"}

// A harvest counts results by their standing at the moment when the job's owner had them all.
type harvest struct {
	right, wrong map[string]int // by standing; "" of jobs whose results are not checked
}

// sum adds the counts of a map.
func sum(of map[string]int) (n int) {
	for _, k := range of {
		n += k
	}
	return n
}

// invented submits jobs without `verify` in an open pool in which one worker in five invents results, and reports
// how many wrong results were delivered in which standing, and what the program states. The liars and the
// submitter are new in each run, with new keys: nobody knows them.
func invented(ctx context.Context, t *trial) error {
	if t.liar == "" {
		return skip("there is no binary that lies: --liar")
	}
	number := t.options.nodes
	liars := max(1, number/inventingShare)
	if err := t.addLocal(number - liars - 1); err != nil {
		return err
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	all := harvest{map[string]int{}, map[string]int{}}
	delivered, words := 0, map[string]int{}
	for run := 1; run <= t.options.runs; run++ {
		h, said, err := t.inventedRun(ctx, run, liars)
		if err != nil {
			return fmt.Errorf("run %d of seed %d: %w", run, t.seed, err)
		}
		for k, n := range h.right {
			all.right[k] += n
		}
		for k, n := range h.wrong {
			all.wrong[k] += n
		}
		if h.believed() > 0 {
			delivered++
		}
		for _, line := range said {
			words[line]++
		}
		t.say("run %d, %s: %d right %v, %d wrong %v", run, inventingKinds[run%len(inventingKinds)], sum(h.right),
			h.right, sum(h.wrong), h.wrong)
	}
	t.judgeInvented(&all, delivered, words)
	return nil
}

// believed counts the wrong results that were delivered as accepted or final. A result without a standing, of a
// job whose results are not checked, counts as well.
func (h *harvest) believed() int { return h.wrong[""] + h.wrong["accepted"] + h.wrong["final"] }

// judgeInvented reports the counts of all runs.
func (t *trial) judgeInvented(all *harvest, delivered int, words map[string]int) {
	results := sum(all.right) + sum(all.wrong)
	for _, k := range slices.Sorted(maps.Keys(all.right)) {
		t.report.show(fmt.Sprintf("right results with the standing %q", k), "", "%d", all.right[k])
	}
	for _, k := range slices.Sorted(maps.Keys(all.wrong)) {
		t.report.show(fmt.Sprintf("wrong results with the standing %q", k), "", "%d", all.wrong[k])
	}
	share := float64(all.believed()) / float64(max(1, results))
	t.report.show("wrong results delivered as accepted or final", "1 %", "%.2f %% (%d of %d)", 100*share, all.believed(),
		results)
	t.report.show("runs with such a result", "", "%d of %d", delivered, t.options.runs)
	for _, line := range slices.Sorted(maps.Keys(words)) {
		t.report.show("godwit job states", "", "%q in %d runs", line, words[line])
	}
	const most = .01
	t.report.expect("at most one wrong result in a hundred is delivered as right", share <= most, "%.2f %% are",
		100*share)
}

// inventedRun submits one job with a new submitter and new liars.
func (t *trial) inventedRun(ctx context.Context, run, liars int) (h harvest, said []string, err error) {
	h = harvest{map[string]int{}, map[string]int{}}
	var fresh []*node
	defer func() {
		for _, n := range fresh {
			n.interrupt() // they leave at once, all together
		}
		for _, n := range fresh {
			err = errors.Join(err, n.stop())
		}
	}()
	for k := range liars + 1 {
		n, err := t.fresh(run, k)
		if err != nil {
			return h, nil, err
		}
		if k < liars {
			n.binary, n.launch = t.liar, []string{"env", lieEnv + "=" + inventingKinds[run%len(inventingKinds)]}
		}
		fresh = append(fresh, n)
		if err := n.start(ctx, t.addresses()); err != nil {
			return h, nil, err
		}
	}
	at := fresh[liars]
	if err := t.awaitMembers(ctx, at, len(t.nodes)+len(fresh)); err != nil {
		return h, nil, err
	}
	module := filepath.Join(t.dir, "printer.wasm") // it takes no time to compile
	if err := os.WriteFile(module, hostile.Guest(inventedSpin), 0o600); err != nil {
		return h, nil, err
	}
	j, err := t.submitLabour(ctx, at, fmt.Sprintf("invented-%d", run), t.options.tasks, labour{module: module,
		rules: "args: [\"{{.task}}\"]\nmemory: 64MiB\n", want: strconv.Itoa}, acceptLimit)
	if err != nil {
		return h, nil, err
	}
	if err := until(ctx, inventedLimit, func() string { // as `godwit run` waits
		switch v, err := at.ask.jobAlone(ctx, j.id); {
		case err != nil:
			return err.Error()
		case !v.Final:
			return fmt.Sprintf("%d of %d results are held", v.Held, j.tasks)
		case v.Checks != nil && v.Checks.Due > v.Checks.Waits:
			return fmt.Sprintf("%d results are to be checked", v.Checks.Due)
		}
		return ""
	}); err != nil {
		return h, nil, err
	}
	return h, statedBy(ctx, at, j), t.reap(ctx, j, &h)
}

// fresh makes a node that nobody knows.
func (t *trial) fresh(run, k int) (*node, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	n := &node{index: 1000*run + k, listen: fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port), cores: 1, binary: t.godwit,
		rules: t.rulesFile(), runner: "wasm", dir: filepath.Join(t.dir, fmt.Sprintf("run%d-node%d", run, k))}
	n.log = n.dir + ".log"
	n.ask = newAsker(n.dir)
	return n, nil
}

// addresses are where the nodes are that stay.
func (t *trial) addresses() (out []string) {
	for _, n := range t.nodes {
		out = append(out, n.addr)
	}
	return out
}

// awaitMembers waits until a node knows a leader and so many members.
func (t *trial) awaitMembers(ctx context.Context, n *node, members int) error {
	return until(ctx, gatherLimit, func() string {
		v, err := n.ask.overlay(ctx)
		switch {
		case err != nil:
			return err.Error()
		case v.Leader == "":
			return "it knows no leader"
		case v.Members < members:
			return fmt.Sprintf("it knows %d of %d members", v.Members, members)
		}
		return ""
	})
}

// reap counts a job's results by standing.
func (t *trial) reap(ctx context.Context, j *job, h *harvest) error {
	st, err := j.at.ask.job(ctx, j.id)
	if err != nil {
		return err
	}
	standing := map[int]string{}
	for _, k := range st.List {
		standing[k.Index] = k.Standing
	}
	return t.eachResult(ctx, j, func(i int, got string) {
		if got == j.labour.want(i) {
			h.right[standing[i]]++
		} else {
			h.wrong[standing[i]]++
		}
	})
}

// statedBy returns what `godwit job` states of the job's results: its lines about checks, and about how probable a
// wrong result is.
func statedBy(ctx context.Context, at *node, j *job) (out []string) {
	said, err := at.verb(ctx, "job", j.id)
	if err != nil && said == "" { // a job with a wrong result has an exit code of its own, and is printed as usual
		return []string{fmt.Sprintf("an error: %.200v", err)}
	}
	for line := range strings.Lines(said) {
		if strings.Contains(line, "completed") {
			continue // it is about one attempt
		}
		low := strings.ToLower(line)
		for _, word := range []string{"verify", "check", "probab", "wrong", "unchecked"} {
			if strings.Contains(low, word) {
				out = append(out, strings.TrimSpace(line))
				break
			}
		}
	}
	if len(out) == 0 {
		out = append(out, "nothing about checks")
	}
	return out
}
