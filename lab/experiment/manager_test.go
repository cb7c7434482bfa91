package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"godwit/lab/testbed/measure"
	"godwit/sim"
)

// manage returns a Manager that runs until the test ends.
func manage(t *testing.T) *Manager {
	m := New(t.TempDir())
	begin(t, m)
	return m
}

// begin runs m until the test ends.
func begin(t *testing.T, m *Manager) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// await returns the statistics of a run that has ended.
func await(t *testing.T, m *Manager, id string) Statistics {
	t.Helper()
	for {
		s, err := m.Statistics(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if s.State != Running {
			return s
		}
		synctest.Wait()
	}
}

// define defines the worked example.
func define(t *testing.T, m *Manager, text string) *Definition {
	t.Helper()
	d, err := m.Define(t.Context(), Source{Name: "worked", Scenario: text})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSimulatedRun defines, starts and reads a run on the simulator. What was counted while it ran is what the
// simulator reports.
func TestSimulatedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := manage(t)
		d := define(t, m, worked)
		st, err := m.Start(t.Context(), d.ID, RunOptions{Seed: 3})
		if err != nil || st.ID != "run-1" || st.State != Running || st.On != OnSimulator {
			t.Fatalf("got %+v, %v", st, err)
		}
		s := await(t, m, st.ID)
		if s.State != Done || s.Error != "" || len(s.Results) != 2 || s.Results[1].Policy != "fcfs:order=idle" {
			t.Fatalf("got %+v", s)
		}
		reports, err := m.Reports(t.Context(), st.ID)
		if err != nil || len(reports) != 2 {
			t.Fatalf("%d reports, %v", len(reports), err)
		}
		for i, r := range reports {
			var want sim.Report
			if err := json.Unmarshal(r.Report, &want); err != nil {
				t.Fatal(err)
			}
			checkCounted(t, &s.Results[i], &want)
		}
	})
}

// checkCounted compares what was counted with the simulator's report.
func checkCounted(t *testing.T, got *measure.Snapshot, want *sim.Report) {
	t.Helper()
	if got.At != got.Length || got.Length != 100 {
		t.Errorf("%s: at %v of %v", got.Policy, got.At, got.Length)
	}
	served := 0
	for _, s := range got.Servers {
		served += s.Done
	}
	all := got.Classes[len(got.Classes)-1]
	if all.Class != "all" || served != all.Done || uint64(all.Done) != want.Succeeded || uint64(all.Arrived) != want.Arrived ||
		all.Waiting+all.Running+all.Done != all.Arrived || uint64(all.Waiting+all.Running) != want.Unfinished {
		t.Errorf("%s: counted %+v and %d of servers; reported %+v", got.Policy, all, served, want)
	}
	for k, c := range want.Classes {
		if n := got.Classes[k]; uint64(n.Arrived) != c.Arrived || math.Abs(n.Response-c.Response/60) > 1e-6 {
			t.Errorf("%s: class %s counted %+v, reported %+v", got.Policy, c.Class, n, c)
		}
	}
}

// long is a run that takes much longer than the test.
var long = strings.NewReplacer("days: 1", "days: 3000", "end: 100m", "end: 70000h", "interval: 30s", "interval: 8s").
	Replace(worked)

// TestRunIsStopped stops a run, and ends the Manager during another.
func TestRunIsStopped(t *testing.T) {
	m := New(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- m.Run(ctx) }()
	d := define(t, m, long)
	first, err := m.Start(t.Context(), d.ID, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Delete(t.Context(), d.ID); !errors.Is(err, ErrInUse) {
		t.Errorf("an experiment that runs was deleted: %v", err)
	}
	if _, err := m.Control(t.Context(), first.ID, "M1", ServerStop); !errors.Is(err, ErrSimulated) {
		t.Errorf("a simulated server was stopped: %v", err)
	}
	if _, err := m.Stop(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	var s Statistics
	for s.State = Running; s.State == Running; {
		if s, err = m.Statistics(t.Context(), first.ID); err != nil {
			t.Fatal(err)
		}
	}
	if s.State != Stopped || s.Ended.IsZero() || len(s.Results) != 1 || s.Results[0].At >= s.Results[0].Length {
		t.Errorf("got %+v", s)
	}
	for range maxSimulated {
		if _, err := m.Start(t.Context(), d.ID, RunOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Start(t.Context(), d.ID, RunOptions{}); !errors.Is(err, ErrFull) {
		t.Errorf("more runs at once than there can be: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := m.Runs(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

func TestManagerRefuses(t *testing.T) {
	m := manage(t)
	d := define(t, m, worked)
	start := func(id string, o RunOptions) error { _, err := m.Start(t.Context(), id, o); return err }
	control := func(id, server, command string) error {
		_, err := m.Control(t.Context(), id, server, command)
		return err
	}
	unplayable := define(t, m, worked+"warmup: 10m\n") // real nodes report all of their time
	for name, tt := range map[string]struct{ err, want error }{
		"an unknown experiment":   {start("exp-9", RunOptions{}), ErrUnknown},
		"an unknown place":        {start(d.ID, RunOptions{On: "moon"}), ErrOptions},
		"a fast simulator":        {start(d.ID, RunOptions{Speedup: 2}), ErrOptions},
		"a slow run on nodes":     {start(d.ID, RunOptions{On: OnNodes, Speedup: .5}), ErrOptions},
		"not a number":            {start(d.ID, RunOptions{On: OnNodes, Speedup: math.NaN()}), ErrOptions},
		"an unknown run":          {control("run-9", "M1", ServerPing), ErrUnknown},
		"an unknown command":      {control("run-9", "M1", "jump"), ErrOptions},
		"deleting an unknown one": {m.Delete(t.Context(), "exp-9"), ErrUnknown},
	} {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, tt.err, tt.want)
		}
	}
	if err := start(unplayable.ID, RunOptions{On: OnNodes}); err == nil || !strings.Contains(err.Error(), "warm-up") {
		t.Errorf("a scenario that no real nodes play: %v", err)
	}
}

// TestManagerLimits defines and runs more than a Manager stores.
func TestManagerLimits(t *testing.T) {
	m := New(t.TempDir())
	m.maxima = maxima{definitions: 2, runs: 5}
	begin(t, m)
	first := define(t, m, worked)
	short := define(t, m, strings.Replace(worked, "end: 100m", "end: 2m", 1))
	if _, err := m.Define(t.Context(), Source{Scenario: worked}); !errors.Is(err, ErrFull) {
		t.Errorf("a third definition: %v", err)
	}
	if err := m.Delete(t.Context(), first.ID); err != nil {
		t.Error(err)
	}
	if all, err := m.Definitions(t.Context()); err != nil || len(all) != 1 || all[0] != short {
		t.Errorf("%d definitions after one was deleted, %v", len(all), err)
	}
	for i := range 8 {
		st, err := m.Start(t.Context(), short.ID, RunOptions{Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		for {
			if s, err := m.Statistics(t.Context(), st.ID); err != nil || s.State != Running {
				break
			}
			runtime.Gosched()
		}
	}
	runs, err := m.Runs(t.Context())
	if err != nil || len(runs) != 5 || runs[0].ID != "run-4" {
		t.Errorf("%d runs, the first %s, %v", len(runs), runs[0].ID, err)
	}
}
