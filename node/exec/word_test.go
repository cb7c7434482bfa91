package exec

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/migrate/handover"
	"godwit/scheduler/message"
	"godwit/task"
)

// leased is the receipt of a lease that the test, which leads, gave to a worker.
func leased(t *testing.T, id task.TaskID, worker task.PeerID, r task.Receipt) *task.Receipt {
	t.Helper()
	leader := keyOf(9)
	r.Epoch, r.Issued = 1, 1
	out, err := task.NewReceipt(leader, peerOf(9), id, worker, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func peerOf(seed byte) task.PeerID {
	return task.PeerIDOf(keyOf(seed).Public().(ed25519.PublicKey))
}

// movedWithWord is a task that moved from one host to another, both with receipts.
func movedWithWord(t *testing.T) *twoHosts {
	w := newTwoHostsWith(t, func() Runner { return &ahead{} }, func(w *twoHosts) *task.Receipt {
		return leased(t, w.id, w.from.Self, task.Receipt{Seq: 1})
	})
	<-time.After(20 * time.Second)
	w.destination.do(w.to, message.Expect{Task: w.id, Attempt: as(2), From: w.from.Self, FromAttempt: as(1),
		Receipt: leased(t, w.id, w.to.Self, task.Receipt{Seq: 2, Since: 1})})
	w.source.do(w.from, message.HandOver{Task: w.id, Attempt: as(1), Named: as(1), To: w.to.Self, As: as(2)})
	<-time.After(15 * time.Second)
	return w
}

// saved is the newest state that a host's worker was told of.
func (h *fakeHost) saved(t *testing.T) message.Checkpoint {
	t.Helper()
	for _, ev := range slices.Backward(h.heard()) {
		if c, ok := ev.(message.Checkpointed); ok {
			return c.Checkpoint
		}
	}
	t.Fatalf("no state was saved: heard %+v", h.heard())
	return message.Checkpoint{}
}

// Wherever a task goes on, the next state names who left the one before, by what that one signed:
// handed over, and from a checkpoint.
func TestChainOfStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := movedWithWord(t)
		w.destination.do(w.to, message.Stop{Task: w.id, Attempt: as(2), Save: true})
		synctest.Wait()
		moved := w.destination.saved(t)
		chain := moved.Chain()
		if err := task.VerifyChain(w.id, chain); err != nil || len(chain) != 2 || chain[0].Voucher.Worker != w.to.Self ||
			chain[1].Voucher.Worker != w.from.Self || chain[1].CID != "" || !moved.Valid() {
			t.Fatalf("its chain is %+v: %v", chain, err)
		}
		receipt := leased(t, w.id, w.to.Self, task.Receipt{Seq: 3, From: moved.CID})
		w.destination.do(w.to, message.Start{Task: w.id, Attempt: as(3), From: &moved, Receipt: receipt})
		<-time.After(5 * time.Second)
		w.destination.do(w.to, message.Stop{Task: w.id, Attempt: as(3), Save: true})
		synctest.Wait()
		again := w.destination.saved(t)
		if chain := again.Chain(); len(chain) != 3 || task.VerifyChain(w.id, chain) != nil ||
			!bytes.Equal(chain[1].Voucher.Signature, moved.Voucher.Signature) {
			t.Errorf("then its chain is %+v", chain)
		}
	})
}

// A task that could not go on from its state names none.
func TestNoChainOfWhatBeganAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := movedWithWord(t)
		w.destination.do(w.to, message.Stop{Task: w.id, Attempt: as(2), Save: true})
		synctest.Wait()
		lost := w.destination.saved(t)
		lost.CID = task.RawCID([]byte("nobody has it"))
		w.destination.do(w.to, message.Start{Task: w.id, Attempt: as(3), From: &lost,
			Receipt: leased(t, w.id, w.to.Self, task.Receipt{Seq: 3, From: lost.CID})})
		<-time.After(90 * time.Second) // it is sought for a minute
		w.destination.do(w.to, message.Stop{Task: w.id, Attempt: as(3), Save: true})
		synctest.Wait()
		if c := w.destination.saved(t); len(c.Chain()) != 1 || len(c.Voucher.Prior) != 0 {
			t.Errorf("its chain is %+v", c.Chain())
		}
	})
}

// A state does not arrive that its source does not answer for.
func TestStateWithoutWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTwoHosts(t, func() Runner { return &ahead{} }) // no lease of the source's has a receipt
		<-time.After(20 * time.Second)
		w.destination.do(w.to, message.Expect{Task: w.id, Attempt: as(2), From: w.from.Self, FromAttempt: as(1),
			Receipt: leased(t, w.id, w.to.Self, task.Receipt{Seq: 2, Since: 1})})
		w.source.do(w.from, message.HandOver{Task: w.id, Attempt: as(1), Named: as(1), To: w.to.Self, As: as(2)})
		<-time.After(time.Minute)
		refused := slices.ContainsFunc(w.destination.heard(), func(ev message.Event) bool {
			n, ok := ev.(message.NotArrived)
			return ok && strings.Contains(n.Reason, "reading the word of who hands the state over")
		})
		if e := w.source.ended(); !refused || len(e) != 1 || e[0].Result.Outcome != task.Completed {
			t.Errorf("refused %v, the source's attempt ended as %+v", refused, e)
		}
	})
}

