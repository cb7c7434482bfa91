package submitter

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A lendBench is a submitter with a job, the leader of its own cell, which is on another node,
// and the leaders of other cells.
type lendBench struct {
	*subBench
	id     task.JobID
	total  uint64
	work   time.Duration
	home   *cellLeader
	others []*cellLeader
	ends   map[uint64]message.TaskSummary // made once: signing takes time
	ran    map[uint64]int                 // by task, how often it was brought first by someone
	over   bool
}

// A cellLeader is what a submitter knows of a leader: what it says, and what it was told.
type cellLeader struct {
	peer     task.PeerID
	load     message.CellLoad
	delivery uint64
	held     ledger.Set
	heard    bool // was told anything
	offers   int
	done     ledger.Set // what it has brought
	finals   int
	lends    []uint64 // how many it was lent each time that it had none
	cancels  int
}

func newLendBench(tb testing.TB, total uint64, cells int, change func(*task.Job)) *lendBench {
	b := &lendBench{subBench: newSubBench(tb), total: total, ends: map[uint64]message.TaskSummary{},
		ran: map[uint64]int{}}
	for k := range cells + 1 {
		_, peer := schedtest.Identity(10 + k)
		b.others = append(b.others, &cellLeader{peer: peer, load: message.CellLoad{Leader: peer, Cell: fmt.Sprint("cell ", k),
			Slots: 10, Idle: 10}})
	}
	b.home, b.others = b.others[0], b.others[1:]
	b.s.cfg.Signs = true
	b.tell(message.LeaderChanged{Leader: b.home.peer, Epoch: 1})
	rec := schedtest.Job(tb, b.key, total, change)
	b.id, b.work = rec.ID(), 0
	b.tell(message.Offer{Record: rec})
	b.tellCells()
	return b
}

func (b *lendBench) tellCells() {
	ev := message.CellsAre{Slots: b.home.load.Slots}
	for _, l := range b.others {
		ev.Others = append(ev.Others, l.load)
	}
	b.tell(ev)
}

// tell steps the submitter, and has the leaders take in what it says.
func (b *lendBench) tell(ev message.Event) {
	b.step(ev)
	for _, e := range b.last {
		if e, ok := e.(message.Send); ok {
			b.hear(e)
		}
	}
}

func (b *lendBench) leaders() []*cellLeader { return append([]*cellLeader{b.home}, b.others...) }

func (b *lendBench) hear(e message.Send) {
	i := slices.IndexFunc(b.leaders(), func(l *cellLeader) bool { return l.peer == e.To })
	if i < 0 {
		return // one that was replaced
	}
	l, m := b.leaders()[i], &e.Message
	switch {
	case m.Submit != nil:
		l.offers++
		b.word(l, m.Submit.Have, m.Submit.Delivery, m.Submit.Signature)
	case m.Got != nil && m.Got.Final:
		l.finals++
	case m.Got != nil:
		b.word(l, m.Got.Have, m.Got.Delivery, m.Got.Held)
	case m.Cancel != nil:
		l.cancels++
	}
}

// word checks what a leader is told to be held: signed, and never less than before in one delivery.
func (b *lendBench) word(l *cellLeader, have []message.Range, delivery uint64, signature []byte) {
	set, err := ledger.MakeSet(have)
	h, _ := ledger.HeldOf(delivery, set)
	h.Signature = signature
	switch {
	case err != nil || !h.Verify(b.id, b.s.Key()):
		b.tb.Fatalf("a word that is not signed: %v", err)
	case l.heard && (delivery < l.delivery || delivery == l.delivery && len(l.held.Minus(set)) > 0):
		b.tb.Fatalf("delivery %d of %v comes after delivery %d of %v", delivery, set, l.delivery, l.held)
	}
	if n := b.total - set.Count(); n > 0 && (!l.heard || l.held.Count() == b.total) {
		l.lends = append(l.lends, n)
	}
	l.heard, l.delivery, l.held = true, delivery, set
}

// wanted is what a leader is to run.
func (b *lendBench) wanted(l *cellLeader) ledger.Set {
	if !l.heard {
		return nil
	}
	return ledger.Set{{From: 0, To: b.total}}.Minus(l.held)
}

