package submitter

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"godwit/credibility"
	"godwit/scheduler/durable"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// checks are the results of one job that wants them checked: see task.Verify.
//
// Invariants: no task is in two of due, right, wrong, open, unread, unmatched and the sets of by. doubted is part of
// due, late of wrong. Results of this node itself are in none.
type checks struct {
	due     ledger.Set // to be run again here
	doubted ledger.Set // of a worker that was wrong elsewhere
	right   ledger.Set
	wrong   ledger.Set // what this node made is held in place of them
	late    ledger.Set // found wrong after they were delivered
	open    ledger.Set // it could not be told
	unread  ledger.Set // whether they meet the condition of the job is not known: see audits.examine
	// signer says who signed a result that is due; back how often one was given back: see
	// audits.giveBack.
	signer map[uint64]task.PeerID
	back   map[uint64]int
	// drawn are the intervals that are run again of a result that is due; parts how many were, and
	// are right, of one that is accepted.
	drawn  map[uint64]drawn
	parts  map[uint64]message.Parts
	failed ledger.Set // of the tasks in due and by, those that failed
	compilers
	// trailed is set once this node saw that the program leaves a trail; trailless are who showed none before.
	trailed   bool
	trailless map[task.PeerID]bool
	polling
	// vouched are the results of by that others came to as well, by each of these; redo are those that
	// this node runs again all the same; others is set once any result of others is kept.
	vouched map[task.PeerID]*ledger.Set
	byVote  ledger.Set // of these results, those on which enough others agreed
	redo    ledger.Set
	others  bool
	// told are the results of by that were accepted while these submitters' words counted of their workers.
	told map[task.PeerID]*ledger.Set
	// legs are those whose runs went on from states that these left.
	legs    map[task.PeerID]*ledger.Set
	sure    sure
	elected map[uint64]*elected
	matching
	budget  budget
	sources sources
	topped  bool // the least sample was drawn: see topUp
	// by are the results that this node has not run again, by who signed them.
	by map[task.PeerID]*accepted
}

// compilers are what is known of those that compile a job's program.
type compilers struct {
	// engines says what workers ran tasks of the job with, and divergent where its program comes
	// to something else than here.
	engines   map[task.PeerID]string
	divergent map[string]bool
	excused   map[task.PeerID]bool // who showed that, or gave what is no result: see noResult
	// alike is how many wrong results came to the same here compiled and interpreted; none after a restart.
	alike int
}

// accepted are results of one worker that nobody has run again.
type accepted struct {
	tasks ledger.Set
	mark  credibility.Mark // when the last of them was
	// network is the worker's as of the last of them that tells; "" for none.
	network string
}

