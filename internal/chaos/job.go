package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"godwit/internal/chaos/walk"
	"godwit/internal/pause"
)

const (
	// steps is how far a task walks: about a tenth of a second of a core, which
	// leaves the two cores of a small machine to what is tested.
	steps = 4_000_000
	// taskWork is the work of a task that only waits.
	taskWork = time.Second
	// acceptLimit is how long the submission of a job may take: its node may have
	// to find out that the leader is gone, and wait for another.
	acceptLimit = 30 * time.Second
	// heldEvery is how often a submitter is asked how many results it holds.
	heldEvery = 500 * time.Millisecond
)

// A job was handed in and is to end with every result at its submitter.
type job struct {
	id     string
	name   string
	tasks  int
	at     *node // its submitter
	labour labour
	handed time.Time

	mu    sync.Mutex
	held  int       // results that the submitter said it holds, at most so far
	lost  string    // when it said fewer than before
	final time.Time // when it said that it has all; zero until then
}

// An ending is what a job came to, for the report.
type ending struct {
	Name    string  `json:"name"`
	Node    int     `json:"node"` // its submitter
	Tasks   int     `json:"tasks"`
	State   string  `json:"state"`
	Held    int     `json:"held"`    // results at the submitter
	Reruns  int     `json:"reruns"`  // attempts beyond the first, by the job's own count
	Twice   int     `json:"twice"`   // tasks with more than one attempt on record
	Doubles int     `json:"doubles"` // tasks with results of more than one worker
	WastedS float64 `json:"wasted_cpu_s"`
	UsefulS float64 `json:"useful_cpu_s"`
	TookS   float64 `json:"took_s"`  // from submission to the last result
	Problem string  `json:"problem"` // "" where all is right
}

// A labour is what a job's tasks do.
type labour struct {
	module string             // file
	rules  string             // lines of the job's file
	want   func(i int) string // what task i prints
}

// labour returns what tasks do that nothing else is known of.
func (t *trial) labour(ctx context.Context) (l labour, err error) {
	l.module, err = t.module(ctx)
	if t.wasm {
		l.rules = fmt.Sprintf("args: [\"{{.task}}\", \"%d\"]\nmemory: 16MiB\n", steps)
		l.want = func(i int) string { return fmt.Sprintln(walk.End(uint64(i), steps)) }
	} else {
		l.rules = fmt.Sprintf("memory: 16MiB\nwork: %v\n", taskWork)
		l.want = func(int) string { return "" } // a task that only waits says nothing
	}
	return l, err
}

// write puts the job's file into dir and returns it.
func (j *job) write(dir string) (string, error) {
	text := fmt.Sprintf("name: %s\nmodule: %s\n%soutputs: [stdout]\nsweep:\n  task: {from: 0, to: %d}\n", j.name,
		j.labour.module, j.labour.rules, j.tasks-1)
	file := filepath.Join(dir, j.name+".yaml")
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// submit hands a job of tasks in that do what the run was asked for.
func (t *trial) submit(ctx context.Context, at *node, name string, tasks int, limit time.Duration) (*job, error) {
	l, err := t.labour(ctx)
	if err != nil {
		return nil, err
	}
	return t.submitLabour(ctx, at, name, tasks, l, limit)
}

// submitLabour hands a job in at a node, which may take so long to have it
// accepted, and watches what that node holds of it.
func (t *trial) submitLabour(ctx context.Context, at *node, name string, tasks int, l labour,
	limit time.Duration) (*job, error) {
	j := &job{name: name, tasks: tasks, at: at, labour: l, handed: time.Now()}
	file, err := j.write(t.dir)
	if err != nil {
		return nil, fmt.Errorf("writing a job: %w", err)
	}
	asked, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// Equal tasks of another trial job are not to be taken for done.
	if j.id, err = at.verb(asked, "run", file, "--detach", "--fresh"); err != nil {
		return nil, fmt.Errorf("handing in %s: %w", name, err)
	}
	t.say("%s, of %d tasks, accepted from node %d after %.2f s", name, tasks, at.index, time.Since(j.handed).Seconds())
	t.jobs = append(t.jobs, j)
	t.watching.Go(func() { j.watch(ctx) })
	return j, nil
}

// watch follows what the submitter says that it holds.
func (j *job) watch(ctx context.Context) {
	for pause.For(ctx, heldEvery) == nil {
		st, err := j.at.ask.job(ctx, j.id)
		if err != nil {
			continue // it is down; or it forgot the job, which the end will show
		}
		if j.saw(time.Now(), st) {
			return
		}
	}
}

// saw takes in what the submitter says and returns whether the job is over.
func (j *job) saw(at time.Time, st jobView) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if st.Held < j.held && j.lost == "" {
		j.lost = fmt.Sprintf("its submitter held %d results, and then %d", j.held, st.Held)
	}
	j.held = max(j.held, st.Held)
	if st.Final && j.final.IsZero() {
		j.final = at
	}
	return st.Final
}

func (j *job) ended() (at time.Time, held int, lost string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.final, j.held, j.lost
}

