package scheduler

import (
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Replicas of a task. Each is a line of its own: it begins with a worker and goes on from worker to
// worker by their states. Results count if no worker answers for two of them (package ledger), so a
// line's state goes to that line alone, and to no worker that answers for another. What this leader
// believes of who answers for a lease is for placing only: results show it, signed.

// replicated reports whether more than one run of each task must agree.
func (j *job) replicated() bool { return j.spec.Replicas > 1 }

// A lineage is how a lease came to where it is, of a task that has replicas.
type lineage struct {
	// by are the workers that answer for what comes of it, the line's root last;
	// none for one that is its worker's alone.
	by []task.PeerID
	// links is how many states are in the chain of its run.
	links int
}

// answers are the workers that answer for what comes of a lease, as far as is known.
func (l *lease) answers() []task.PeerID {
	if len(l.saved.line.by) == 0 {
		return []task.PeerID{l.host.peer}
	}
	return l.saved.line.by
}

// root is the worker with which the line of a lease began.
func (l *lease) root() task.PeerID {
	by := l.answers()
	return by[len(by)-1]
}

// lineOn is the lineage of a run by a worker that goes on from a checkpoint; nil for none.
func lineOn(worker task.PeerID, from *message.Checkpoint) lineage {
	if from == nil || from.Voucher == nil {
		return lineage{}
	}
	chain := from.Chain()
	by, _ := task.AnsweredBy(worker, chain)
	return lineage{by, len(chain)}
}

// rootAfter is the worker with which the line began of a run by a worker that goes on from a checkpoint.
func rootAfter(worker task.PeerID, from *message.Checkpoint) task.PeerID {
	if len(from.With) > 0 {
		return worker
	}
	return from.Root()
}

// handedTo is the lineage of a run that was handed over to a worker by the one with this.
func (n lineage) handedTo(worker, from task.PeerID) lineage {
	by := n.by
	if len(by) == 0 {
		by = []task.PeerID{from}
	}
	if !slices.Contains(by, worker) {
		by = slices.Insert(slices.Clone(by), 0, worker)
	}
	return lineage{by, n.links + 1}
}

// mayGoOn reports whether another may go on from a state of a lease: the chain of that names all
// who answer for it.
func (l *lease) mayGoOn() bool { return !l.job.replicated() || l.saved.line.links < task.MaxChain }

// heldState is the newest checkpoint that is held of what a lease runs; nil for none.
func (l *lease) heldState() *message.Checkpoint {
	row := l.job.ledger.Rows[l.task.index]
	switch {
	case row == nil:
		return nil
	case l.job.replicated():
		return row.LineState(l.root())
	}
	return row.State()
}

// wantsState reports whether a checkpoint of a task is one of more work than the row has.
func (j *job) wantsState(i uint64, s *message.Checkpoint) bool {
	row := j.ledger.Rows[i]
	if j.replicated() {
		return row.WantsLine(s)
	}
	return row.Wants(s)
}

// saveState has a checkpoint be what a task, or its line, goes on from.
func (j *job) saveState(i uint64, s *message.Checkpoint) bool {
	if j.replicated() {
		return j.row(i).SaveLine(s)
	}
	return j.row(i).Save(s)
}

// A start is what a lease begins with: a state, nil for none, and who answers for it.
type start struct {
	from *message.Checkpoint
	line lineage
}

// startOf is that of an attempt of a task at a worker, which has ended if ending is not nil.
func (j *job) startOf(i uint64, a message.Attempt, worker task.PeerID, ending *message.Ending) start {
	switch {
	case !j.replicated() && (ending != nil || !j.mayResume()):
		return start{}
	case !j.replicated():
		return start{from: j.stateFor(i, worker)}
	case ending != nil:
		by, _ := ending.Result.AnsweredBy()
		return start{line: lineage{by: by}}
	case !j.mayResume():
		return start{}
	}
	if n, known := j.lineOf(i, a, worker); known {
		s := start{line: n}
		if len(n.by) > 0 {
			s.from = j.ledger.Rows[i].LineState(n.by[len(n.by)-1])
		}
		return s
	}
	from := j.stateFor(i, worker)
	return start{from, lineOn(worker, from)}
}

// startAfter is that of an attempt which a move leads to, whose task was stopped with its state.
func (j *job) startAfter(i uint64, m *move, worker task.PeerID) start {
	row := j.ledger.Rows[i]
	switch {
	case row == nil || !j.mayResume():
		return start{}
	case !j.replicated():
		return start{from: row.State()}
	}
	from := row.LineState(m.root)
	return start{from, lineOn(worker, from)}
}

// states are the checkpoints that a task may go on from; those of replicas the furthest first.
func (j *job) states(i uint64) []*message.Checkpoint {
	row := j.ledger.Rows[i]
	switch {
	case row == nil:
	case j.replicated():
		return row.LineStates()
	case row.State() != nil:
		return []*message.Checkpoint{row.State()}
	}
	return nil
}

// stateFor is the checkpoint from which a new lease of a task goes on at a worker, "" for any; nil
// for none. Of replicas it is that of a line that runs nowhere and has no end: the worker's own, if
// it answers for one; or a state on which replicas agree, where that is no less far.
func (j *job) stateFor(i uint64, worker task.PeerID) *message.Checkpoint {
	states := j.states(i)
	if !j.mayResume() || len(states) == 0 && !j.replicated() {
		return nil
	}
	if !j.replicated() {
		return j.barred[i].lets(states[0])
	}
	taken := j.taken(i)
	if slices.Contains(taken, worker) {
		return nil // it begins anew, and does not count beside the other
	}
	best := sureState(j, i)
	for _, s := range states {
		by := s.Answers()
		if best != nil && s.Fuel <= best.Fuel || !task.Apart(by, taken) || j.failedFrom(i, s) ||
			j.meetings[i].isWrong(s.Root()) {
			continue
		}
		if slices.Contains(by, worker) {
			return s
		}
		if best == nil || len(best.With) > 0 {
			best = s
		}
	}
	return best
}

// taken are the workers that answer for what runs of a task, or came of it, be it that it failed:
// one worker alone is not to fail it as often as it may.
func (j *job) taken(i uint64) (by []task.PeerID) {
	if t := j.live[i]; t != nil {
		for _, l := range t.leases {
			by = append(by, l.answers()...)
		}
	}
	if row := j.ledger.Rows[i]; row != nil {
		for k := range row.Results {
			workers, _ := row.Results[k].AnsweredBy()
			by = append(by, workers...)
		}
		for k := range row.Failures {
			workers, _ := row.Failures[k].Result.AnsweredBy()
			by = append(by, workers...)
		}
	}
	return by
}

// failedFrom reports whether a run that went on from a checkpoint, or from one that its own run
// went on from, failed: the task may have become wrong there.
func (j *job) failedFrom(i uint64, s *message.Checkpoint) bool {
	row, chain := j.ledger.Rows[i], s.Chain()
	return slices.ContainsFunc(row.Failures, func(f ledger.Failure) bool {
		from := f.Result.Receipt
		return from != nil && from.From != "" &&
			slices.ContainsFunc(chain, func(l task.Link) bool { return l.CID == from.From })
	})
}

// standing counts the results of a task that agree and the leases that may come to agree with them:
// those for which no worker answers twice, and whose lines have not parted.
func (j *job) standing(i uint64) (n int) {
	var by, roots []task.PeerID
	met := j.meetings[i]
	if row := j.ledger.Rows[i]; row != nil {
		agreed := row.Agreed()
		n = len(agreed)
		for k := range agreed {
			workers, _ := agreed[k].AnsweredBy()
			by, roots = append(by, workers...), append(roots, workers[len(workers)-1])
		}
	}
	if t := j.live[i]; t != nil {
		for _, l := range t.leases {
			parted := slices.ContainsFunc(roots, func(root task.PeerID) bool { return met.apart(root, l.root()) })
			if answers := l.answers(); !l.doubted && !parted && task.Apart(answers, by) {
				n++
				by, roots = append(by, answers...), append(roots, l.root())
			}
		}
	}
	return n
}

// appendDestinations appends the workers to which replicas of a task are on their way, but for one.
func (j *job) appendDestinations(peers []task.PeerID, i uint64, but *lease) []task.PeerID {
	if t := j.live[i]; t != nil {
		for _, l := range t.leases {
			if m := l.move; l != but && m != nil && m.to != nil {
				peers = append(peers, m.to.peer)
			}
		}
	}
	return peers
}

// appendBarred appends those to whom a lease may not go: see barred.
func (l *lease) appendBarred(peers []task.PeerID) []task.PeerID {
	j, i := l.job, l.task.index
	peers = j.appendWorkers(peers, i)
	if j.replicated() {
		peers = j.appendDestinations(peers, i, l)
		for _, p := range j.taken(i) {
			if !slices.Contains(l.answers(), p) {
				peers = append(peers, p)
			}
		}
	}
	return peers
}

// barred reports whether a lease may not go to a worker, as those it is moved from see it: it
// runs the task or has ended it, or answers for another replica. It may answer for this one.
func (l *lease) barred(peer task.PeerID) bool {
	j, i := l.job, l.task.index
	if j.worksOn(i, peer) || !j.replicated() {
		return j.worksOn(i, peer)
	}
	if slices.Contains(j.appendDestinations(nil, i, l), peer) {
		return true
	}
	if slices.Contains(l.answers(), peer) {
		return false
	}
	return slices.Contains(j.taken(i), peer)
}

// leaseOn returns the lease of another worker that is in the line of an attempt which a worker tells
// of, or goes on from what that worker left; nil for none.
func (j *job) leaseOn(i uint64, peer task.PeerID, a message.Attempt) *lease {
	t := j.live[i]
	if t == nil || !j.replicated() {
		return nil
	}
	n, _ := j.lineOf(i, a, peer)
	by := append([]task.PeerID{peer}, n.by...)
	if k := slices.IndexFunc(t.leases, func(l *lease) bool {
		return l.host.peer != peer && !task.Apart(l.answers(), by)
	}); k >= 0 {
		return t.leases[k]
	}
	return nil
}

// lineOf is the lineage of an attempt that is in the row's log, and says whether one is: what it
// began with is told there, and who left that by the line's state.
func (j *job) lineOf(i uint64, a message.Attempt, worker task.PeerID) (n lineage, known bool) {
	row := j.ledger.Rows[i]
	if row == nil {
		return lineage{}, false
	}
	k := slices.IndexFunc(row.Log, func(l message.AttemptLog) bool { return l.Attempt == a })
	if k < 0 || row.Log[k].From == 0 {
		return lineage{}, k >= 0
	}
	for _, s := range row.LineStates() {
		for n, link := range s.Chain() {
			if link.Fuel == row.Log[k].From {
				from := message.Checkpoint{CID: link.CID, Fuel: link.Fuel, CPU: link.CPU, Voucher: &link.Voucher,
					Before: s.Chain()[n+1:]}
				return lineOn(worker, &from), true
			}
		}
	}
	return lineage{}, true
}

// mayBeOf reports whether a checkpoint can be one of a lease: it is in its line, or in one that its
// worker began anew. Of a lease that this leader did not give to begin so any line will do that
// nobody else's is.
func (l *lease) mayBeOf(s *message.Checkpoint) bool {
	switch root := s.Root(); {
	case root == l.root() || root == l.host.peer:
		return true
	case l.shown.receipt != nil && l.after == (message.Attempt{}):
		return false
	}
	for _, o := range l.task.leases {
		if o != l && !task.Apart(o.answers(), s.Answers()) {
			return false
		}
	}
	return true
}

// learnLine takes in from a checkpoint of a lease who answers for it, and that it began anew, as
// where nobody had its state: then its line is another's than that state's, though it may have been
// handed over since.
func (l *lease) learnLine(s *message.Checkpoint) {
	from := l.saved.from
	if len(s.Before) == 0 || from != nil && !task.CutShort(s.Chain()) && rootAfter(l.host.peer, from) != s.Root() {
		l.saved.from, l.saved.began, l.saved.base = nil, 0, 0
	}
	l.saved.line = lineage{s.Answers(), len(s.Before)}
}
