package scheduler

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// copied takes in what the leader sends, in order. What is acknowledged is
// durable: the Persists come before the answer.
func (r *Replica) copied(from task.PeerID, c *message.Copy) {
	s := &r.session
	if from != r.leader || c.Epoch != r.epoch || c.Session != s.id {
		return
	}
	if s.state == telling && s.known.Last && c.Seq == 1 {
		// The answer to the last Known was lost: that copies come says the same.
		s.state, s.known = following, nil
		r.unretire()
	}
	if s.state != following {
		return
	}
	answer := &message.Copied{Epoch: r.epoch, Session: s.id}
	if c.Seq == s.taken+1 {
		s.taken++
		if r.apply(c); s.state != following {
			return // it has begun anew
		}
	}
	answer.Seq, answer.Gap = s.taken, c.Seq > s.taken
	r.emit(message.Send{To: from, Message: message.Message{Copied: answer}})
}

// apply merges a copy. A pair that cannot be read is left out and told: the
// digests of the next session find it. One with rows that are none of the session's ends it.
func (r *Replica) apply(c *message.Copy) {
	for _, p := range c.Pairs {
		if id, err := r.merge(p); err != nil {
			r.notTaken(p.Key, task.TaskID{Job: id}, err)
		}
	}
	if err := r.session.rows.Read(c.Runs, c.Names, func(id task.TaskID, row []byte) {
		p := message.Pair{Key: ledger.RowKey(id), Value: row}
		if _, err := r.merge(p); err != nil {
			r.notTaken(p.Key, id, err)
		}
	}); err != nil {
		r.notTaken("rows", task.TaskID{}, err)
		r.begin() // another session finds what is lacking
		return
	}
	for _, id := range c.Gone {
		r.retire(id)
	}
	if len(c.Gone) > 0 {
		r.makeRoom()
		r.askSoon()
	}
	for _, l := range c.Live {
		j := r.ledger.Jobs[l.Task.Job]
		if len(l.Leases) == 0 || j == nil || j.Delivered(l.Task.Index) {
			delete(r.live, l.Task)
		} else {
			r.live[l.Task] = l.Leases
		}
	}
	for _, h := range c.Hold {
		r.queueHold(h)
	}
	r.fetchHolds()
}

// merge takes in one pair and makes what came of it durable.
func (r *Replica) merge(p message.Pair) (task.JobID, error) {
	kind, rest, _ := strings.Cut(p.Key, "/")
	name, _, _ := strings.Cut(rest, "/")
	id := task.JobID(name)
	j := r.ledger.Jobs[id]
	r.wantedAgain(id)
	if kind == "j" {
		if j != nil {
			return id, nil
		}
		_, err := addRecord(&r.cfg, r.ledger, id, p.Value)
		if err == nil {
			r.emit(message.Persist{Key: coordinatorPrefix + p.Key, Value: p.Value})
		}
		return id, err
	}
	if j == nil {
		return id, fmt.Errorf("its job is not known")
	}
	if kind == "f" {
		f, err := ledger.DecodeFacts(p.Value)
		if err == nil {
			err = vetFacts(j, f, r.cfg.Signed, r.now)
		}
		if err != nil {
			return id, err
		}
		j.Facts.Merge(f)
		for t := range r.live {
			if t.Job == id && j.Delivered(t.Index) {
				delete(r.live, t)
			}
		}
		r.compact(j)
		return id, r.persistUnless(nil, p.Key, &j.Facts)
	}
	i, err := rowOf(j, p.Key)
	of := task.TaskID{Job: id, Index: i}
	if err != nil || j.Delivered(i) || r.postpone(of, j, p) {
		return id, err
	}
	r.read(of)
	return id, r.mergeRow(of, j, p, nil)
}

