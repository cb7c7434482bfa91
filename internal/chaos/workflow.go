package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	scenarioWorkflow = "workflow"
	// workflowNodes run it, of which workflowKills are killed for good: three keep a group whole.
	workflowNodes = 5
	workflowKills = 2
	// killAfter is how many results are held when the nodes are killed: a fifth of the simulations.
	killAfter = 40
	// workflowLimit is how long one run may take: a quarter of a minute on two idle cores.
	workflowLimit = 10 * time.Minute
	// workflowWhole is how many tasks the example has, and workflowRest all but those of its last stage.
	workflowWhole = 200 + 200 + 5 + 1
	workflowRest  = workflowWhole - 1
)

// workflow runs examples/workflow three times: undisturbed; under the death of two of five nodes, the leader among
// them, which are to change no byte of what comes out; and after a change of the program of its last stage, which is
// all that is to run.
func workflow(ctx context.Context, t *trial) error {
	w := &workflowTrial{trial: t}
	if err := w.build(ctx); err != nil {
		return err
	}
	if err := t.addLocal(t.options.nodes); err != nil {
		return err
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	if leader, _ := t.tally.Leader(); leader == 0 { // it is to be killed, and the submitter is not
		w.at = t.nodes[1]
	} else {
		w.at = t.nodes[0]
	}
	calm, err := w.run(ctx, "calm", "--fresh")
	if err != nil {
		return err
	}
	w.struck = true
	storm, err := w.run(ctx, "storm", "--fresh")
	if err != nil {
		return err
	}
	w.struck = false
	t.report.must(fmt.Sprintf("the same bytes with %d of %d nodes killed as with none", workflowKills, len(t.nodes)),
		sameFiles(calm.dir, storm.dir))
	again, err := w.run(ctx, "again")
	if err != nil {
		return err
	}
	t.report.expect("handed in again, nothing of it runs", again.ran == 0 && again.taken == workflowWhole,
		"%d tasks ran, and %d were taken", again.ran, again.taken)
	t.report.must("and the same bytes come out", sameFiles(calm.dir, again.dir))
	return w.change(ctx, calm)
}

// A workflowTrial runs the example at one node.
type workflowTrial struct {
	*trial
	job    string // file
	source string // directory of the program
	at     *node  // that the job is handed to
	struck bool   // nodes are killed under the next run
}

// A workflowRun is what one run came to.
type workflowRun struct {
	dir        string // results
	ran, taken int    // tasks
}

// build builds the example, as a person does.
func (w *workflowTrial) build(ctx context.Context) error {
	where, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "godwit/examples/workflow").Output()
	if err != nil {
		return fmt.Errorf("finding the example, which takes the repository and Go: %w", err)
	}
	w.source = strings.TrimSpace(string(where))
	if err := w.compile(ctx, w.source, "workflow.wasm"); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(w.source, "job.yaml"))
	if err != nil {
		return fmt.Errorf("reading the example's job: %w", err)
	}
	w.job = filepath.Join(w.dir, "job.yaml")
	return os.WriteFile(w.job, text, 0o600)
}

func (w *workflowTrial) compile(ctx context.Context, from, to string) error {
	said, err := exec.CommandContext(ctx, w.godwit, "build", from, "--out", filepath.Join(w.dir, to)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("building %s: %w: %s", to, err, said)
	}
	return nil
}

