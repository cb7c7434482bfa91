package replication

import (
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

func (r *Replicas) resend(f *follower) {
	f.resent = r.now
	for i := range f.sent {
		f.sent[i].at = r.now
		r.emit(message.Send{To: f.peer, Message: message.Message{Copy: f.sent[i].copy}})
	}
}

// SendCopies sends every follower what its window has room for.
func (r *Replicas) SendCopies() {
	behind := false
	for _, f := range r.listed {
		for len(f.queue) > 0 && len(f.sent) < copyWindow {
			r.sendCopy(f)
		}
		behind = behind || len(f.queue) > 0
	}
	if len(r.rows) > 0 && (!behind || len(r.rows) > maxRows) {
		clear(r.rows)
	}
}

func (r *Replicas) sendCopy(f *follower) {
	m := &message.Copy{}
	size, n := 0, 0
	for _, k := range f.queue {
		if size > message.BatchBytes || n == message.MaxPairs {
			break
		}
		n++
		delete(f.waiting, k)
		if k.Kind == Row && f.runs {
			size += r.fillRow(&f.rows, k)
		} else {
			size += r.fill(m, k)
		}
	}
	m.Runs, m.Names = f.rows.Take()
	f.queue = f.queue[n:]
	upTo := f.queued - uint64(len(f.queue))
	switch {
	case size > 0:
		r.sendAs(f, m, upTo)
	case len(f.sent) > 0:
		f.sent[len(f.sent)-1].upTo = upTo
	default:
		f.acked = upTo
		f.maySync()
	}
}

// sendAs sends a copy as the next of the session.
func (r *Replicas) sendAs(f *follower, m *message.Copy, upTo uint64) {
	f.seq++
	m.Epoch, m.Session, m.Seq = r.epoch, f.session, f.seq
	if len(f.sent) == 0 {
		f.moved = r.now
	}
	f.sent = append(f.sent, sentCopy{m, upTo, r.now})
	r.emit(message.Send{To: f.peer, Message: message.Message{Copy: m}})
}

// keyBytes is what a key of a copy takes beside its value, about, and rowHead what a row of a run does.
const keyBytes, rowHead = 128, 4

// fill adds what a key stands for now to a copy and returns its size, about; 0
// if there is nothing any more.
func (r *Replicas) fill(m *message.Copy, k Key) int {
	id := task.TaskID{Job: k.Job, Index: k.Index}
	j := r.book.Ledger().Jobs[k.Job]
	if k.Kind == Gone {
		if j != nil {
			return 0
		}
		m.Gone = append(m.Gone, k.Job)
		return keyBytes
	}
	if j == nil {
		return 0
	}
	var p message.Pair
	var err error
	switch k.Kind {
	case Record:
		p = message.Pair{Key: ledger.JobKey(k.Job), Value: j.Record.Whole()}
	case Facts:
		p.Key = ledger.FactsKey(k.Job)
		p.Value, err = j.Facts.Encode()
	case Row:
		p.Key = ledger.RowKey(id)
		if p.Value, err = r.row(id); p.Value == nil && err == nil {
			return 0
		}
	case live:
		l := message.LiveLeases{Task: id, Leases: r.book.Live(id)}
		m.Live = append(m.Live, l)
		return keyBytes * (1 + len(l.Leases))
	default:
		h, ok := r.book.Blocks(message.HoldName{Task: id, Kind: message.HoldKind(k.Kind - hold)})
		if !ok {
			return 0
		}
		m.Hold = append(m.Hold, h)
		return keyBytes * (1 + len(h.CIDs))
	}
	if err != nil {
		r.decided(id, "not told", "", task.ClipMessage(err.Error()))
		return 0
	}
	m.Pairs = append(m.Pairs, p)
	return keyBytes + len(p.Value)
}

// fillRow adds a row to what a follower is told by runs, and returns its size, about; 0 for none.
func (r *Replicas) fillRow(rows *message.RowWriter, k Key) int {
	id := task.TaskID{Job: k.Job, Index: k.Index}
	row, err := r.row(id)
	switch {
	case err != nil:
		r.decided(id, "not told", "", task.ClipMessage(err.Error()))
		return 0
	case row == nil:
		return 0
	}
	return rows.Add(id, row) + rowHead
}

// row returns the encoding of a task's row; nil for none, and for one that is delivered.
func (r *Replicas) row(id task.TaskID) ([]byte, error) {
	j := r.book.Ledger().Jobs[id.Job]
	if j == nil || j.Rows[id.Index] == nil || j.Delivered(id.Index) {
		return nil, nil
	}
	if encoded := r.rows[id]; encoded != nil {
		return encoded, nil
	}
	return j.Rows[id.Index].Encode()
}

// Copied takes in what a follower has durably, and which blocks it holds.
func (r *Replicas) Copied(from task.PeerID, m *message.Copied) {
	f := r.followers[from]
	if m.Epoch > r.epoch {
		r.book.Outrun(from, m.Epoch)
	}
	if f == nil || f.phase != copying || m.Epoch != r.epoch || m.Session != f.session || m.Seq > f.seq {
		return
	}
	r.heardOf(f)
	f.answer = nil // it follows: that was heard
	for len(f.sent) > 0 && f.sent[0].copy.Seq <= m.Seq {
		f.acked, f.moved = f.sent[0].upTo, r.now
		f.sent = f.sent[1:]
	}
	f.maySync()
	if m.Gap && len(f.sent) > 0 && !r.now.Before(f.resent.Add(resendAfter/2)) {
		r.resend(f)
	}
	for i := range m.Held {
		r.heldAt(f, &m.Held[i])
	}
}
