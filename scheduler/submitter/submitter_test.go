package submitter

import (
	"strings"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestSubmitterRefuses: what a leader brings is checked, whoever it is.
func TestSubmitterRefuses(t *testing.T) {
	aKey, a := schedtest.Identity(2)
	bKey, _ := schedtest.Identity(3)
	signed := func(id task.TaskID, says string, b bool) task.Result {
		r := task.Result{Task: id, Outcome: task.Completed, Outputs: []task.Output{
			{Name: "stdout", CID: task.RawCID([]byte(says)), Size: int64(len(says)), Inline: []byte(says)},
		}}
		key := aKey
		if b {
			key = bKey
		}
		if err := r.Sign(key); err != nil {
			t.Fatal(err)
		}
		return r
	}
	tests := []struct {
		name   string
		change func(s *message.TaskSummary)
		want   string // "" if it is taken
	}{
		{"two that agree", func(*message.TaskSummary) {}, ""},
		{"one only", func(s *message.TaskSummary) { s.Results = s.Results[:1] }, "want 2"},
		{"one worker twice", func(s *message.TaskSummary) { s.Results[1] = s.Results[0] }, "same worker"},
		{"no agreement", func(s *message.TaskSummary) { s.Results[1] = signed(s.Results[0].Task, "other", true) },
			"do not agree"},
		{"forged", func(s *message.TaskSummary) { s.Results[0].CPU = time.Hour }, "signature"},
		{"another's name", func(s *message.TaskSummary) { s.Results[1].Worker = a; s.Results[0].Worker = "x" }, "verifying"},
		{"another task's", func(s *message.TaskSummary) { s.Index = 1 }, "is of task"},
		{"not completed", func(s *message.TaskSummary) { s.Results[0].Outcome = task.Trapped }, "outcome"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, id, leader := newSubmitterWithJob(t)
			name := task.TaskID{Job: id}
			sum := message.TaskSummary{Results: []task.Result{signed(name, "x", false), signed(name, "x", true)}}
			tt.change(&sum)
			var refused string
			for _, e := range s.Step(schedtest.Start,
				&message.Received{From: leader, Message: &message.Message{Progress: &message.Progress{Job: id,
					Tasks: []message.TaskSummary{sum}}}}) {
				if e, ok := e.(message.Decided); ok {
					refused = e.Reason
				}
			}
			st, _ := s.Job(id)
			if (st.Held == 1) != (tt.want == "") || !strings.Contains(refused, tt.want) {
				t.Errorf("holds %d, refused for %q, want %q", st.Held, refused, tt.want)
			}
		})
	}
}

func newSubmitterWithJob(t *testing.T) (*Submitter, task.JobID, task.PeerID) {
	key, self := schedtest.Identity(1)
	_, leader := schedtest.Identity(0)
	s := New(self, message.DefaultTiming(), Default(), key)
	rec := schedtest.Job(t, key, 3, func(j *task.Job) { j.Replicas = 2 })
	s.Step(schedtest.Start, message.LeaderChanged{Leader: leader, Epoch: 1})
	s.Step(schedtest.Start, message.Offer{Record: rec})
	return s, rec.ID(), leader
}

// A job whose results are all here counts as accepted, though the word that it is comes later,
// or never: whoever waits for that word waits no longer. One that was refused does not.
func TestAcceptedByItsResults(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(2, 1)
	b.bring(id, message.JobRunning, "a", 0)
	b.answer(id, 0, "")
	if b.s.Accepted(id) {
		t.Error("it is accepted with half of its results")
	}
	b.bring(id, message.JobDone, "a", 1)
	if st, _ := b.s.Job(id); !st.Final || !b.s.Accepted(id) {
		t.Errorf("all results are here, and it is accepted: %v, %+v", b.s.Accepted(id), st)
	}
	b.restart()
	if !b.s.Accepted(id) {
		t.Error("after a restart it is not accepted any more")
	}
	refused := b.offer(2, 2)
	b.say(message.Message{Accepted: &message.Accepted{Job: refused, Error: "no"}})
	if b.s.Accepted(refused) {
		t.Error("a job that was refused is accepted")
	}
}

// TestSubmitterRepeats: an offer is repeated, ever more rarely, until it is
// answered; and a leader that changes hears of it at once.
func TestSubmitterRepeats(t *testing.T) {
	s, id, leader := newSubmitterWithJob(t)
	now, pauses := schedtest.Start, []time.Duration{}
	for len(pauses) < 8 {
		at, ok := s.NextWake()
		if !ok {
			t.Fatal("it gave up")
		}
		if offers(s.Step(at, message.Wake{})) > 0 {
			pauses = append(pauses, at.Sub(now))
			now = at
		}
	}
	if pauses[0] != message.DefaultTiming().RetryMin || pauses[1] != 2*message.DefaultTiming().RetryMin ||
		pauses[7] != message.DefaultTiming().RetryMax {
		t.Errorf("offered after %v", pauses)
	}
	s.Step(now, &message.Received{From: leader, Message: &message.Message{Accepted: &message.Accepted{Job: id}}})
	if !s.Accepted(id) {
		t.Error("the job is not accepted")
	}
	_, other := schedtest.Identity(9)
	if offers(s.Step(now, message.LeaderChanged{Leader: other, Epoch: 2})) != 1 {
		t.Error("a new leader was not offered the job")
	}
}

func offers(effects []message.Effect) (n int) {
	for _, e := range effects {
		if e, ok := e.(message.Send); ok && e.Message.Submit != nil {
			n++
		}
	}
	return n
}

// TestSubmitterRefusedForGood: a refusal without a time to try again ends a
// job that was never accepted, and no other.
func TestSubmitterRefusedForGood(t *testing.T) {
	s, id, leader := newSubmitterWithJob(t)
	no := &message.Received{From: leader, Message: &message.Message{Accepted: &message.Accepted{Job: id,
		Error: "too many tasks"}}}
	s.Step(schedtest.Start, no)
	if st, _ := s.Job(id); st.State != message.JobFailed || !st.Final || st.Error != "too many tasks" {
		t.Errorf("got %+v", st)
	}
	s, id, leader = newSubmitterWithJob(t)
	yes := &message.Message{Accepted: &message.Accepted{Job: id}}
	s.Step(schedtest.Start, &message.Received{From: leader, Message: yes})
	s.Step(schedtest.Start, no)
	if st, _ := s.Job(id); st.Final || st.State != message.JobRunning {
		t.Errorf("an accepted job was given up: %+v", st)
	}
}
