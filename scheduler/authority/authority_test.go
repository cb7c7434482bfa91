package authority

import (
	"crypto/ed25519"
	"errors"
	"math"
	"reflect"
	"testing"

	"godwit/scheduler/message"
	"godwit/task"
)

// A member that knows who is who: peers go by the number of their key.
type known struct{}

func key(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), n))
}

func peer(n byte) task.PeerID { return task.PeerIDOf(key(n).Public().(ed25519.PublicKey)) }

const (
	leader    = iota // leads
	owner            // submitted the job
	worker           // has attempt 1 of task 0
	member           // has nothing
	former           // led before
	stranger         // is no member
	elsewhere        // leads another cell, and is a member as far as is known
)

var (
	job = task.JobID(task.RawCID([]byte("job")))
	id  = task.TaskID{Job: job}
)

func (known) Self() task.PeerID         { return peer(worker) }
func (known) Member(p task.PeerID) bool { return p != peer(stranger) }
func (known) Leads(p task.PeerID) (epoch uint64, leads bool) {
	return 9, p == peer(leader)
}
func (known) LeadsCell(p task.PeerID) bool { return p == peer(elsewhere) }

// Coordinates: the former leader is of the group still.
func (known) Coordinates(p task.PeerID) bool { return p == peer(leader) || p == peer(former) }
func (known) Submitter(j task.JobID) (task.PeerID, bool) {
	return peer(owner), j == job
}
func (known) Leased(t task.TaskID, a message.Attempt, w task.PeerID) (*task.Receipt, bool) {
	if t == id && a == (message.Attempt{Epoch: 9, Seq: 1}) && w == peer(worker) {
		return given, true
	}
	return nil, false
}

// given is the receipt of that attempt. What makes it good is that it was given: its signature,
// which would not do, is not looked at.
var given = &task.Receipt{Leader: peer(leader), Epoch: 9, Seq: 1, Issued: 7, Signature: []byte("as it was given")}

func (known) Led(p task.PeerID, epoch uint64) bool {
	return p == peer(former) && epoch == 5 || p == peer(leader) && epoch == 9
}
func (known) Receipts() bool { return true }

func (known) Submits(r *task.Record) task.PeerID { return r.Submitter() }