// A checked is the durable form of what is known of one result.
type checked struct {
	Index uint64  `cbor:"1,keyasint"` // of the task
	State verdict `cbor:"2,keyasint"`
	// Doubted is set of one that is due because its worker was wrong elsewhere.
	Doubted bool `cbor:"3,keyasint,omitempty"`
	// Late is set of one that was found wrong after it was delivered.
	Late bool `cbor:"4,keyasint,omitempty"`
	// Worker signed a result that is accepted or due, "" of a task that failed and was due before
	// there was Failed of such, or is excused for one that is wrong; Audits
	// and At are what credibility.Mark has of one that is accepted.
	Worker task.PeerID `cbor:"5,keyasint,omitempty"`
	Audits int         `cbor:"6,keyasint,omitempty"`
	At     int64       `cbor:"7,keyasint,omitempty"` // Unix seconds
	Failed bool        `cbor:"8,keyasint,omitempty"` // the task did, whose result is accepted or due
	// Engine is what the worker ran the task with; of a wrong result, where the program is divergent.
	Engine string `cbor:"9,keyasint,omitempty"`
	// Poll is what others came to of one that is due; nil where they are not to run it. With are those
	// who came to one that is accepted, and Redo is set where it is run again here all the same.
	Poll *pollState    `cbor:"10,keyasint,omitempty"`
	With []task.PeerID `cbor:"11,keyasint,omitempty"`
	Redo bool          `cbor:"12,keyasint,omitempty"`
	// Network is that of the worker of one that is accepted.
	Network string `cbor:"13,keyasint,omitempty"`
	// Drawn are the intervals of Of that are to be run again, where not the whole task is; Parts
	// is how many were, and are right.
	Drawn uint64 `cbor:"14,keyasint,omitempty"`
	Of    int    `cbor:"15,keyasint,omitempty"`
	Parts int    `cbor:"16,keyasint,omitempty"`
	// Told are the submitters whose words of its worker counted when one was accepted.
	Told []task.PeerID `cbor:"17,keyasint,omitempty"`
	// More are those of Drawn beyond the first 64, and Legs as task.Trail.Legs has them.
	More []uint16 `cbor:"18,keyasint,omitempty"`
	Legs []int    `cbor:"19,keyasint,omitempty"`
	// Left are the workers of the legs before the last, of a result that is accepted.
	Left []task.PeerID `cbor:"20,keyasint,omitempty"`
	// Spreads is set of one that is wrong, where all that was made with Engine is in doubt.
	Spreads bool `cbor:"21,keyasint,omitempty"`
	// ByVote is set of one that is accepted because With agreed with it beyond doubt, and not only as replicas.
	ByVote bool `cbor:"22,keyasint,omitempty"`
	// From are the result's sources other than the home.
	From []task.PeerID `cbor:"23,keyasint,omitempty"`
	// Restored is set of one that is read from the store.
	Restored bool `cbor:"-"`
}

// draws notes which intervals are to be run again.
func (c *checked) draws(d drawn) {
	c.Drawn, c.More = d.mask()
	c.Of, c.Legs = d.of, d.legs
}

// A verdict says how a result stands.
type verdict uint8

const (
	verdictDue verdict = iota + 1
	verdictRight
	verdictWrong
	verdictOpen
	verdictAccepted // without being run again
	verdictUnread   // it is run again if it meets the condition of the job
	// verdictUnmatched is of one of which it is to be seen whether it was made of what is held of the tasks before it.
	verdictUnmatched
)

func checkKey(id task.TaskID) string { return durable.TaskKey(submitterChecks, id) }

// note keeps what is known of a task's result.
func (a *audits) note(j *submitted, c checked) {
	c.From = j.checks.sources.from(c.Index)
	j.checks.put(c)
	id := task.TaskID{Job: j.id, Index: c.Index}
	a.s.save(checkKey(id), id, &c)
}

// put moves a task to the set that is its own now. From by a task is taken with all of its
// worker's: see distrust.
func (c *checks) put(to checked) {
	i := to.Index
	if c.redo.Contains(i) {
		c.unaccept(i)
	}
	c.drop(i)
	c.sources.add(to.From, i)
	c.noteEngine(to.Worker, to.Engine)
	switch to.State {
	case verdictDue:
		if c.due.Add(i); to.Doubted {
			c.doubted.Add(i)
		}
		if to.Worker != "" {
			c.signer[i] = to.Worker
		}
		if to.Failed {
			c.failed.Add(i)
		}
		c.putPoll(i, to.Poll)
		if to.Drawn != 0 || len(to.More) > 0 {
			c.drawn[i] = drawnOf(to.Drawn, to.More, to.Of, to.Legs)
		}
	case verdictRight:
		c.right.Add(i)
	case verdictWrong:
		if c.wrong.Add(i); to.Late {
			c.late.Add(i)
		}
		for _, peer := range to.From {
			c.sources.of[peer].refused = c.sources.of[peer].refused || to.Restored
		}
		if to.Engine != "" {
			c.excused[to.Worker] = true
			if to.Spreads {
				c.divergent[to.Engine] = true
			}
		}
	case verdictOpen:
		c.open.Add(i)
	case verdictUnread:
		c.unread.Add(i)
	case verdictUnmatched:
		c.unmatched.Add(i)
	case verdictAccepted:
		c.accept(to.Worker, i, credibility.Mark{Audits: to.Audits, At: time.Unix(to.At, 0)}, to.Network)
		if to.Failed {
			c.failed.Add(i)
		}
		c.putWith(&to)
		addTo(c.told, to.Told, i)
		addTo(c.legs, to.Left, i)
		if to.Parts > 0 {
			c.parts[i] = message.Parts{Checked: to.Parts, Of: to.Of}
		}
	}
}