// What a word is refused for.
func TestCheckWord(t *testing.T) {
	id := task.TaskID{Job: task.JobID(task.RawCID([]byte("job"))), Index: 3}
	state := snapshot{manifest: []byte("state"), fuel: 9, cpu: time.Second}
	c := &core{Config: Config{Key: keyOf(2), Self: peerOf(2)}}
	a := &attempt{name: message.AttemptName{Task: id}, receipt: leased(t, id, peerOf(2), task.Receipt{Seq: 1})}
	good := c.wordOf(a, &saving{making: making{engine: "amd64", pass: 1}}, state)
	if err := checkWord(good, a, peerOf(2), state); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		word  []byte
		id    task.TaskID
		from  task.PeerID
		state snapshot
	}{
		"nothing":         {nil, id, peerOf(2), state},
		"garbage":         {[]byte("garbage"), id, peerOf(2), state},
		"another's":       {good, id, peerOf(3), state},
		"of another task": {good, task.TaskID{Job: id.Job}, peerOf(2), state},
		"another state":   {good, id, peerOf(2), snapshot{manifest: []byte("other"), fuel: 9, cpu: time.Second}},
		"more work":       {good, id, peerOf(2), snapshot{manifest: state.manifest, fuel: 10, cpu: time.Second}},
		"less time":       {good, id, peerOf(2), snapshot{manifest: state.manifest, fuel: 9}},
		"too many before": {encoded(t, word{Before: make([]task.Link, task.MaxChain)}), id, peerOf(2), state},
		"a chain it did not begin with": {encoded(t, word{Voucher: voucherIn(t, good), Before: make([]task.Link, 1)}), id,
			peerOf(2), state},
	} {
		if err := checkWord(tt.word, &attempt{name: message.AttemptName{Task: tt.id}}, tt.from, tt.state); err == nil {
			t.Errorf("%s: it is believed", name)
		}
	}
	read := &attempt{name: a.name, receipt: a.receipt, reads: &message.Reads{}, job: &Job{spec: checkedStages()}}
	onNothing := c.wordOf(read, &saving{}, state)
	if err := checkWord(onNothing, read, peerOf(2), state); err != nil {
		t.Error(err)
	}
	for _, word := range [][]byte{good, onNothing} {
		other := &attempt{name: a.name, job: read.job, reads: &message.Reads{Files: []task.Output{{Name: "first/stdout"}}}}
		if err := checkWord(word, other, peerOf(2), state); err == nil {
			t.Error("it goes on from what was made of other files")
		}
	}
	if len(good) > handover.MaxWord/task.MaxChain {
		t.Errorf("a word of %d bytes: %d of them do not fit", len(good), task.MaxChain)
	}
}

func encoded(t *testing.T, w word) []byte {
	t.Helper()
	b, err := task.Encode(&w)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func voucherIn(t *testing.T, b []byte) task.Voucher {
	t.Helper()
	var w word
	if err := task.Decode(b, &w); err != nil {
		t.Fatal(err)
	}
	return w.Voucher
}

// checkedStages is a job whose tasks from 1 on read that before, and whose results are checked.
func checkedStages() *task.Job {
	return &task.Job{Verify: &task.Verify{}, Stages: []task.Stage{{Name: "first", Sweep: task.Sweep{Repeat: 1}},
		{Name: "then", Sweep: task.Sweep{Repeat: 9}, Needs: []task.Need{{Kind: task.NeedAfter, Reads: []string{"stdout"}}}}}}
}

// A run says that replicas agreed on a state that it went on from only where they signed that, as many as its job asks
// for: else who left it answers with it, whoever said so.
func TestBelieved(t *testing.T) {
	id := task.TaskID{Job: task.JobID(task.RawCID([]byte("job"))), Index: 3}
	vouched := func(n byte, fuel uint64) task.Link {
		l := task.Link{CID: task.RawCID([]byte("state")), Fuel: fuel, CPU: 1}
		v, err := task.Vouch(keyOf(n), leased(t, id, peerOf(n), task.Receipt{Seq: uint64(n)}),
			task.State{Task: id, CID: l.CID, Fuel: fuel, CPU: 1, Hash: make([]byte, 32)})
		if err != nil {
			t.Fatal(err)
		}
		l.Voucher = *v
		return l
	}
	witness := *task.Witnessed([]task.Link{vouched(5, 9)}, nil, task.Boundary{Fuel: 9})
	forged := witness
	forged.Chain = []task.Said{witness.Chain[0]}
	forged.Chain[0].Voucher.Signature = make([]byte, 64)
	for name, tt := range map[string]struct {
		job  *task.Job
		with []task.Witness
		want int
	}{
		"as many as it takes": {&task.Job{Replicas: 2}, []task.Witness{witness}, 1},
		"nobody":              {&task.Job{Replicas: 2}, nil, 2},
		"too few":             {&task.Job{Replicas: 3}, []task.Witness{witness}, 2},
		"of one run":          {&task.Job{Replicas: 1}, []task.Witness{witness}, 2},
		"forged":              {&task.Job{Replicas: 2}, []task.Witness{forged}, 2},
	} {
		l := vouched(4, 9)
		l.With = tt.with
		chain := believed(tt.job, id, []task.Link{l})
		if by, _ := task.AnsweredBy(peerOf(6), chain); len(by) != tt.want || len(l.With) != len(tt.with) {
			t.Errorf("%s: %d answer, want %d", name, len(by), tt.want)
		}
		if err := task.VerifyChain(id, chain); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
