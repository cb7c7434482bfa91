package exec

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/overlay"
	"godwit/owner"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// heardAudits are what came of a test's audits; the loop's.
type heardAudits struct {
	results []task.Result
	held    int // outputs that were held while they were told of
}

// audit has the Executor run a task again.
func (h *fakeHost) audit(x *Executor, e message.Audit, into *heardAudits) {
	h.on(func() {
		x.Audit(h, e, nil, func(ev message.Audited) {
			res := ev.Here
			into.results = append(into.results, res)
			for _, c := range message.RemoteOutputs(&res) {
				into.held += h.holding()[c]
			}
		})
	})
	synctest.Wait()
}

// An audit ends once: at the end of the task, or when the owner or the node has no use for it any
// more, wherever it is by then. Nothing is left of it.
func TestAuditEndsOnce(t *testing.T) {
	const work, later = time.Minute, 20 * time.Second
	everybody := func(Client) bool { return true }
	for name, tt := range map[string]struct {
		before, during func(h *fakeHost, x *Executor, r *filing)
		alone          bool // nobody else can run it
		outcome        task.Outcome
		after          time.Duration // it is asked for
		why            string
	}{
		"it ends": {outcome: task.Completed, after: work},
		"one core": {before: func(_ *fakeHost, x *Executor, _ *filing) { x.Lend(owner.Decision{Cores: 1}) },
			outcome: task.Completed, after: 2 * work},
		"no core": {before: func(_ *fakeHost, x *Executor, _ *filing) { x.Lend(owner.Decision{}) },
			during: func(_ *fakeHost, x *Executor, _ *filing) {
				x.Lend(owner.Decision{Cores: 2})
				x.Fit()
			}, outcome: task.Completed, after: later + work},
		"no core, and nobody else is left": {alone: true,
			before:  func(_ *fakeHost, x *Executor, _ *filing) { x.Lend(owner.Decision{State: overlay.Available}) },
			outcome: task.Completed, after: 2 * work},
		"the owner is there, and nobody else is left": {alone: true, before: func(_ *fakeHost, x *Executor, _ *filing) {
			x.Lend(owner.Decision{State: overlay.UserPresent, Stop: true})
		}, during: func(_ *fakeHost, x *Executor, _ *filing) {
			time.AfterFunc(time.Hour, func() { x.Host.Post(func() { x.Lend(owner.Decision{Cores: 1}); x.Fit() }) })
		}, outcome: task.Completed, after: time.Hour + later + work},
		"dropped while it waits": {before: func(_ *fakeHost, x *Executor, _ *filing) { x.Lend(owner.Decision{}) },
			during:  func(_ *fakeHost, x *Executor, _ *filing) { x.Drop(everybody) },
			outcome: task.Interrupted, after: later, why: "it waited for a core, and did not begin"},
		"dropped while it is brought": {
			before:  func(h *fakeHost, _ *Executor, _ *filing) { h.fetching = make(chan struct{}) },
			during:  func(_ *fakeHost, x *Executor, _ *filing) { x.Drop(everybody) },
			outcome: task.Interrupted, after: later, why: "it was not ready to run yet"},
		"not dropped while it runs": {during: func(_ *fakeHost, x *Executor, _ *filing) { x.Drop(everybody) },
			outcome: task.Completed, after: work},
		"moved out": {during: func(h *fakeHost, x *Executor, _ *filing) {
			h.moves = false // so that the worker's task stays
			if stay, leave := x.MoveOut(false, "the owner is back"); stay != 1 || leave != 1 {
				t.Errorf("%d stay and %d leave", stay, leave)
			}
		}, outcome: task.Interrupted, after: later, why: "stopped by its host"},
		"sent away": {during: func(h *fakeHost, x *Executor, _ *filing) { x.SendAway(h) },
			outcome: task.Interrupted, after: later, why: "stopped by its host"},
		"less memory": {during: func(_ *fakeHost, x *Executor, _ *filing) {
			x.Lend(owner.Decision{Cores: 2, Memory: h256})
			x.Fit()
		}, outcome: task.Interrupted, after: later, why: "stopped by its host"},
		"drained": {during: func(_ *fakeHost, x *Executor, _ *filing) { x.Lend(owner.Decision{Drained: true}) },
			outcome: task.Interrupted, after: later, why: "stopped by its host"},
		"the node leaves": {before: func(_ *fakeHost, x *Executor, _ *filing) { x.Leave(time.Second, time.Second) },
			outcome: task.Interrupted, why: "the member is leaving"},
		"the node stops": {during: func(_ *fakeHost, x *Executor, _ *filing) { x.halt() },
			outcome: task.Interrupted, after: later, why: "stopped by its host"},
		"it stops while it is brought": {
			before:  func(h *fakeHost, _ *Executor, _ *filing) { h.fetching = make(chan struct{}) },
			during:  func(_ *fakeHost, x *Executor, _ *filing) { x.halt() },
			outcome: task.Interrupted, after: later, why: "the node stops"},
		"the owner pauses": {during: func(_ *fakeHost, x *Executor, r *filing) {
			r.Pause()
			x.Lend(owner.Decision{Stop: true})
			time.AfterFunc(time.Hour, r.Resume)
		}, outcome: task.Completed, after: time.Hour + work},
		"no record": {before: func(h *fakeHost, _ *Executor, _ *filing) { h.job = nil },
			outcome: task.HostError, why: "not found"},
		"no module": {before: func(h *fakeHost, _ *Executor, _ *filing) { h.job.Module = task.RawCID([]byte("gone")) },
			outcome: task.HostError, why: "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, r := newFakeHost(), &filing{}
				x := h.executor(t, r)
				if _, err := h.blocks.ImportBytes(t.Context(), []byte("not run")); err != nil {
					t.Fatal(err)
				}
				id := h.prepared(t, x, 2, work)
				h.on(func() { x.Lend(owner.Decision{Cores: 2}) })
				h.do(x, message.Start{Task: task.TaskID{Job: id}, Attempt: as(1)})
				if tt.before != nil {
					h.on(func() { tt.before(h, x, r) })
				}
				var got heardAudits
				begun := time.Now()
				h.audit(x, message.Audit{Task: task.TaskID{Job: id, Index: 1}, Alone: tt.alone}, &got)
				<-time.After(later)
				if tt.during != nil {
					h.on(func() { tt.during(h, x, r) })
				}
				synctest.Wait()
				for h.count(&got) == 0 && time.Since(begun) < 2*time.Hour {
					<-time.After(time.Second)
				}
				took := time.Since(begun)
				<-time.After(3 * time.Hour)
				h.on(func() {
					if len(got.results) != 1 {
						t.Fatalf("it is told %d times", len(got.results))
					}
					res := got.results[0]
					if err := res.Verify(); err != nil || res.Worker != x.Self || res.Receipt != nil || res.Task.Index != 1 {
						t.Errorf("the result %+v: %v", res, err)
					}
					if res.Outcome != tt.outcome || !strings.Contains(res.Message, tt.why) {
						t.Errorf("it came to %v, %q; want %v, %q", res.Outcome, res.Message, tt.outcome, tt.why)
					}
					if late := took - max(tt.after, later); late < 0 || late > 2*time.Second {
						t.Errorf("it took %v, want %v", took, tt.after)
					}
					x.jobs.release(h, id)
					if len(x.audits) > 0 || x.Count() > 0 || len(x.waiting) > 0 || len(x.Roots()) > 0 || len(h.holding()) > 0 {
						t.Errorf("left are %v, %d running, %v waiting, roots %v, held %v", x.audits, x.Count(), x.waiting, x.Roots(),
							h.holding())
					}
				})
				if n, _, counted := stagedFiles(t, h, x); n > 0 || counted != 0 {
					t.Errorf("%d files are left, %d bytes are counted", n, counted)
				}
				if ended := h.ended(); len(ended) != 1 {
					t.Errorf("the worker heard of %d ends", len(ended))
				}
			})
		})
	}
}

