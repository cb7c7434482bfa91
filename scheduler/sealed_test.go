package scheduler

import (
	"bytes"
	"strings"
	"testing"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A sealed job without its key is refused with a reason by a leader, and copied by nobody:
// each that has the job has the key, so that whoever leads next can have it run.
func TestSealedNeedsItsKey(t *testing.T) {
	key, owner := schedtest.Identity(1)
	_, self := schedtest.Identity(0)
	_, other := schedtest.Identity(2)
	whole := schedtest.Job(t, key, 2, schedtest.Seal)
	wrong, none, needless := whole, whole, schedtest.Job(t, key, 2, nil)
	wrong.Key = bytes.Repeat([]byte{8}, task.KeySize)
	none.Key = nil
	needless.Key = wrong.Key
	for name, tt := range map[string]struct {
		record task.Record
		taken  bool
	}{
		"its key": {whole, true}, "another": {wrong, false}, "no key": {none, false},
		"a key where none is": {needless, false},
	} {
		id := tt.record.ID()
		c := NewCoordinator(self, Default(), 7)
		refused := ""
		for _, e := range c.Step(schedtest.Start, &message.Received{From: owner,
			Message: &message.Message{Submit: &message.Submit{Record: tt.record}}}) {
			if s, ok := e.(message.Send); ok && s.Message.Accepted != nil {
				refused = s.Message.Accepted.Error
			}
		}
		if taken := c.table.jobs[id] != nil; taken != tt.taken || strings.Contains(refused, "key") == taken {
			t.Errorf("offered with %s: taken %v, %q", name, taken, refused)
		}
		pairs := []message.Pair{{Key: ledger.JobKey(id), Value: tt.record.Whole()}}
		c = NewCoordinator(self, Default(), 7)
		c.Step(schedtest.Start, &message.Received{From: other, Message: &message.Message{
			Known: &message.Known{Epoch: 7, Session: 1, Seq: 1, Pairs: pairs}}})
		if taken := c.ledger.Jobs[id] != nil; taken != tt.taken {
			t.Errorf("told by a replica with %s: taken %v", name, taken)
		}
		r := NewReplica(self, Default())
		r.Step(schedtest.Start, message.LeaderChanged{Leader: other, Epoch: 9})
		r.session.state = following
		effects := r.Step(schedtest.Start, &message.Received{From: other, Message: &message.Message{
			Copy: &message.Copy{Epoch: 9, Session: r.session.id, Seq: 1, Pairs: pairs}}})
		if taken := r.ledger.Jobs[id] != nil; taken != tt.taken {
			t.Errorf("copied with %s: taken %v", name, taken)
		}
		if tt.taken {
			checkKeptKey(t, effects, id, r)
		}
	}
}

// checkKeptKey fails if a replica does not come back with the key of a job, or does not tell it.
func checkKeptKey(t *testing.T, effects []message.Effect, id task.JobID, r *Replica) {
	t.Helper()
	disk := map[string][]byte{}
	for _, e := range effects {
		if p, ok := e.(message.Persist); ok {
			disk[p.Key] = p.Value
		}
	}
	again := NewReplica(r.self, Default())
	if _, err := again.Restore(disk); err != nil {
		t.Fatal(err)
	}
	if j := again.ledger.Jobs[id]; j == nil || !bytes.Equal(j.Record.Key, schedtest.ContentKey) {
		t.Errorf("after a restart the job is %+v", j)
	}
	told, err := task.DecodeWhole(again.value(ledger.JobKey(id)))
	if err != nil || !bytes.Equal(told.Key, schedtest.ContentKey) {
		t.Errorf("it tells the key %x, %v", told.Key, err)
	}
}

// A worker gets the key of a sealed job with its leases, and the job's submitter when it asks;
// nobody else is told, and of other jobs there is none.
func TestWhoGetsTheKey(t *testing.T) {
	l := newLedTest(t)
	key, owner := schedtest.Identity(1)
	_, worker := schedtest.Identity(3)
	sealed, open := schedtest.Job(t, key, 1, schedtest.Seal), schedtest.Job(t, key, 2, nil)
	l.leader(message.MemberSeen{Advert: overlay.Advert{Peer: worker, Memory: 1 << 40, Speed: 1}})
	l.leader(&message.Received{From: worker, Message: &message.Message{Report: &message.Report{Slots: 3, Full: true}}})
	keys := map[task.JobID][]byte{}
	placed := map[task.JobID]bool{}
	for _, rec := range []task.Record{sealed, open} {
		l.now = l.now.Add(1)
		submit := &message.Received{From: owner, Message: &message.Message{Submit: &message.Submit{Record: rec}}}
		for _, e := range append(l.c.Step(l.now, submit),
			l.c.Step(l.now, message.Fetched{Key: coordinatorPrefix + ledger.JobKey(rec.ID())})...) {
			if s, ok := e.(message.Send); ok && s.Message.Place != nil {
				for i := range s.Message.Place.Leases {
					placed[s.Message.Place.Leases[i].Task.Job] = true
				}
				for id, k := range s.Message.Place.Keys {
					keys[id] = k
				}
			}
		}
	}
	if len(placed) != 2 || len(keys) != 1 || !bytes.Equal(keys[sealed.ID()], schedtest.ContentKey) {
		t.Errorf("leases of %v come with the keys %x", placed, keys)
	}
	for _, tt := range []struct {
		id    task.JobID
		owner task.PeerID
		key   []byte
		known bool
	}{{sealed.ID(), owner, schedtest.ContentKey, true}, {open.ID(), owner, nil, true}, {"", "", nil, false}} {
		who, key, known := l.c.Submitter(tt.id)
		if who != tt.owner || !bytes.Equal(key, tt.key) || known != tt.known {
			t.Errorf("job %s is %s's, with key %x, %v", tt.id, who, key, known)
		}
	}
}
