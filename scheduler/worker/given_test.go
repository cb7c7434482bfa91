package worker

import (
	"slices"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// newGiver is a keeper that knows whose job it is.
func newGiver(t *testing.T) (*keeper, task.PeerID) {
	k := newKeeper(t)
	_, owner := schedtest.Identity(8)
	k.place(k.leases(5, 100))
	k.step(message.Prepared{ID: k.job, Job: k.spec, Submitter: owner})
	return k, owner
}

// got has a peer ask for what it does not hold, and lists what it is told.
func (k *keeper) got(from task.PeerID, final bool, have ...uint64) (told []uint64) {
	g := &message.Got{Job: k.job, Final: final, Asks: true}
	for _, i := range have {
		g.Have = append(g.Have, message.Range{From: i, To: i + 1})
	}
	k.step(&message.Received{From: from, Message: &message.Message{Got: g}})
	for _, e := range k.last {
		if s, ok := e.(message.Send); ok && s.Message.Progress != nil {
			if s.To != from || !s.Message.Progress.Made {
				k.Errorf("%s is told", s.To)
			}
			for _, t := range s.Message.Progress.Tasks {
				told = append(told, t.Index)
			}
		}
	}
	slices.Sort(told)
	return told
}

// What a leader says that it has, its submitter gets from the worker if it asks, as what no leader took; nobody else
// does, and what it holds is forgotten.
func TestGivenResults(t *testing.T) {
	k, owner := newGiver(t)
	for i := range uint64(4) {
		k.run(i, 1)
	}
	k.endSigned(100, task.Trapped, 0)
	k.acknowledge(5, 0, 1, 100)
	_, stranger := schedtest.Identity(9)
	if told := k.got(stranger, false); told != nil {
		t.Errorf("a stranger is told of %v", told)
	}
	k.want("told", k.got(owner, false), []uint64{0, 1, 2, 3, 100})
	if !slices.Contains(k.w.Roots(), task.RawCID([]byte{0})) {
		t.Error("the output of what was acknowledged may be collected")
	}
	k.want("not held", k.got(owner, false, 0, 2), []uint64{1, 3, 100})
	if slices.Contains(k.w.Roots(), task.RawCID([]byte{0})) || !slices.Equal(unackedTasks(k.w), []uint64{1, 3}) &&
		!slices.Equal(unackedTasks(k.w), []uint64{3}) {
		t.Errorf("roots %v, unacknowledged %v", k.w.Roots(), unackedTasks(k.w))
	}
	k.want("over", k.got(owner, true), nil)
	if k.w.HasResults(k.job) {
		t.Error("what nobody needs is kept")
	}
}

// A lease of a task that goes on elsewhere has no result to tell, nor has one that was interrupted.
func TestGivenIsAnEnd(t *testing.T) {
	k, owner := newGiver(t)
	k.endSigned(100, task.Interrupted, 0)
	k.want("told", k.got(owner, false), nil)
	k.acknowledge(5, 100)
	k.want("told later", k.got(owner, false), nil)
}

// What was acknowledged is kept for a while, and no more of it than may be.
func TestGivenIsBounded(t *testing.T) {
	k, owner := newGiver(t)
	k.run(1, 1)
	k.acknowledge(5, 1)
	k.pass(keepGiven - time.Minute)
	k.want("kept", k.got(owner, false), []uint64{1})
	k.pass(2 * time.Minute)
	k.want("for too long", k.got(owner, false), nil)

	var g given
	u := &unacked{submitter: owner, ending: message.Ending{Result: task.Result{Outcome: task.Completed}}}
	for range 2 * mostGiven {
		g.add(u, k.now)
	}
	if len(g.all) != mostGiven && g.bytes <= mostGivenBytes {
		t.Errorf("%d are kept", len(g.all))
	}
	u.bytes = mostGivenOutputs / 2
	for range 4 {
		g.add(u, k.now)
	}
	if g.outputs > mostGivenOutputs || g.bytes > mostGivenBytes || len(g.all) == 0 {
		t.Errorf("%d of %d bytes are kept, of %d results", g.outputs, g.bytes, len(g.all))
	}
	g.expire(k.now.Add(keepGiven))
	if len(g.all) > 0 || g.bytes != 0 || g.outputs != 0 {
		t.Errorf("%+v are left", g)
	}
}
