package submitter

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"godwit/scheduler/durable"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// In an overlay of several cells the leader of the submitter's own cell, which all else
// here calls the leader, has the whole job: its home. Of the tasks that wait there the
// submitter lends some to the leaders of other cells, the borrowers. Each is offered the
// same record, and is told that all tasks but its own are held; the home is told that
// those that are lent are. So a task is wanted of one leader at a time, by the
// submitter's signed word, which both ledgers keep; a loan that comes back begins another
// delivery at the home. Results come straight to the submitter, who takes each once,
// whoever brings it.

// A loan is what one borrower has of a job. Its expiry is the submitter's: it is over when
// nothing is heard for lendSilence, or nothing came of it for as long as stalls says.
type loan struct {
	state loanState
	heard time.Time // when the borrower last spoke of the job
	// answered is when any leader of its cell last spoke of the job, or when the loan began. A loan that passes to another
	// leader keeps it: else leaders that are all silent could pass a loan on for ever.
	answered time.Time
	moved    time.Time // when something last came of it, or was lent
	next     time.Time // when to offer it again, unless the borrower is heard before
	pause    time.Duration
	rests    time.Time // until when the borrower is lent nothing: it said so, or failed
	runs     int       // of its tasks, those that it says it runs
	told     bool      // since a change it was told what is wanted of it
	// open says that its cell was one with the home, and that it may end what it runs. It
	// begins nothing of a job that was not offered to it since.
	open bool
}

// loanState is the durable form of a loan, together with its key.
type loanState struct {
	Tasks    []message.Range `cbor:"1,keyasint,omitempty"` // not held yet, when it was written
	Delivery uint64          `cbor:"2,keyasint,omitempty"` // of what this borrower is told
	Cell     string          `cbor:"3,keyasint,omitempty"` // that the borrower led
	Since    int64           `cbor:"4,keyasint,omitempty"` // when it was last given some; Unix ms
	// Begun is when the borrower's cell was first given tasks of those that it has, in Unix milliseconds. Receipts issued
	// before do not count.
	Begun int64 `cbor:"5,keyasint,omitempty"`
	// Before are leaders that the cell had before the borrower, the latest last, at most maxBefore. Their receipts count
	// for the tasks in Taken alone.
	Before []task.PeerID `cbor:"6,keyasint,omitempty"`
	// Taken are the tasks that the borrower took over from Before.
	Taken []message.Range `cbor:"8,keyasint,omitempty"`
	// Came is the number of the borrower's tasks whose results are held: see allowance.
	Came uint64 `cbor:"7,keyasint,omitempty"`
}

func (l *loan) tasks() ledger.Set { return l.state.Tasks }

// wake starts the clocks of a loan that nothing was heard of since this node started.
func (l *loan) wake(now time.Time) {
	if l.heard.IsZero() {
		l.heard, l.answered, l.moved = now, now, now
	}
}

// maxBefore bounds loanState.Before: a cell that has more leaders during one loan runs some of its tasks again.
const maxBefore = 8

// loanOf returns the loan for which a leader's receipts count, and who has it now: the leader's own, or the one that a
// later leader of its cell took over. It returns "" and nil if there is none.
func (j *submitted) loanOf(leader task.PeerID) (task.PeerID, *loan) {
	if j.lending == nil {
		return "", nil
	}
	if l := j.lending.loans[leader]; l != nil {
		return leader, l
	}
	for _, peer := range slices.Sorted(maps.Keys(j.lending.loans)) {
		if l := j.lending.loans[peer]; slices.Contains(l.state.Before, leader) {
			return peer, l
		}
	}
	return "", nil
}

// A lending is what is lent of one job.
type lending struct {
	loans map[task.PeerID]*loan // by borrower
	waits uint64                // tasks that wait at the home, as far as is known
	known bool                  // the home has said so
	wall  time.Duration         // the longest that a task took, of those that came
	looks bool                  // a timer looks at the loans
}

