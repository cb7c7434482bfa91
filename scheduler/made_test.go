package scheduler

import (
	"fmt"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A madeBench is a leader of a job of five stages, and what it said last to the submitter.
type madeBench struct {
	c    *Coordinator
	now  time.Time
	from task.PeerID
	id   task.JobID
	last *message.Progress
}

// newMadeBench has a submitter that holds the first tasks by its word.
func newMadeBench(t *testing.T, taken uint64) *madeBench {
	key, from := schedtest.Identity(5)
	_, self := schedtest.Identity(0)
	rec := schedtest.Job(t, key, 1, inStages)
	b := &madeBench{c: NewCoordinator(self, Default(), 7), now: schedtest.Start, from: from, id: rec.ID()}
	b.say(from, message.Message{Submit: &message.Submit{Record: rec, Taken: []message.Range{{From: 0, To: taken}}}})
	b.step(message.Fetched{Key: coordinatorPrefix + ledger.JobKey(b.id)})
	return b
}

func (b *madeBench) step(ev message.Event) {
	for _, e := range b.c.Step(b.now, ev) {
		if s, ok := e.(message.Send); ok && s.Message.Progress != nil {
			b.last = s.Message.Progress
		}
	}
	b.now = b.now.Add(time.Second)
}

func (b *madeBench) say(from task.PeerID, m message.Message) {
	b.step(&message.Received{From: from, Message: &m})
}

// ready lists the tasks that wait for a worker, of the stage that reads the first.
func (b *madeBench) ready() (out []uint64) {
	j := b.c.table.jobs[b.id]
	for i := range j.total {
		if j.wants(i) > 0 {
			out = append(out, i)
		}
	}
	return out
}

func madeOf(id task.JobID, i uint64) message.MadeTask {
	return message.MadeTask{Index: i, Outputs: []task.Output{outputOf(task.TaskID{Job: id, Index: i})}}
}

// What a submitter holds, and nobody here has the rows of, does not run; the leader asks for it, and what reads it
// runs once it is told, task by task.
func TestMade(t *testing.T) {
	b := newMadeBench(t, 8)
	if got := b.ready(); len(got) > 0 {
		t.Fatalf("tasks %v are to run", got)
	}
	if b.last == nil || fmt.Sprint(b.last.Unknown) != "[{0 8}]" {
		t.Fatalf("the submitter is asked for %+v", b.last)
	}
	b.say(b.from, message.Message{Made: &message.Made{Job: b.id, Tasks: []message.MadeTask{madeOf(b.id, 2),
		madeOf(b.id, 5), {Index: 3, Failed: true}}}})
	if got := fmt.Sprint(b.ready()); got != "[10 13]" {
		t.Errorf("tasks %s are to run, want those that read 2 and 5", got)
	}
	if got := fmt.Sprint(b.last.Unknown); got != "[{0 2} {4 5} {6 8}]" {
		t.Errorf("the submitter is asked for %s", got)
	}
	r, ok := b.c.table.jobs[b.id].reads(10)
	if !ok || len(r.Files) != 1 || r.Files[0].Name != "begin/stdout" || r.Sources[0] != b.from {
		t.Errorf("a lease would name %+v", r)
	}
	// It lost its disk: what it held runs again.
	b.say(b.from, message.Message{Got: &message.Got{Job: b.id}})
	if got := fmt.Sprint(b.ready()); got != "[0 1 2 3 4 5 6 7]" {
		t.Errorf("then tasks %s are to run", got)
	}
}

// Of what is made only its submitter speaks, of tasks that it said it holds, with outputs that they may have.
func TestHostileMade(t *testing.T) {
	_, stranger := schedtest.Identity(6)
	for name, tt := range map[string]struct {
		from func(b *madeBench) task.PeerID
		made func(b *madeBench) message.MadeTask
	}{
		"another's word":  {func(*madeBench) task.PeerID { return stranger }, nil},
		"of no task":      {nil, func(b *madeBench) message.MadeTask { return madeOf(b.id, 1<<40) }},
		"of one not held": {nil, func(b *madeBench) message.MadeTask { return madeOf(b.id, 7) }},
		"an odd name": {nil, func(*madeBench) message.MadeTask {
			return message.MadeTask{Index: 2, Outputs: []task.Output{{Name: "../x"}}}
		}},
		"too much in it": {nil, func(b *madeBench) message.MadeTask {
			m := madeOf(b.id, 2)
			m.Outputs[0].Inline = make([]byte, task.MaxInline+1)
			return m
		}},
	} {
		b := newMadeBench(t, 7)
		from, made := b.from, madeOf(b.id, 2)
		if tt.from != nil {
			from = tt.from(b)
		}
		if tt.made != nil {
			made = tt.made(b)
		}
		b.say(from, message.Message{Made: &message.Made{Job: b.id, Tasks: []message.MadeTask{made}}})
		b.say(from, message.Message{Made: &message.Made{Job: "none", Tasks: []message.MadeTask{made}}})
		if got := fmt.Sprint(b.ready()); got != "[7]" {
			t.Errorf("%s: tasks %s are to run", name, got)
		}
	}
}