// putPoll takes in what others came to of a task that is due, if they may run it.
func (c *checks) putPoll(i uint64, s *pollState) {
	if s == nil {
		return
	}
	p := s.restored()
	c.polls[i] = p
	c.others = c.others || p.ran() > 0
	switch {
	case s.Stays:
		c.stays.Add(i)
	case !p.asked.IsZero():
		c.away.Add(i)
	}
}

// putWith takes in who came to what is accepted.
func (c *checks) putWith(to *checked) {
	addTo(c.vouched, to.With, to.Index)
	c.others = c.others || len(to.With) > 0
	if to.Redo {
		c.redo.Add(to.Index)
	}
	if to.ByVote {
		c.byVote.Add(to.Index)
	}
}

// toRun reports whether a task is to be run again here.
func (c *checks) toRun(i uint64) bool {
	return c.due.Contains(i) && !c.away.Contains(i) || c.redo.Contains(i)
}

// drop takes a task out of all sets but those of by.
func (c *checks) drop(i uint64) {
	c.sources.drop(i)
	delete(c.signer, i)
	delete(c.polls, i)
	delete(c.drawn, i)
	delete(c.parts, i)
	c.matching.changed(i)
	for _, set := range []*ledger.Set{&c.due, &c.doubted, &c.right, &c.wrong, &c.late, &c.open, &c.unread, &c.away,
		&c.stays, &c.redo, &c.byVote, &c.failed, &c.unpolled, &c.unmatched, &c.legible} {
		if set.Contains(i) {
			*set = set.Minus(only(i))
		}
	}
}

// unaccept takes a task out of the results that this node has not run again.
func (c *checks) unaccept(i uint64) {
	for _, of := range c.by {
		if of.tasks.Contains(i) {
			of.tasks = of.tasks.Minus(only(i))
		}
	}
	c.forgetWith(i)
}

// forgetWith takes a task out of the results that others came to as well, or ran a leg of, and of those by others'
// words.
func (c *checks) forgetWith(i uint64) {
	for _, sets := range []map[task.PeerID]*ledger.Set{c.vouched, c.told, c.legs} {
		for _, set := range sets {
			if set.Contains(i) {
				*set = set.Minus(only(i))
			}
		}
	}
}

// noteEngine takes in what a worker ran a task of a job with.
func (c *checks) noteEngine(worker task.PeerID, engine string) {
	if engine != "" && worker != "" {
		c.engines[worker] = engine
	}
}

// left is how many results are to be run again, or may be.
func (c *checks) left() uint64 {
	if c == nil {
		return 0
	}
	return c.due.Count() + c.unread.Count() + c.unmatched.Count()
}

// divergesAt says on which engines the program of a job is divergent, for people.
func (c *checks) divergesAt() string {
	return strings.Join(slices.Sorted(maps.Keys(c.divergent)), ", ")
}

// known reports whether something is known of a task's result, or is to be.
func (c *checks) known(i uint64) bool {
	return c.due.Contains(i) || c.right.Contains(i) || c.wrong.Contains(i) || c.open.Contains(i)
}

