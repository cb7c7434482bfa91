package submitter

import (
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A gateBench is a submitter on another node than its leader, with evidence that a test sets, and a job of 20 tasks.
type gateBench struct {
	tb       testing.TB
	s        *Submitter
	id       task.JobID
	now      time.Time
	leader   int
	led      map[int]bool // whom this node saw lead or stand by
	followed map[int]bool // whom it followed
	unseen   map[int]bool // who can have led while it was away
	untagged map[int]bool // whose epochs do not bear their tags
	strange  map[int]bool // workers of which it had no advert
	why      string       // the reason of the last refusal
	sent     []message.Send
}

// Numbers of the identities in these tests.
const (
	gateLeader = 30 + iota
	gateFormer
	gateStranger
	gateBorrower
	gateNextBorrower
	gateWorker
	gateOther
	gateThird
)

func (b *gateBench) of(set map[int]bool, peer task.PeerID) bool {
	for k, in := range set {
		if _, p := schedtest.Identity(k); in && p == peer {
			return true
		}
	}
	return false
}

// Led implements Evidence, as all of these do.
func (b *gateBench) Led(p task.PeerID, _ uint64) bool        { return b.of(b.led, p) && !b.of(b.untagged, p) }
func (b *gateBench) Followed(p task.PeerID, _ uint64) bool   { return b.of(b.followed, p) }
func (b *gateBench) MayHaveLed(p task.PeerID, _ uint64) bool { return b.of(b.unseen, p) }
func (b *gateBench) Tagged(p task.PeerID, _ uint64) bool     { return !b.of(b.untagged, p) }
func (b *gateBench) Met(p task.PeerID, _ time.Time) bool     { return !b.of(b.strange, p) }

func newGateBench(tb testing.TB, change func(*task.Job)) *gateBench {
	tb.Helper()
	key, self := schedtest.Identity(1)
	b := &gateBench{tb: tb, now: schedtest.Start, leader: gateLeader,
		led: map[int]bool{gateLeader: true, gateFormer: true}, followed: map[int]bool{gateLeader: true, gateFormer: true},
		unseen: map[int]bool{}, untagged: map[int]bool{}, strange: map[int]bool{}}
	cfg := Default()
	cfg.Receipts, cfg.Signs, cfg.Evidence = true, true, b
	b.s = New(self, message.DefaultTiming(), cfg, key)
	rec := schedtest.Job(tb, key, 20, change)
	b.id = rec.ID()
	b.do(message.LeaderChanged{Leader: peerOf(gateLeader), Epoch: 9})
	b.do(message.Offer{Record: rec})
	return b
}

func (b *gateBench) do(ev message.Event) {
	b.why, b.sent = "", nil
	for _, e := range b.s.Step(b.now, ev) {
		switch e := e.(type) {
		case message.Decided:
			if e.Action == "refused" {
				b.why = e.Reason
			}
		case message.Send:
			b.sent = append(b.sent, e)
		}
	}
}

// run is a result of a worker with a receipt of a leader, issued at a time.
func (b *gateBench) run(worker, leader int, i uint64, issued time.Time) task.Result {
	b.tb.Helper()
	key, peer := schedtest.Identity(worker)
	id := task.TaskID{Job: b.id, Index: i}
	r := schedtest.Result(b.tb, key, id, truth)
	by, of := schedtest.Identity(leader)
	var err error
	if r.Receipt, err = task.NewReceipt(by, of, id, peer, task.Receipt{Epoch: 7, Seq: uint64(worker),
		Issued: issued.UnixMilli()}); err != nil {
		b.tb.Fatal(err)
	}
	if err := r.Sign(key); err != nil {
		b.tb.Fatal(err)
	}
	return r
}

// brings has a peer deliver the end of a task, and returns why it does not count, or "".
func (b *gateBench) brings(from int, made bool, i uint64, results ...task.Result) string {
	b.tb.Helper()
	had := b.s.jobs[b.id].have.Contains(i)
	b.do(&message.Received{From: peerOf(from), Message: &message.Message{Progress: &message.Progress{Job: b.id, Made: made,
		Summary: message.JobSummary{State: message.JobRunning, Total: 20},
		Tasks:   []message.TaskSummary{{Index: i, Results: results}}}}})
	has := b.s.jobs[b.id].have.Contains(i)
	if b.why == "" && !has && !had {
		return "ignored"
	}
	return b.why
}

// asks has the submitter query a member, as it does when its leader delivers nothing.
func (b *gateBench) asks(member int) { backups{b.s}.ask(b.s.jobs[b.id], peerOf(member)) }

// delegates has the submitter delegate tasks to the leader of another cell.
func (b *gateBench) delegates(to int, from, until uint64) {
	load := message.CellLoad{Leader: peerOf(to), Cell: "0", Slots: 10, Idle: 10}
	b.do(message.CellsAre{Slots: 10, Others: []message.CellLoad{load}})
	j := b.s.jobs[b.id]
	b.s.give(j, load, j.borrower(load.Leader), ledger.Set{{From: from, To: until}})
}

func checkedJob(j *task.Job) { j.Verify = &task.Verify{Audits: 1} }

// TestGate has a row for each rule of the gate: see the table in docs/protocol.md.
func TestGate(t *testing.T) {
	type rule struct {
		name   string
		change func(*task.Job)
		run    func(b *gateBench) string
		want   string // part of the refusal; "" if the result counts
	}
	now := schedtest.Start
	forged := func(r task.Result, worker int) task.Result {
		receipt := *r.Receipt
		receipt.Signature = make([]byte, len(receipt.Signature))
		r.Receipt = &receipt
		key, _ := schedtest.Identity(worker)
		if err := r.Sign(key); err != nil {
			t.Fatal(err)
		}
		return r
	}
	twice := func(j *task.Job) { j.Replicas = 2 }
	for _, tt := range []rule{
		{"the leader's own lease", nil, func(b *gateBench) string {
			return b.brings(gateLeader, false, 0, b.run(gateWorker, gateLeader, 0, now))
		}, ""},
		{"the leader's own lease, authenticated by its connection", nil, func(b *gateBench) string {
			return b.brings(gateLeader, false, 0, forged(b.run(gateWorker, gateLeader, 0, now), gateWorker))
		}, ""},
		{"a forged lease of the leader, from a queried member", nil, func(b *gateBench) string {
			b.asks(gateStranger)
			return b.brings(gateStranger, false, 0, forged(b.run(gateWorker, gateLeader, 0, now), gateWorker))
		}, "signature"},
		{"a queried member names itself as leader", nil, func(b *gateBench) string {
			b.asks(gateStranger)
			return b.brings(gateStranger, false, 0, b.run(gateWorker, gateStranger, 0, now))
		}, "not known as leader"},
		{"a member that was not queried", nil, func(b *gateBench) string {
			return b.brings(gateStranger, false, 0, b.run(gateWorker, gateLeader, 0, now))
		}, "ignored"},
		{"a member's own result, with a lease of a former leader", nil, func(b *gateBench) string {
			b.asks(gateWorker)
			return b.brings(gateWorker, true, 0, b.run(gateWorker, gateFormer, 0, now))
		}, ""},
		{"a member's own result, with a lease of its own", nil, func(b *gateBench) string {
			b.asks(gateWorker)
			return b.brings(gateWorker, true, 0, b.run(gateWorker, gateWorker, 0, now))
		}, "ignored"},
		{"a queried member of the group, with leases of its own", nil, func(b *gateBench) string {
			b.led[gateStranger] = true
			b.asks(gateStranger)
			return b.brings(gateStranger, false, 0, b.run(gateWorker, gateStranger, 0, now))
		}, "not known as leader"},
		{"the leader, with a lease of another member of the group", nil, func(b *gateBench) string {
			b.led[gateStranger] = true
			return b.brings(gateLeader, false, 0, b.run(gateWorker, gateStranger, 0, now))
		}, ""},
		{"the leader, with a lease of a leader from while this node was away", nil, func(b *gateBench) string {
			b.unseen[gateStranger] = true
			return b.brings(gateLeader, false, 0, b.run(gateWorker, gateStranger, 0, now))
		}, ""},
		{"the leader, with a lease of a stranger", nil, func(b *gateBench) string {
			return b.brings(gateLeader, false, 0, b.run(gateWorker, gateStranger, 0, now))
		}, "not known as leader"},
		{"an epoch that does not bear the leader's tag", nil, func(b *gateBench) string {
			b.untagged[gateFormer] = true
			return b.brings(gateLeader, false, 0, b.run(gateWorker, gateFormer, 0, now))
		}, "not known as leader"},
		{"no receipt", nil, func(b *gateBench) string {
			r := b.run(gateWorker, gateLeader, 0, now)
			r.Receipt = nil
			key, _ := schedtest.Identity(gateWorker)
			if err := r.Sign(key); err != nil {
				t.Fatal(err)
			}
			return b.brings(gateLeader, false, 0, r)
		}, "no receipt"},
		{"a borrower, of a task that it was delegated", checkedJob, func(b *gateBench) string {
			b.delegates(gateBorrower, 10, 20)
			return b.brings(gateBorrower, false, 10, b.run(gateWorker, gateBorrower, 10, now))
		}, ""},
		{"a borrower, of a worker of which nothing was heard, unchecked job", nil, func(b *gateBench) string {
			b.delegates(gateBorrower, 10, 20)
			b.strange[gateWorker] = true
			return b.brings(gateBorrower, false, 10, b.run(gateWorker, gateBorrower, 10, now))
		}, ""},
		{"a borrower that led unseen, of an unknown worker and a task that it was not delegated", nil,
			func(b *gateBench) string {
				b.delegates(gateBorrower, 10, 20)
				b.led[gateBorrower], b.unseen[gateBorrower], b.strange[gateWorker] = true, true, true
				return b.brings(gateBorrower, false, 0, b.run(gateWorker, gateBorrower, 0, now))
			}, "results of 0 workers"},
		{"a borrower, of a task that it was not delegated", checkedJob, func(b *gateBench) string {
			b.delegates(gateBorrower, 10, 20)
			return b.brings(gateBorrower, false, 0, b.run(gateWorker, gateBorrower, 0, now))
		}, "not delegated"},
		{"a borrower, with a lease from before the delegation", checkedJob, func(b *gateBench) string {
			b.delegates(gateBorrower, 10, 20)
			return b.brings(gateBorrower, false, 10, b.run(gateWorker, gateBorrower, 10, now.Add(-time.Hour)))
		}, "older than the delegation"},
		{"a borrower, of a task that was taken back", checkedJob, func(b *gateBench) string {
			b.delegates(gateBorrower, 10, 20)
			b.s.takeBack(b.s.jobs[b.id], peerOf(gateBorrower), "for a test")
			return b.brings(gateBorrower, false, 10, b.run(gateWorker, gateBorrower, 10, now))
		}, "not delegated"},
		{"a borrower, with an epoch that does not bear its tag", checkedJob, func(b *gateBench) string {
			b.delegates(gateBorrower, 10, 20)
			b.untagged[gateBorrower] = true
			return b.brings(gateBorrower, false, 10, b.run(gateWorker, gateBorrower, 10, now))
		}, "does not bear the tag"},
		{"a cell's leader that was delegated nothing", checkedJob, func(b *gateBench) string {
			b.do(message.CellsAre{Slots: 10, Others: []message.CellLoad{{Leader: peerOf(gateBorrower), Cell: "0", Slots: 10}}})
			return b.brings(gateBorrower, false, 10, b.run(gateWorker, gateBorrower, 10, now))
		}, "not delegated"},
		{"the next leader of a borrower's cell, with a lease of the last", checkedJob, func(b *gateBench) string {
			b.delegates(gateBorrower, 10, 20)
			b.do(message.CellsAre{Slots: 10, Others: []message.CellLoad{{Leader: peerOf(gateNextBorrower), Cell: "0", Slots: 10}}})
			return b.brings(gateNextBorrower, false, 10, b.run(gateWorker, gateBorrower, 10, now))
		}, ""},
		{"the same, of a task that the next leader was delegated later", checkedJob, func(b *gateBench) string {
			b.delegates(gateBorrower, 10, 15)
			b.do(message.CellsAre{Slots: 10, Others: []message.CellLoad{{Leader: peerOf(gateNextBorrower), Cell: "0", Slots: 10}}})
			b.delegates(gateNextBorrower, 10, 20)
			return b.brings(gateNextBorrower, false, 17, b.run(gateWorker, gateBorrower, 17, now))
		}, "led it no more"},
		{"the same, of a task that the next leader took over", checkedJob, func(b *gateBench) string {
			b.delegates(gateBorrower, 10, 15)
			b.do(message.CellsAre{Slots: 10, Others: []message.CellLoad{{Leader: peerOf(gateNextBorrower), Cell: "0", Slots: 10}}})
			b.delegates(gateNextBorrower, 10, 20)
			return b.brings(gateNextBorrower, false, 12, b.run(gateWorker, gateBorrower, 12, now))
		}, ""},
		{"a worker of which nothing was heard, unchecked job", nil, func(b *gateBench) string {
			b.strange[gateWorker] = true
			return b.brings(gateLeader, false, 0, b.run(gateWorker, gateLeader, 0, now))
		}, "results of 0 workers"},
		{"replicas, one of a worker of which nothing was heard", twice, func(b *gateBench) string {
			b.strange[gateOther] = true
			return b.brings(gateLeader, false, 0, b.run(gateWorker, gateLeader, 0, now), b.run(gateOther, gateLeader, 0, now))
		}, "results of 1 workers"},
		{"replicas of known workers", twice, func(b *gateBench) string {
			return b.brings(gateLeader, false, 0, b.run(gateWorker, gateLeader, 0, now), b.run(gateOther, gateLeader, 0, now))
		}, ""},
		{"a worker with a proven fault", nil, func(b *gateBench) string {
			b.s.audits.credit(peerOf(gateWorker)).Faults++
			return b.brings(gateLeader, false, 0, b.run(gateWorker, gateLeader, 0, now))
		}, "proven fault"},
		{"a worker that is excluded from the job", checkedJob, func(b *gateBench) string {
			b.s.jobs[b.id].checks.excused[peerOf(gateWorker)] = true
			return b.brings(gateLeader, false, 0, b.run(gateWorker, gateLeader, 0, now))
		}, "excluded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newGateBench(t, tt.change)
			if why := tt.run(b); (why == "") != (tt.want == "") || !strings.Contains(why, tt.want) {
				t.Errorf("refused because %q, want %q", why, tt.want)
			}
		})
	}
}