// A lender is the part of a submitter that lends.
type lender struct {
	s     *Submitter
	cells cells
}

// cells are the other cells of the overlay, and how far each borrower is trusted.
type cells struct {
	own     int // slots of the submitter's own cell
	idle    int // of these, those without a task when that was last told
	others  []message.CellLoad
	credits map[task.PeerID]int // how often half of what a borrower would get it does not get
}

const (
	// lendSilence is how long a borrower may be silent: it takes a leader's crash, the next
	// one's election and a summary of it to be heard of, with time to spare.
	lendSilence = 2 * time.Minute
	// lendQuiet is how long one may be silent before another that says it leads the cell goes on with the loan: it
	// was asked twice meanwhile.
	lendQuiet = 2 * lendEvery
	// lendEvery is how often loans are looked at, and how often a borrower is asked that
	// says nothing.
	lendEvery = 10 * time.Second
	// lendLeast is the least time that a borrower has to show a first result, as of audits
	// that others make, and lendStalls how many times what a task takes.
	lendLeast, lendStalls = 10 * time.Minute, 8
	// lendUnknown is that time where nothing is known of how long tasks take.
	lendUnknown = 24 * time.Hour
	// lendRest is for how long a borrower is lent nothing that kept tasks and did nothing;
	// doubled each time, to lendRest << mostHalves.
	lendRest = 5 * time.Minute
	// mostHalves bounds what failing costs: one who was down for a week, and is sound now, is
	// lent a thousandth of its share, and doubles that with each loan that it ends.
	mostHalves = 10
)

// lent is every task that a borrower has.
func (j *submitted) lent() ledger.Set {
	if j.lending == nil {
		return nil
	}
	var out ledger.Set
	for _, l := range j.lending.loans {
		out.Union(l.tasks())
	}
	return out
}

// wantedOf is what a borrower hears that is held: all but what it has.
func (j *submitted) wantedOf(l *loan) ledger.Set {
	if l.open {
		return j.mine()
	}
	return ledger.Set{{From: 0, To: j.total}}.Minus(l.tasks())
}

// Borrowers returns the leaders of other cells that have tasks of a submitter's jobs, in no order.
func Borrowers(s *Submitter) (out []task.PeerID) {
	for _, j := range s.jobs {
		if j.lending == nil || j.state.Final {
			continue
		}
		for peer, l := range j.lending.loans {
			if len(l.tasks()) > 0 {
				out = append(out, peer)
			}
		}
	}
	return out
}

// borrower returns the loan of a leader of another cell, made if there is none.
func (j *submitted) borrower(peer task.PeerID) *loan {
	if j.lending == nil {
		j.lending = &lending{loans: map[task.PeerID]*loan{}}
	}
	l := j.lending.loans[peer]
	if l == nil {
		l = &loan{}
		j.lending.loans[peer] = l
	}
	return l
}

func (c *cells) load(leader task.PeerID) (message.CellLoad, bool) {
	i := slices.IndexFunc(c.others, func(l message.CellLoad) bool { return l.Leader == leader })
	if i < 0 {
		return message.CellLoad{}, false
	}
	return c.others[i], true
}

// give has a borrower have these tasks of a job, and no others.
func (ln *lender) give(j *submitted, to message.CellLoad, l *loan, tasks ledger.Set) {
	s := ln.s
	if len(tasks.Minus(l.tasks())) > 0 {
		s.tellAnew(j, l) // what it was told to be held is wanted of it now
		l.state.Since = s.now.UnixMilli()
	}
	if len(l.tasks()) == 0 {
		l.state.Begun = s.now.UnixMilli()
	}
	l.state.Taken = ledger.Set(l.state.Taken).Minus(tasks.Minus(l.tasks()))
	l.state.Tasks, l.state.Cell, l.told, l.open = tasks, to.Cell, false, false
	s.keepLoan(j, to.Leader, l)
	l.pause = s.timing.RetryMin
	s.askBorrower(j, to.Leader, l)
	s.lookAt(j)
}

