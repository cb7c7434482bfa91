package exec

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks"
	"godwit/owner"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// A reading is a Runner whose tasks read all their inputs.
type reading struct {
	Sleeper
	mu   sync.Mutex
	read map[uint64][]string // by task: the name of each file and its content
}

func (*reading) ReadsFiles() bool { return true }

// Run implements Runner.
func (r *reading) Run(_ context.Context, run Run) (sandbox.Report, error) {
	var seen []string
	for _, f := range run.Invocation.Reads() {
		b, err := os.ReadFile(run.Input(f.CID))
		if err != nil {
			return sandbox.Report{}, err
		}
		seen = append(seen, fmt.Sprintf("%s=%c", f.Name, b[0]))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read[run.Task.Index] = seen
	return sandbox.Report{Outcome: task.Completed}, nil
}

const perTask = `module: any.wasm
sweep: {n: [1, 2, 3]}
files: [all, "own-{{.n}}"]
stdin: "{{.n}}.in"
`

// submittedPerTask has a job whose tasks read files of their own, of a mebibyte each, and returns
// what each file has.
func submittedPerTask(t *testing.T, h *fakeHost, x *Executor) (task.JobID, map[string]task.FileRef) {
	t.Helper()
	f, err := task.ParseFile("job.yaml", []byte(perTask))
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]task.FileRef{}
	for i, name := range []string{"all", "own-1", "own-2", "own-3", "1.in", "2.in", "3.in"} {
		inputs[name] = task.FileRef{CID: h.keep(t, byte('a'+i), 1<<20), Size: 1 << 20}
	}
	if h.job, err = f.Job(h.keep(t, 'm', 10), inputs, "lab", time.Now().UTC(), make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	rec, err := task.SignJob(h.job, keyOf(0))
	if err != nil {
		t.Fatal(err)
	}
	h.on(func() { x.Lend(owner.Decision{Cores: 1}) })
	return rec.ID(), inputs
}

// A task finds its own files and those of all; what others alone read is not brought here, and not
// kept from removal once no task needs it.
func TestTaskReadsItsOwnInputs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := newFakeHost(), &reading{read: map[uint64][]string{}}
		x := h.executor(t, r)
		id, inputs := submittedPerTask(t, h, x)
		h.do(x, message.Prepare{Job: id})
		synctest.Wait()
		if n, _, _ := stagedFiles(t, h, x); n != 2 {
			t.Fatalf("%d files are staged of a job that is ready, want the module and the one of all", n)
		}
		h.do(x, message.Start{Task: task.TaskID{Job: id, Index: 1}, Attempt: message.Attempt{Epoch: 1, Seq: 1}})
		synctest.Wait()
		if got := h.ended(); len(got) != 1 || got[0].Result.Outcome != task.Completed {
			t.Fatalf("the task ended %+v", got)
		}
		if got, want := r.read[1], []string{"2.in=f", "all=a", "own-2=c"}; !slices.Equal(got, want) {
			t.Errorf("it read %q, want %q", got, want)
		}
		if n, _, counted := stagedFiles(t, h, x); n != 4 || counted != 3<<20+10 {
			t.Errorf("%d files of %d bytes are staged, want those of one task beside the job's", n, counted)
		}
		if held := h.holding(); len(held) != 0 {
			t.Errorf("after the task %v is held", held)
		}
		var roots []task.CID
		h.on(func() { roots = x.Roots() })
		if !slices.Contains(roots, inputs["all"].CID) || slices.Contains(roots, inputs["own-2"].CID) {
			t.Errorf("kept from removal is %v", roots)
		}
		h.do(x, message.Release{Job: id})
		if n, _, counted := stagedFiles(t, h, x); n != 0 || counted != 0 {
			t.Errorf("of a job that is over %d files of %d bytes are left", n, counted)
		}
	})
}

// What lies staged for tasks to come goes when a task needs the space.
func TestIdleInputsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := newFakeHost(), &reading{read: map[uint64][]string{}}
		x := h.executor(t, r)
		id, _ := submittedPerTask(t, h, x)
		h.space.most = 3<<20 + 10
		h.do(x, message.Prepare{Job: id})
		synctest.Wait()
		for i := range uint64(3) {
			h.do(x, message.Start{Task: task.TaskID{Job: id, Index: i}, Attempt: message.Attempt{Epoch: 1, Seq: 1 + i}})
			synctest.Wait()
		}
		for _, e := range h.ended() {
			if e.Result.Outcome != task.Completed {
				t.Errorf("task %d: %s", e.Task.Index, e.Result.Message)
			}
		}
		if _, bytes, counted := stagedFiles(t, h, x); len(r.read) != 3 || bytes != counted || bytes > h.space.most {
			t.Errorf("%d tasks read; %d bytes are staged, %d are counted", len(r.read), bytes, counted)
		}
	})
}

// An input that nobody has ends the attempt as the host's fault, and leaves nothing.
func TestOwnInputThatNobodyHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := newFakeHost(), &reading{read: map[uint64][]string{}}
		x := h.executor(t, r)
		id, inputs := submittedPerTask(t, h, x)
		if err := h.blocks.Delete(t.Context(), inputs["own-3"].CID); err != nil {
			t.Fatal(err)
		}
		h.do(x, message.Prepare{Job: id})
		synctest.Wait()
		h.do(x, message.Start{Task: task.TaskID{Job: id, Index: 2}, Attempt: message.Attempt{Epoch: 1, Seq: 1}})
		synctest.Wait()
		if got := h.ended(); len(got) != 1 || got[0].Result.Outcome != task.HostError {
			t.Errorf("the task ended %+v", got)
		}
		if held := h.holding(); len(held) != 0 {
			t.Errorf("%v is held", held)
		}
	})
}

// The file that was used longest ago goes first, and one that a task reads does not go.
func TestIdleFilesGoInOrder(t *testing.T) {
	h := newFakeHost()
	x := h.executor(t, &Sleeper{})
	s := x.jobs.files
	var names []stagedName
	take := func(n stagedName) {
		t.Helper()
		if _, err := s.take(t.Context(), n, blocks.Exactly(1<<20), nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		names = append(names, stagedName{CID: h.keep(t, byte(i+1), 1<<20)})
		take(names[i])
	}
	for _, i := range []int{1, 0, 3} {
		s.rest(names[i])
	}
	take(names[1]) // and so it is used now
	s.rest(names[1])
	s.mu.Lock()
	s.shrink(2 << 20)
	s.mu.Unlock()
	for i, want := range []bool{false, true, true, true} {
		if s.has(names[i]) != want {
			t.Errorf("file %d is there: %v", i, !want)
		}
	}
	if !s.clear() || s.has(names[1]) || !s.has(names[2]) || s.idleBytes != 0 {
		t.Errorf("after all idle files went: %d bytes", s.idleBytes)
	}
}