// TestUnknownWorkerIsChecked delivers a result of a worker of which this node had no advert. In a job with checks, the
// task runs again here whatever the draw says.
func TestUnknownWorkerIsChecked(t *testing.T) {
	for i := range uint64(20) {
		b := newGateBench(t, checkedJob)
		b.strange[gateWorker] = true
		if why := b.brings(gateLeader, false, i, b.run(gateWorker, gateLeader, i, b.now)); why != "" {
			t.Fatal(why)
		}
		if c := b.s.jobs[b.id].checks; !c.due.Contains(i) {
			t.Errorf("the result of task %d counts without a check", i)
		}
	}
}

// TestBorrowerDoesNotAnswerForOtherTasks has the leader of another cell, which once led this one, deliver a result of an
// unknown worker for a task that it was not delegated. The task runs again here.
func TestBorrowerDoesNotAnswerForOtherTasks(t *testing.T) {
	for i := range uint64(10) {
		b := newGateBench(t, checkedJob)
		b.delegates(gateBorrower, 10, 20)
		b.led[gateBorrower], b.followed[gateBorrower], b.strange[gateWorker] = true, true, true
		if why := b.brings(gateBorrower, false, i, b.run(gateWorker, gateBorrower, i, b.now)); why != "" {
			t.Fatal(why)
		}
		if c := b.s.jobs[b.id].checks; !c.due.Contains(i) {
			t.Errorf("the result of task %d counts without a check", i)
		}
	}
}

