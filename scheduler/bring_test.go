package scheduler

import (
	"slices"
	"testing"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestBring: a copy that follows brings a job's submitter, and nobody else, the ends that he does not hold.
func TestBring(t *testing.T) {
	key, owner := schedtest.Identity(2)
	_, other := schedtest.Identity(3)
	maker, _ := schedtest.Identity(4)
	rec := schedtest.Job(t, key, 10, nil)
	job := rec.ID()
	for name, tt := range map[string]struct {
		from  task.PeerID
		got   message.Got
		apart bool
		want  []uint64
	}{
		"all that is here": {from: owner, got: message.Got{Job: job}, want: []uint64{1, 2, 5}},
		"but what is held": {from: owner, want: []uint64{5},
			got: message.Got{Job: job, Have: []message.Range{{From: 0, To: 3}}}},
		"another asks":         {from: other, got: message.Got{Job: job}},
		"of another job":       {from: owner, got: message.Got{Job: "none"}},
		"nothing more":         {from: owner, got: message.Got{Job: job, Final: true}},
		"what is held is none": {from: owner, got: message.Got{Job: job, Have: []message.Range{{From: 3, To: 1}}}},
		"it does not follow":   {from: owner, got: message.Got{Job: job}, apart: true},
	} {
		r := NewReplica(other, Default())
		j, err := r.ledger.Add(rec)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []uint64{1, 2, 5} {
			id := task.TaskID{Job: job, Index: i}
			j.Rows[i] = &ledger.Row{Results: []task.Result{schedtest.Result(t, maker, id, "done")}}
		}
		j.Rows[7] = &ledger.Row{} // it runs
		if r.session.state = following; tt.apart {
			r.session.state = telling
		}
		var came []uint64
		m := message.Message{Got: &tt.got}
		for _, e := range r.Step(schedtest.Start, &message.Received{From: tt.from, Message: &m}) {
			if s, ok := e.(message.Send); ok && s.Message.Progress != nil && s.To == tt.from {
				for k := range s.Message.Progress.Tasks {
					came = append(came, s.Message.Progress.Tasks[k].Index)
				}
				if s.Message.Progress.Summary.State != message.JobRunning {
					t.Errorf("%s: it says that the job is %s", name, s.Message.Progress.Summary.State)
				}
			}
		}
		if !slices.Equal(came, tt.want) {
			t.Errorf("%s: it brings %v, want %v", name, came, tt.want)
		}
	}
}
