package scheduler

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// tickEvery is how often followers are looked after, and how old what they
	// know of placements of short tasks may be: those that take less cost them nothing.
	tickEvery = time.Second
	// longTask is how long tasks take at least whose leases followers are told of at
	// once: two messages more in so much time cost nothing.
	longTask = 10 * tickEvery
	// resendAfter is when a copy that was not acknowledged is sent again. Frames
	// keep their order, so a loss shows earlier, by a gap; this is for the last.
	resendAfter = 2 * time.Second
	// copyWindow is how many copies to one follower may be unacknowledged: two on
	// the way, one being made durable and one gathering keep a link busy.
	copyWindow = 4
	// maxBehind is how many changes wait for a follower before its session is
	// begun anew: digests then find what differs, in less memory.
	maxBehind = 1 << 17
	// maxTellers bounds the replicas outside the group that tell at one time, and
	// tellerLife how long one may be silent.
	maxTellers = 64
	tellerLife = time.Minute
)

// copyKind says what of the ledger a copyKey names.
type copyKind uint8

const (
	copyRecord copyKind = iota
	copyFacts
	copyRow
	copyGone
	copyLive
	copyHold // plus the HoldKind
)

// A copyKey names something that a follower is to be told. What it is now is
// looked up when it is sent: values are states, so the newest stands for all
// before it.
type copyKey struct {
	job   task.JobID
	index uint64
	kind  copyKind
}

// phase is how far a follower's session is.
type phase uint8

const (
	unheard   phase = iota // no session yet
	listening              // it tells what it knows
	told                   // it has told, and is not of the group
	copying                // it takes copies
)

// A follower is a replica as the leader sees it.
type follower struct {
	peer    task.PeerID
	grouped bool
	silent  bool // not heard of: nothing waits for it
	// rejoining says that it was in sync when its session ended, and is not yet in
	// the next: promises wait for it all the same. A new epoch must not send what
	// the followers have not got.
	rejoining bool
	phase     phase
	session   uint64
	known     uint64          // Seq of the last Known
	answer    *message.Wanted // to that one
	refused   bool            // not all it told was taken
	last      bool            // it has told its last, and waits for marks and blocks
	marks     []mark          // when the last was told
	digests   map[task.JobID][message.DigestLen]byte
	heard     time.Time

	// queue are the changes not yet sent, in order, and waiting the set of them.
	// queued counts those ever queued, acked those that the follower has durably,
	// of the same counting: acked <= queued. It is in sync from need on.
	queue               []copyKey
	waiting             map[copyKey]bool
	queued, acked, need uint64
	sent                []sentCopy // unacknowledged, by Seq
	seq                 uint64
	resent              time.Time
}

// A sentCopy is a copy on its way; upTo is what acked becomes with it.
type sentCopy struct {
	copy *message.Copy
	upTo uint64
	at   time.Time
}

// inSync says whether the follower has all that it was told, of this session and
// before.
func (f *follower) inSync() bool {
	return f.grouped && !f.silent && f.phase == copying && f.acked >= f.need
}

// gates says whether promises wait for the follower.
func (f *follower) gates() bool { return f.inSync() || f.grouped && !f.silent && f.rejoining }

// reset forgets the session.
func (f *follower) reset() {
	*f = follower{peer: f.peer, grouped: f.grouped, silent: f.silent, heard: f.heard, rejoining: f.gates()}
}

// maySync notes that the follower is in sync, if it is.
func (f *follower) maySync() {
	if f.inSync() {
		f.rejoining = false
	}
}

func (f *follower) push(k copyKey) {
	if f.phase != copying || f.waiting[k] {
		return
	}
	f.waiting[k] = true
	f.queue = append(f.queue, k)
	f.queued++
}

// push has every follower told of a change.
func (c *Coordinator) push(k copyKey) {
	for _, f := range c.followers {
		f.push(k)
	}
}