// brings has a leader bring the first n of what it is to run, or only say how it stands.
func (b *lendBench) brings(l *cellLeader, n int) {
	if !l.heard {
		return
	}
	p := &message.Progress{Job: b.id}
	want := b.wanted(l)
	for i := uint64(0); i < b.total && len(p.Tasks) < n; i++ {
		if want.Contains(i) {
			p.Tasks = append(p.Tasks, b.end(i))
			l.done.Add(i)
		}
	}
	rest := want.Count() - min(want.Count(), uint64(len(p.Tasks)))
	running := min(rest, uint64(l.load.Slots))
	p.Summary = message.JobSummary{State: message.JobRunning, Total: b.total, Done: b.total - rest, Running: running,
		Waiting: rest - running}
	if rest == 0 {
		p.Summary.State = message.JobDone
	}
	b.tell(&message.Received{From: l.peer, Message: &message.Message{Progress: p}})
}

// end is the end of a task, signed.
func (b *lendBench) end(i uint64) message.TaskSummary {
	t, ok := b.ends[i]
	if !ok {
		key, _ := schedtest.Identity(5)
		r := schedtest.Result(b.tb, key, task.TaskID{Job: b.id, Index: i}, "x")
		t = message.TaskSummary{Index: i, Results: []task.Result{r}}
		b.ends[i] = t
	}
	if !b.s.Held(b.id).Contains(i) {
		b.ran[i]++
	}
	return t
}

func (b *lendBench) accept(l *cellLeader) {
	b.tell(&message.Received{From: l.peer, Message: &message.Message{Accepted: &message.Accepted{Job: b.id}}})
}

// pass is that of subBench, whose leaders hear what is said meanwhile.
func (b *lendBench) pass(d time.Duration) {
	end := b.now.Add(d)
	for {
		at, ok := b.s.NextWake()
		if !ok || at.After(end) {
			break
		}
		if at.After(b.now) {
			b.now = at
		}
		b.tell(message.Wake{})
	}
	b.now = end
}

func (b *lendBench) restart() {
	cfg := b.s.cfg
	b.s = New(b.self, b.timing, cfg, b.key)
	if err := b.s.Restore(schedtest.ScanOf(b.disk)); err != nil {
		b.tb.Fatal(err)
	}
	clear(b.fetches)
	b.tell(message.LeaderChanged{Leader: b.home.peer, Epoch: 1})
	b.tellCells()
}

// check looks at what must always hold: each task is held, or wanted of one leader alone.
func (b *lendBench) check(t interface {
	Fatalf(format string, args ...any)
}) {
	j := b.s.jobs[b.id]
	if j == nil || j.state.Final {
		return
	}
	seen := slices.Clone(j.have)
	add := func(who string, set ledger.Set) {
		if both := set.Minus(set.Minus(seen)); len(both) > 0 {
			t.Fatalf("%s is to run %v, which are held, or another's", who, both)
		}
		seen.Union(set)
	}
	all := ledger.Set{{From: 0, To: b.total}}
	add("the home", all.Minus(j.told()))
	if j.lending != nil {
		for _, peer := range slices.Sorted(maps.Keys(j.lending.loans)) {
			add(string(peer), j.lending.loans[peer].tasks())
		}
	}
	if lost := all.Minus(seen); len(lost) > 0 {
		t.Fatalf("nobody is to run %v", lost)
	}
	for key, n := range b.writes {
		if n > 1 {
			t.Fatalf("%s was written %d times", key, n)
		}
	}
	if !slices.Equal(j.have, b.onDisk(b.id)) {
		t.Fatalf("holds %v, on disk are %v", j.have, b.onDisk(b.id))
	}
}

// TestLending: four cells share a sweep, each task runs once, and the borrowers hear in the end
// that it is over.
func TestLending(t *testing.T) {
	b := newLendBench(t, 1000, 3, nil)
	b.accept(b.home)
	for range 200 {
		for _, l := range b.leaders() {
			b.brings(l, l.load.Slots)
			b.check(t)
		}
		b.pass(2 * time.Second)
	}
	b.pass(2 * time.Minute)
	st, _ := b.s.Job(b.id)
	if !st.Final || st.Held != b.total {
		t.Fatalf("it is not over: %+v", st)
	}
	for i, n := range b.ran {
		if n != 1 {
			t.Errorf("task %d was brought %d times", i, n)
		}
	}
	for k, l := range b.others {
		if n := l.done.Count(); n < 150 || n > 350 {
			t.Errorf("cell %d ran %d of 1000", k, n)
		}
		if l.finals < 1+len(byes) {
			t.Errorf("cell %d was told %d times that it is over", k, l.finals)
		}
	}
	if left := slices.Collect(maps.Keys(b.disk)); slices.ContainsFunc(left, func(k string) bool {
		return len(k) > len(submitterLoans) && k[:len(submitterLoans)] == submitterLoans
	}) {
		t.Errorf("loans are left on disk: %v", left)
	}
}