// takeBack has the home run what a borrower has.
func (ln *lender) takeBack(j *submitted, peer task.PeerID, why string) {
	s := ln.s
	l := j.lending.loans[peer]
	n := l.tasks().Count()
	if n == 0 || j.nextDelivery() >= ledger.MaxDelivery {
		return
	}
	l.state.Tasks, l.told = nil, false
	l.state.Begun, l.state.Before, l.state.Taken = 0, nil, nil
	s.keepLoan(j, peer, l)
	s.comeHome(j, n)
	s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "taken back", Peer: peer, Reason: why})
	s.tellBorrower(j, peer, l)
}

// nextDelivery is one that no leader has heard of: who leads this cell and who another may
// change places, and their copies may become one.
func (j *submitted) nextDelivery() uint64 {
	return min(max(j.state.Delivery, j.state.Lent)+1, ledger.MaxDelivery)
}

// tellAnew begins another delivery of what a borrower is told.
func (ln *lender) tellAnew(j *submitted, l *loan) {
	s := ln.s
	l.state.Delivery = j.nextDelivery()
	j.state.Lent = l.state.Delivery
	s.persist(j)
}

// comeHome begins another delivery, in which the home is to run n tasks that were lent.
func (ln *lender) comeHome(j *submitted, n uint64) {
	s := ln.s
	j.state.Delivery = j.nextDelivery()
	if j.lending != nil {
		j.lending.waits += n
	}
	s.persist(j)
	s.emit(message.JobChanged{Job: j.id})
	s.soon(j)
}

// loanKey is where a loan is kept.
func loanKey(id task.JobID, peer task.PeerID) string {
	return submitterLoans + string(id) + "/" + string(peer)
}

func (ln *lender) keepLoan(j *submitted, peer task.PeerID, l *loan) {
	s := ln.s
	s.save(loanKey(j.id, peer), task.TaskID{Job: j.id}, &l.state)
}

func (ln *lender) dropLoan(j *submitted, peer task.PeerID) {
	s := ln.s
	delete(j.lending.loans, peer)
	s.emit(message.Persist{Key: loanKey(j.id, peer)})
}

// dropLoans forgets all loans of a job that is over, and tells the borrowers.
func (ln *lender) dropLoans(j *submitted) {
	s := ln.s
	if j.lending == nil {
		return
	}
	for _, peer := range slices.Sorted(maps.Keys(j.lending.loans)) {
		s.sayOver(j.id, peer)
		for _, after := range byes { // it would wait for an answer to its last results
			s.timers.Set(s.now.Add(after), byeTimer+string(j.id)+"/"+string(peer))
		}
		s.dropLoan(j, peer)
	}
	j.lending = nil
}

// credits counts a result for the borrower whose cell made it: the one that signed the receipt, or without receipts the
// one that has the task.
func (j *submitted) credits(t *message.TaskSummary) {
	if j.lending == nil || t.Failed || len(t.Results) == 0 {
		return
	}
	if r := t.Results[0].Receipt; r != nil {
		if _, l := j.loanOf(r.Leader); l != nil {
			l.state.Came++
		}
		return
	}
	for _, l := range j.lending.loans {
		if l.tasks().Contains(t.Index) {
			l.state.Came++
		}
	}
}

// settled takes a task out of the loans: its result is held.
func (j *submitted) settled(i uint64) {
	if j.lending == nil {
		return
	}
	for _, l := range j.lending.loans {
		if l.tasks().Contains(i) {
			l.told = false
			l.state.Tasks = l.tasks().Minus(only(i))
		}
	}
}

// restoreLoans takes in the loans of a job.
func (ln *lender) restoreLoans(j *submitted, scan func(prefix string) iter.Seq2[string, []byte], errs *durable.Errors) {
	s := ln.s
	prefix := submitterLoans + string(j.id) + "/"
	for key, value := range scan(prefix) {
		errs.Note(key, s.restoreLoan(j, task.PeerID(strings.TrimPrefix(key, prefix)), value))
	}
}

