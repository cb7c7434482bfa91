package member

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// invents returns made-up ends of all tasks of a job. Their receipts are signed by a key of this member, and their
// workers are other keys of this member or do not exist.
func (h *hostile) invents(j *honestJob, to *host, made bool) *message.Progress {
	spec := h.s.jobs[j.id]
	p := &message.Progress{Job: j.id, Made: made, Summary: message.JobSummary{Total: spec.Tasks(),
		State: pick(h.rng, message.JobRunning, message.JobDone)}}
	leader := h.rng.IntN(len(h.g.ids))
	_, now := to.m.lease.Leader()
	epoch := pick(h.rng, now, max(h.lead, 1), overlay.NextEpoch(now, h.g.ids[leader]), h.g.epoch())
	keys := h.helpers(spec.Replicas, made)
	for i := range spec.Tasks() {
		t := message.TaskSummary{Index: i}
		for _, key := range keys {
			if r := h.invention(task.TaskID{Job: j.id, Index: i}, key, leader, epoch); r != nil {
				t.Results = append(t.Results, *r)
			}
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

// helpers returns the keys of n workers. A member that claims to have run a task itself has only one.
func (h *hostile) helpers(n int, made bool) (keys []ed25519.PrivateKey) {
	if made {
		return h.g.keys[:1]
	}
	for len(keys) < n {
		key := h.g.key()
		if len(keys) > 0 || h.rng.IntN(2) == 0 {
			key, _ = newKey(h.rng)
		}
		keys = append(keys, key)
	}
	return keys
}

// invention returns a result whose worker never had a lease; nil if it cannot be signed.
func (h *hostile) invention(id task.TaskID, worker ed25519.PrivateKey, leader int, epoch uint64) *task.Result {
	b := []byte(forged)
	r := task.Result{Task: id, Outcome: task.Completed, CPU: time.Second, Wall: time.Second,
		Outputs: []task.Output{{Name: "stdout", CID: task.RawCID(b), Size: int64(len(b)), Inline: b}}}
	receipt, err := task.NewReceipt(h.g.keys[leader], h.g.ids[leader], id,
		task.PeerIDOf(worker.Public().(ed25519.PublicKey)), task.Receipt{Epoch: max(epoch, 1), Seq: h.g.number(),
			Issued: h.s.now.UnixMilli()})
	if err != nil {
		return nil
	}
	if r.Receipt = receipt; r.Sign(worker) != nil {
		return nil
	}
	return &r
}

// finishes reports a wrong result of a task that this member has a lease of to the leader.
func (h *hostile) finishes() {
	l := h.leases.any(h.rng)
	o := h.s.leader()
	if l.Receipt == nil || o == nil {
		return
	}
	b := []byte(forged)
	r := task.Result{Task: l.Task, Outcome: task.Completed, CPU: time.Second, Wall: time.Second, Receipt: l.Receipt,
		Outputs: []task.Output{{Name: "stdout", CID: task.RawCID(b), Size: int64(len(b)), Inline: b}}}
	for n, key := range h.g.keys {
		if r.Sign(key) == nil && l.Receipt.Verify(l.Task, h.g.ids[n]) == nil {
			h.gang.tally["wrong reports"]++
			m := message.Message{Report: &message.Report{Epoch: l.Attempt.Epoch, Slots: h.slots, Full: true, Born: 1,
				Ended: []message.Ending{{Attempt: l.Attempt, Result: r}}}}
			h.say(h.g.ids[n], o, &m)
		}
	}
}

// answerAsk answers a submitter's query for the results of its job.
func (h *hostile) answerAsk(from, to task.PeerID, q *message.Got) {
	o := h.s.of(from)
	for _, j := range h.gang.jobs {
		if j.id == q.Job && o.up {
			m := message.Message{Progress: h.invents(j, o, h.rng.IntN(2) == 0)}
			h.say(to, o, &m)
		}
	}
}

// borrows answers a submitter that delegates tasks of its job, with results of these or of all tasks.
func (h *hostile) borrows(from, to task.PeerID, id task.JobID, have []message.Range) {
	o := h.s.of(from)
	if leader, _ := o.leader(); leader == to || h.lead > 0 || h.rng.IntN(4) == 0 {
		return
	}
	m := message.Message{Accepted: &message.Accepted{Job: id}}
	h.say(to, o, &m)
	held, err := ledger.MakeSet(have)
	for _, j := range h.gang.jobs {
		if j.id != id || err != nil {
			continue
		}
		p := h.invents(j, o, false)
		if h.rng.IntN(2) == 0 {
			p.Tasks = nil
			for i := range h.s.jobs[id].Tasks() {
				if !held.Contains(i) && len(h.g.ids) > 0 {
					if r := h.invention(task.TaskID{Job: id, Index: i}, h.g.keys[0], 0, max(h.g.epoch(), 1)); r != nil {
						p.Tasks = append(p.Tasks, message.TaskSummary{Index: i, Results: []task.Result{*r}})
					}
				}
			}
		}
		m = message.Message{Progress: p}
		h.say(to, o, &m)
	}
}

// leader returns the leader that a host follows, and the epoch.
func (h *host) leader() (task.PeerID, uint64) {
	if !h.up {
		return "", 0
	}
	return h.m.lease.Leader()
}

// speakOfCells sends an advert that names a small cell, or a summary of such a cell.
func (h *hostile) speakOfCells(to *host, n int) {
	if h.rng.IntN(2) == 0 {
		h.bits = uint8(pick(h.rng, 0, 1, 1, 1, 2, 10))
		h.advertise(n, unchanged)
		return
	}
	to.tell(Summarised{Of: to.m, Summaries: h.summaries(n, nil)})
}

// summaries returns this member's answer to a query about the cells. lineage is that of the divided overlay's halves;
// nil has this member sign the divisions itself.
func (h *hostile) summaries(n int, lineage overlay.Lineage) (out []overlay.Summary) {
	id := h.g.ids[n]
	number, epoch := overlay.CellNumber(h.g.overlay, id), overlay.NextEpoch(h.g.epochs.any(h.rng), id)
	bits := uint8(pick(h.rng, 1, 1, 1, 2, 5, 10))
	if h.part == borrowing {
		bits, lineage = 1, h.s.lineage
	}
	for at := uint8(len(lineage)); at < bits; at++ {
		d := overlay.Division{Leader: id, Epoch: epoch, Issued: h.s.now.Add(-time.Duration(h.rng.IntN(600)) * time.Second)}
		if d.Sign(h.g.overlay, at, h.g.keys[n]) != nil {
			return nil
		}
		lineage = append(slices.Clone(lineage), d)
	}
	s := overlay.Summary{Overlay: h.g.overlay, Leader: id, Cell: overlay.CellOf(number, bits), Lineage: lineage, Epoch: epoch,
		Issued: h.s.now, Members: pick(h.rng, 1, 100, 300, overlay.MaxCellMembers), Slots: 4096, Idle: 4096}
	if s.Sign(h.g.keys[n]) != nil {
		return nil
	}
	b, err := s.Encode()
	if err != nil {
		return nil
	}
	if opened, err := overlay.OpenSummary(b, h.s.now); err == nil {
		out = append(out, opened)
	}
	return out
}

// cells implements outside: it judges which cells honest members join, and answers their queries.
func (g *gang) cells(o *host, e Effect) {
	switch e := e.(type) {
	case JoinCell:
		if g.s.began == 0 {
			g.wrong(fmt.Sprintf("host %d joins cell %s of a pool of %d", o.n, e.Cell, len(g.s.hosts)))
		}
	case GossipSummary:
		for _, other := range g.s.hosts {
			if other != o && other.leads() {
				other.tell(Summarised{Of: other.m, Summaries: []overlay.Summary{e.Summary}})
			}
		}
	case AskCells:
		g.tally["queries about cells"]++
		g.answerCells(o, e.From)
	}
}

// answerCells answers a query about the cells as a driver does: a query without a recipient goes to a connected peer,
// preferably in another cell. Which one is random.
func (g *gang) answerCells(o *host, to task.PeerID) {
	for _, h := range g.members {
		for n, id := range h.g.ids {
			if g.up && (to == id || to == "" && o.m.Visits(id)) {
				o.tell(Summarised{Of: o.m, Summaries: h.summaries(n, nil), From: id, Network: "network of " + string(id)})
				return
			}
		}
	}
	from := g.rng.IntN(len(g.s.hosts))
	for k := range g.s.hosts {
		other := g.s.hosts[(from+k)%len(g.s.hosts)]
		if other.up && other != o && (to == other.id || to == "") {
			o.tell(Summarised{Of: o.m, Summaries: other.m.Summaries(), From: other.id,
				Network: "network of " + string(other.id)})
			return
		}
	}
}
