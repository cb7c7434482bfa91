package task

import (
	"fmt"
	"testing"
)

// How far a stage has to be before the first task of another may begin follows from which tasks that one reads.
func TestOutline(t *testing.T) {
	for src, want := range map[string]string{
		pipeline: "[{simulate 6 0 268435456 []} {clean 6 0 268435456 [{0 0.16666666666666666}]} " +
			"{fit 2 0 268435456 [{1 0.8333333333333334}]} {report 1 0 268435456 [{2 1} {1 1}]}]",
	} {
		j := stagedJob(t, src)
		if got := fmt.Sprint(OutlineOf(j)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if got := OutlineOf(&Job{}); got != nil {
		t.Errorf("a job without stages has %v", got)
	}
	// Of any job a task that may begin by its outline has all that it reads among the tasks that ended in order.
	j := stagedJob(t, pipeline)
	for k, o := range OutlineOf(j) {
		for i, n := range o.Needs {
			first, _ := j.StageRange(n.Stage)
			m := j.members(k, &j.Stages[k].Needs[i], 0)
			of := float64(j.countOf(n.Stage))
			if last := float64(m.At(m.Count()-1) - first + 1); last > n.From*of+1e-9 {
				t.Errorf("the first of %s begins with %v of %v", o.Name, n.From*of, last)
			}
		}
	}
}
