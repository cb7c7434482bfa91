package scheduler

import (
	"crypto/ed25519"
	"math"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// signing is a leader that signs receipts and asks for them, with a job of six tasks of which
// three are held. Node 0 leads, 1 owns the job, 3 led before, 66 is a liar.
type signing struct {
	*ran
	t    *testing.T
	now  time.Time
	told uint64 // sessions of those that tell
}

func newSigning(t *testing.T) *signing { return newSigningOf(t, nil) }

func newSigningOf(t *testing.T, change func(*task.Job)) *signing {
	t.Helper()
	r := newRan(t, change)
	key, self := schedtest.Identity(0)
	_, former := schedtest.Identity(3)
	r.c.cfg.Key = key
	r.c.Recognise(func(leader task.PeerID, _ uint64) bool { return leader == self || leader == former })
	return &signing{ran: r, t: t, now: schedtest.Start.Add(time.Minute)}
}

func (s *signing) task(i uint64) task.TaskID { return task.TaskID{Job: s.job.id, Index: i} }

// lease is a receipt of a task that leader gives worker, by their numbers, as of now.
func (s *signing) lease(leader, worker int, id task.TaskID) *task.Receipt {
	s.t.Helper()
	key, from := schedtest.Identity(leader)
	_, to := schedtest.Identity(worker)
	r, err := task.NewReceipt(key, from, id, to, task.Receipt{Epoch: 5, Seq: 9, Issued: s.now.UnixMilli()})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// vouched is a checkpoint that worker vouches for, by its number.
func (s *signing) vouched(worker int, receipt *task.Receipt, id task.TaskID, says string,
	fuel uint64) message.Checkpoint {
	s.t.Helper()
	key, _ := schedtest.Identity(worker)
	c := message.Checkpoint{CID: task.RawCID([]byte(says)), Fuel: fuel, CPU: time.Second}
	v, err := task.Vouch(key, receipt, c.ToVouch(id, [32]byte{}, nil))
	if err != nil {
		s.t.Fatal(err)
	}
	c.Voucher = v
	return c
}

// known has a member tell of a row with a checkpoint.
func (s *signing) known(from int, i uint64, c message.Checkpoint) {
	_, peer := schedtest.Identity(from)
	row := &ledger.Row{Best: &c, Log: []message.AttemptLog{{Attempt: message.Attempt{Epoch: 2, Seq: 1}, Worker: peer}}}
	s.tells(from, i, row)
}

// tells has a member tell of a row, in a session of its own, and returns the row that the leader
// has then.
func (s *signing) tells(from int, i uint64, row *ledger.Row) *ledger.Row {
	s.t.Helper()
	_, peer := schedtest.Identity(from)
	s.told++
	m, ok := travelled(s.t, message.Message{Known: &message.Known{Epoch: 7, Session: s.told, Seq: 1, Pairs: []message.Pair{
		{Key: ledger.RowKey(s.task(i)), Value: schedtest.Encoded(s.t, row)}}}})
	if !ok {
		s.t.Fatal("the frame is refused")
	}
	s.c.Step(s.now, &message.Received{From: peer, Message: &m})
	if got := s.job.ledger.Rows[i]; got != nil {
		return got
	}
	return &ledger.Row{}
}

// report has a worker say what it has; it returns the leases that it gets for it.
func (s *signing) report(from int, r message.Report) (leases []message.Lease) {
	s.t.Helper()
	_, peer := schedtest.Identity(from)
	r.Epoch, r.Slots, r.Full, r.Born, r.State = 7, 4, true, 1, uint8(overlay.Available)
	m, ok := travelled(s.t, message.Message{Report: &r})
	if !ok {
		s.t.Fatal("the frame is refused")
	}
	for _, e := range s.c.Step(s.now, &message.Received{From: peer, Message: &m}) {
		switch e := e.(type) {
		case message.Send:
			if e.Message.Place != nil {
				leases = append(leases, e.Message.Place.Leases...)
			}
		case message.Fetch:
			s.c.Step(s.now, message.Fetched{Key: e.Key})
		}
	}
	return leases
}

// worker brings a member with slots, and returns its leases.
func (s *signing) worker(n int) []message.Lease {
	_, peer := schedtest.Identity(n)
	s.c.Step(s.now, message.MemberSeen{Advert: overlay.Advert{Peer: peer, State: overlay.Available, Slots: 4,
		Memory: 1 << 30, Speed: 1}})
	return s.report(n, message.Report{})
}

// saves has a worker tell of a state of a lease that it holds.
func (s *signing) saves(worker int, l message.Lease, c message.Checkpoint) {
	s.report(worker, message.Report{Held: []message.Held{{Task: l.Task, Attempt: l.Attempt, Running: true}},
		Saved: []message.SavedState{{Task: l.Task, Attempt: l.Attempt, Checkpoint: c}}})
}

func (s *signing) best(i uint64) *message.Checkpoint {
	if row := s.job.ledger.Rows[i]; row != nil {
		return row.Best
	}
	return nil
}

// lies are checkpoints of a task that nobody took who had a lease of it.
func (s *signing) lies(id task.TaskID) map[string]message.Checkpoint {
	other := task.TaskID{Job: id.Job, Index: id.Index - 1}
	changed := s.vouched(66, s.lease(3, 66, id), id, "a lie", 5)
	changed.Fuel = 500
	honest, liar := s.lease(3, 9, id), s.lease(3, 66, id)
	return map[string]message.Checkpoint{
		"nobody vouches":              {CID: task.RawCID([]byte("a lie")), Fuel: math.MaxUint64},
		"its own receipt":             s.vouched(66, s.lease(66, 66, id), id, "a lie", 500),
		"another's receipt":           s.vouched(66, honest, id, "a lie", 500),
		"the receipt of another task": s.vouched(66, s.lease(3, 66, other), id, "a lie", 500),
		"no receipt":                  s.vouched(66, &task.Receipt{Leader: liar.Leader, Epoch: 5}, id, "a lie", 500),
		"changed since":               changed,
		"more work than there is":     s.vouched(66, liar, id, "a lie", math.MaxUint64),
		"a year of work in a minute":  s.vouched(66, liar, id, "a lie", 365*86400*10_000_000_000),
	}
}

// TestPoisonedCheckpoint: a member that had no lease of a task cannot name the state that it
// goes on from, nor keep an honest one out; one that had is believed, within what it can have
// done.
func TestPoisonedCheckpoint(t *testing.T) {
	for name := range newSigning(t).lies(task.TaskID{Index: 4}) {
		s := newSigning(t)
		lie := s.lies(s.task(4))[name]
		s.known(66, 4, lie)
		if s.best(4) != nil {
			t.Errorf("%s: the row has it", name)
		}
		if row := s.job.ledger.Rows[4]; row == nil || len(row.Log) != 1 {
			t.Errorf("%s: the rest of the row is lost", name)
		}
		var mine message.Lease
		for _, l := range s.worker(9) {
			if l.From != nil {
				t.Errorf("%s: a lease goes on from %+v", name, l.From)
			}
			if l.Task == s.task(4) {
				mine = l
			}
		}
		honest := s.vouched(9, mine.Receipt, s.task(4), "honest", 1000)
		s.saves(9, mine, honest)
		s.known(66, 4, lie)
		if b := s.best(4); b == nil || b.CID != honest.CID {
			t.Errorf("%s: the row has %+v in place of an honest one", name, b)
		}
	}
	s := newSigning(t)
	s.known(5, 4, s.vouched(9, s.lease(3, 9, s.task(4)), s.task(4), "honest", 500))
	if s.best(4) == nil {
		t.Fatal("an honest checkpoint that a copy has is lost")
	}
	for _, l := range s.worker(10) {
		if l.Task == s.task(4) && (l.From == nil || l.From.Voucher == nil || l.Receipt.From != l.From.CID) {
			t.Errorf("the lease goes on from %+v", l.From)
		}
	}
}

// TestForgedCheckpoint: who has a lease is not believed of work that no machine does
// meanwhile, nor with another's word; what was believed before stays.
func TestForgedCheckpoint(t *testing.T) {
	for name := range newSigning(t).lies(task.TaskID{Index: 4}) {
		s := newSigning(t)
		for _, l := range s.worker(66) {
			if l.Task != s.task(4) {
				continue
			}
			good := s.vouched(66, l.Receipt, l.Task, "good", 100)
			s.saves(66, l, good)
			s.saves(66, l, s.lies(l.Task)[name])
			if b := s.best(4); b == nil || b.CID != good.CID {
				t.Errorf("%s: the row has %+v", name, b)
			}
		}
	}
}

// TestWorkOfManyLeases: a task that goes on from a state, or was handed over, may have done
// as much as the time since its first lease allows.
func TestWorkOfManyLeases(t *testing.T) {
	s := newSigning(t)
	first := s.lease(3, 9, s.task(4))
	s.now = s.now.Add(time.Hour)
	const hour = 3600 * 1_000_000_000
	s.known(5, 4, s.vouched(9, first, s.task(4), "first", hour))
	for _, l := range s.worker(10) {
		if l.Task == s.task(4) {
			if l.Receipt.Begun() != first.Issued || l.Receipt.Issued != s.now.UnixMilli() {
				t.Errorf("the receipt is as of %d, begun %d", l.Receipt.Issued, l.Receipt.Begun())
			}
			s.saves(10, l, s.vouched(10, l.Receipt, l.Task, "second", 20*hour))
		}
	}
	if b := s.best(4); b == nil || b.Fuel != 20*hour {
		t.Errorf("the row has %+v", b)
	}
	l := s.job.live[4].leases[0]
	_, to := schedtest.Identity(11)
	l.move = &move{to: s.c.members.host(to), as: message.Attempt{Epoch: 7, Seq: 99}}
	s.c.transfers.offerMove(l)
	if r := s.c.outbox.letter(to).place.Leases[0].Receipt; r.Begun() != first.Issued || r.Seq != 99 {
		t.Errorf("of a hand-over: %+v", r)
	}
}

// TestFollowersAskToo: a follower takes the rest of a row that its leader sends with a
// checkpoint that nobody vouches for; what was kept of such is forgotten at a start.
func TestFollowersAskToo(t *testing.T) {
	s := newSigning(t)
	_, leader := schedtest.Identity(0)
	rec := s.job.ledger.Record
	good := s.vouched(9, s.lease(3, 9, s.task(4)), s.task(4), "good", 500)
	for name, tt := range map[string]struct {
		key  ed25519.PrivateKey
		best message.Checkpoint
		kept bool
	}{
		"vouched for": {s.c.cfg.Key, good, true},
		"by nobody":   {s.c.cfg.Key, message.Checkpoint{CID: good.CID, Fuel: 500}, false},
		"unsigned":    {nil, message.Checkpoint{CID: good.CID, Fuel: 500}, true},
	} {
		cfg := Default()
		cfg.Key = tt.key
		r := NewReplica("b", cfg)
		row := &ledger.Row{Best: &tt.best, Log: []message.AttemptLog{{Attempt: message.Attempt{Epoch: 2}, Worker: "w"}}}
		pairs := []message.Pair{{Key: ledger.JobKey(rec.ID()), Value: rec.Encode()},
			{Key: ledger.RowKey(s.task(4)), Value: schedtest.Encoded(t, row)}}
		r.Step(s.now, message.LeaderChanged{Leader: leader, Epoch: 9})
		r.session.state = following
		r.Step(s.now, &message.Received{From: leader, Message: &message.Message{Copy: &message.Copy{Epoch: 9,
			Session: r.session.id, Seq: 1, Pairs: pairs}}})
		r.readAll()
		got := r.ledger.Jobs[rec.ID()].Rows[4]
		if got == nil || (got.Best != nil) != tt.kept || len(got.Log) != 1 {
			t.Errorf("%s: the follower has %+v", name, got)
		}
		disk := map[string][]byte{}
		for _, p := range pairs {
			disk[coordinatorPrefix+p.Key] = p.Value
		}
		again := NewReplica("b", cfg)
		if _, err := again.Restore(disk); err != nil {
			t.Fatal(err)
		}
		if got := again.ledger.Jobs[rec.ID()].Rows[4]; got == nil || (got.Best != nil) != tt.kept {
			t.Errorf("%s: from its disk the follower has %+v", name, got)
		}
	}
}

// word is what a worker says of a state that its lease was to go on from.
func (s *signing) word(worker int, receipt *task.Receipt, id task.TaskID) *task.Voucher {
	s.t.Helper()
	key, _ := schedtest.Identity(worker)
	v, err := task.Vouch(key, receipt, task.State{Task: id, CID: receipt.From, Bad: true})
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// TestBadStateIsNotOfferedAgain: who was to go on from a state and could not is believed; the
// task begins anew everywhere, states of less work count again, and who made the bad one gets
// no task of the job for a while. Nobody else is believed.
func TestBadStateIsNotOfferedAgain(t *testing.T) {
	s := newSigning(t)
	id := s.task(4)
	lie := s.vouched(66, s.lease(3, 66, id), id, "cannot be gone on from", 1_000_000)
	s.known(66, 4, lie)
	var mine message.Lease
	for _, l := range s.worker(9) {
		if l.Task == id {
			mine = l
		}
	}
	if mine.From == nil || mine.From.CID != lie.CID {
		t.Fatalf("the lease goes on from %+v", mine.From)
	}
	s.worker(66)
	held := func(from int, l message.Lease, bad *task.Voucher) {
		s.report(from, message.Report{Held: []message.Held{{Task: l.Task, Attempt: l.Attempt, Running: true, Bad: bad}}})
	}
	forged := &task.Receipt{Leader: mine.Receipt.Leader, Epoch: 7, From: lie.CID}
	for name, v := range map[string]*task.Voucher{
		"another's word": s.word(66, mine.Receipt, id),
		"no lease":       s.word(9, forged, id),
	} {
		if held(9, mine, v); s.best(4) == nil {
			t.Fatalf("%s is believed", name)
		}
	}
	for range 2 { // it is repeated
		held(9, mine, s.word(9, mine.Receipt, id))
	}
	row := s.job.ledger.Rows[4]
	if row.State() != nil || len(row.Bad) != 1 || row.Round != 1 {
		t.Fatalf("the row has %+v", row)
	}
	_, maker := schedtest.Identity(66)
	if _, paused := s.c.members.hosts[maker].paused[s.job]; !paused {
		t.Error("who made it gets tasks of the job")
	}
	if l := s.job.live[4].leases[0]; l.saved.from != nil || l.saved.base != 0 {
		t.Error("the lease still goes on from it")
	}
	s.known(66, 4, lie)
	if row.State() != nil {
		t.Error("it is taken again")
	}
	s.saves(9, mine, s.vouched(9, mine.Receipt, id, "honest", 50))
	if b := row.State(); b == nil || b.Fuel != 50 {
		t.Errorf("an honest state of less work: the row has %+v", b)
	}
}

// TestCopiesTellOfBadStates: a copy's word on a state counts as the worker's that it is of.
func TestCopiesTellOfBadStates(t *testing.T) {
	for name, honest := range map[string]bool{"true": true, "a lie": false} {
		s := newSigning(t)
		id := s.task(4)
		state := s.vouched(9, s.lease(3, 9, id), id, "state", 500)
		s.known(5, 4, state)
		receipt := *s.lease(3, 10, id)
		leader, former := schedtest.Identity(3)
		if !honest {
			leader, former = schedtest.Identity(66)
		}
		receipt.From = state.CID
		_, to := schedtest.Identity(10)
		signed, err := task.NewReceipt(leader, former, id, to, receipt)
		if err != nil {
			t.Fatal(err)
		}
		row := &ledger.Row{Best: &state}
		row.VoidState(*s.word(10, signed, id))
		_, from := schedtest.Identity(66)
		s.c.Step(s.now, &message.Received{From: from, Message: &message.Message{Known: &message.Known{Epoch: 7, Session: 1,
			Seq: 1, Pairs: []message.Pair{{Key: ledger.RowKey(id), Value: schedtest.Encoded(t, row)}}}}})
		if void := s.job.ledger.Rows[4].State() == nil; void != honest {
			t.Errorf("%s: void is %v", name, void)
		}
	}
}
