package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"godwit/internal/noop"
	"godwit/internal/pause"
)

const (
	scenarioStages = "stages"
	// stagesNodes are a submitter that runs nothing, and three that work.
	stagesNodes = 4
	// stagesTasks is of each stage, and warmTasks of a job before, so that all programs are compiled.
	stagesTasks = 10_000
	warmTasks   = 50
	// leastRate is how fast tasks that read others' results are to go beside independent ones, and mostServed the
	// part of what they read that the submitter may send, to whomever.
	leastRate  = .5
	mostServed = .01
	// stagesLimit is for one job.
	stagesLimit = 20 * time.Minute
)

// stages measures how fast a job goes whose tasks each read what another made, 16 KiB of its own, beside one of the
// first of these tasks alone; and how much the submitter sends meanwhile.
func stages(ctx context.Context, t *trial) error {
	for name, module := range map[string][]byte{"make.wasm": noop.Printing, "read.wasm": noop.Copying} {
		if err := os.WriteFile(filepath.Join(t.dir, name), module, 0o600); err != nil {
			return fmt.Errorf("writing a module: %w", err)
		}
	}
	t.poll = seldomPoll
	if err := t.addLocal(t.options.nodes); err != nil {
		return err
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	at := t.nodes[len(t.nodes)-1]
	if err := at.ask.pause(ctx, 2*stagesLimit); err != nil {
		return fmt.Errorf("having the submitter run nothing: %w", err)
	}
	m := &measuredStages{t, at}
	if _, err := m.run(ctx, "warm", warmTasks, true); err != nil {
		return err
	}
	alone, err := m.run(ctx, "independent", t.tasks, false)
	if err != nil {
		return err
	}
	before, err := at.ask.status(ctx)
	if err != nil {
		return err
	}
	both, err := m.run(ctx, "staged", t.tasks, true)
	if err != nil {
		return err
	}
	after, err := at.ask.status(ctx)
	if err != nil {
		return err
	}
	read := float64(t.tasks) * noop.PrintingBytes
	sent := float64(after.Tx-before.Tx) / read
	t.report.show("independent tasks", "", "%.0f/s", alone)
	t.report.show("tasks of two stages, each read by one", fmt.Sprintf("at least x %.1f", leastRate), "%.0f/s, x %.2f",
		both, both/alone)
	t.report.show("sent by the submitter, of all that was read", fmt.Sprintf("below %.0f %%", mostServed*100),
		"%.2f %% of %.0f MB", sent*100, read/1e6)
	t.report.expect("tasks that read go at half the rate of others, at least", both >= leastRate*alone,
		"%.0f/s and %.0f/s", both, alone)
	t.report.expect("what they read does not go through the submitter", sent < mostServed, "%.2f %%", sent*100)
	return nil
}

// measuredStages are jobs handed in at one node.
type measuredStages struct {
	*trial
	at *node
}

// run runs so many tasks, and as many that read them, and returns how many a second.
func (m *measuredStages) run(ctx context.Context, name string, tasks int, staged bool) (float64, error) {
	const program = "args: [\"{{.k}}\"], outputs: [stdout], sweep: {k: {from: 1, to: %d}}"
	text, all := fmt.Sprintf("{name: %s, memory: 1MiB, module: make.wasm, "+program+"}\n", name, tasks), tasks
	if staged {
		text = fmt.Sprintf("{name: %s, memory: 1MiB, stages: {make: {module: make.wasm, "+program+
			"}, read: {module: read.wasm, each: make, stdin: \"{{.make}}/stdout\", outputs: [stdout]}}}\n", name, tasks)
		all *= 2
	}
	file := filepath.Join(m.dir, name+".yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return 0, fmt.Errorf("writing a job: %w", err)
	}
	begun := time.Now()
	id, err := m.at.verb(ctx, "run", file, "--detach", "--fresh")
	if err != nil {
		return 0, fmt.Errorf("handing in %s: %w", name, err)
	}
	for time.Since(begun) < stagesLimit {
		if err := pause.For(ctx, heldEvery); err != nil {
			return 0, err
		}
		st, err := m.at.ask.jobAlone(ctx, id)
		if err != nil || !st.Final {
			continue // one that is busy answers late
		}
		if st.State != "done" || st.Held != all {
			return 0, fmt.Errorf("%s ended as %s, with %d of %d results", name, st.State, st.Held, all)
		}
		took := time.Since(begun)
		m.say("%s: %d tasks in %.1f s", name, all, took.Seconds())
		return float64(all) / took.Seconds(), nil
	}
	return 0, errors.New(name + " did not end")
}
