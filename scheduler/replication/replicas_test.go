package replication

import (
	"fmt"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// desk is a Book with one job, and what its replicas have sent and asked for.
type desk struct {
	t      *testing.T
	r      *Replicas
	ledger *ledger.Ledger
	id     task.JobID
	now    time.Time
	sent   []message.Send
	told   []message.Decided
	ticks  []time.Time
	outrun uint64
	absorb error
}

func (d *desk) Ledger() *ledger.Ledger                                   { return d.ledger }
func (d *desk) Live(task.TaskID) []message.LiveLease                     { return nil }
func (d *desk) LiveTasks(task.JobID) []uint64                            { return nil }
func (d *desk) HeldBy(task.JobID, task.PeerID)                           {}
func (d *desk) Seeks(task.PeerID) bool                                   { return false }
func (d *desk) Outrun(_ task.PeerID, epoch uint64)                       { d.outrun = epoch }
func (d *desk) TickAt(at time.Time)                                      { d.ticks = append(d.ticks, at) }
func (d *desk) Absorb(_ task.PeerID, _ message.Pair) (task.JobID, error) { return d.id, d.absorb }

func (d *desk) Blocks(n message.HoldName) (message.Hold, bool) {
	return message.Hold{Name: n, CIDs: []task.CID{"block"}}, d.ledger.Jobs[n.Task.Job] != nil
}

func (d *desk) Emit(e message.Effect) {
	switch e := e.(type) {
	case message.Send:
		d.sent = append(d.sent, e)
	case message.Decided:
		d.told = append(d.told, e)
	}
}

const follower1, follower2 task.PeerID = "first", "second"

// newDesk is a leader of epoch 3 with two followers, of which the first is in sync.
func newDesk(t *testing.T) *desk {
	d := &desk{t: t, ledger: ledger.New(), now: schedtest.Start}
	key, _ := schedtest.Identity(3)
	rec := schedtest.Job(t, key, 4, nil)
	if _, err := d.ledger.Add(rec); err != nil {
		t.Fatal(err)
	}
	d.id = rec.ID()
	timing := message.DefaultTiming()
	d.r = New("leader", &timing, d)
	d.r.At(d.now, 3)
	d.r.GroupIs([]task.PeerID{"leader", follower1, follower2})
	d.join(follower1)
	return d
}

// join has a follower that knows nothing begin a session, and take all that it is told.
func (d *desk) join(p task.PeerID) {
	d.t.Helper()
	d.r.Known(p, &message.Known{Epoch: 3, Session: 1, Seq: 1, Last: true})
	for range 8 {
		d.step()
		d.ackAll(p)
	}
	if !d.inSync(p) {
		d.t.Fatalf("%s is not in sync: %+v", p, d.r.Followers())
	}
}

func (d *desk) step() {
	d.r.ShareUrgent()
	d.r.SendCopies()
	d.r.SendPromises()
}

func (d *desk) inSync(p task.PeerID) bool {
	for _, f := range d.r.Followers() {
		if f.Peer == p {
			return f.InSync
		}
	}
	return false
}

// copies returns what was sent to a follower as copies, and forgets it.
func (d *desk) copies(p task.PeerID) (out []*message.Copy) {
	keep := d.sent[:0]
	for _, s := range d.sent {
		if s.To == p && s.Message.Copy != nil {
			out = append(out, s.Message.Copy)
		} else {
			keep = append(keep, s)
		}
	}
	d.sent = keep
	return out
}

func (d *desk) ackAll(p task.PeerID, held ...message.HeldBlocks) {
	for _, c := range d.copies(p) {
		d.r.Copied(p, &message.Copied{Epoch: 3, Session: c.Session, Seq: c.Seq, Held: held})
	}
}

// accepted counts the acceptances that have left.
func (d *desk) accepted() (n int) {
	for _, s := range d.sent {
		if s.Message.Accepted != nil {
			n++
		}
	}
	return n
}

// A promise leaves when the follower in sync has what it rests on, and the blocks; one that is
// not in sync, or is suspected, holds up nothing.
func TestPromiseWaits(t *testing.T) {
	for name, suspected := range map[string]bool{"answered": false, "suspected": true} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			hold := message.HoldName{Task: task.TaskID{Job: d.id}, Kind: message.HoldJob}
			d.r.Changed(Key{Job: d.id, Kind: Record})
			d.r.Hold(hold, true)
			d.r.Accept(d.id, "owner", nil)
			d.r.Accept(d.id, "owner", nil) // once is enough
			d.step()
			if promises, orders := d.r.Waiting(); promises != 1 || orders != 1 || d.accepted() != 0 {
				t.Fatalf("%d promises and %d orders wait, %d acceptances have left", promises, orders, d.accepted())
			}
			if suspected {
				d.r.Suspect(follower1, "it is silent")
				d.step()
			} else {
				d.ackAll(follower1)
				if d.step(); d.accepted() != 0 {
					t.Fatal("accepted before the blocks are held")
				}
				d.r.Changed(Key{Job: d.id, Kind: Facts})
				d.step()
				d.ackAll(follower1, message.HeldBlocks{Name: hold})
				d.step()
			}
			if promises, _ := d.r.Waiting(); promises != 0 || d.accepted() != 1 {
				t.Errorf("%d promises wait, %d acceptances have left; want one that has", promises, d.accepted())
			}
		})
	}
}