// TestNothingIsLentUnasked: without other cells nothing differs, nor before the home has the job
// and says that tasks wait.
func TestNothingIsLentUnasked(t *testing.T) {
	b := newLendBench(t, 5, 1, nil)
	b.pass(time.Minute)
	b.accept(b.home)
	b.brings(b.home, 0) // all of it runs at home
	b.pass(time.Minute)
	if b.others[0].heard || b.s.jobs[b.id].told().Count() > 0 {
		t.Errorf("a borrower has %v", b.wanted(b.others[0]))
	}
}

// TestLiarsGetLess: a cell's leader that says it has a thousand slots, takes ranges and does
// nothing loses them after as long as tasks may take, and is lent less and less; the job ends.
func TestLiarsGetLess(t *testing.T) {
	b := newLendBench(t, 1500, 2, func(j *task.Job) { j.Work = time.Second })
	liar, honest := b.others[0], b.others[1]
	liar.load.Slots, liar.load.Idle = 1000, 1000
	b.tellCells()
	b.accept(b.home)
	for range 1500 {
		b.brings(b.home, 1)
		b.brings(honest, 1)
		if b.accept(liar); !b.s.jobs[b.id].state.Final {
			b.tell(&message.Received{From: liar.peer, Message: &message.Message{Progress: &message.Progress{Job: b.id,
				Summary: message.JobSummary{State: message.JobRunning, Running: 1 << 40}}}})
		}
		if st, _ := b.s.Job(b.id); st.Final {
			break
		}
		b.pass(10 * time.Second)
	}
	if st, _ := b.s.Job(b.id); !st.Final || st.Held != b.total {
		t.Fatalf("it is not over: %d of %d", st.Held, b.total)
	}
	had := liar.lends
	if n := len(had); n < 3 || slices.Max(had) > b.total/b.s.cfg.UnprovenPart || had[n-1] > had[0]/2 {
		t.Errorf("the liar was lent %d", had)
	}
}

// TestSilentCells: what a leader had that is not heard of comes back; where another leads its
// cell that one goes on with it, by the same words.
func TestSilentCells(t *testing.T) {
	b := newLendBench(t, 500, 2, nil)
	b.accept(b.home)
	b.brings(b.home, 0)
	gone, lost := b.others[0], b.others[1]
	if b.wanted(gone).Count() == 0 || b.wanted(lost).Count() == 0 {
		t.Fatal("nothing was lent")
	}
	_, peer := schedtest.Identity(30)
	next := &cellLeader{peer: peer, load: gone.load}
	next.load.Leader = peer
	was := b.wanted(gone)
	b.others[0] = next
	b.tellCells()
	if got := b.wanted(next); !slices.Equal(got, was) || next.delivery <= gone.delivery {
		t.Errorf("the next leader has %v in delivery %d, the last had %v in %d", got, next.delivery, was, gone.delivery)
	}
	for range 13 {
		b.brings(next, 0)
		b.pass(lendEvery)
	}
	if b.wanted(lost).Count() > 0 || b.wanted(next).Count() == 0 {
		t.Errorf("after two minutes the silent cell has %v, the other %v", b.wanted(lost), b.wanted(next))
	}
	b.check(t)
}

// TestNextLeaderBeforeItsCellIsSilent: the next leader of a borrower that died brings results before anybody knows of
// that. It is not taken for one whose cell was one with the home, to be told that all is wanted that is not held; it
// goes on with the loan once the last leader has not answered.
func TestNextLeaderBeforeItsCellIsSilent(t *testing.T) {
	b := newLendBench(t, 500, 1, nil)
	b.accept(b.home)
	b.brings(b.home, 0)
	gone := b.others[0]
	was := b.wanted(gone)
	_, peer := schedtest.Identity(30)
	next := &cellLeader{peer: peer, load: gone.load}
	next.load.Leader = peer
	b.others = append(b.others, next) // the summary of the other holds
	gone.load.Idle, next.load.Idle, b.home.load.Idle = 0, 0, 0
	b.tellCells()
	first := was[0].From
	brings := func() {
		b.tell(&message.Received{From: peer, Message: &message.Message{Progress: &message.Progress{Job: b.id,
			Tasks:   []message.TaskSummary{b.end(first)},
			Summary: message.JobSummary{State: message.JobRunning, Running: 5, Total: b.total}}}})
	}
	if brings(); next.heard || !b.s.Held(b.id).Contains(first) {
		t.Errorf("it is told that %v are wanted of it; its result is held: %v", b.wanted(next), b.s.Held(b.id))
	}
	b.check(t)
	b.pass(lendQuiet)
	first++
	brings()
	rest := was.Minus(ledger.Set{{From: was[0].From, To: first + 1}})
	if got := b.wanted(next); !slices.Equal(got, rest) {
		t.Errorf("%v are wanted of it, want %v", got, rest)
	}
	b.check(t)
}

