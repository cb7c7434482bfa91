package member

import (
	"crypto/ed25519"
	"slices"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A liar is a peer that has gossiped an advert and speaks to the leader.
type liar struct {
	s   *swarm
	key ed25519.PrivateKey
	id  task.PeerID
}

func (s *swarm) liar(seed byte) *liar {
	l := &liar{s: s, key: ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), seed))}
	l.id = s.stranger(seed, func(a *overlay.Advert) { a.Slots = 0 })
	return l
}

func (l *liar) say(m message.Message) {
	h := l.s.leader()
	h.tell(&Said{Of: h.m, From: l.id, Message: &m})
	l.s.settle()
}

// result is one that the liar made up.
func (l *liar) result(id task.TaskID, o task.Outcome, r *task.Receipt) task.Result {
	out := []byte("made up")
	res := task.Result{Task: id, Outcome: o, Receipt: r}
	if o == task.Completed {
		res.Outputs = []task.Output{{Name: "stdout", CID: task.RawCID(out), Size: int64(len(out)), Inline: out}}
	} else {
		res.ExitCode = 1
	}
	if err := res.Sign(l.key); err != nil {
		l.s.tb.Fatal(err)
	}
	return res
}

// jobbed is a swarm of four in which a job of n long tasks waits: nobody lends a slot.
func jobbed(t *testing.T, n uint64) (*swarm, task.JobID) {
	s := newSwarm(t, 4)
	s.start()
	if !s.pass(time.Minute, func() bool { l := s.leader(); return l != nil && len(l.m.Group()) == overlay.GroupSize }) {
		t.Fatal("no leader with a group")
	}
	for _, h := range s.hosts {
		h.tell(Lent{State: message.OwnerState{State: overlay.UserPresent, Reason: "test"}})
	}
	s.settle()
	id := s.hosts[3].submit(n)
	if !s.pass(time.Minute, func() bool { return s.leader().m.Coordinator().LedgerCounts().Jobs == 1 }) {
		t.Fatal("the job is not accepted")
	}
	return s, id
}

