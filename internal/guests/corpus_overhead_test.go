//go:build unix

package guests

import (
	"maps"
	"math"
	"os/exec"
	"testing"
	"time"

	"godwit/task"
)

// turns is how often each of the contest runs.
const turns = 5

// weigh measures what the sandbox adds to plain wazero.
func (r *result) weigh(t *testing.T) {
	if !r.entry.timed {
		return
	}
	c := r.contest(t)
	c.run[native] = nil // the table has no column for it
	for n := range turns {
		c.turn(t, n)
	}
	r.overhead = c.best[ours].Seconds() / c.best[plain].Seconds()
	r.seconds = c.best[plain]
	r.rate = float64(c.fuel) / float64(c.best[ours].Microseconds())
}

// contestants of a contest.
const (
	native = iota
	plain
	ours
)

// A contest runs a program natively, on plain wazero and here, in turns, and
// keeps the CPU time of the quickest.
type contest struct {
	run  [3]func() (time.Duration, map[string]string) // the first is nil where there is no native program
	best [3]time.Duration
	like bool   // ours must say what it says on plain wazero
	fuel uint64 // of the run here
}

func (r *result) contest(t testing.TB) *contest {
	args := r.entry.measured()
	tk := r.task
	tk.Args, tk.StateHash = args, false
	pool, alone := warmPool(t), plainly(t, r.job(args))
	c := &contest{like: r.entry.unlike == ""}
	c.run[plain] = func() (time.Duration, map[string]string) {
		end := alone()
		if end.Failed != "" {
			t.Fatal(end.Failed)
		}
		return end.CPU, end.Outputs
	}
	c.run[ours] = func() (time.Duration, map[string]string) {
		rep := run(t, pool, tk)
		if rep.Outcome != task.Completed {
			t.Fatalf("%v: %s", rep.Outcome, rep.Message)
		}
		c.fuel = rep.Fuel
		return rep.CPU, said(rep)
	}
	c.run[ours]() // compiles
	if r.native != "" {
		c.run[native] = r.natively(t, args)
	}
	return c
}

// natively returns what runs the program of this machine among its inputs.
func (r *result) natively(t testing.TB, args []string) func() (time.Duration, map[string]string) {
	dir, job := t.TempDir(), r.job(args)
	if err := job.layOut(dir); err != nil {
		t.Fatal(err)
	}
	return func() (time.Duration, map[string]string) {
		cmd := exec.Command(r.native, args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("natively: %v", err)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), map[string]string{task.Stdout: digest(out)}
	}
}

// turn runs each once; none is always after the same.
func (c *contest) turn(t testing.TB, n int) {
	var said [3]map[string]string
	for i := range c.run {
		k := (i + n) % len(c.run)
		if c.run[k] == nil {
			continue
		}
		took, out := c.run[k]()
		said[k] = out
		if c.best[k] == 0 || took < c.best[k] {
			c.best[k] = took
		}
	}
	if c.like && !maps.Equal(said[plain], said[ours]) {
		t.Errorf("it said %v, on plain wazero %v", said[ours], said[plain])
	}
}

// BenchmarkCorpus does for the programs of the corpus what BenchmarkOverhead
// does for small guests. GODWIT_CORPUS chooses some of them.
func BenchmarkCorpus(b *testing.B) {
	l, err := openLarder()
	if err != nil {
		b.Fatal(err)
	}
	entries, err := chosenEntries()
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range entries {
		if !e.timed || e.small {
			continue // small guests are BenchmarkOverhead's
		}
		b.Run(e.name(), func(b *testing.B) {
			r := result{entry: &e}
			if err := r.make(b, l); err != nil {
				b.Skip(err)
			}
			c := r.contest(b)
			for n := 0; b.Loop(); n++ {
				c.turn(b, n)
			}
			b.ReportMetric(c.best[ours].Seconds()/c.best[plain].Seconds(), "x-plain")
			if c.run[native] != nil {
				b.ReportMetric(c.best[plain].Seconds()/c.best[native].Seconds(), "plain-x-native")
				b.ReportMetric(c.best[native].Seconds(), "s-native")
			}
			b.ReportMetric(c.best[plain].Seconds(), "s-plain")
			b.ReportMetric(c.best[ours].Seconds(), "s-ours")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// mean is the geometric one.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}