// TestSilentLeadersPassNoLoanOn: leaders of one cell that are all silent keep its tasks no longer than one leader. A loan
// that passed from one to the next began anew, so 69 of 699 tasks were away for half an hour.
func TestSilentLeadersPassNoLoanOn(t *testing.T) {
	b := newLendBench(t, 500, 1, nil)
	b.accept(b.home)
	b.brings(b.home, 0)
	first := b.others[0]
	if b.wanted(first).Count() == 0 {
		t.Fatal("nothing was lent")
	}
	for k := range 3 {
		_, peer := schedtest.Identity(30 + k)
		next := &cellLeader{peer: peer, load: first.load}
		next.load.Leader = peer
		b.others = append(b.others, next)
	}
	for _, o := range append(b.others, b.home) {
		o.load.Idle = 0 // what came back is not lent again
	}
	passed := false
	for range int(lendSilence/lendEvery) + 1 {
		b.tellCells()
		for _, l := range Loans(b.s, b.id) {
			passed = passed || l.Leader != first.peer
		}
		b.pass(lendEvery)
	}
	if left := Loans(b.s, b.id); len(left) > 0 || !passed {
		t.Errorf("after %v silent leaders have %+v; another had them meanwhile: %v", lendSilence, left, passed)
	}
	b.check(t)
}

// TestBorrowersAreBounded: of many cells a submitter has to do with some, others with others, and
// each keeps those that have tasks of it.
func TestBorrowersAreBounded(t *testing.T) {
	b := newLendBench(t, 100_000, 3*message.MaxCells, func(j *task.Job) { j.Work = time.Hour })
	b.accept(b.home)
	b.brings(b.home, 0)
	with := func() (out []int) {
		for k, l := range b.others {
			if b.wanted(l).Count() > 0 {
				out = append(out, k)
			}
		}
		return out
	}
	was := with()
	if len(was) != message.MaxCells {
		t.Fatalf("%d cells have tasks", len(was))
	}
	for k := range 3 * message.MaxCells {
		_, peer := schedtest.Identity(1000 + k)
		b.others = append(b.others, &cellLeader{peer: peer, load: message.CellLoad{Leader: peer, Cell: fmt.Sprint("new ", k),
			Slots: 10, Idle: 10}})
	}
	b.tellCells()
	b.brings(b.home, 0)
	if now := with(); !slices.Equal(now, was) {
		t.Errorf("%v have tasks, before %v", now, was)
	}
	other := New(b.others[0].peer, b.timing, b.s.cfg, b.key)
	var loads []message.CellLoad
	for _, l := range b.others {
		loads = append(loads, l.load)
	}
	if mine, its := b.s.choose(loads), other.choose(loads); slices.Equal(mine, its) {
		t.Error("another submitter has to do with the same")
	}
}

// TestCancelledEverywhere: a job that its owner ends ends at every borrower.
func TestCancelledEverywhere(t *testing.T) {
	b := newLendBench(t, 500, 2, nil)
	b.accept(b.home)
	b.brings(b.home, 0)
	b.tell(message.CancelJob{Job: b.id})
	b.pass(time.Second)
	for _, l := range b.leaders() {
		if l.cancels == 0 {
			t.Errorf("%s was not told", l.load.Cell)
		}
	}
}

