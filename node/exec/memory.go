package exec

import (
	"cmp"
	"maps"
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// excessStep is in what steps the memory is counted that tasks hold beyond what their jobs ask
// for. A child with a usual module stays within its job's memory and so within no step; what a
// node offers does not change with each page.
const excessStep = 64 << 20

// Measure looks at what tasks hold beyond what their jobs ask for: the compiler's memory, files
// that they write. It returns the sum in whole steps, by which what the owner lends is less, and
// whether it has changed; Fit then gives back what no longer fits. It is on the loop.
func (x *Executor) Measure() (int64, bool) {
	before := x.beyond
	x.excess = x.Runner.Excess()
	x.beyond = 0
	for _, n := range x.excess {
		x.beyond += inSteps(n)
	}
	return x.beyond, x.beyond != before
}

// inSteps rounds down to whole steps.
func inSteps(n int64) int64 { return n - n%excessStep }

// shed gives tasks back that need more memory than is lent: first those that hold more than
// their jobs ask for, then audits, which nobody waits for, then the newest. Standing still frees
// none.
func (x *Executor) shed() {
	if x.lent.Memory == 0 {
		return
	}
	over := func(id task.TaskID) int64 { return inSteps(x.excess[id.String()]) }
	audits := func(n message.AttemptName) int {
		if x.running[n].audit != nil {
			return 1
		}
		return 0
	}
	names := slices.SortedFunc(maps.Keys(x.running), func(a, b message.AttemptName) int {
		return cmp.Or(cmp.Compare(over(a.Task), over(b.Task)), cmp.Compare(audits(a), audits(b)),
			a.Attempt.Compare(b.Attempt), cmp.Compare(a.Task.String(), b.Task.String()))
	})
	var need int64
	for _, name := range names {
		job := x.running[name].job
		if job == nil {
			continue
		}
		more := over(name.Task)
		if need += job.spec.MemoryOf(name.Task.Index) + more; need <= x.lent.Memory {
			continue
		}
		reason := "the owner lends less memory now"
		if more > 0 {
			reason = "its process holds " + task.FormatSize(more) + " beyond the memory that its job asks for"
		}
		x.Log.Info("giving a task back", "task", name.Task.String(), "reason", reason)
		x.running[name].end()
	}
}