// TestRejectedRunsAgain has the leader deliver a result that does not count: the answer tells the leader to run the task
// again, once.
func TestRejectedRunsAgain(t *testing.T) {
	b := newGateBench(t, nil)
	b.brings(gateLeader, false, 3, b.run(gateWorker, gateStranger, 3, b.now))
	rejected := func() (out []message.Range) {
		for _, e := range b.sent {
			if g := e.Message.Got; g != nil && e.To == peerOf(gateLeader) {
				out = append(out, g.Rejected...)
			}
		}
		return out
	}
	if got := rejected(); len(got) != 1 || got[0] != (message.Range{From: 3, To: 4}) {
		t.Errorf("rejected %v, want task 3", got)
	}
	b.now = b.now.Add(time.Second)
	b.brings(gateLeader, false, 4, b.run(gateWorker, gateLeader, 4, b.now))
	if got := rejected(); len(got) != 0 {
		t.Errorf("rejected again: %v", got)
	}
}

// TestUnprovenBorrowersShareALimit has 32 leaders of cells claim many idle slots. All together get a tenth of the job.
func TestUnprovenBorrowersShareALimit(t *testing.T) {
	b := newLendBench(t, 1000, 32, nil)
	for _, l := range b.others {
		l.load.Slots, l.load.Idle = 1000, 1000
	}
	b.tellCells()
	b.accept(b.home)
	for range 10 {
		b.brings(b.home, 0)
		b.pass(time.Second)
	}
	n := uint64(0)
	for _, l := range b.others {
		n += b.wanted(l).Count()
	}
	if n == 0 || n > 100 {
		t.Errorf("borrowers without results have %d of 1,000 tasks, want at most 100", n)
	}
}

// TestNoReuseFromFaultyWorkers offers a new job two results of an earlier one, one of them of a worker whose fault was
// proven since.
func TestNoReuseFromFaultyWorkers(t *testing.T) {
	b := newSubBench(t)
	old := b.offer(4, 1)
	b.bring(old, message.JobRunning, "a", 1, 2)
	id := b.another(4, nil)
	reused := b.reused(old, 1, 2)
	for k := range reused {
		reused[k].End.Results = slices.Clone(reused[k].End.Results)
		reused[k].End.Results[0].Worker = peerOf(gateWorker + k)
	}
	b.s.audits.credit(peerOf(gateWorker)).Faults++
	b.step(message.Reuse{Job: id, Tasks: reused, Last: true})
	if got, want := b.s.Held(id), (ledger.Set{{From: 2, To: 3}}); !slices.Equal(got, want) {
		t.Errorf("tasks %v are reused, want %v", got, want)
	}
}
