package scheduler

import (
	"slices"
	"time"

	"godwit/scheduler/leasing"
	"godwit/scheduler/message"
	"godwit/task"
)

// Which of two replicas is wrong that part on the way. One of them runs in vain from there on, and nobody
// knows which until a third has come as far. So the leader's node runs the part between itself, in a core
// that its owner lends: from a state that both lines passed before they parted to the fuel at which they
// differ. The line with another state there is given up, if some line has the same, and is shown to others
// by what its workers signed (accusing.go).

const (
	// refereeMost bounds a run here, in time, and refereeFuel in fuel: about as much on the reference core.
	refereeMost = 10 * time.Minute
	refereeFuel = 600 * task.ReferenceFuel
	// refereeWait is how long an answer is waited for before other replicas are judged: a node that lends
	// no core never begins.
	refereeWait = 30 * time.Minute
)

// referee has the part run in which two replicas of a task parted, one at a time.
func (r *reports) referee(j *job, i uint64, p parting) {
	if r.judging != nil && r.c.now.Before(r.judging.since.Add(refereeWait)) || j.ledger.Rows[i] == nil {
		return
	}
	var from *message.Began
	begun, agreed := uint64(0), j.meetings[i].agreed(p)
	for _, s := range j.ledger.Rows[i].LineStates() { // the furthest first
		if root := s.Root(); s.Fuel <= agreed && (root == p.a || root == p.b) {
			from = &message.Began{Fuel: s.Fuel, Hash: s.Voucher.Hash, CID: s.CID, Holders: []task.PeerID{s.Voucher.Worker}}
			begun = s.Fuel
			break
		}
	}
	if p.fuel-begun > refereeFuel {
		return
	}
	id := task.TaskID{Job: j.id, Index: i}
	r.judging = &refereeing{id, p.fuel, r.c.now}
	reads, _ := j.reads(i)
	r.c.emit(message.Audit{Task: id, Key: j.ledger.Record.Key, From: from, StopAt: p.fuel, Most: refereeMost,
		Reads: reads})
}

// refereed takes in what the part came to here.
func (r *reports) refereed(ev *message.Audited) {
	of := r.judging
	if of == nil || ev.Task != of.id || ev.StopAt != of.fuel {
		return
	}
	r.judging = nil
	j, i := r.current(ev.Task), ev.Task.Index
	if j == nil || j.meetings[i] == nil || j.state != jobOpen {
		return
	}
	t := ev.Here.Trail
	if ev.Here.Outcome != task.Interrupted || t == nil || t.Fuel != of.fuel || len(t.Last) != len(message.Mark{}.State) {
		r.c.decided(ev.Task, "not judged", r.c.self, task.ClipMessage("which replica is wrong cannot be told here: "+
			ev.Here.Message+ev.Unserved))
		return
	}
	same, others := j.meetings[i].against(of.fuel, [32]byte(t.Last))
	if len(same) == 0 {
		r.c.decided(ev.Task, "not judged", r.c.self, "this node comes to a third state: it errs, or all replicas do")
		return
	}
	for _, root := range others {
		r.endLine(j, i, parting{root, same[0], of.fuel})
	}
}

// endLine gives up a replica that is wrong, which is the first of the two: nobody goes on from its states.
func (r *reports) endLine(j *job, i uint64, p parting) {
	m, root := j.meetings[i], p.a
	if m.isWrong(root) {
		return
	}
	m.wrong = append(m.wrong, root)
	why := whyWrong(root, p.fuel)
	r.c.decided(task.TaskID{Job: j.id, Index: i}, "found wrong", root, task.ClipMessage(why))
	r.accuse(j, i, p)
	t := j.live[i]
	if t == nil {
		return
	}
	for _, l := range slices.Clone(t.leases) {
		if l.root() == root && l.is(leasing.Open) {
			r.c.members.pauseJob(l.host, j, r.c.cfg.RefusalPause, why)
			r.c.outbox.drop(l.host.peer, l.taskID(), l.attempt, message.DropParted)
			r.giveUp(l, "superseded", why)
		}
	}
}
