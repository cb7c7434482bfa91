package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"godwit/task"
	"pgregory.net/rapid"
)

// A failedRun is a failure as the tests write it: of a worker, and of those whose states it went on from.
type failedRun struct {
	by      string // the first is the worker
	outcome task.Outcome
	code    uint32
	says    byte // what it wrote
}

func (f failedRun) result() task.Result {
	by := strings.Fields(f.by)
	res := result(by[0], f.outcome, f.says)
	res.ExitCode = f.code
	if len(by) > 1 {
		res.Trail = &task.Trail{Began: chain(by[1:]...)}
	}
	return res
}

// TestCertain: a task that ended alike on two members is given up with retries left, and says so; what one member
// says, however often, is not enough, and neither is what depends on the machine.
func TestCertain(t *testing.T) {
	const exit, trap, slow = task.ExitFailure, task.Trapped, task.TimedOut
	two := "(so it ended on two members: it cannot come out otherwise)"
	own := "(so it ended twice on its submitter's machine: it cannot come out otherwise)"
	for name, tt := range map[string]struct {
		runs []failedRun
		why  string // "" for a task that is to run again
	}{
		"one run":                  {[]failedRun{{"a", exit, 3, 0}}, ""},
		"two members, one code":    {[]failedRun{{"a", exit, 3, 0}, {"b", exit, 3, 0}}, "exit code 3 " + two},
		"two members, a trap":      {[]failedRun{{"a", trap, 0, 0}, {"b", trap, 0, 0}}, "trapped " + two},
		"two members, two codes":   {[]failedRun{{"a", exit, 3, 0}, {"b", exit, 4, 0}}, ""},
		"two members, other words": {[]failedRun{{"a", exit, 3, 0}, {"b", exit, 3, 1}}, ""},
		"a liar beside two": {[]failedRun{{"a", exit, 1, 0}, {"b", exit, 3, 0}, {"c", exit, 3, 0}},
			"exit code 3 " + two},
		"a liar in three leases":       {[]failedRun{{"a", exit, 1, 0}, {"a", exit, 1, 0}, {"a", exit, 1, 0}}, ""},
		"a liar, and who is honest":    {[]failedRun{{"a", exit, 1, 0}, {"b", slow, 0, 0}, {"a", exit, 1, 0}}, ""},
		"both went on from a liar's":   {[]failedRun{{"b x", trap, 0, 0}, {"c x", trap, 0, 0}}, ""},
		"one went on from the other's": {[]failedRun{{"x", trap, 0, 0}, {"b x", trap, 0, 0}}, ""},
		"one from a third's":           {[]failedRun{{"a", trap, 0, 0}, {"b x", trap, 0, 0}}, "trapped " + two},
		"two that ran too long":        {[]failedRun{{"a", slow, 0, 0}, {"b", slow, 0, 0}}, ""},
		"two without memory":           {[]failedRun{{"a", task.OutOfMemory, 0, 0}, {"b", task.OutOfMemory, 0, 0}}, ""},
		"the submitter's own, twice":   {[]failedRun{{"me", exit, 3, 0}, {"me", exit, 3, 0}}, "exit code 3 " + own},
		"its own, two codes":           {[]failedRun{{"me", exit, 3, 0}, {"me", exit, 4, 0}}, ""},
		"its own, from a liar's":       {[]failedRun{{"me x", trap, 0, 0}, {"me x", trap, 0, 0}}, ""},
		"as often as it may": {[]failedRun{{"a", exit, 1, 0}, {"a", exit, 1, 0}, {"a", exit, 1, 0}, {"a", exit, 1, 0}},
			"exit code 1 (attempt 4 of 4)"},
	} {
		t.Run(name, func(t *testing.T) {
			var row Row
			for k, f := range tt.runs {
				row.AddResult(Attempt{1, uint64(k)}, f.result())
			}
			rule := Rule{Replicas: 1, Retries: 3, Own: "me"}
			if got := row.Why(rule); got != tt.why {
				t.Errorf("why is %q, want %q", got, tt.why)
			}
			if got, want := len(row.ByFault(rule)) > 0, tt.why != ""; got != want {
				t.Errorf("failed by its fault is %v, want %v", got, want)
			}
		})
	}
}

// TestVoidFailureIsNotCertain: a failure that counts for nothing shows nothing.
func TestVoidFailureIsNotCertain(t *testing.T) {
	var row Row
	for k, by := range []string{"a", "b"} {
		row.AddResult(Attempt{1, uint64(k)}, failedRun{by, task.ExitFailure, 3, byte(k)}.result())
		row.Failures[k].Result.Outputs = nil
	}
	rule := Rule{Replicas: 1, Retries: 3}
	if got := row.Verdict(rule); got != Failed {
		t.Fatalf("two members say the same, and the task is %v", got)
	}
	row.VoidRuns(func(r *task.Result) bool { return r.Worker == "b" })
	if got := row.Verdict(rule); got != Open {
		t.Errorf("one of two is void, and the task is %v", got)
	}
}

// TestOneLiarFailsNothing: whatever one member says of a task, and whatever states it leaves, it is not given up
// before its retries are used up; two members that say the same are enough in whatever order their words come.
func TestOneLiarFailsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := Rule{Replicas: 1, Retries: rapid.IntRange(2, 6).Draw(t, "retries"), Own: "me"}
		var row Row
		outcomes := rapid.SampledFrom([]task.Outcome{task.ExitFailure, task.Trapped, task.OverQuota, task.TimedOut})
		n := rapid.IntRange(0, rule.Retries).Draw(t, "lies")
		for k := range n {
			by := rapid.SampledFrom([]string{"liar", "honest liar", "other liar", "me liar"}).Draw(t, "by")
			row.AddResult(Attempt{1, uint64(k)}, failedRun{by, outcomes.Draw(t, "outcome"), 0, 0}.result())
		}
		if got := row.Verdict(rule); got != Open {
			t.Fatalf("%d failures that the liar answers for, and the task is %v: %s", n, got, row.Why(rule))
		}
		var both []Failure
		for k, by := range []string{"honest", "other"} {
			both = append(both, Failure{Attempt{rapid.Uint64Range(0, 2).Draw(t, "epoch"), 100 + uint64(k)},
				failedRun{by, task.Trapped, 0, 7}.result()})
		}
		if rapid.Bool().Draw(t, "the other first") {
			slices.Reverse(both)
		}
		for _, f := range both {
			row.AddResult(f.Attempt, f.Result)
		}
		if got := row.Verdict(rule); got != Failed {
			t.Fatalf("two honest members say the same, and the task is %v", got)
		}
	})
}

// BenchmarkCertain has a row with as many failures as a job may ask for, all of one liar.
func BenchmarkCertain(b *testing.B) {
	for _, n := range []int{1, 4, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var row Row
			for k := range n {
				row.AddResult(Attempt{1, uint64(k)}, failedRun{"a", task.ExitFailure, 3, 0}.result())
			}
			rule := Rule{Replicas: 1, Retries: n}
			for b.Loop() {
				if row.Verdict(rule) != Open {
					b.Fatal("given up")
				}
			}
		})
	}
}
