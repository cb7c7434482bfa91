package audit

import (
	"context"
	"crypto/ed25519"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"godwit/api"
	"godwit/api/apitest"
	"godwit/internal/noop"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// TestMain lets the test binary be the sandbox of its tasks.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "sandbox" {
		os.Exit(sandbox.Main(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

var key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// signed is a result of a task as a worker signs it.
func signed(t *testing.T, id task.TaskID, outcome task.Outcome, stdout string) message.TaskSummary {
	t.Helper()
	return signedAs(t, id, outcome, []byte(stdout))
}

// signedAs is signed with the standard output as it is stored.
func signedAs(t *testing.T, id task.TaskID, outcome task.Outcome, stdout []byte) message.TaskSummary {
	t.Helper()
	r := task.Result{Task: id, Outcome: outcome, CPU: time.Second, Outputs: []task.Output{
		{Name: task.Stdout, CID: task.RawCID(stdout), Size: int64(len(stdout)), Inline: stdout}}}
	if err := r.Sign(key); err != nil {
		t.Fatal(err)
	}
	return message.TaskSummary{Index: id.Index, Failed: outcome != task.Completed, Results: []task.Result{r}}
}

// record is of a job with five tasks that do nothing.
func record(t *testing.T) task.Record {
	t.Helper()
	rec, err := task.SignJob(&task.Job{Name: "test", Overlay: "commons", Module: task.RawCID(noop.Module),
		Outputs: []string{task.Stdout}, Memory: 1 << 20, Replicas: 1, Submitted: task.At(time.Unix(1e9, 0)),
		Nonce: make([]byte, task.NonceSize), Sweep: task.Sweep{Repeat: 5}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// holder is a node with a job whose tasks do nothing, and with results of them: an honest
// one, a lie, one whose end depends on the machine, another honest one. It gives other bytes
// for the module where it lies.
func holder(t *testing.T, lies bool) *api.Client {
	t.Helper()
	rec := record(t)
	of := func(i uint64) task.TaskID { return task.TaskID{Job: rec.ID(), Index: i} }
	module := noop.Module
	if lies {
		module = noop.Module[:20]
	}
	page := api.Results{Total: 5, Record: &rec, Tasks: []message.TaskSummary{
		signed(t, of(0), task.Completed, ""), signed(t, of(1), task.Completed, "lie"), signed(t, of(2), task.TimedOut, ""),
		signed(t, of(3), task.Completed, ""), {Index: 4, Failed: true, Reason: "given up unrun"}}}
	return apitest.Results(t, page, map[task.CID][]byte{task.RawCID(noop.Module): module})
}

func auditor(t *testing.T, client *api.Client) *Auditor {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pool := func(interpreted bool) *sandbox.Pool {
		p := sandbox.NewPool(sandbox.Config{Command: []string{exe, "sandbox"}, ScratchDir: t.TempDir(),
			Interpret: func() bool { return interpreted }, KeepPriority: func() bool { return true }})
		t.Cleanup(func() { p.Close() })
		return p
	}
	return &Auditor{Compiled: pool(false), Interpreted: pool(true), Dir: t.TempDir(), Client: client}
}

func TestJob(t *testing.T) {
	a := auditor(t, holder(t, false))
	told := 0
	a.Told = func(done, of int, _ uint64) {
		if told++; done >= of {
			t.Errorf("%d of %d", done, of)
		}
	}
	found, of, err := a.Job(t.Context(), "any", 10, nil, rand.New(rand.NewPCG(1, 1)))
	if err != nil || of != 4 || len(found) != 4 || told != 4 {
		t.Fatalf("%d findings of %d, told %d times, %v", len(found), of, told, err)
	}
	want := []struct {
		verdict Verdict
		why     string
	}{{Right, ""}, {Differs, "stdout has 0 bytes here, 3 by the result"}, {Open, "time limit"}, {Right, ""}}
	for i, f := range found {
		if f.Task != uint64(i) || f.Verdict != want[i].verdict || !strings.Contains(f.Why, want[i].why) ||
			want[i].why == "" && f.Why != "" || f.There != time.Second || len(f.Workers) != 1 {
			t.Errorf("task %d: %+v", i, f)
		}
	}
}

func TestOneTask(t *testing.T) {
	index := uint64(1)
	a := auditor(t, holder(t, false))
	found, _, err := a.Job(t.Context(), "any", 1, &index, nil)
	if err != nil || len(found) != 1 || found[0].Task != 1 || found[0].Verdict != Differs {
		t.Errorf("%+v, %v", found, err)
	}
	index = 4 // nobody ran it
	if found, _, err := a.Job(t.Context(), "any", 1, &index, nil); err != nil || len(found) != 0 {
		t.Errorf("a task without a result: %+v, %v", found, err)
	}
	if err := Nothing(&index); !strings.HasPrefix(err.Error(), "task 4: ") {
		t.Error(err)
	}
}

// A node that gives another module accuses nobody.
func TestOtherModule(t *testing.T) {
	a := auditor(t, holder(t, true))
	found, _, err := a.Job(t.Context(), "any", 4, nil, rand.New(rand.NewPCG(1, 1)))
	if err == nil || len(found) != 0 || !strings.Contains(err.Error(), "the job names") {
		t.Errorf("%+v, %v", found, err)
	}
}

// A faulty machine runs a task as another does, and then changes what came of it.
type faulty struct {
	Runner
	change func(*sandbox.Report)
}

func (f faulty) Run(ctx context.Context, t sandbox.Task) (sandbox.Report, error) {
	rep, err := f.Runner.Run(ctx, t)
	f.change(&rep)
	return rep, err
}

// A machine whose compiler and interpreter do not agree, or that cannot run the task, accuses
// nobody either.
func TestFaultyMachine(t *testing.T) {
	says := func(text string) func(*sandbox.Report) {
		return func(rep *sandbox.Report) { rep.Outputs = []sandbox.File{{Name: task.Stdout, Data: []byte(text)}} }
	}
	fails := func(rep *sandbox.Report) { rep.Outcome = task.HostError }
	for _, tt := range []struct {
		what                  string
		compiled, interpreted func(*sandbox.Report)
		verdict               Verdict
		why                   string
	}{
		{"its compiler errs", says("x"), says(""), Open, "at odds with itself"},
		{"it cannot run the task", fails, says(""), Open, "here it did not run to its end"},
		{"it cannot interpret it", says("x"), fails, Open, "interpreted here it did not run to its end"},
		{"both err alike", says("x"), says("x"), Differs, "stdout has 1 bytes here, 0 by the result"},
	} {
		a := auditor(t, holder(t, false))
		a.Compiled, a.Interpreted = faulty{a.Compiled, tt.compiled}, faulty{a.Interpreted, tt.interpreted}
		index := uint64(0) // whose result is right
		found, _, err := a.Job(t.Context(), "any", 1, &index, nil)
		if err != nil || len(found) != 1 || found[0].Verdict != tt.verdict || !strings.Contains(found[0].Why, tt.why) {
			t.Errorf("%s: %+v, %v", tt.what, found, err)
		}
	}
}

// A result with the right outputs that came to them otherwise is not right: it was not the task
// that made them.
func TestTrail(t *testing.T) {
	rec := record(t)
	counts := func(n uint64) func(*sandbox.Report) { return func(rep *sandbox.Report) { rep.Fuel = n } }
	pass := (&sandbox.Report{Outcome: task.Completed, Fuel: 1}).SignedTrail().Pass
	for _, tt := range []struct {
		trail                 *task.Trail
		compiled, interpreted uint64
		verdict               Verdict
		why                   string
	}{
		{&task.Trail{Pass: pass, Fuel: 9}, 9, 9, Right, ""},
		{&task.Trail{Pass: pass, Fuel: 9}, 8, 8, Differs, "it used 8 units of fuel here, 9 by the result"},
		{&task.Trail{Pass: pass, Fuel: 9}, 8, 9, Open, "at odds with itself"},
		{&task.Trail{Pass: pass + 1, Fuel: 9}, 8, 8, Right, ""}, // another version counts otherwise
		{nil, 8, 8, Right, ""},
	} {
		sum := signed(t, task.TaskID{Job: rec.ID()}, task.Completed, "")
		sum.Results[0].Trail = tt.trail
		if err := sum.Results[0].Sign(key); err != nil {
			t.Fatal(err)
		}
		a := auditor(t, apitest.Results(t, api.Results{Total: 5, Record: &rec, Tasks: []message.TaskSummary{sum}},
			map[task.CID][]byte{task.RawCID(noop.Module): noop.Module}))
		a.Compiled, a.Interpreted = faulty{a.Compiled, counts(tt.compiled)}, faulty{a.Interpreted, counts(tt.interpreted)}
		found, _, err := a.Job(t.Context(), "any", 1, nil, rand.New(rand.NewPCG(1, 1)))
		if err != nil || len(found) != 1 || found[0].Verdict != tt.verdict || !strings.Contains(found[0].Why, tt.why) {
			t.Errorf("%+v: %+v, %v", tt.trail, found, err)
		}
	}
}

// Each task is drawn as often as any other: within five standard deviations.
func TestDraw(t *testing.T) {
	const tasks, most, rounds = 20, 4, 20_000
	var hits [tasks]int
	rng := rand.New(rand.NewPCG(2, 2))
	for range rounds {
		d := draw{most: most, rng: rng}
		for i := range uint64(tasks) {
			d.see(message.TaskSummary{Index: i})
		}
		if d.seen != tasks || len(d.drawn) != most {
			t.Fatalf("%d drawn of %d", len(d.drawn), d.seen)
		}
		for _, t := range d.drawn {
			hits[t.Index]++
		}
	}
	const want, sigma = rounds * most / tasks, 57
	for i, h := range hits {
		if h < want-5*sigma || h > want+5*sigma {
			t.Errorf("task %d is drawn %d times, want about %d", i, h, want)
		}
	}
}