// What a member that had no lease says of a task changes nothing: neither results, nor
// failures, nor that it holds the lease, with receipts that it signs itself or without.
func TestUnleasedIsNotHeard(t *testing.T) {
	s, id := jobbed(t, 4)
	l := s.liar(201)
	leader := s.leader()
	_, epoch := leader.m.lease.Leader()
	own := func(of task.TaskID, seq uint64) *task.Receipt {
		r, err := task.NewReceipt(l.key, l.id, of, l.id, task.Receipt{Epoch: overlay.NextEpoch(epoch, l.id), Seq: seq})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for i := range uint64(4) {
		of := task.TaskID{Job: id, Index: i}
		for _, r := range []*task.Receipt{nil, own(of, i)} {
			for seq := range uint64(6) {
				a := message.Attempt{Epoch: epoch, Seq: seq}
				l.say(message.Message{Report: &message.Report{Epoch: epoch, Ended: []message.Ending{
					{Attempt: a, Result: l.result(of, task.Completed, r)},
					{Attempt: a, Result: l.result(of, task.ExitFailure, r)},
				}}})
				l.say(message.Message{Report: &message.Report{Epoch: epoch, Full: true, Held: []message.Held{
					{Task: of, Attempt: a, Running: true, Receipt: r, After: message.Attempt{Epoch: epoch, Seq: seq + 1}},
				}}})
			}
		}
	}
	c := leader.m.Coordinator()
	if leader != s.leader() {
		t.Fatal("another leads")
	}
	sum := c.Jobs()[0].Tasks
	if sum.Done+sum.Failed+sum.Running > 0 {
		t.Errorf("after lies: %+v", sum)
	}
	s.hosts[2].tell(Lent{State: message.OwnerState{State: overlay.Available, Slots: 2}})
	if !s.pass(2*time.Minute, func() bool { return s.hosts[3].held(id) == 4 }) {
		t.Errorf("%d of 4 results", s.hosts[3].held(id))
	}
}

// Nor do rows that a member tells of, with results of workers that it made up.
func TestInventedWorkersAreNotBelieved(t *testing.T) {
	s, id := jobbed(t, 3)
	teller := s.liar(202)
	_, epoch := s.leader().m.lease.Leader()
	of := task.TaskID{Job: id}
	row := ledger.Row{}
	for n := range byte(5) {
		w := s.liar(210 + n)
		receipt, err := task.NewReceipt(teller.key, teller.id, of, w.id,
			task.Receipt{Epoch: overlay.NextEpoch(0, teller.id), Seq: 1})
		if err != nil {
			t.Fatal(err)
		}
		row.AddResult(message.Attempt{Epoch: epoch, Seq: uint64(n)}, w.result(of, task.Completed, receipt))
		row.AddResult(message.Attempt{Epoch: epoch, Seq: uint64(n)}, w.result(of, task.ExitFailure, receipt))
	}
	value, err := row.Encode()
	if err != nil {
		t.Fatal(err)
	}
	pairs := []message.Pair{{Key: ledger.RowKey(of), Value: value}}
	for seq, k := range []message.Known{{Jobs: []message.JobDigest{{Job: id}}}, {Pairs: pairs},
		{Pairs: pairs, Last: true}} {
		k.Epoch, k.Session, k.Seq = epoch, 7, uint64(seq+1)
		teller.say(message.Message{Known: &k})
	}
	sum := s.leader().m.Coordinator().Jobs()[0].Tasks
	if sum.Done+sum.Failed > 0 {
		t.Errorf("after lies: %+v", sum)
	}
}

// A result that was computed under a leader that died is believed by the next, by its
// receipt, though the next one's copy has nothing of the lease.
func TestReceiptOutlivesItsLeader(t *testing.T) {
	s := newSwarm(t, 5)
	s.start()
	if !s.pass(time.Minute, func() bool { l := s.leader(); return l != nil && len(l.m.Group()) == overlay.GroupSize }) {
		t.Fatal("no leader with a group")
	}
	first := s.leader()
	rest := slices.DeleteFunc(slices.Clone(s.hosts), func(h *host) bool { return h == first })
	id := rest[0].submit(40)
	if !s.pass(time.Minute, func() bool { return rest[0].held(id) > 0 }) {
		t.Fatal("no result")
	}
	first.crash()
	if !s.pass(5*time.Minute, func() bool { return rest[0].held(id) == 40 }) {
		t.Fatalf("%d of 40 results", rest[0].held(id))
	}
	for _, h := range s.hosts {
		if h.up {
			for _, n := range h.notices("a message is not heard") {
				if slices.Contains(n.Args, any("report")) {
					t.Errorf("host %d: %v", h.n, n)
				}
			}
		}
	}
}

// notices are those that a host's member told with that text.
func (h *host) notices(text string) (said []Notice) {
	for _, e := range h.asked {
		if n, ok := e.(Notice); ok && n.Text == text {
			said = append(said, n)
		}
	}
	return said
}

// A job that was signed for another overlay is no job here, whoever tells of it.
func TestRecordsOfOtherOverlays(t *testing.T) {
	s, _ := jobbed(t, 1)
	l := s.liar(203)
	foreign := schedtest.Job(t, l.key, 3, func(j *task.Job) { j.Overlay = "elsewhere" })
	_, epoch := s.leader().m.lease.Leader()
	l.say(message.Message{Submit: &message.Submit{Record: foreign}})
	pairs := []message.Pair{{Key: ledger.JobKey(foreign.ID()), Value: foreign.Encode()}}
	for seq, k := range []message.Known{{Jobs: []message.JobDigest{{Job: foreign.ID()}}}, {Pairs: pairs}, {Last: true}} {
		k.Epoch, k.Session, k.Seq = epoch, 9, uint64(seq+1)
		l.say(message.Message{Known: &k})
	}
	if n := len(s.leader().m.Coordinator().Jobs()); n != 1 {
		t.Errorf("%d jobs, want the one that was handed in here", n)
	}
}