// groupIs takes in who is in the group, by rank.
func (c *Coordinator) groupIs(peers []task.PeerID) {
	c.group = nil
	for _, p := range peers {
		if p != c.self && !slices.Contains(c.group, p) {
			c.group = append(c.group, p)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(c.followers)) {
		if f := c.followers[p]; f.grouped && !slices.Contains(c.group, p) {
			f.grouped = false
			f.reset()
			c.askToBegin(f) // it tells what it has once more, and forgets it
		}
	}
	for _, p := range c.group {
		f := c.follower(p)
		if f.grouped {
			continue
		}
		f.grouped = true
		if f.phase != listening {
			f.reset()
			c.askToBegin(f)
		}
	}
	c.tickSoon()
}

func (c *Coordinator) follower(p task.PeerID) *follower {
	f := c.followers[p]
	if f == nil {
		f = &follower{peer: p, heard: c.now}
		c.followers[p] = f
		c.tickSoon()
	}
	return f
}

func (c *Coordinator) askToBegin(f *follower) {
	c.emit(message.Send{To: f.peer, Message: message.Message{Wanted: &message.Wanted{Epoch: c.epoch}}})
}

// suspect stops waiting for a follower.
func (c *Coordinator) suspect(peer task.PeerID, why string) {
	if f := c.followers[peer]; f != nil && f.grouped && !f.silent {
		f.silent, f.rejoining = true, false
		c.emit(message.Decided{Action: "not waited for", Peer: peer, Reason: task.ClipMessage("the follower is not heard of: " + why)})
	}
}

// heardOf notes that a follower is there. One that was not waited for is again
// when it has everything.
func (c *Coordinator) heardOf(f *follower) {
	f.heard = c.now
	if f.silent {
		f.silent, f.need = false, f.queued
	}
}

func (c *Coordinator) tickSoon() {
	if !c.ticking {
		c.ticking = true
		c.timers.Set(c.now.Add(tickEvery), reminder{tick: true})
	}
}

// tick looks after followers.
func (c *Coordinator) tick() {
	c.ticking = false
	c.shareLeases()
	c.shareDelivered()
	for _, p := range slices.Sorted(maps.Keys(c.followers)) {
		f := c.followers[p]
		switch {
		case !f.grouped && !c.now.Before(f.heard.Add(tellerLife)):
			delete(c.followers, p)
			continue
		case f.phase == unheard:
			c.askToBegin(f)
		case len(f.queue) > maxBehind && !f.inSync():
			f.reset()
			c.askToBegin(f)
		case len(f.sent) > 0 && !c.now.Before(f.sent[0].at.Add(resendAfter)):
			c.resend(f)
		case f.silent && f.phase == copying && len(f.sent) == 0:
			c.sendAs(f, &message.Copy{}, f.queued-uint64(len(f.queue))) // of nothing: its answer says that it is there
		}
	}
	c.askHoldsAgain()
	if len(c.followers) > 0 {
		c.tickSoon()
	}
}

func (c *Coordinator) resend(f *follower) {
	f.resent = c.now
	for i := range f.sent {
		f.sent[i].at = c.now
		c.emit(message.Send{To: f.peer, Message: message.Message{Copy: f.sent[i].copy}})
	}
}

// sendCopies sends every follower what its window has room for.
func (c *Coordinator) sendCopies() {
	for _, p := range slices.Sorted(maps.Keys(c.followers)) {
		f := c.followers[p]
		for len(f.queue) > 0 && len(f.sent) < copyWindow {
			c.sendCopy(f)
		}
	}
}

func (c *Coordinator) sendCopy(f *follower) {
	m := &message.Copy{}
	size, n := 0, 0
	for _, k := range f.queue {
		if size > message.BatchBytes || n == message.MaxPairs {
			break
		}
		n++
		delete(f.waiting, k)
		size += c.fill(m, k)
	}
	f.queue = f.queue[n:]
	upTo := f.queued - uint64(len(f.queue))
	switch {
	case size > 0:
		c.sendAs(f, m, upTo)
	case len(f.sent) > 0:
		f.sent[len(f.sent)-1].upTo = upTo
	default:
		f.acked = upTo
		f.maySync()
	}
}

// sendAs sends a copy as the next of the session.
func (c *Coordinator) sendAs(f *follower, m *message.Copy, upTo uint64) {
	f.seq++
	m.Epoch, m.Session, m.Seq = c.epoch, f.session, f.seq
	f.sent = append(f.sent, sentCopy{m, upTo, c.now})
	c.emit(message.Send{To: f.peer, Message: message.Message{Copy: m}})
}

// keyBytes is what a key of a copy takes beside its value, about.
const keyBytes = 128

// fill adds what a key stands for now to a copy and returns its size, about; 0
// if there is nothing any more.
func (c *Coordinator) fill(m *message.Copy, k copyKey) int {
	id := task.TaskID{Job: k.job, Index: k.index}
	j := c.ledger.Jobs[k.job]
	if k.kind == copyGone {
		if j != nil {
			return 0
		}
		m.Gone = append(m.Gone, k.job)
		return keyBytes
	}
	if j == nil {
		return 0
	}
	var p message.Pair
	switch k.kind {
	case copyRecord:
		p = message.Pair{Key: ledger.JobKey(k.job), Value: j.Record.Encode()}
	case copyFacts:
		p = message.Pair{Key: ledger.FactsKey(k.job), Value: j.Facts.Encode()}
	case copyRow:
		row := j.Rows[k.index]
		if row == nil || j.Delivered(k.index) {
			return 0
		}
		p = message.Pair{Key: ledger.RowKey(id), Value: row.Encode()}
	case copyLive:
		l := message.LiveLeases{Task: id, Leases: liveLeases(c.jobs[k.job].live[k.index])}
		m.Live = append(m.Live, l)
		return keyBytes * (1 + len(l.Leases))
	default:
		h, ok := c.holdOf(message.HoldName{Task: id, Kind: message.HoldKind(k.kind - copyHold)})
		if !ok {
			return 0
		}
		m.Hold = append(m.Hold, h)
		return keyBytes * (1 + len(h.CIDs))
	}
	m.Pairs = append(m.Pairs, p)
	return keyBytes + len(p.Value)
}

// copied takes in what a follower has durably, and which blocks it holds.
func (c *Coordinator) copied(from task.PeerID, m *message.Copied) {
	f := c.followers[from]
	if m.Epoch > c.epoch {
		c.outrun(m.Epoch)
	}
	if f == nil || f.phase != copying || m.Epoch != c.epoch || m.Session != f.session || m.Seq > f.seq {
		return
	}
	c.heardOf(f)
	f.answer = nil // it follows: that was heard
	for len(f.sent) > 0 && f.sent[0].copy.Seq <= m.Seq {
		f.acked = f.sent[0].upTo
		f.sent = f.sent[1:]
	}
	f.maySync()
	if m.Gap && len(f.sent) > 0 && !c.now.Before(f.resent.Add(resendAfter/2)) {
		c.resend(f)
	}
	for i := range m.Held {
		c.heldAt(f, &m.Held[i])
	}
}

// liveLeases returns the leases of a task that run, or wait to; t may be nil.
func liveLeases(t *liveTask) []message.LiveLease {
	if t == nil {
		return nil
	}
	var out []message.LiveLease
	for _, l := range t.leases {
		if len(out) < message.MaxLive {
			told := message.LiveLease{Worker: l.host.peer, Attempt: l.attempt, Start: l.start}
			if m := l.move; m != nil && m.to != nil && m.handsOver() {
				told.To, told.As = m.to.peer, m.as
			}
			out = append(out, told)
		}
	}
	return out
}

// leaseChanged has followers told who runs a task: at once where tasks take long or
// nobody knows, else at the next tick. What they do not know of when the leader dies
// may be given twice.
func (c *Coordinator) leaseChanged(j *job, i uint64) {
	if len(c.followers) == 0 {
		return
	}
	c.leased[task.TaskID{Job: j.id, Index: i}] = true
	if d, known := j.duration(); !known || d >= longTask {
		c.tellLeases = true
	}
}

// shareLeasesNow shares what is not to wait for the tick.
func (c *Coordinator) shareLeasesNow() {
	if c.tellLeases {
		c.tellLeases = false
		c.shareLeases()
	}
}

// shareLeases tells of the leases that were given since the last tick and are
// still live, and of those told of that are not.
func (c *Coordinator) shareLeases() {
	for _, id := range sortedTasks(c.leased) {
		var t *liveTask
		if j := c.jobs[id.Job]; j != nil {
			t = j.live[id.Index]
		}
		if t == nil && !c.shared[id] {
			continue
		}
		c.push(copyKey{id.Job, id.Index, copyLive})
		if t == nil {
			delete(c.shared, id)
		} else {
			c.shared[id] = true
		}
	}
	clear(c.leased)
}

// shareDelivered tells what submitters have got since the last tick. It may wait:
// whoever takes over meanwhile hears it from them.
func (c *Coordinator) shareDelivered() {
	for _, id := range slices.Sorted(maps.Keys(c.owed)) {
		c.push(copyKey{job: id, kind: copyFacts})
	}
	clear(c.owed)
}

func sortedTasks[V any](m map[task.TaskID]V) []task.TaskID {
	ids := make([]task.TaskID, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, compareTasks)
	return ids
}

func compareTasks(a, b task.TaskID) int {
	return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Index, b.Index))
}
