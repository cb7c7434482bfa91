package replication

import (
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

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
	runs      bool            // it reads rows by runs
	rows      message.RowWriter
	last      bool   // it has told its last, and waits for marks and blocks
	marks     []mark // when the last was told
	digests   map[task.JobID][message.DigestLen]byte
	partial   bool // not every digest that it told was kept
	heard     time.Time
	// moved is when it last acknowledged something, when it was first sent something that
	// it has not, or since when it rejoins.
	moved time.Time

	// queue are the changes not yet sent, in order, and waiting the set of them.
	// queued counts those ever queued, acked those that the follower has durably,
	// of the same counting: acked <= queued. It is in sync from need on.
	queue               []Key
	waiting             map[Key]bool
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

// inSync reports whether the follower has all that it was told, of this session and
// before.
func (f *follower) inSync() bool {
	return f.grouped && !f.silent && f.phase == copying && f.acked >= f.need
}

// gates reports whether promises wait for the follower.
func (f *follower) gates() bool { return f.inSync() || f.grouped && !f.silent && f.rejoining }

// reset forgets the session.
func (f *follower) reset(now time.Time) {
	if !f.rejoining {
		f.moved = now
	}
	*f = follower{peer: f.peer, grouped: f.grouped, silent: f.silent, heard: f.heard, moved: f.moved, rejoining: f.gates()}
}

// stuck reports whether a follower that promises wait for does not get on, although it may
// well be heard: what it should acknowledge may be beyond it.
func (f *follower) stuck(now time.Time) bool {
	switch {
	case !f.gates():
		return false
	case f.rejoining:
		return !now.Before(f.moved.Add(rejoinMost))
	}
	return len(f.sent) > 0 && !now.Before(f.moved.Add(stuckAfter))
}

// maySync notes that the follower is in sync, if it is.
func (f *follower) maySync() {
	if f.inSync() {
		f.rejoining = false
	}
}

// tells reports whether a Known of that number may come in the session: the next, until the
// last was told, and again one that was answered.
func (f *follower) tells(seq uint64) bool {
	return seq <= f.known || seq == f.known+1 && f.phase == listening
}

// keep notes what a session told of a job.
func (f *follower) keep(d message.JobDigest) {
	most := tellerDigests
	if f.grouped {
		most = maxDigests
	}
	if len(f.digests) >= most {
		f.partial = true
		return
	}
	f.digests[d.Job] = d.Digest
}

func (f *follower) push(k Key) {
	if f.phase != copying || f.waiting[k] {
		return
	}
	f.waiting[k] = true
	f.queue = append(f.queue, k)
	f.queued++
}

// A Kind says what of the ledger a Key names.
type Kind uint8

const (
	Record Kind = iota // the job's record
	Facts              // its facts
	Row                // the row of a task
	Gone               // that the job is forgotten
	live               // the leases of a task
	hold               // blocks: plus the HoldKind
)

// A Key names something that a follower is to be told. What it is now is
// looked up when it is sent: values are states, so the newest stands for all
// before it.
type Key struct {
	Job   task.JobID
	Index uint64 // of the task, where Kind is Row
	Kind  Kind
}

// A mark is what a follower must have acknowledged, of the session of the time. One
// that is in sync in a later session has that and more.
type mark struct {
	peer    task.PeerID
	session uint64
	queued  uint64
}

// reached reports whether the follower, which may be nil, need not be waited for.
func (m *mark) reached(f *follower) bool {
	switch {
	case f == nil || !f.gates():
		return true
	case f.rejoining:
		return false
	}
	return f.session != m.session || f.acked >= m.queued
}