func (ln *lender) restoreLoan(j *submitted, peer task.PeerID, value []byte) error {
	s := ln.s
	var st loanState
	if err := task.Decode(value, &st); err != nil {
		return err
	}
	set, err := ledger.MakeSet(st.Tasks)
	if err == nil {
		_, err = ledger.MakeSet(st.Taken)
	}
	if err == nil && len(set) > 0 && set[len(set)-1].To > j.total {
		err = errors.New("it is of tasks that the job does not have")
	}
	if err != nil || j.state.Final {
		return err
	}
	st.Tasks = set.Minus(j.have).Minus(j.lent())
	j.borrower(peer).state = st
	s.lookAt(j)
	return nil
}

// Open reports whether any job is not over.
func (ln *lender) Open() bool {
	s := ln.s
	for _, j := range s.jobs {
		if !j.state.Final {
			return true
		}
	}
	return false
}

// askBorrower offers a job to who borrows of it, which also asks for results.
func (ln *lender) askBorrower(j *submitted, peer task.PeerID, l *loan) {
	s := ln.s
	held := j.wantedOf(l)
	s.pace.offers++
	s.pace.bytes += len(j.record.Job) + bytesPerRange*len(held)
	s.emit(message.Send{To: peer, Message: message.Message{Submit: &message.Submit{Record: j.record, Have: held,
		Accepted: true, Delivery: l.state.Delivery, Signature: s.signSet(j.id, l.state.Delivery, held),
		Refused: s.audits.refused(j)}}})
	l.told = true
	l.next = s.now.Add(max(l.pause, s.timing.RetryMin))
	l.pause = min(max(2*l.pause, s.timing.RetryMin), lendEvery)
}

// tellBorrower says what is wanted of a borrower now.
func (ln *lender) tellBorrower(j *submitted, peer task.PeerID, l *loan) {
	s := ln.s
	held := j.wantedOf(l)
	l.told = true
	s.emit(message.Send{To: peer, Message: message.Message{Got: &message.Got{Job: j.id, Have: held,
		Lacking: slices.Clone(j.lacking), Delivery: l.state.Delivery, Held: s.signSet(j.id, l.state.Delivery, held),
		Refused: s.audits.refused(j), Rejected: j.takeRejected(peer)}}})
}

// sayOver tells a borrower that the job is over.
func (ln *lender) sayOver(id task.JobID, peer task.PeerID) {
	s := ln.s
	s.emit(message.Send{To: peer, Message: message.Message{Got: &message.Got{Job: id, Final: true,
		Signature: signEnd(s.key, id)}}})
}

// signSet signs that a set of tasks is held; nil where nothing is signed.
func (ln *lender) signSet(id task.JobID, delivery uint64, held ledger.Set) []byte {
	s := ln.s
	if !s.cfg.Signs || len(s.key) == 0 {
		return nil
	}
	h, err := ledger.HeldOf(delivery, held)
	if err != nil {
		s.emit(message.Decided{Task: task.TaskID{Job: id}, Action: "not signed", Reason: task.ClipMessage(err.Error())})
		return nil
	}
	h.Sign(id, s.key)
	return h.Signature
}

// lookAt has a timer look at the loans of a job.
func (ln *lender) lookAt(j *submitted) {
	s := ln.s
	if !j.lending.looks {
		j.lending.looks = true
		s.timers.Set(s.now.Add(lendEvery), lendTimer+string(j.id))
	}
}

// byeTimer begins the key of the timer that tells a borrower again that a job is over, and byes
// are when: a connection that broke is made again by then.
const byeTimer = "bye/"

var byes = [...]time.Duration{5 * time.Second, time.Minute}

// lendTimer begins the key of the timer that looks at the loans of a job.
const lendTimer = "loans/"