// TestHalfLentWords: a submitter that restarts goes on by what its disk says, and one that meets a
// later word of its own at a borrower begins another delivery there.
func TestHalfLentWords(t *testing.T) {
	b := newLendBench(t, 500, 2, nil)
	b.accept(b.home)
	b.brings(b.home, 0)
	one := b.others[0]
	was := b.wanted(one)
	b.restart()
	b.check(t)
	if got := b.s.jobs[b.id].lending.loans[one.peer].tasks(); !slices.Equal(got, was) {
		t.Errorf("after the restart %v, before %v", got, was)
	}
	later, _ := ledger.HeldOf(one.delivery+5, ledger.Set{{From: 0, To: 3}})
	later.Sign(b.id, b.key)
	said := message.Message{Accepted: &message.Accepted{Job: b.id, Held: &later}}
	b.tell(&message.Received{From: one.peer, Message: &said})
	if one.delivery <= later.Delivery || !slices.Equal(b.wanted(one), was) {
		t.Errorf("delivery %d, wanted of it are %v", one.delivery, b.wanted(one))
	}
}

// TestLendingProperties: whatever leaders bring, or do not, however they change and however often
// the submitter restarts, each task is wanted of one leader, no result is taken twice, and once
// the home alone is left the job ends.
func TestLendingProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newLendBench(t, rapid.Uint64Range(1, 300).Draw(rt, "tasks"), 3, nil)
		next := 40
		any := func(rt *rapid.T) *cellLeader { return rapid.SampledFrom(b.leaders()).Draw(rt, "leader") }
		rt.Repeat(map[string]func(*rapid.T){
			"accept": func(rt *rapid.T) { b.accept(any(rt)) },
			"refuse": func(rt *rapid.T) {
				l := rapid.SampledFrom(b.others).Draw(rt, "leader")
				retry := rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(rt, "retry")
				b.tell(&message.Received{From: l.peer, Message: &message.Message{Accepted: &message.Accepted{Job: b.id,
					Error: "no room", RetryAfter: retry}}})
			},
			"bring": func(rt *rapid.T) { b.brings(any(rt), rapid.IntRange(0, 20).Draw(rt, "tasks")) },
			"bring what is another's": func(rt *rapid.T) {
				i := rapid.Uint64Range(0, b.total-1).Draw(rt, "task")
				b.tell(&message.Received{From: any(rt).peer, Message: &message.Message{Progress: &message.Progress{Job: b.id,
					Tasks: []message.TaskSummary{b.end(i)}}}})
			},
			"pass": func(rt *rapid.T) {
				b.pass(time.Duration(rapid.IntRange(0, 200).Draw(rt, "seconds")) * time.Second)
			},
			"restart": func(*rapid.T) { b.restart() },
			"another leads": func(rt *rapid.T) {
				k := rapid.IntRange(0, len(b.others)-1).Draw(rt, "cell")
				_, peer := schedtest.Identity(next)
				next++
				b.others[k] = &cellLeader{peer: peer, load: b.others[k].load}
				b.others[k].load.Leader = peer
				b.tellCells()
			},
			"the cells become one": func(rt *rapid.T) {
				k := rapid.IntRange(0, len(b.others)-1).Draw(rt, "cell")
				b.home, b.others[k] = b.others[k], b.home
				b.tell(message.LeaderChanged{Leader: b.home.peer, Epoch: uint64(next)})
				b.tellCells()
			},
			"a half of the home runs some": func(rt *rapid.T) {
				k := rapid.IntRange(0, len(b.others)-1).Draw(rt, "cell")
				_, peer := schedtest.Identity(next)
				next++
				b.others[k] = &cellLeader{peer: peer, load: b.others[k].load}
				b.others[k].load.Leader, b.others[k].load.Cell = peer, fmt.Sprint("half ", next)
				b.tellCells()
				from := rapid.Uint64Range(0, b.total-1).Draw(rt, "from")
				b.runs(b.others[k], from, rapid.Uint64Range(from+1, b.total).Draw(rt, "to"))
			},
			"a cell fills, or empties": func(rt *rapid.T) {
				rapid.SampledFrom(b.others).Draw(rt, "cell").load.Idle = rapid.IntRange(0, 10).Draw(rt, "idle")
				b.tellCells()
			},
			"": func(rt *rapid.T) { b.check(rt) },
		})
		b.others = nil
		b.tellCells()
		for range 100 {
			if st, _ := b.s.Job(b.id); st.Final {
				break
			}
			b.accept(b.home)
			b.brings(b.home, 50)
			b.pass(time.Minute)
		}
		if st, _ := b.s.Job(b.id); !st.Final || st.Held != b.total {
			rt.Fatalf("it is not over: %+v", st)
		}
	})
}