// mergeRow is merge of a task, of whose row durable is on the disk as it came; nil for nothing. The
// signatures of results are looked at later: see unvetted.
func (r *Replica) mergeRow(of task.TaskID, j *ledger.Job, p message.Pair, durable []byte) error {
	i, row, err := decodeRow(j, p)
	if err != nil {
		return err
	}
	news := false
	if err := eachResult(row, of, func(res *task.Result) error {
		news = news || !j.Rows[i].Has(res)
		return j.Spec.CheckResult(res)
	}); err != nil {
		return err
	}
	ours := j.Row(i)
	if r.cfg.Key != nil {
		r.vet(of, row, ours)
	}
	changed, err := ours.Take(row, j.Rule())
	if changed || durable != nil {
		err = r.persistUnless(durable, p.Key, ours)
	}
	if changed && news {
		r.unvetted.mark(of, r.now)
	}
	if ours.Verdict(j.Rule()) != ledger.Open {
		delete(r.live, of)
	}
	return err
}

// vet takes out of a row what it says of states and nobody vouches for. Who gave the leases is
// the leader's to know, who is believed.
func (r *Replica) vet(id task.TaskID, row, ours *ledger.Row) {
	err := row.Vet(ours,
		func(s *message.Checkpoint) error { return s.Vouched(id, r.now) },
		func(v *task.Voucher) error { return v.Verify(ledger.BadState(id, v)) })
	spec := r.ledger.Jobs[id.Job].Spec
	err = cmp.Or(err, row.VetLines(ours, func(s *message.Checkpoint) error {
		return cmp.Or(task.CheckAgreed(spec, s.Before), s.VouchedWhole(id, r.now))
	}))
	if err != nil {
		r.emit(message.Decided{Task: id, Action: "refused", Peer: r.leader,
			Reason: task.ClipMessage("its checkpoint: " + err.Error())})
	}
}

// notTaken says that something that the leader told is not in the copy.
func (r *Replica) notTaken(key string, of task.TaskID, err error) {
	r.emit(message.Decided{Task: of, Action: "refused", Peer: r.leader,
		Reason: task.ClipMessage(fmt.Sprintf("copying %s: %v", key, err))})
}

// persistUnless makes a part of the copy durable, unless the same is durable already.
func (r *Replica) persistUnless(durable []byte, key string, v interface{ Encode() ([]byte, error) }) error {
	value, err := v.Encode()
	if err == nil && (durable == nil || !bytes.Equal(value, durable)) {
		r.emit(message.Persist{Key: coordinatorPrefix + key, Value: value})
	}
	return err
}

// queueHold notes what is to be held. A name stands for other blocks when its
// task has saved again: if the former are still being fetched, the new ones are
// next, and only of them the leader is told.
func (r *Replica) queueHold(h message.Hold) {
	if key := holdKey(h.Name); r.fetches[key] == h.Name {
		r.newer[key] = h
		return
	}
	r.holds = append(r.holds, h)
}

// fetchHolds begins to fetch what is to be held, the oldest first.
func (r *Replica) fetchHolds() {
	for len(r.holds) > 0 && len(r.fetches) < maxHoldFetches {
		h := r.holds[0]
		r.holds = r.holds[1:]
		key := holdKey(h.Name)
		if _, under := r.fetches[key]; under {
			r.newer[key] = h
			continue
		}
		if r.ledger.Jobs[h.Name.Task.Job] == nil {
			continue
		}
		r.fetches[key] = h.Name
		r.emit(message.Fetch{Key: key, CIDs: h.CIDs, Holders: h.Holders, Most: mostOf(h.Name)})
	}
}

// fetched tells the leader which blocks are held here now.
func (r *Replica) fetched(ev message.Fetched) {
	name, ok := r.fetches[ev.Key]
	if !ok {
		return
	}
	delete(r.fetches, ev.Key)
	if h, ok := r.newer[ev.Key]; ok { // the leader waits to hear of these
		delete(r.newer, ev.Key)
		r.holds = slices.Insert(r.holds, 0, h)
		r.fetchHolds()
		return
	}
	r.fetchHolds()
	if r.session.state == following {
		r.emit(message.Send{To: r.leader, Message: message.Message{Copied: &message.Copied{
			Epoch: r.epoch, Session: r.session.id, Seq: r.session.taken,
			Held: []message.HeldBlocks{{Name: name, Err: task.ClipMessage(ev.Err)}},
		}}})
	}
}
