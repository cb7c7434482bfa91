//go:build unix

package guests

import (
	"maps"
	"math"
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
	for n := range turns {
		c.turn(t, n)
	}
	r.overhead = c.best[ours].Seconds() / c.best[plain].Seconds()
	r.seconds = c.best[plain]
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
}

func (r *result) contest(t testing.TB) *contest {
	args := r.entry.measured()
	tk := r.task
	tk.Args, tk.StateHash = args, false
	pool, alone := warmPool(t), plainly(t, r.job(args))
	c := &contest{}
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
		return rep.CPU, said(rep)
	}
	c.run[ours]() // compiles
	return c
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
	if !maps.Equal(said[plain], said[ours]) {
		t.Errorf("it said %v, on plain wazero %v", said[ours], said[plain])
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