// receipt is what signer gives to n for a task: as the second attempt of epoch 5, or the
// leader to its worker as the first of epoch 9.
func receipt(t *testing.T, signer, n byte, of task.TaskID) *task.Receipt {
	t.Helper()
	given := task.Receipt{Epoch: 5, Seq: 2}
	if signer == leader && n == worker {
		given = task.Receipt{Epoch: 9, Seq: 1}
	}
	r, err := task.NewReceipt(key(signer), peer(signer), of, peer(n), given)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWhoMaySay has a line for each of the table in docs/protocol.md.
func TestWhoMaySay(t *testing.T) {
	mine := task.Record{PublicKey: key(owner).Public().(ed25519.PublicKey)}
	for name, tt := range map[string]struct {
		message message.Message
		may     []byte // who of the seven
	}{
		"a job is offered by who signed it": {message.Message{Submit: &message.Submit{Record: mine}},
			[]byte{owner}},
		"its owner says what he holds": {message.Message{Got: &message.Got{Job: job}}, []byte{owner}},
		"of a job that is not known any member does": {message.Message{Got: &message.Got{}},
			[]byte{leader, owner, worker, member, former, elsewhere}},
		"a cancel is signed, whoever brings it": {message.Message{Cancel: &message.Cancel{}},
			[]byte{leader, owner, worker, member, former, stranger, elsewhere}},
		"a cell's leader accepts": {message.Message{Accepted: &message.Accepted{}}, []byte{leader, elsewhere}},
		"members tell of ends, to who asked them": {message.Message{Progress: &message.Progress{}},
			[]byte{leader, owner, worker, member, former, elsewhere}},
		"the leader places":                   {message.Message{Place: &message.Place{}}, []byte{leader}},
		"the leader acknowledges":             {message.Message{Ack: &message.Ack{}}, []byte{leader}},
		"the leader asks for what a copy has": {message.Message{Wanted: &message.Wanted{}}, []byte{leader}},
		"the leader changes copies":           {message.Message{Copy: &message.Copy{}}, []byte{leader}},
		"nobody leads in a later epoch than is known, by a place": {
			message.Message{Place: &message.Place{Epoch: 10}}, nil},
		"nor by a lease": {message.Message{Place: &message.Place{Epoch: 9,
			Leases: []message.Lease{{}, {Attempt: message.Attempt{Epoch: 10}}}}}, nil},
		"nor by an answer": {message.Message{Ack: &message.Ack{Epoch: math.MaxUint64}}, nil},
		"nor by a move": {message.Message{Ack: &message.Ack{Epoch: 9,
			Moves: []message.MoveOrder{{As: message.Attempt{Epoch: 10}}}}}, nil},
		"nor by a question":                {message.Message{Wanted: &message.Wanted{Epoch: 10}}, nil},
		"nor by a copy":                    {message.Message{Copy: &message.Copy{Epoch: 10}}, nil},
		"an earlier one is for its reader": {message.Message{Copy: &message.Copy{Epoch: 8}}, []byte{leader}},
		"members report": {message.Message{Report: &message.Report{}},
			[]byte{leader, owner, worker, member, former, elsewhere}},
		"members tell what copies they have": {message.Message{Known: &message.Known{}},
			[]byte{leader, owner, worker, member, former, elsewhere}},
		"members ask what of a copy others have": {message.Message{Retired: &message.Retired{}},
			[]byte{leader, owner, worker, member, former, elsewhere}},
		"and are answered by members": {message.Message{Kept: &message.Kept{}},
			[]byte{leader, owner, worker, member, former, elsewhere}},
		"its owner says that a result of this member is wrong": {message.Message{Wrong: &message.Wrong{
			Result: task.Result{Task: id, Worker: peer(worker)}}}, []byte{owner}},
		"and what it holds of its job": {message.Message{Made: &message.Made{Job: id.Job}}, []byte{owner}},
		"but of no other's": {message.Message{Wrong: &message.Wrong{
			Result: task.Result{Task: id, Worker: peer(member)}}}, nil},
		"followers say how far they are, and are few": {message.Message{Copied: &message.Copied{}},
			[]byte{leader, owner, worker, member, former, elsewhere}},
	} {
		may := map[byte]bool{}
		for _, n := range tt.may {
			may[n] = true
		}
		for n := range byte(elsewhere + 1) {
			_, err := Check(peer(n), &tt.message, known{})
			if (err == nil) != may[n] || err != nil && !errors.Is(err, ErrRefused) {
				t.Errorf("%s: peer %d: %v", name, n, err)
			}
		}
	}
}

// TestStatesAreVouchedFor: a worker's own word about a state counts, with the receipt of a
// leader that this member knows of.
func TestStatesAreVouchedFor(t *testing.T) {
	state := func(receipt *task.Receipt, n byte) message.SavedState {
		c := message.Checkpoint{CID: task.RawCID(nil), Fuel: 1}
		if receipt != nil {
			v, err := task.Vouch(key(n), receipt, c.ToVouch(id, [32]byte{}, nil))
			if err != nil {
				t.Fatal(err)
			}
			c.Voucher = v
		}
		return message.SavedState{Task: id, Attempt: message.Attempt{Epoch: 9, Seq: 1}, Checkpoint: c}
	}
	good := state(receipt(t, former, worker, id), worker)
	m := &message.Message{Report: &message.Report{Saved: []message.SavedState{
		state(nil, worker), good, state(receipt(t, former, member, id), member),
		state(receipt(t, member, worker, id), worker),
	}}}
	got, err := Check(peer(worker), m, known{})
	if err != nil || len(got.Report.Saved) != 1 || !reflect.DeepEqual(got.Report.Saved[0], good) {
		t.Errorf("it says %+v (%v)", got.Report.Saved, err)
	}
	if len(m.Report.Saved) != 4 || m.Report.Saved[0].Checkpoint.Voucher != nil {
		t.Error("the message was changed")
	}
}

// TestLeasesAreShown: a lease that this member's books do not have is believed with a
// receipt of a leader that it knows of, for that task, that worker and that attempt.
func TestLeasesAreShown(t *testing.T) {
	first, second := message.Attempt{Epoch: 9, Seq: 1}, message.Attempt{Epoch: 5, Seq: 2}
	other := task.TaskID{Job: job, Index: 1}
	for name, tt := range map[string]struct {
		from    byte
		attempt message.Attempt
		receipt *task.Receipt
		held    bool // proven, of a lease that is held
		ended   bool // of one that has ended
	}{
		"on the books":             {worker, first, nil, true, false},
		"on both":                  {worker, first, receipt(t, leader, worker, id), true, true},
		"the receipt it was given": {worker, first, given, true, true},
		"that one, changed": {worker, first, &task.Receipt{Leader: peer(leader), Epoch: 9, Seq: 1, Issued: 6,
			Signature: given.Signature}, true, false},
		"given to another":       {member, first, given, false, false},
		"signed by itself":       {worker, first, receipt(t, worker, worker, id), true, false},
		"another's lease":        {member, first, nil, false, false},
		"an attempt never given": {worker, second, nil, false, false},
		"with a receipt":         {member, second, receipt(t, former, member, id), true, true},
		"renumbered since": {member, message.Attempt{Epoch: 9, Seq: 7}, receipt(t, former, member, id), false,
			true},
		"another's receipt":           {member, second, receipt(t, former, worker, id), false, false},
		"of another task":             {member, second, receipt(t, former, member, other), false, false},
		"by who never led":            {member, second, receipt(t, member, member, id), false, false},
		"by the leader of other days": {member, second, receipt(t, leader, member, id), false, false},
	} {
		m := &message.Message{Report: &message.Report{
			Held: []message.Held{{Task: id, Attempt: tt.attempt, Receipt: tt.receipt}},
			Ended: []message.Ending{{Attempt: tt.attempt, Result: task.Result{
				Task: id, Worker: peer(tt.from), Receipt: tt.receipt,
			}}},
		}}
		got, err := Check(peer(tt.from), m, known{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Report.Held[0].Unproven == tt.held || got.Report.Ended[0].Unproven == tt.ended {
			t.Errorf("%s: held unproven %v, ended %v", name, got.Report.Held[0].Unproven, got.Report.Ended[0].Unproven)
		}
		if m.Report.Held[0].Unproven || m.Report.Ended[0].Unproven {
			t.Errorf("%s: the message was changed", name)
		}
	}
	anothers := &message.Message{Report: &message.Report{Ended: []message.Ending{{Attempt: first,
		Result: task.Result{Task: id, Worker: peer(worker)}}}}}
	if got, err := Check(peer(member), anothers, known{}); err != nil || !got.Report.Ended[0].Unproven {
		t.Errorf("a member shows another's result: %v", err)
	}
}

// TestLeasesBearReceipts: a worker takes no lease of which nobody would believe what came. Of more
// than one its leader's word is enough, for all but the first.
func TestLeasesBearReceipts(t *testing.T) {
	good := receipt(t, leader, worker, id)
	first, second := message.Attempt{Epoch: 9, Seq: 1}, message.Attempt{Epoch: 9, Seq: 2}
	for name, tt := range map[string]struct {
		attempt message.Attempt
		receipt *task.Receipt
		may     bool // as the first
		next    bool // after a good one
	}{
		"its leader's":       {first, good, true, true},
		"from another state": {first, good, false, false},
		"none":               {first, nil, false, false},
		"of another attempt": {second, good, false, false},
		"another leader's":   {message.Attempt{Epoch: 5, Seq: 2}, receipt(t, former, worker, id), false, false},
		"for another worker": {message.Attempt{Epoch: 5, Seq: 2}, receipt(t, leader, member, id), false, true},
		"for another task":   {first, receipt(t, leader, worker, task.TaskID{Job: job, Index: 1}), false, true},
		"that is not signed": {second, &task.Receipt{Leader: peer(leader), Epoch: 9, Seq: 2}, false, true},
		"out of bounds":      {second, &task.Receipt{Leader: peer(leader), Epoch: 9, Seq: 2, Issued: -1}, false, false},
	} {
		l := message.Lease{Task: id, Attempt: tt.attempt, Receipt: tt.receipt}
		if name == "from another state" {
			l.From = &message.Checkpoint{CID: task.RawCID(nil), Fuel: 1}
		}
		for leases, may := range map[*message.Place]bool{
			{Epoch: 9, Leases: []message.Lease{l}}:                                            tt.may,
			{Epoch: 9, Leases: []message.Lease{{Task: id, Attempt: first, Receipt: good}, l}}: tt.next,
		} {
			m := &message.Message{Place: leases}
			if got, err := Check(peer(leader), m, known{}); (err == nil) != may || may && got != m {
				t.Errorf("%s, %d leases: %v", name, len(leases.Leases), err)
			}
		}
	}
}