// What is not acknowledged is sent again, and no more of it than the window at once.
func TestCopiesAreRepeated(t *testing.T) {
	d := newDesk(t)
	for i := range uint64(3 * copyWindow) {
		d.r.Changed(Key{Job: d.id, Kind: Kind(i % 2)})
		d.step()
	}
	first := d.copies(follower1)
	if len(first) == 0 || len(first) > copyWindow {
		t.Fatalf("%d copies are on their way, the window is %d", len(first), copyWindow)
	}
	d.now = d.now.Add(resendAfter)
	d.r.At(d.now, 3)
	d.r.Tick()
	again := d.copies(follower1)
	if len(again) != len(first) || again[0].Seq != first[0].Seq {
		t.Errorf("%d copies were repeated, want %d", len(again), len(first))
	}
	d.r.Copied(follower1, &message.Copied{Epoch: 3, Session: 7, Seq: first[0].Seq}) // of another session
	if d.r.followers[follower1].sent[0].copy.Seq != first[0].Seq {
		t.Error("an answer of another session was taken")
	}
}

// Sessions are of one epoch, and whoever obeys a higher one is heard.
func TestEpochs(t *testing.T) {
	d := newDesk(t)
	d.r.Begin()
	if f := d.r.Followers()[0]; f.InSync || !f.Rejoining {
		t.Errorf("after a new epoch: %+v", f)
	}
	if _, ok := d.r.First(); !ok {
		t.Error("promises must wait for a follower that was in sync")
	}
	d.r.Known(follower2, &message.Known{Epoch: 9, Session: 1, Seq: 1})
	if d.outrun != 9 {
		t.Errorf("outrun by %d, want 9", d.outrun)
	}
}

// Replicas outside the group that tell what they know are bounded; what cannot be believed of
// it is refused, and its teller keeps its copy.
func TestTellers(t *testing.T) {
	d := newDesk(t)
	d.absorb = fmt.Errorf("a lie")
	for i := range 2 * maxTellers {
		d.r.Known(task.PeerID(fmt.Sprint("stranger", i)), &message.Known{
			Epoch: 3, Session: 1, Seq: 1, Pairs: []message.Pair{{Key: ledger.JobKey(d.id)}},
		})
	}
	if n := d.r.tellers(); n != maxTellers {
		t.Errorf("%d tell at one time, want %d", n, maxTellers)
	}
	if len(d.told) != maxTellers || d.told[0].Action != "refused" {
		t.Errorf("%d lies were told of", len(d.told))
	}
	d.now = d.now.Add(tellerLife)
	d.r.At(d.now, 3)
	if d.r.Tick(); d.r.tellers() != 0 {
		t.Errorf("%d that fell silent are kept", d.r.tellers())
	}
}