// accept adds a result that is not run again.
func (c *checks) accept(worker task.PeerID, i uint64, mark credibility.Mark, network string) {
	of := c.by[worker]
	if of == nil {
		of = &accepted{}
		c.by[worker] = of
	}
	of.tasks.Add(i)
	of.network = cmp.Or(network, of.network)
	of.mark = credibility.Mark{Audits: max(of.mark.Audits, mark.Audits), At: later(of.mark.At, mark.At)}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// check decides whether a result that is now held is run again here. The worker has signed it
// before, and does not know the key of the draw: it cannot choose.
func (a *audits) check(j *submitted, t *message.TaskSummary) {
	switch {
	case j.checks == nil || len(t.Results) == 0 || j.checks.known(t.Index):
		return
	case task.SignsReads(j.spec, t.Index): // also what this node's worker made, of files that a leader named
		a.noteUnmatched(j, t.Index)
		return
	case t.Results[0].Worker == a.s.self && len(replicasOf(t)) == 0:
		return
	}
	a.decide(j, t, j.spec.Verify.Confirm != "", false)
}

// noteUnmatched notes that it is to be seen what a result was made of.
func (a *audits) noteUnmatched(j *submitted, i uint64) {
	a.note(j, checked{Index: i, State: verdictUnmatched})
	j.marks(i)
}

// decide is check, of a result of which is known, or still unread, whether it meets the job's condition.
func (a *audits) decide(j *submitted, t *message.TaskSummary, unread, meets bool) {
	r := &t.Results[0]
	credit, engine := a.known(r.Worker), engineOf(r)
	j.checks.noteEngine(r.Worker, engine)
	j.checks.took(r.Wall)
	a.met(r.Worker)
	behind, known := a.answersFor(j, t)
	network := a.networkOf(behind)
	a.fresh.seen[r.Worker]++
	if why := j.checks.noResult(r); why != "" {
		hidden{a}.refuse(j, t, why)
		return
	}
	if r.Trail == nil {
		j.checks.trailless[r.Worker] = true
	}
	by := append(a.leftBy(r), r.Worker, behind)
	others := replicasOf(t)
	for i := range others {
		a.met(others[i].Worker)
		a.fresh.seen[others[i].Worker]++
		by = append(append(by, a.leftBy(&others[i])...), others[i].Worker)
	}
	doubtful := a.anyWrong(by) || j.checks.divergent[engine]
	for i := range others {
		doubtful = doubtful || j.checks.divergent[engineOf(&others[i])]
	}
	with := j.checks.elected[t.Index].with(r)
	byVote := len(with) > 0
	delete(j.checks.elected, t.Index)
	crowd := a.crowdingOf(j, behind, network)
	share := crowd.denser(j.spec.Verify, a.shareOf(j.spec.Verify, by), j.total)
	which, due := a.draw(j, t.Index, r, a.leastShare(j, t.Index, r, share))
	says := credit.Says(a.s.now)
	due = due || !says || !known
	if doubtful || meets || due && len(with) == 0 {
		c := checked{Index: t.Index, State: verdictDue, Doubted: doubtful, Engine: engine}
		if !doubtful && !meets {
			c.draws(which)
		}
		c.pollOf(j, t, doubtful)
		if a.note(j, c); !says || j.checks.excused[r.Worker] {
			doubting{a}.giveBack(j, r.Worker)
		}
		return
	}
	if unread {
		a.note(j, checked{Index: t.Index, State: verdictUnread})
		return
	}
	if len(with) == 0 && crowd.crowded(j.spec.Verify) {
		c := checked{Index: t.Index, State: verdictDue, Engine: engine}
		c.pollOf(j, t, false)
		a.note(j, c)
		return
	}
	for i := range others {
		with = append(with, others[i].Worker)
	}
	mark := credit.Mark(a.s.now)
	a.note(j, checked{Index: t.Index, State: verdictAccepted, Worker: r.Worker, Audits: mark.Audits, At: mark.At.Unix(),
		Failed: t.Failed, Engine: engine, Network: network, With: with, Told: a.heard.countOf(j, r.Worker),
		Left: a.leftBy(r), ByVote: byVote})
	for i := range t.Results {
		for _, e := range releaseOf(&t.Results[i], a.s.self) {
			a.s.emit(e)
		}
	}
}

// answersFor returns who answers for an end: the worker of its first result, if this node had evidence that enough of its
// workers were members when they got their leases; else the leader of the cell that the task was delegated to, for its
// members. If answers is false nobody does, and the task runs again.
func (a *audits) answersFor(j *submitted, t *message.TaskSummary) (peer task.PeerID, answers bool) {
	r := &t.Results[0]
	if a.s.metOf(t.Results) >= max(j.spec.Replicas, 1) {
		return r.Worker, true
	}
	if r.Receipt == nil || j.spec.Replicas > 1 {
		return r.Worker, false
	}
	// The gate took a receipt of a leader of this cell as such: only any other can stand on a loan.
	leader, epoch, known := r.Receipt.Leader, r.Receipt.Epoch, a.s.evidence()
	if _, l := j.loanOf(leader); l != nil && !known.Led(leader, epoch) && !known.MayHaveLed(leader, epoch) {
		return leader, true
	}
	return r.Worker, false
}

// took takes in how long a task ran.
func (c *checks) took(d time.Duration) {
	const weight = 8
	if c.takes += (d - c.takes) / weight; c.takes <= 0 {
		c.takes = d
	}
}

// shareOf is how much is run again of a result that several workers answer for: as if the least known of them had
// run all of it.
func (a *audits) shareOf(v *task.Verify, by []task.PeerID) (share float64) {
	for _, w := range by {
		share = max(share, a.share(v, w))
	}
	return share
}

// anyWrong reports whether one of some workers was found wrong.
func (a *audits) anyWrong(by []task.PeerID) bool {
	return slices.ContainsFunc(by, func(w task.PeerID) bool { return a.known(w).Faults > 0 })
}

// faulty reports whether a worker with a proven fault answers for one of the results of an end.
func (a *audits) faulty(t *message.TaskSummary) bool {
	for i := range t.Results {
		if by, _ := t.Results[i].AnsweredBy(); a.anyWrong(by) {
			return true
		}
	}
	return false
}

// leftBy are the workers who left states that the run of a result went on from, but for its own and this node.
func (a *audits) leftBy(r *task.Result) []task.PeerID {
	by, _ := r.AnsweredBy()
	return slices.DeleteFunc(by, func(w task.PeerID) bool { return w == r.Worker || w == a.s.self })
}

// share is how much of the tasks of a worker is run again.
func (a *audits) share(v *task.Verify, worker task.PeerID) float64 {
	credit := a.known(worker)
	least := max(v.Share(), a.s.cfg.Pool.Least)
	switch {
	case credit.Faults > 0:
		return 1
	case v.Wrong == 0:
		return least
	}
	terms := credibility.Terms{Prior: a.prior(), Target: v.Target(), Least: least}
	return terms.Share(a.heard.believed(worker, credit))
}

// restoreChecks takes in what is known of a job's results, once those are.
func (j *submitted) restoreChecks(scan func(string) iter.Seq2[string, []byte], errs *durable.Errors) {
	if j.checks == nil {
		return
	}
	for key, value := range scan(submitterChecks + string(j.id) + "/") {
		errs.Note(key, j.restoreCheck(key, value))
	}
	j.checks.restoreBudget()
	j.checks.sources.home = j.have.Count()
}

func (j *submitted) restoreCheck(key string, value []byte) error {
	var c checked
	if err := task.Decode(value, &c); err != nil {
		return err
	}
	if c.Index >= j.total || checkKey(task.TaskID{Job: j.id, Index: c.Index}) != key ||
		c.State < verdictDue || c.State > verdictUnmatched || c.Audits < 0 || c.Poll != nil && c.Worker == "" ||
		c.Of < 0 || c.Of > task.MaxBoundaries+1 || c.Parts < 0 || c.Parts > c.Of || c.Drawn>>max(c.Of, 0) != 0 {
		return errors.New("it is no verdict on that result")
	}
	if j.have.Contains(c.Index) {
		c.Restored = true
		j.checks.put(c)
		j.marks(c.Index)
	}
	return nil
}

// agreed counts the results that this node has not run again and that others came to as well.
func (c *checks) agreed() uint64 { return c.byVote.Count() }

// replicasOf are the results of a task that agree with the first; none of a task that failed.
func replicasOf(t *message.TaskSummary) []task.Result {
	if t.Failed {
		return nil
	}
	return t.Results[1:]
}
