package ledger

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"godwit/task"
)

// randomFlow draws stages that need one another in every way, all of a few tasks.
func randomFlow(t *rapid.T) *task.Job {
	rows := &task.Table{Rows: 3, Columns: []task.Column{{Name: "x"}}}
	axes := []task.Axis{{Name: "a", Table: rows}, {Name: "b", Step: 1, Count: 2}}
	alike := &task.Grouping{By: []string{"a.x"}, Points: 3, Count: 2, Of: []byte{0b010}} // the first and the last
	j := &task.Job{Stages: []task.Stage{{Name: "s0", Sweep: task.Sweep{Axes: axes}, Groups: []*task.Grouping{alike}}}}
	follows := []int{0} // stages that have the axes
	for s := 1; s < rapid.IntRange(2, 6).Draw(t, "stages"); s++ {
		allow := rapid.SampledFrom([]uint32{0, 0, 400_000, 1_000_000}).Draw(t, "allow")
		st := task.Stage{Name: fmt.Sprint("s", s), AllowFailed: allow}
		of := uint64(rapid.SampledFrom(follows).Draw(t, "of"))
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			st.Needs = []task.Need{{Stage: of, Kind: task.NeedEach}}
			follows = append(follows, s)
		case 1:
			by := rapid.SampledFrom([]string{"a.x", "b"}).Draw(t, "by")
			st.Needs = []task.Need{{Stage: of, Kind: task.NeedBy, By: []string{by}}}
		default:
			st.Needs = []task.Need{{Stage: of, Kind: task.NeedAfter}}
		}
		if up := uint64(rapid.IntRange(0, s-1).Draw(t, "too")); up != of {
			st.Needs = append(st.Needs, task.Need{Stage: up, Kind: task.NeedAfter})
		}
		j.Stages = append(j.Stages, st)
	}
	return j
}

// dumbReady says whether a task may run, by asking each that it needs.
func dumbReady(j *task.Job, verdicts map[uint64]Verdict, i uint64) Readiness {
	stage, _ := j.StageOf(i)
	all := Ready
	for n, members := range j.Needed(i) {
		var open, failed uint64
		for u := range members.All() {
			switch verdicts[u] {
			case Open:
				open++
			case Failed:
				failed++
			}
		}
		if failed > j.Stages[stage].MayFail(n, members.Count()) {
			return Never
		}
		if open > 0 {
			all = Waits
		}
	}
	return all
}

// A flow says of every task what asking each that it needs says, whatever ends, fails, and is taken back; and
// tells of each change of who waits for what.
func TestFlowAgainstItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := randomFlow(t)
		f, verdicts := NewFlow(j), map[uint64]Verdict{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			i := rapid.Uint64Range(0, j.Tasks()-1).Draw(t, "task")
			v := rapid.SampledFrom([]Verdict{Done, Done, Failed, Open}).Draw(t, "verdict")
			before := map[uint64]Readiness{}
			for d := range j.Tasks() {
				before[d] = f.Ready(d)
			}
			verdicts[i] = v
			told := map[uint64]bool{}
			for _, r := range f.Set(i, v) {
				for d := r.From; d < r.To; d++ {
					told[d] = true
				}
			}
			for d := range j.Tasks() {
				got := f.Ready(d)
				if want := dumbReady(j, verdicts, d); got != want {
					t.Fatalf("task %d is %d, want %d", d, got, want)
				}
				if got != before[d] && !told[d] {
					t.Fatalf("task %d became %d as task %d came to %d, and nobody is told", d, got, i, v)
				}
				checkMissing(t, j, f, verdicts, d)
			}
		}
	})
}

// checkMissing holds what a flow says that a task waits for against each that it needs.
func checkMissing(t *rapid.T, j *task.Job, f *Flow, verdicts map[uint64]Verdict, i uint64) {
	var open uint64
	failed := false
	for _, members := range j.Needed(i) {
		for u := range members.All() {
			if verdicts[u] == Open {
				open++
			}
			failed = failed || verdicts[u] == Failed
		}
	}
	n, first := f.Missing(i)
	if n != open || n > 0 && verdicts[first] != Open {
		t.Fatalf("task %d waits for %d tasks, %d the first, want %d", i, n, first, open)
	}
	if u, ok := f.Failure(i); ok != failed || ok && verdicts[u] != Failed {
		t.Fatalf("task %d needs task %d, which failed: %v", i, u, ok)
	}
}
