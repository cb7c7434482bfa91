package scheduler

import (
	"slices"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
	"pgregory.net/rapid"
)

// An endings is a leader that hears of ends of tasks from copies and of deliveries from the
// submitter, in any order.
type endings struct {
	*ran
	t    *rapid.T
	now  time.Time
	told uint64
	held ledger.Set
}

// run is one of a few runs of a task that a copy may know.
func (s *endings) run(id task.TaskID) task.Result {
	n := rapid.IntRange(10, 13).Draw(s.t, "worker")
	key, _ := schedtest.Identity(n)
	r := task.Result{Task: id, Outcome: task.Trapped}
	if says := rapid.SampledFrom([]string{"", "x", "x", "y"}).Draw(s.t, "says"); says != "" {
		r.Outcome = task.Completed
		r.Outputs = []task.Output{{Name: task.Stdout, CID: task.RawCID([]byte(says)), Size: 1, Inline: []byte(says)}}
	}
	if err := r.Sign(key); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// tell has a copy tell of what it knows of a task, which may be that it is void.
func (s *endings) tell() {
	id := task.TaskID{Job: s.job.id, Index: rapid.Uint64Range(3, 5).Draw(s.t, "task")}
	row := &ledger.Row{}
	for range rapid.IntRange(1, 4).Draw(s.t, "runs") {
		row.AddResult(message.Attempt{Epoch: 1, Seq: rapid.Uint64Range(1, 4).Draw(s.t, "attempt")}, s.run(id))
	}
	if rapid.IntRange(0, 4).Draw(s.t, "void") == 0 {
		row.Void()
	}
	value, err := row.Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	s.told++
	_, from := schedtest.Identity(5)
	s.c.Step(s.now, &message.Received{From: from, Message: &message.Message{Known: &message.Known{
		Epoch: 7, Session: s.told, Seq: 1, Pairs: []message.Pair{{Key: ledger.RowKey(id), Value: value}}}}})
}

// got has the submitter hold some of what it was brought.
func (s *endings) got() {
	for _, i := range s.job.sent {
		if rapid.Bool().Draw(s.t, "held") {
			s.held.Add(i)
		}
	}
	s.c.Step(s.now, &message.Received{From: s.owner, Message: &message.Message{Got: &message.Got{Job: s.job.id,
		Have: s.held}}})
}

// voids has outputs of a task be lost.
func (s *endings) voids() {
	i := rapid.Uint64Range(3, 5).Draw(s.t, "lost")
	s.c.effects = nil
	s.c.voidResult(task.TaskID{Job: s.job.id, Index: i}, "gone")
	s.c.Step(s.now, message.Wake{})
}

// facts has a copy tell which tasks the submitter held, as far as that knew, in some delivery.
func (s *endings) facts() {
	f := &ledger.Facts{Delivery: s.job.ledger.Facts.Delivery + rapid.Uint64Range(0, 1).Draw(s.t, "delivery")}
	for i := range s.job.total {
		switch rapid.IntRange(0, 2).Draw(s.t, "is") {
		case 0:
			f.Done.Add(i)
		case 1:
			f.Failed.Add(i)
		}
	}
	s.told++
	s.ran.tell(s.told, f, s.now)
}

// loses has the submitter come back with a part of what it held.
func (s *endings) loses() {
	rec := s.job.ledger.Record
	s.held = ledger.Set{{From: 0, To: rapid.Uint64Range(1, 6).Draw(s.t, "left")}}
	s.c.Step(s.now, &message.Received{From: s.owner, Message: &message.Message{Submit: &message.Submit{Record: rec,
		Have: s.held}}})
}

// refuses has the submitter find a result of a worker wrong.
func (s *endings) refuses() {
	_, worker := schedtest.Identity(rapid.IntRange(10, 13).Draw(s.t, "refused"))
	s.c.Step(s.now, &message.Received{From: s.owner, Message: &message.Message{Got: &message.Got{Job: s.job.id,
		Have: s.held, Refused: []task.PeerID{worker}}}})
}

// check counts the ends of tasks by hand.
func (s *endings) check() {
	j := s.job
	var done, failed uint64
	for i := range j.total {
		brought := 0
		for _, k := range slices.Concat(j.ready, j.sent) {
			if k == i {
				brought++
			}
		}
		want := 0
		switch v := j.ledger.Verdict(i); v {
		case ledger.Done:
			done++
			want = 1
		case ledger.Failed:
			failed++
			want = 1
		}
		if j.ledger.Delivered(i) {
			want = 0
		}
		if brought != want {
			s.t.Fatalf("task %d, which is %v, is brought %d times: %v to come, %v sent", i, j.ledger.Verdict(i), brought,
				j.ready, j.sent)
		}
		if runs := len(j.live) > 0 && j.live[i] != nil; j.ledger.Verdict(i) == ledger.Open && j.state == jobOpen &&
			!runs && j.wants(i) == 0 {
			s.t.Fatalf("nobody runs task %d, and it does not wait", i)
		}
	}
	if j.done != done || j.failed != failed {
		s.t.Fatalf("%d tasks are done and %d failed, it counts %d and %d", done, failed, j.done, j.failed)
	}
	if err := checkGrid(s.c, j); err != nil {
		s.t.Fatal(err)
	}
	if over := done+failed == j.total; over != (j.state == jobOver) {
		s.t.Fatalf("of %d tasks %d ended, and the job is over: %v", j.total, done+failed, j.state == jobOver)
	}
}

// TestCountsFollowVerdicts: whatever copies tell of tasks, whose outputs are lost and what the
// submitter holds, the leader counts as done and failed what is, brings each end once, and ends
// the job when each task has ended. A task that is open again runs again.
func TestCountsFollowVerdicts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRan(t, func(j *task.Job) {
			j.Replicas = rapid.IntRange(1, 2).Draw(rt, "replicas")
			j.Retries = rapid.IntRange(0, 2).Draw(rt, "retries")
		})
		s := &endings{ran: r, t: rt, now: schedtest.Start, held: ledger.Set{{From: 0, To: 3}}}
		for range rapid.IntRange(1, 20).Draw(rt, "events") {
			s.now = s.now.Add(time.Second)
			switch rapid.IntRange(0, 9).Draw(rt, "event") {
			case 0, 1:
				s.got()
			case 2, 3:
				s.voids()
			case 4:
				s.facts()
			case 5:
				s.loses()
			case 6:
				s.refuses()
			default:
				s.tell()
			}
			s.check()
		}
		var again []uint64
		_, worker := schedtest.Identity(30)
		s.c.Step(s.now, message.MemberSeen{Advert: overlay.Advert{Peer: worker, Memory: 1 << 40, Speed: 1}})
		for _, e := range s.c.Step(s.now, &message.Received{From: worker, Message: &message.Message{Report: &message.Report{
			Epoch: 7, Slots: 9, Full: true}}}) {
			if e, ok := e.(message.Send); ok && e.Message.Place != nil {
				for _, l := range e.Message.Place.Leases {
					again = append(again, l.Task.Index)
				}
			}
		}
		for i := range s.job.total {
			if open := s.job.ledger.Verdict(i) == ledger.Open; open != slices.Contains(again, i) {
				rt.Fatalf("task %d is open: %v, and leases are of %v", i, open, again)
			}
		}
	})
}