// h256 is room for one task of a job that says nothing.
const h256 = 256 << 20

// count is how many audits have ended.
func (h *fakeHost) count(got *heardAudits) (n int) {
	h.on(func() { n = len(got.results) })
	return n
}

// The same task runs for the worker and again, and neither minds what becomes of the other: the
// worker's job is released and made ready anew, and the other has its files and its content to
// the end. Both show what they are.
func TestAuditBesideWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHost()
		x := h.executor(t, &filing{})
		module, err := h.blocks.ImportBytes(t.Context(), []byte("not run"))
		if err != nil {
			t.Fatal(err)
		}
		job := h.prepared(t, x, 1, time.Minute)
		id := task.TaskID{Job: job}
		h.on(func() { x.Lend(owner.Decision{Cores: 3}) })
		h.do(x, message.Start{Task: id, Attempt: as(1)})
		<-time.After(10 * time.Second)
		h.do(x, message.Release{Job: job})
		if n, _, _ := stagedFiles(t, h, x); n != 0 {
			t.Fatalf("%d files are staged for nobody", n)
		}
		var got heardAudits
		h.fetching = make(chan struct{})
		h.audit(x, message.Audit{Task: id}, &got)
		needs := func(step string, held int, want ...task.CID) {
			t.Helper()
			h.on(func() {
				if roots := x.Roots(); !slices.Equal(roots, want) || h.holding()[module] != held {
					t.Errorf("%s: roots %v, held %v", step, roots, h.holding())
				}
			})
		}
		needs("brought", 1, task.CID(job))
		close(h.fetching)
		synctest.Wait()
		h.audit(x, message.Audit{Task: id}, &heardAudits{})
		needs("running", 0, task.CID(job), module, task.CID(job), module)
		h.do(x, message.Prepare{Job: job})
		synctest.Wait()
		h.do(x, message.Release{Job: job})
		if n, _, _ := stagedFiles(t, h, x); n != 1 {
			t.Errorf("%d files are staged", n)
		}
		var states []string
		h.on(func() {
			for _, task := range x.Tasks() {
				states = append(states, task.State)
			}
			if x.LeaveTime() > x.leaveTimeOf(1) {
				t.Error("audits are to be sent elsewhere")
			}
		})
		if slices.Sort(states); !slices.Equal(states, []string{Runs, Again, Again}) {
			t.Errorf("they are shown as %q", states)
		}
		h.do(x, message.Stop{Task: id, Attempt: as(1)})
		h.do(x, message.Stop{Task: id, Attempt: message.Attempt{Epoch: 1}})
		<-time.After(2 * time.Minute)
		synctest.Wait()
		if ended := h.ended(); len(ended) != 1 || ended[0].Result.Outcome != task.Interrupted {
			t.Errorf("the worker heard of %+v", ended)
		}
		if len(got.results) != 1 || got.results[0].Outcome != task.Completed {
			t.Errorf("it came to %+v", got.results)
		}
		needs("over", 0)
	})
}

