package scheduler

import (
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// newUneven is a leader of a job of two stages of eight tasks, of which the first asks for more memory, with a
// worker that lends so much.
func newUneven(t *testing.T, lends int64) (*madeBench, task.PeerID) {
	t.Helper()
	key, from := schedtest.Identity(5)
	_, self := schedtest.Identity(0)
	_, worker := schedtest.Identity(1)
	rec := schedtest.Job(t, key, 1, func(j *task.Job) {
		inStages(j)
		small := j.Stages[0]
		small.Name = "small"
		j.Stages = []task.Stage{j.Stages[0], small}
		j.Stages[0].Memory, j.Stages[1].Memory = 1<<30, 1<<20
		j.Stages[0].Work = time.Hour
	})
	b := &madeBench{c: NewCoordinator(self, Default(), 7), now: schedtest.Start, from: from, id: rec.ID()}
	b.step(message.MemberSeen{Advert: overlay.Advert{Peer: worker, Memory: lends, Speed: 1}})
	b.say(worker, message.Message{Report: &message.Report{Slots: 4, Full: true, Born: 1}})
	b.say(from, message.Message{Submit: &message.Submit{Record: rec}})
	b.step(message.Fetched{Key: coordinatorPrefix + ledger.JobKey(b.id)})
	return b, worker
}

// A member that has no room for the tasks of one stage gets those of another, and is told why not of the first.
func TestMemoryOfStages(t *testing.T) {
	for lends, want := range map[int64]struct{ first, small int }{
		1 << 20: {0, 1}, 1 << 24: {0, 4}, 1<<30 - 1: {0, 4}, 1 << 30: {1, 0}, 4 << 30: {4, 0}, 1: {},
	} {
		b, worker := newUneven(t, lends)
		for range 3 {
			b.step(message.Wake{})
		}
		got := [2]int{}
		var used int64
		for _, l := range b.c.members.hosts[worker].leases {
			stage, _ := l.job.spec.StageOf(l.task.index)
			got[stage]++
			used += l.memory()
		}
		if have := b.c.members.hosts[worker].memoryUsed; used != have {
			t.Errorf("what is there may have %d bytes, and by the books %d", used, have)
		}
		if got[0] < want.first || got[1] < want.small || want.first == 0 && got[0] > 0 {
			t.Errorf("a member that lends %d bytes has %d tasks of the first stage and %d of the other, want %+v", lends, got[0],
				got[1], want)
		}
		if lends == 1<<24 {
			if why := b.c.Why(b.id, 7); len(why) == 0 || !strings.Contains(why[0].Reason, "the task may need 1GiB") {
				t.Errorf("of a task that fits nowhere it is said: %+v", why)
			}
		}
	}
}

// What tasks of one stage take says nothing of another's.
func TestTimesOfStages(t *testing.T) {
	b, _ := newUneven(t, 1)
	j := b.c.table.jobs[b.id]
	if d, known := j.durationOf(0); !known || d != time.Hour {
		t.Errorf("by its owner's guess a task takes %v", d)
	}
	if d, known := j.workOf(8); known {
		t.Errorf("of the other stage nothing is known, and a task takes %v", d)
	}
	learnTimes(j, 9, nil, &task.Result{Wall: time.Second})
	learnTimes(j, 10, nil, &task.Result{Wall: time.Second})
	if d, known := j.durationOf(15); !known || d != time.Second {
		t.Errorf("tasks of the other stage took a second, and one takes %v", d)
	}
	if d, _ := j.durationOf(3); d != time.Hour {
		t.Errorf("then a task of the first takes %v", d)
	}
	if d, known := j.duration(); !known || d != time.Second {
		t.Errorf("tasks of the job took %v in the mean", d)
	}
}