// settle waits until every job has ended and checks what each came to.
func (t *trial) settle(ctx context.Context, limit time.Duration) error {
	late := until(ctx, limit, func() string {
		for _, j := range t.jobs {
			if end, held, _ := j.ended(); end.IsZero() {
				return fmt.Sprintf("node %d holds %d of %d results of %s", j.at.index, held, j.tasks, j.name)
			}
		}
		return ""
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.report.must("every accepted job ends", late)
	var twice, doubles, reruns int
	var wasted, all float64
	for _, j := range t.jobs {
		e := t.check(ctx, j)
		t.report.Jobs = append(t.report.Jobs, e)
		t.report.show(fmt.Sprintf("%s, handed in at node %d", j.name, e.Node), "", "%s, %d of %d held after %.1f s",
			e.State, e.Held, e.Tasks, e.TookS)
		twice, doubles, wasted = twice+e.Twice, doubles+e.Doubles, wasted+e.WastedS
		reruns, all = reruns+e.Reruns, all+e.WastedS+e.UsefulS
		t.report.expect(fmt.Sprintf("%s: every task is done, once, with the right result", j.name), e.Problem == "", "%s",
			e.Problem)
	}
	t.report.show("tasks that ran more than once, by their attempts", "", "%d, %d reruns", twice, reruns)
	t.report.show("tasks with results of several workers", "", "%d", doubles)
	t.report.show("CPU lost, of all that tasks took", "", "%.1f s of %.1f s", wasted, all)
	return nil
}

// check compares what a job came to with what it is to come to.
func (t *trial) check(ctx context.Context, j *job) ending {
	e := ending{Name: j.name, Node: j.at.index, Tasks: j.tasks}
	final, _, lost := j.ended()
	if !final.IsZero() {
		e.TookS = final.Sub(j.handed).Seconds()
	}
	st, err := j.at.ask.job(ctx, j.id)
	if err != nil {
		e.Problem = err.Error() + "; its submitter said:\n" + j.at.said()
		return e
	}
	e.State, e.Held, e.Reruns, e.WastedS, e.UsefulS = st.State, st.Held, st.Reruns, st.WastedCPU, st.UsefulCPU
	e.Twice, e.Doubles = st.repeated()
	err = errors.Join(j.complete(st), t.verify(ctx, j))
	if lost != "" {
		err = errors.Join(err, errors.New(lost))
	}
	if err != nil {
		e.Problem = err.Error()
	}
	return e
}

// repeated counts tasks that ran more than once: those with several attempts on
// record, and those with results of several workers.
func (st jobView) repeated() (twice, doubles int) {
	for _, k := range st.List {
		if len(k.Attempts) > 1 {
			twice++
		}
		if k.Result != nil && len(k.Result.Workers) > 1 {
			doubles++
		}
	}
	return twice, doubles
}

// complete says what a job's last status lacks: each of its tasks is to be done,
// and held, once.
func (j *job) complete(st jobView) error {
	seen := map[int]bool{}
	for _, k := range st.List {
		if seen[k.Index] {
			return fmt.Errorf("task %d is listed twice", k.Index)
		}
		seen[k.Index] = true
	}
	if st.State != "done" || !st.Final || st.Held != j.tasks || st.Tasks.Done != j.tasks || st.Tasks.Total != j.tasks {
		return fmt.Errorf("state %s, final %t, %d held, %d of %d done, %d failed: %s", st.State, st.Final, st.Held,
			st.Tasks.Done, st.Tasks.Total, st.Tasks.Failed, st.Error)
	}
	return nil
}

// verify compares each result with what it is to be.
func (t *trial) verify(ctx context.Context, j *job) error {
	var wrong error
	err := t.eachResult(ctx, j, func(i int, got string) {
		if got != j.labour.want(i) && wrong == nil {
			wrong = fmt.Errorf("task %d came to %q, not %q", i, got, j.labour.want(i))
		}
	})
	return errors.Join(err, wrong)
}

// exitFaulty is the exit code of godwit if a check of the job's results was wrong.
const exitFaulty = 5

// eachResult has the submitter write every result, which checks the workers' signatures, and
// calls f with what each task printed. Every task has to have one.
func (t *trial) eachResult(ctx context.Context, j *job, f func(i int, got string)) error {
	out := filepath.Join(t.dir, "results-"+j.name)
	var exit *exec.ExitError
	if _, err := j.at.verb(ctx, "results", j.id, "--out", out); errors.As(err, &exit) && exit.ExitCode() == exitFaulty {
		t.say("%s: %v", j.name, err) // all results are written
	} else if err != nil {
		return err
	}
	seen := map[int]bool{}
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		i := j.index(out, path)
		b, err := os.ReadFile(path)
		switch {
		case err != nil:
			return err
		case i < 0 || i >= j.tasks || d.Name() != "stdout":
			return fmt.Errorf("a result that nobody asked for: %s", path)
		}
		seen[i] = true
		f(i, string(b))
		return nil
	})
	if err != nil {
		return fmt.Errorf("checking the results: %w", err)
	}
	if len(seen) != j.tasks {
		return fmt.Errorf("results of %d tasks were written, not of %d", len(seen), j.tasks)
	}
	return nil
}

// index returns the task that a file of results is of; negative where none is.
func (j *job) index(out, path string) int {
	rel, err := filepath.Rel(out, filepath.Dir(path))
	if err != nil {
		return nowhere
	}
	if rel == "." && j.tasks == 1 {
		return 0
	}
	i, err := strconv.Atoi(rel)
	if err != nil {
		return nowhere
	}
	return i
}