// leaveTimeOf is LeaveTime of so many tasks that were not saved yet.
func (x *Executor) leaveTimeOf(n int) time.Duration {
	bytes := aheadRounds * float64(n*usualState)
	return time.Duration(bytes / x.pace.uplink(x.lent.Upload) * float64(time.Second))
}

// A reporter is a filing that notes what it is asked for, and puts out what its task read.
type reporter struct {
	filing
	output      []byte
	interpreted []bool
	as          []task.TaskID // the names under which tasks ran
	states      int           // that it was given
}

func (r *reporter) Run(ctx context.Context, run Run) (sandbox.Report, error) {
	r.interpreted, r.as = append(r.interpreted, run.Interpreted), append(r.as, run.As)
	if run.State != nil {
		r.states++
	}
	rep, err := r.Sleeper.Run(ctx, run)
	rep.Outputs = []sandbox.File{{Name: "stdout", Data: r.output}}
	return rep, err
}

// TestAuditOfTakenResult runs the task of a result again that was taken from another job: under the name of that job's
// task, since clock and random bytes follow from the name.
func TestAuditOfTakenResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := newFakeHost(), &reporter{}
		x := h.executor(t, r)
		h.on(func() { x.Lend(owner.Decision{Cores: 1}) })
		module, err := h.blocks.ImportBytes(t.Context(), []byte("not run"))
		if err != nil {
			t.Fatal(err)
		}
		id := task.TaskID{Job: h.submitted(t, x, "module: sleep.wasm\nwork: 1m\n", module)}
		other := task.TaskID{Job: "another", Index: 7}
		for _, signed := range []*task.Result{nil, {Task: id}, {Task: other}} {
			h.on(func() { x.Audit(h, message.Audit{Task: id}, signed, func(message.Audited) {}) })
			<-time.After(2 * time.Minute)
		}
		if want := []task.TaskID{id, id, other}; !slices.Equal(r.as, want) {
			t.Errorf("tasks ran as %v, want %v", r.as, want)
		}
	})
}

// A sealed job runs again with its key alone, and puts out what can be read with that.
func TestAuditSealed(t *testing.T) {
	key, sealer := keyed(t, 1)
	other, _ := keyed(t, 2)
	for name, tt := range map[string]struct {
		key         []byte
		interpreted bool
		why         string
	}{
		"its key":           {key, false, ""},
		"its key, strict":   {key, true, ""},
		"another key":       {other, false, task.ErrKey.Error()},
		"no key":            {nil, false, task.ErrKey.Error()},
		"a part of its key": {key[1:], false, task.ErrKey.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, r := newFakeHost(), &reporter{output: bytes.Repeat([]byte("secret"), task.MaxInline)}
				x := h.executor(t, r)
				h.on(func() { x.Lend(owner.Decision{Cores: 1}) })
				module, err := h.blocks.ImportBytes(t.Context(), []byte("not run"))
				if err != nil {
					t.Fatal(err)
				}
				id := h.submitted(t, x, "module: sleep.wasm\nwork: 1m\n", module)
				h.job.Sealed = task.KeyCommitment(key)
				var got heardAudits
				h.audit(x, message.Audit{Task: task.TaskID{Job: id}, Key: tt.key, Interpreted: tt.interpreted}, &got)
				<-time.After(2 * time.Minute)
				synctest.Wait() // what comes after it is the test's alone
				if len(got.results) != 1 {
					t.Fatalf("%d results", len(got.results))
				}
				res := got.results[0]
				if tt.why != "" {
					if res.Outcome != task.HostError || res.Message != tt.why || len(r.interpreted) > 0 {
						t.Errorf("it came to %v, %q after %d runs", res.Outcome, res.Message, len(r.interpreted))
					}
					return
				}
				if res.Outcome != task.Completed || len(res.Outputs) != 1 || got.held != 1 || len(h.holding()) > 0 {
					t.Fatalf("it came to %v, %q; held were %d, and are %v", res.Outcome, res.Message, got.held, h.holding())
				}
				if b, err := sealer.OpenFile(readStored(t, h.blocks, res.Outputs[0])); err != nil || !bytes.Equal(b, r.output) {
					t.Errorf("it has put out %d bytes, %v", len(b), err)
				}
				if !slices.Equal(r.interpreted, []bool{tt.interpreted}) || r.states > 0 {
					t.Errorf("interpreted: %v, with %d states", r.interpreted, r.states)
				}
			})
		})
	}
}
