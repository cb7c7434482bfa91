package submitter

import (
	"strings"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestOnlyItsOwnNodeEndsAJob: the leader's word that a job is over ends it only where its
// owner has cancelled it, or its deadline has passed by the clock of its own node.
func TestOnlyItsOwnNodeEndsAJob(t *testing.T) {
	for _, state := range []string{message.JobDone, message.JobPartly, message.JobFailed, message.JobCancelled,
		message.JobExpired} {
		for name, tt := range map[string]struct {
			deadline time.Duration
			cancel   bool
			want     string // "" if it goes on
		}{
			"goes on":         {0, false, ""},
			"in time":         {time.Hour, false, ""},
			"cancelled":       {0, true, message.JobCancelled},
			"deadline passed": {time.Minute, false, message.JobExpired},
		} {
			t.Run(state+", "+name, func(t *testing.T) {
				b := newSubBench(t)
				rec := schedtest.Job(t, b.key, 5, func(j *task.Job) { j.Deadline = tt.deadline })
				b.step(message.Offer{Record: rec})
				id := rec.ID()
				if tt.cancel {
					b.step(message.CancelJob{Job: id})
				}
				b.bring(id, message.JobRunning, "a", 1)
				b.pass(2 * time.Minute)
				b.bring(id, state, "")
				st, _ := b.s.Job(id)
				ended := st.State
				if (state == message.JobCancelled || state == message.JobExpired) && tt.want != "" {
					tt.want = state // as the leader says, where it is over anyhow
				}
				switch {
				case st.Final != (tt.want != "") || st.Held != 1:
					t.Errorf("final %v, %d held, in state %s: %s", st.Final, st.Held, st.State, st.Reason)
				case st.Final && ended != tt.want:
					t.Errorf("it is %s, want %s", ended, tt.want)
				case !st.Final && (ended != message.JobRunning && ended != message.JobOffered ||
					!strings.Contains(st.Reason, "4 results are missing")):
					t.Errorf("it is %s: %s", ended, st.Reason)
				}
			})
		}
	}
}

// TestDeniesWithPauses: a leader that says time and again that a job is over is asked for what
// is missing with pauses that double, however often it says so; when it brings it after all,
// the job is over.
func TestDeniesWithPauses(t *testing.T) {
	b := newSubBench(t)
	b.apart = 0
	id := b.offer(2, 0)
	var asked []time.Time
	for end := b.now.Add(time.Hour); b.now.Before(end); {
		for range 3 {
			b.bring(id, message.JobDone, "")
			if offers(b.last) > 0 {
				t.Fatal("it asks at once")
			}
		}
		at, ok := b.s.NextWake()
		if !ok {
			t.Fatal("it gave up")
		}
		b.now = at
		b.step(message.Wake{})
		if offers(b.last) > 0 {
			asked = append(asked, b.now)
			b.say(message.Message{Accepted: &message.Accepted{Job: id}})
		}
	}
	if n, most := len(asked), int(time.Hour/b.timing.RetryMax)+8; n > most || n < most-10 {
		t.Errorf("asked %d times in an hour, want at most %d", n, most)
	}
	if first := asked[1].Sub(asked[0]); first > 4*b.timing.RetryMin {
		t.Errorf("asked the second time after %v", first)
	}
	b.bring(id, message.JobRunning, "a", 1)
	if st, _ := b.s.Job(id); st.Reason != "" || st.Held != 1 {
		t.Errorf("after a result %+v", st)
	}
	b.bring(id, message.JobDone, "a", 0)
	b.answer(id, 0, "")
	if st, _ := b.s.Job(id); !st.Final || st.State != message.JobDone || st.Held != 2 {
		t.Errorf("after all results %+v", st)
	}
}

// TestFailuresAreSigned: nobody's word alone makes a task fail, and what was held counts, not
// what the leader counts.
func TestFailuresAreSigned(t *testing.T) {
	s, id, leader := newSubmitterWithJob(t)
	s.Step(schedtest.Start, &message.Received{From: leader, Message: &message.Message{Progress: &message.Progress{Job: id,
		Tasks:   []message.TaskSummary{{Index: 0, Failed: true, Reason: "no"}},
		Summary: message.JobSummary{State: message.JobFailed, Total: 3, Failed: 3}}}})
	if st, _ := s.Job(id); st.Held != 0 || st.Final {
		t.Errorf("it holds %d results, final %v", st.Held, st.Final)
	}
	b := newSubBench(t)
	own := b.offer(2, 0)
	b.bring(own, message.JobFailed, "a", 1, 0)
	b.answer(own, 0, "")
	if st, _ := b.s.Job(own); st.State != message.JobDone || st.Tasks.Done != 2 || st.Tasks.Failed != 0 || !st.Final {
		t.Errorf("with all results held it is %+v", st)
	}
}
