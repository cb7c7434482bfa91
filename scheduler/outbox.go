package scheduler

import (
	"bytes"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// An outbox gathers what one Step has to say to each worker.
type outbox struct {
	c *Coordinator

	mail []*mail               // in the order first written to; beyond its end are empty ones
	byTo map[task.PeerID]*mail // of mail, where it is more than fewLetters; else it is empty
	// unsigned are the receipts of the leases in the mail: one signature is for many.
	unsigned []task.Leased
}

// sign signs the receipts of this Step. Of names that this coordinator made or checked it does
// not fail; a worker refuses a lease whose receipt is not signed.
func (o *outbox) sign() {
	_ = task.SignReceipts(o.c.cfg.Key, o.unsigned)
	clear(o.unsigned)
	o.unsigned = o.unsigned[:0]
}

// mail is what one Step has to say to one worker.
type mail struct {
	to      task.PeerID
	place   *message.Place
	full    []*message.Place // before it: each has as many leases as a frame holds of what they read
	bytes   int              // about what leases of place read
	ack     *message.Ack
	holders map[task.JobID]bool
}

// letter returns what this Step has to say to a worker so far.
func (o *outbox) letter(to task.PeerID) *mail {
	if m := o.written(to); m != nil {
		return m
	}
	n := len(o.mail)
	o.mail = slices.Grow(o.mail, 1)[:n+1]
	if o.mail[n] == nil {
		o.mail[n] = new(mail)
	}
	m := o.mail[n]
	m.to = to
	switch {
	case n > fewLetters:
		o.byTo[to] = m
	case n == fewLetters:
		if o.byTo == nil {
			o.byTo = map[task.PeerID]*mail{}
		}
		for _, m := range o.mail {
			o.byTo[m.to] = m
		}
	}
	return m
}

// fewLetters is up to how many letters of one Step are gone through for one: mostly there is one.
const fewLetters = 8

// written returns the letter to a worker; nil while there is none.
func (o *outbox) written(to task.PeerID) *mail {
	if len(o.mail) > fewLetters {
		return o.byTo[to]
	}
	for _, m := range o.mail {
		if m.to == to {
			return m
		}
	}
	return nil
}

// empty forgets what was sent.
func (o *outbox) empty() {
	for _, m := range o.mail {
		*m = mail{}
	}
	if len(o.mail) > fewLetters {
		clear(o.byTo)
	}
	o.mail = o.mail[:0]
}

// add makes room in the letter for a lease of a task that reads so much.
func (m *mail) add(r *message.Reads, epoch uint64) {
	if r == nil {
		return
	}
	const perFile = 100 // a CID, a size, and heads
	n := 0
	for i := range r.Files {
		n += perFile + len(r.Files[i].Name) + len(r.Files[i].Inline)
	}
	if m.bytes += n; m.bytes > message.BatchBytes && len(m.place.Leases) > 0 {
		m.full = append(m.full, m.place)
		m.place, m.bytes = &message.Place{Epoch: epoch, Holders: map[task.JobID][]task.PeerID{}}, n
	}
}

func (o *outbox) ack(to task.PeerID) *message.Ack {
	m := o.letter(to)
	if m.ack == nil {
		m.ack = &message.Ack{Epoch: o.c.term.epoch}
	}
	return m.ack
}

func (o *outbox) drop(to task.PeerID, id task.TaskID, a message.Attempt, reason string) {
	ack := o.ack(to)
	ack.Drop = append(ack.Drop, message.AttemptName{Task: id, Attempt: a, Reason: reason})
}

// post puts a lease in this Step's letter to its worker, with those who hold
// the job's blocks.
func (c *Coordinator) post(l *lease) {
	from := l.saved.from
	if l.shown.since == 0 {
		l.shown.since = c.now.UnixMilli()
		if from != nil && from.Voucher != nil {
			l.shown.since = from.Voucher.Receipt.Begun()
		}
	}
	l.shown.receipt = c.postTo(l.host, l.job, message.Lease{
		Task: l.taskID(), Attempt: l.attempt, TTL: c.cfg.LeaseTTL, From: from,
		Left: min(c.dispatch.leftFrom(l.job, l.task.index, from, l.attempt), task.MaxDuration),
	}, l.shown.since)
	if task.SignsReads(l.job.spec, l.task.index) {
		l.shown.reads, _ = readName(l.job, l.task.index)
	}
}

// postTo puts a lease in this Step's letter to a worker. It goes on with leases of which the
// first was given then, in Unix milliseconds. It returns the receipt of the lease, if any.
func (c *Coordinator) postTo(h *host, j *job, l message.Lease, since int64) *task.Receipt {
	m := c.outbox.letter(h.peer)
	if m.place == nil {
		m.place = &message.Place{Epoch: c.term.epoch, Holders: map[task.JobID][]task.PeerID{}}
	}
	l.Receipt = c.receipt(h.peer, &l, since)
	l.Reads, _ = j.reads(l.Task.Index)
	m.add(l.Reads, c.term.epoch)
	m.place.Leases = append(m.place.Leases, l)
	holders, ok := m.place.Holders[j.id]
	if !ok {
		holders = make([]task.PeerID, 0, 3)
		holders = append(holders, c.self)
		if j.submitter != c.self {
			holders = append(holders, j.submitter)
		}
		if first, ok := c.replicas.First(); ok && first != j.submitter {
			holders = append(holders, first)
		}
	}
	if l.From != nil {
		holders = c.holdState(holders, j, l.Task.Index)
	}
	m.place.Holders[j.id] = holders
	if key := j.ledger.Record.Key; len(key) > 0 {
		if m.place.Keys == nil {
			m.place.Keys = map[task.JobID][]byte{}
		}
		m.place.Keys[j.id] = key
	}
	return l.Receipt
}

// receipt says that a worker was given a lease, and is signed with all of this Step; nil where no
// receipts are.
func (c *Coordinator) receipt(worker task.PeerID, l *message.Lease, since int64) *task.Receipt {
	if c.cfg.Key == nil {
		return nil
	}
	r := &task.Receipt{Leader: c.self, Epoch: l.Attempt.Epoch, Seq: l.Attempt.Seq, Issued: max(0, c.now.UnixMilli())}
	if since > 0 && since < r.Issued {
		r.Since = since
	}
	if l.From != nil {
		r.From = l.From.CID
	}
	c.outbox.unsigned = append(c.outbox.unsigned, task.Leased{Task: l.Task, Worker: worker, Receipt: r})
	return r
}

// Submitter returns whose job it is, with the key that the submitter may be told, nil where the
// job is not sealed or has not come; and false for a job that is not on the books.
func (c *Coordinator) Submitter(id task.JobID) (submitter task.PeerID, key []byte, known bool) {
	j := c.table.jobs[id]
	switch {
	case j == nil:
		return "", nil, false
	case j.state != jobFetching:
		key = bytes.Clone(j.ledger.Record.Key)
	}
	return j.submitter, key, true
}

// Leased reports whether the books have an attempt of a task as one worker's: it has the
// lease, is to take the task over, or had the lease as far as the task's row remembers. Of a lease
// that this coordinator gave and the worker has, it returns the receipt, which is not to be changed.
func (c *Coordinator) Leased(id task.TaskID, a message.Attempt, worker task.PeerID) (*task.Receipt, bool) {
	j := c.table.jobs[id.Job]
	if j == nil || j.ledger == nil {
		return nil, false
	}
	if h := c.members.hosts[worker]; h != nil {
		if l := leaseOf(j, h, id.Index, a); l != nil {
			return l.shown.receipt, true
		}
		if j.movingTo(h, id.Index, a) != nil {
			return nil, true
		}
	}
	row := j.ledger.Rows[id.Index]
	return nil, row != nil && slices.ContainsFunc(row.Log, func(l ledger.AttemptLog) bool {
		return l.Attempt == a && l.Worker == worker
	})
}

// holdState adds to the holders of a job those that may have the state of one of its
// tasks: after a change of leaders the blocks may be with the last one, or with who
// made them, alone.
func (c *Coordinator) holdState(holders []task.PeerID, j *job, i uint64) []task.PeerID {
	add := func(p task.PeerID) {
		if len(holders) < message.MaxHolders && !slices.Contains(holders, p) {
			holders = append(holders, p)
		}
	}
	for _, p := range c.replicas.Group() {
		add(p)
	}
	ran := 0
	for _, l := range slices.Backward(j.row(i).Log) {
		if l.Outcome != "" && l.Outcome != "refused" && ran < lastWorkers {
			ran++
			add(l.Worker)
		}
	}
	return holders
}

// lastWorkers is how many of those that ran a task last are asked for its state:
// the last made it, or the one before if that lost it.
const lastWorkers = 2