// Leases that change often cost followers one message a tick, where tasks are short.
func TestLeasesWaitForTheTick(t *testing.T) {
	d := newDesk(t)
	id := task.TaskID{Job: d.id, Index: 1}
	d.r.LeaseChanged(id, time.Second, true)
	if d.r.urgent {
		t.Error("a short task's lease is told at once")
	}
	d.r.LeaseChanged(id, longTask, true)
	if _, changed := d.r.Leases(); !d.r.urgent || changed != 1 {
		t.Error("a long task's lease waits for the tick")
	}
	d.step()
	if _, changed := d.r.Leases(); changed != 0 {
		t.Error("it was not told")
	}
}

// TestFollowerThatIsStuck: a follower that is heard and acknowledges nothing holds up
// promises for a while only, and is waited for again when it has everything.
func TestFollowerThatIsStuck(t *testing.T) {
	d := newDesk(t)
	d.r.Changed(Key{Job: d.id, Kind: Facts})
	d.r.Accept(d.id, "submitter", nil)
	d.step()
	first := d.copies(follower1)
	if d.accepted() != 0 || len(first) != 1 {
		t.Fatalf("%d acceptances left at once, %d copies", d.accepted(), len(first))
	}
	for at := time.Duration(0); at < 2*stuckAfter; at += TickEvery {
		d.now = d.now.Add(TickEvery)
		d.r.At(d.now, 3)
		d.r.Copied(follower1, &message.Copied{Epoch: 3, Session: 1, Seq: first[0].Seq - 1}) // it lives
		d.r.Tick()
		d.step()
		if early := d.accepted() > 0 && at < stuckAfter/2; early {
			t.Fatalf("promised after %v, though a follower in sync has not got it", at)
		}
	}
	if d.accepted() != 1 || d.inSync(follower1) {
		t.Errorf("%d acceptances left, in sync %v", d.accepted(), d.inSync(follower1))
	}
	said := 0
	for _, x := range d.told {
		if x.Action == "not waited for" && x.Peer == follower1 {
			said++
		}
	}
	if said != 1 {
		t.Errorf("said %d times that it is not waited for", said)
	}
	for range 9 {
		d.ackAll(follower1)
		d.step()
	}
	d.r.Copied(follower1, &message.Copied{Epoch: 3, Session: 1, Seq: first[0].Seq})
	if !d.inSync(follower1) {
		t.Error("it has everything and is not waited for")
	}
}

// TestNothingAfterTheLast: who goes on telling after its last word is asked to begin anew,
// and is heard again when it does.
func TestNothingAfterTheLast(t *testing.T) {
	d := newDesk(t)
	for _, p := range []task.PeerID{follower1, "outside"} {
		d.r.Known(p, &message.Known{Epoch: 3, Session: 5, Seq: 1, Last: true})
		d.sent = nil
		d.r.Known(p, &message.Known{Epoch: 3, Session: 5, Seq: 2, Jobs: []message.JobDigest{{Job: d.id}}})
		if len(d.sent) != 1 || d.sent[0].Message.Wanted == nil || d.sent[0].Message.Wanted.Session != 0 {
			t.Errorf("%s told more after its last word and was answered %+v", p, d.sent)
		}
		d.sent = nil
		d.r.Known(p, &message.Known{Epoch: 3, Session: 6, Seq: 1, Jobs: []message.JobDigest{{Job: d.id}}})
		if len(d.sent) == 0 || d.sent[0].Message.Wanted.Session != 6 {
			t.Errorf("%s began anew and was answered %+v", p, d.sent)
		}
	}
}
