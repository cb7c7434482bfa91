package submitter

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A worker of whom little is known gets, among its leases, tasks that this node has run again
// already: so it is checked in its own time. They look like any other.

const (
	// newcomerUnder is up to how many tasks that count as right a worker is a newcomer: by then as
	// much is known of it as its prior in an open pool is worth ten times.
	newcomerUnder = 10
	// mostProbes is how many such tasks a worker gets, and probeShare one of how many of its results.
	mostProbes = 10
	probeShare = 10
	// mostSure is how many results of a job are kept at hand for that, mostProbed how many are out.
	mostSure   = 64
	mostProbed = 8
	// probeEvery is how often newcomers are looked for.
	probeEvery = 10 * time.Second
)

// newcomers are what is known of those who are checked in their own time.
type newcomers struct {
	a      *audits
	seen   map[task.PeerID]uint64 // results of a worker since this node began
	probes map[task.PeerID]uint64 // tasks that it was given to be checked, ever
}

// sure are results of a job that were run again here and are right, some of which newcomers run.
type sure struct {
	at     map[uint64]*sureTask
	order  []uint64 // the oldest first
	probed map[uint64]*probe
	lookAt time.Time
}

type sureTask struct {
	poll   *poll
	signer task.PeerID
	engine string
}

// A probe is such a task at a newcomer.
type probe struct {
	worker task.PeerID
	by     time.Time // when it must have answered
}

// noteSure keeps a result at hand that was found right.
func (s *sure) noteSure(r *task.Result) {
	i := r.Task.Index
	if s.at[i] != nil {
		return
	}
	of := &sureTask{poll: newPoll(r), signer: r.Worker}
	if r.Trail != nil {
		of.engine = r.Trail.Engine
	}
	s.at[i] = of
	if s.order = append(s.order, i); len(s.order) > mostSure {
		oldest := s.order[0]
		s.order = s.order[1:]
		if s.probed[oldest] == nil {
			delete(s.at, oldest)
		} else {
			s.order = append(s.order, oldest)
		}
	}
}

// out lists the tasks that newcomers run.
func (s *sure) out() (set ledger.Set) {
	for _, i := range slices.Sorted(maps.Keys(s.probed)) {
		set.Add(i)
	}
	return set
}

// probe has newcomers run tasks of a job whose results are known here, while others of it wait.
func (n *newcomers) probe(j *submitted) {
	s := &j.checks.sure
	n.probesHome(j, func(p *probe) bool { return !n.a.s.now.Before(p.by) })
	if n.a.s.now.Before(s.lookAt) || len(s.at) == 0 || !n.a.abroad.lends || j.have.Count() == j.total ||
		!n.a.abroad.mayAsk(j) {
		return
	}
	s.lookAt = n.a.s.now.Add(probeEvery)
	given := 0
	for _, w := range slices.Sorted(maps.Keys(n.seen)) {
		if len(s.probed) < mostProbed && n.isNewcomer(j, w) && n.probeWith(j, w) {
			given++
		}
	}
	if given > 0 {
		n.a.abroad.goOn(j)
	}
}

// isNewcomer reports whether a worker is to be checked in its own time, and has no task for that.
func (n *newcomers) isNewcomer(j *submitted, w task.PeerID) bool {
	credit := n.a.known(w)
	for _, p := range j.checks.sure.probed {
		if p.worker == w {
			return false
		}
	}
	return credit.Says(n.a.s.now) && !n.a.abroad.seers.see(j, w) &&
		!j.checks.excused[w] && credit.Believed(n.a.s.now) < newcomerUnder &&
		n.probes[w] < mostProbes && probeShare*(n.probes[w]+1) <= n.seen[w]
}

// probeWith gives a worker a task, if there is one of which it knows nothing.
func (n *newcomers) probeWith(j *submitted, w task.PeerID) bool {
	s := &j.checks.sure
	for _, i := range s.order {
		of := s.at[i]
		if s.probed[i] != nil || slices.Contains(of.poll.makers, w) || !j.checks.right.Contains(i) {
			continue
		}
		p := &probe{worker: w, by: n.a.s.now.Add(answerIn + answerRuns*of.poll.wall)}
		s.probed[i] = p
		n.a.s.timers.Set(p.by, auditTimer)
		n.probes[w]++
		n.a.credit(w)
		n.a.keep(w)
		n.a.s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: i}, Action: "checks a newcomer", Peer: w,
			Reason: fmt.Sprintf("%d of its results are here, and little is known of it", n.seen[w])})
		return true
	}
	return false
}

// probesHome ends the wait for newcomers.
func (n *newcomers) probesHome(j *submitted, which func(*probe) bool) {
	s := &j.checks.sure
	maps.DeleteFunc(s.probed, func(_ uint64, p *probe) bool { return which(p) })
}

// cameFrom takes in what a newcomer came to. Where that is not what it was here the task runs again,
// with both results to be judged.
func (n *newcomers) cameFrom(from task.PeerID, j *submitted, t *message.TaskSummary) {
	s, id := &j.checks.sure, task.TaskID{Job: j.id, Index: t.Index}
	of, p := s.at[t.Index], s.probed[t.Index]
	if err := n.a.s.checkEnd(from, j, t); err != nil {
		n.a.s.refuseEnd(from, j, t.Index, err)
		return
	}
	if !t.Failed && (t.Results[0].Worker != p.worker || of.poll.had(&t.Results[0])) {
		j.againTold = false
		return
	}
	delete(s.probed, t.Index)
	switch {
	case t.Failed || !j.checks.right.Contains(t.Index):
	case stampOf(&t.Results[0]).agrees(of.poll.held):
		n.a.confirm(p.worker)
	case n.a.s.save(otherKey(id, 0), id, &t.Results[0]):
		j.checks.others = true
		of.poll.add(&t.Results[0])
		n.a.note(j, checked{Index: t.Index, State: verdictDue, Worker: of.signer, Engine: of.engine,
			Poll: of.poll.kept(of.engine, true)})
		delete(s.at, t.Index)
		s.order = slices.DeleteFunc(s.order, func(i uint64) bool { return i == t.Index })
	}
}
