package replication

import (
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// acks returns what was said to a worker, and forgets it.
func (d *desk) acks(to task.PeerID) (out []*message.Ack) {
	for _, s := range d.sent {
		if s.To == to && s.Message.Ack != nil {
			out = append(out, s.Message.Ack)
		}
	}
	d.sent = nil
	return out
}

// Of an acknowledgement only what says that a result is held waits for the followers: what a
// worker is to drop, or to hand over, it hears at once, in the order in which it was written.
func TestOnlyResultsWait(t *testing.T) {
	name := func(d *desk, i uint64) message.AttemptName {
		return message.AttemptName{Task: task.TaskID{Job: d.id, Index: i}, Attempt: message.Attempt{Epoch: 3, Seq: i + 1}}
	}
	for _, tt := range []struct {
		name               string
		ended, drop, moves bool
	}{
		{"nothing", false, false, false},
		{"results", true, false, false},
		{"drops", false, true, false},
		{"orders to move", false, false, true},
		{"results and drops", true, true, false},
		{"results and orders", true, false, true},
		{"all", true, true, true},
	} {
		for _, behind := range []bool{false, true} {
			d := newDesk(t)
			ack := &message.Ack{Epoch: 3}
			if tt.ended {
				ack.Ended = []message.AttemptName{name(d, 0)}
			}
			if tt.drop {
				ack.Drop = []message.AttemptName{name(d, 1)}
			}
			if tt.moves {
				ack.Moves = []message.MoveOrder{{Task: name(d, 2).Task, To: "other"}}
			}
			if behind { // the follower has not got all yet
				d.r.Changed(Key{Job: d.id, Kind: Facts})
				d.r.SendCopies()
			}
			d.r.Acknowledge("worker", ack)
			var ended, drop, moves int
			for _, a := range d.acks("worker") {
				ended, drop, moves = ended+len(a.Ended), drop+len(a.Drop), moves+len(a.Moves)
			}
			if behind && ended != 0 || !behind && ended != len(ack.Ended) {
				t.Errorf("%s, behind: %v: %d results are acknowledged at once", tt.name, behind, ended)
			}
			if drop != len(ack.Drop) || moves != len(ack.Moves) {
				t.Errorf("%s, behind: %v: %d drops and %d orders are said at once, want %d and %d", tt.name, behind, drop, moves,
					len(ack.Drop), len(ack.Moves))
			}
		}
	}
}

// A result whose blocks are on their way to the first follower waits for them alone: others
// of the same worker do not, and a worker that repeats itself is not promised twice.
func TestSlowResultsWaitAlone(t *testing.T) {
	d := newDesk(t)
	quick := message.AttemptName{Task: task.TaskID{Job: d.id}}
	slow := message.AttemptName{Task: task.TaskID{Job: d.id, Index: 1}}
	hold := message.HoldName{Task: slow.Task, Kind: message.HoldOutputs}
	d.r.Hold(hold, true)
	d.step()
	copies := d.copies(follower1)
	for range 2 {
		d.r.Acknowledge("worker", &message.Ack{Epoch: 3, Ended: []message.AttemptName{slow, quick}})
	}
	if promises, _ := d.r.Waiting(); promises != 3 { // the quick one twice: what it costs is one name
		t.Errorf("%d promises wait", promises)
	}
	for _, c := range copies {
		d.r.Copied(follower1, &message.Copied{Epoch: 3, Session: c.Session, Seq: c.Seq})
	}
	d.step()
	said := d.acks("worker")
	for _, a := range said {
		if len(a.Ended) != 1 || a.Ended[0] != quick {
			t.Errorf("before the blocks are held it is said that %v", a.Ended)
		}
	}
	if len(said) == 0 {
		t.Error("the quick result waits for the blocks of another")
	}
	last := copies[len(copies)-1]
	d.r.Copied(follower1, &message.Copied{Epoch: 3, Session: last.Session, Seq: last.Seq,
		Held: []message.HeldBlocks{{Name: hold}}})
	d.step()
	if said = d.acks("worker"); len(said) != 1 || len(said[0].Ended) != 1 || said[0].Ended[0] != slow {
		t.Errorf("the blocks are held, and it is said that %+v", said)
	}
}

// Blocks that the first follower cannot fetch hold nothing up, and are asked for again a few
// times; what nobody needs any more is not.
func TestBlocksThatCannotBeFetched(t *testing.T) {
	d := newDesk(t)
	hold := message.HoldName{Task: task.TaskID{Job: d.id}, Kind: message.HoldJob}
	d.r.Hold(hold, true)
	asked := 0
	for range 100 {
		d.step()
		for _, c := range d.copies(follower1) {
			a := &message.Copied{Epoch: 3, Session: c.Session, Seq: c.Seq}
			if len(c.Hold) > 0 {
				asked++
				a.Held = []message.HeldBlocks{{Name: hold, Err: "gone"}}
			}
			d.r.Copied(follower1, a)
		}
		if d.r.awaited(hold) {
			t.Fatal("blocks that cannot be had hold up a promise")
		}
		d.now = d.now.Add(10 * time.Second)
		d.r.At(d.now, 3)
		d.r.Tick()
	}
	if _, orders := d.r.Waiting(); orders != 0 || asked != maxHoldTries || len(d.told) != maxHoldTries {
		t.Errorf("asked %d times, told of %d failures, %d orders are left", asked, len(d.told), orders)
	}
	d.r.Hold(hold, true)
	if d.r.ForgetHold(hold); d.r.awaited(hold) {
		t.Error("what nobody needs is waited for")
	}
	d.r.Copied(follower1, &message.Copied{Epoch: 3, Session: 1, Held: []message.HeldBlocks{{Name: hold}}}) // late
}

// An order of a job that is forgotten is dropped when it is to be given again: what it stands
// for is nothing, and nobody would ever answer it.
func TestOrdersOfAForgottenJob(t *testing.T) {
	d := newDesk(t)
	hold := message.HoldName{Task: task.TaskID{Job: d.id}, Kind: message.HoldJob}
	d.r.Hold(hold, true)
	d.step()
	for _, c := range d.copies(follower1) {
		d.r.Copied(follower1, &message.Copied{Epoch: 3, Session: c.Session, Seq: c.Seq,
			Held: []message.HeldBlocks{{Name: hold, Err: "not now"}}})
	}
	delete(d.ledger.Jobs, d.id)
	d.r.Changed(Key{Job: d.id, Kind: Gone})
	d.now = d.now.Add(holdPatience)
	d.r.At(d.now, 3)
	d.r.Tick()
	if _, orders := d.r.Waiting(); orders != 0 {
		t.Errorf("%d orders of a job that is forgotten wait", orders)
	}
}

// A follower that leaves the group is asked what it has, and gates nothing; one that comes
// back begins anew.
func TestLeavingTheGroup(t *testing.T) {
	d := newDesk(t)
	d.sent = nil
	d.r.GroupIs([]task.PeerID{"leader", follower2})
	if len(d.r.Followers()) != 1 || d.r.Followers()[0].Peer != follower2 {
		t.Errorf("the followers are %+v", d.r.Followers())
	}
	asked := false
	for _, s := range d.sent {
		asked = asked || s.To == follower1 && s.Message.Wanted != nil && s.Message.Wanted.Session == 0
	}
	if !asked {
		t.Error("who left is not asked what it has")
	}
	if _, ok := d.r.First(); ok {
		t.Error("nobody is in sync, and somebody is first")
	}
	d.r.Changed(Key{Job: d.id, Kind: Facts})
	d.r.Accept(d.id, "owner", nil)
	if d.step(); d.accepted() != 1 {
		t.Error("an acceptance waits for who left")
	}
	d.r.GroupIs([]task.PeerID{follower1, follower2})
	d.r.Known(follower1, &message.Known{Epoch: 3, Session: 2, Seq: 1, Last: true})
	for range 4 {
		d.step()
		d.ackAll(follower1)
	}
	if !d.inSync(follower1) {
		t.Errorf("who came back is not in sync: %+v", d.r.Followers())
	}
}
