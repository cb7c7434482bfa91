package submitter

import (
	"slices"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A job lists the jobs that add tasks to it, the oldest first, whatever the order in which they are restored; a
// forgotten one is listed no more, and additions outlive the job that they belong to.
func TestAdditionsAreLinked(t *testing.T) {
	key, self := schedtest.Identity(1)
	first := schedtest.Job(t, key, 3, nil)
	var added []task.JobID
	records := []task.Record{first}
	for i := range 3 {
		rec := schedtest.Job(t, key, uint64(i+1), func(j *task.Job) {
			j.Adds, j.Submitted = first.ID(), task.At(schedtest.Start.Add(time.Duration(i+1)*time.Minute))
		})
		records, added = append(records, rec), append(added, rec.ID())
	}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 1, 0, 2}, {2, 3, 1, 0}} {
		s := New(self, message.DefaultTiming(), Default(), key)
		for _, i := range order {
			s.Step(schedtest.Start, message.Offer{Record: records[i]})
		}
		list := func() (out []task.JobID) {
			st, _ := s.Job(first.ID())
			for i, a := range st.Added {
				if a.Tasks != uint64(slices.Index(added, a.Job)+1) || a.State != message.JobOffered || a.Final {
					t.Errorf("addition %d is %+v", i, a)
				}
				out = append(out, a.Job)
			}
			return out
		}
		if got := list(); !slices.Equal(got, added) {
			t.Fatalf("offered in the order %v: %v, want %v", order, got, added)
		}
		if st, _ := s.Job(added[1]); st.Adds != first.ID() || len(st.Added) > 0 {
			t.Errorf("an addition adds to %q, and has %v", st.Adds, st.Added)
		}
		s.jobs[added[1]].state.Final = true
		s.Step(schedtest.Start, message.ForgetJob{Job: added[1]})
		if got, want := list(), []task.JobID{added[0], added[2]}; !slices.Equal(got, want) {
			t.Errorf("after one was forgotten: %v, want %v", got, want)
		}
		s.jobs[first.ID()].state.Final = true
		s.Step(schedtest.Start, message.ForgetJob{Job: first.ID()})
		if st, _ := s.Job(added[0]); st.Adds != first.ID() {
			t.Errorf("without the first job, an addition adds to %q", st.Adds)
		}
	}
}