// run hands the job in, waits for its end and fetches what it made.
func (w *workflowTrial) run(ctx context.Context, name string, flags ...string) (r workflowRun, err error) {
	at := w.at
	begun := time.Now()
	id, err := at.verb(ctx, append([]string{"run", w.job, "--detach"}, flags...)...)
	if err != nil {
		return r, fmt.Errorf("handing in the job: %w", err)
	}
	var st jobView
	if err := until(ctx, workflowLimit, func() string {
		now, err := at.ask.job(ctx, id)
		if err != nil {
			return err.Error()
		}
		if st = now; w.struck && st.Held >= killAfter {
			w.struck = false
			w.strike(st.Held)
		}
		if !st.Final {
			return fmt.Sprintf("%d of %d results are held", st.Held, workflowWhole)
		}
		return ""
	}); err != nil {
		return r, err
	}
	took := time.Since(begun)
	r.dir = filepath.Join(w.dir, name)
	if _, err := at.verb(ctx, "results", id, "--out", r.dir); err != nil {
		return r, fmt.Errorf("fetching the results: %w", err)
	}
	for _, t := range st.List {
		if len(t.Attempts) > 0 {
			r.ran++
		}
	}
	for _, t := range st.Taken {
		r.taken += t.Tasks
	}
	w.report.expect(fmt.Sprintf("%s: every task is done", name), st.State == "done" && st.Held == workflowWhole,
		"state %s, %d held, %d failed", st.State, st.Held, st.Tasks.Failed)
	w.report.show(name+": tasks that ran, taken, seconds", "", "%d, %d, %.1f", r.ran, r.taken, took.Seconds())
	return r, nil
}

// strike kills the leader and another, and never the submitter.
func (w *workflowTrial) strike(held int) {
	leader, _ := w.tally.Leader()
	kills := 0
	kill := func(n *node) {
		w.tally.fell(time.Now(), n.index, false)
		n.kill()
		w.say("kill -9 of node %d, with %d results held", n.index, held)
		kills++
	}
	if leader != nowhere && w.nodes[leader] != w.at {
		kill(w.nodes[leader])
	}
	for _, n := range w.nodes {
		if n != w.at && n.proc != nil && kills < workflowKills {
			kill(n)
		}
	}
}

// change changes the program of the last stage, which alone is to run then.
func (w *workflowTrial) change(ctx context.Context, calm workflowRun) error {
	const title, other = "Ill at the worst", "Ill on the worst day"
	code, err := os.ReadFile(filepath.Join(w.source, "main.go"))
	if err != nil {
		return fmt.Errorf("reading the program: %w", err)
	}
	changed := filepath.Join(w.dir, "changed")
	err = errors.Join(os.MkdirAll(changed, 0o700),
		os.WriteFile(filepath.Join(changed, "go.mod"), []byte("module report\n\ngo 1.26\n"), 0o600),
		os.WriteFile(filepath.Join(changed, "main.go"), bytes.ReplaceAll(code, []byte(title), []byte(other)), 0o600))
	if err != nil {
		return fmt.Errorf("changing the program: %w", err)
	}
	if err := w.compile(ctx, changed, "report.wasm"); err != nil {
		return err
	}
	text, err := os.ReadFile(w.job)
	if err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	before, last, _ := strings.Cut(string(text), "  report:\n")
	last = strings.Replace(last, "workflow.wasm", "report.wasm", 1)
	if err := os.WriteFile(w.job, []byte(before+"  report:\n"+last), 0o600); err != nil {
		return fmt.Errorf("changing the job: %w", err)
	}
	r, err := w.run(ctx, "changed")
	if err != nil {
		return err
	}
	w.report.expect("after a change of the program of the last stage that alone runs",
		r.ran == workflowWhole-workflowRest && r.taken == workflowRest, "%d tasks ran, and %d were taken", r.ran, r.taken)
	page, err := os.ReadFile(filepath.Join(r.dir, "report", "report.html"))
	w.report.expect("and its report is the new program's", err == nil && bytes.Contains(page, []byte(other)), "%v", err)
	w.report.must("of the same results", sameFiles(filepath.Join(calm.dir, "fit"), filepath.Join(r.dir, "fit")))
	return nil
}

// sameFiles says where two directories differ, in files or what they hold.
func sameFiles(a, b string) error {
	one, err := filesBelow(a)
	if err != nil {
		return err
	}
	two, err := filesBelow(b)
	if err != nil {
		return err
	}
	if len(one) == 0 {
		return fmt.Errorf("there is nothing in %s", a)
	}
	for name, b := range one {
		if !bytes.Equal(b, two[name]) {
			return fmt.Errorf("%s differs, or is missing", name)
		}
		delete(two, name)
	}
	for name := range two {
		return fmt.Errorf("%s is there once only", name)
	}
	return nil
}

func filesBelow(dir string) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			out[name], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	return out, nil
}