// TestLostAtTheEnd: a submitter that lost a result of a job that was over is brought it again, as
// long as it is here; the job is over all the same, and nothing of it runs.
func TestLostAtTheEnd(t *testing.T) {
	s := newSigning(t)
	for i := uint64(3); i < 6; i++ {
		s.tells(5, i, rowOfRuns(s.leasedRun(3, 9, 9+i, s.task(i), task.Completed, "x")))
	}
	all := message.Range{From: 0, To: 6}
	s.c.Step(s.now, &message.Received{From: s.owner, Message: &message.Message{Got: &message.Got{Job: s.job.id,
		Have: []message.Range{all}}}})
	if s.job.state != jobOver || s.job.done != 6 || len(s.job.sent) != 0 {
		t.Fatalf("%d tasks are done, the job is over: %v", s.job.done, s.job.state == jobOver)
	}
	var brought []uint64
	for _, e := range s.submit(s.job.ledger.Record, message.Range{From: 0, To: 5}) {
		if e, ok := e.(message.Send); ok && e.Message.Progress != nil {
			for _, end := range e.Message.Progress.Tasks {
				brought = append(brought, end.Index)
			}
		}
	}
	if !slices.Equal(brought, []uint64{5}) || s.job.state != jobOver || s.job.done != 6 {
		t.Errorf("brought again are %v; %d tasks are done, and the job is over: %v", brought, s.job.done,
			s.job.state == jobOver)
	}
	if leases := s.worker(10); len(leases) != 0 {
		t.Errorf("leases are given: %+v", leases)
	}
}
