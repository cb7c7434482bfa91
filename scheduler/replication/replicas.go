// Package replication is what a leader does with the other copies of its ledger: it hears what
// they know, tells them what changes, and keeps back what it promises others until those in
// sync have what that rests on.
package replication

import (
	"cmp"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// TickEvery is how often followers are looked after, and how old what they
	// know of placements of short tasks may be: those that take less cost them nothing.
	TickEvery = time.Second
	// longTask is how long tasks take at least whose leases followers are told of at
	// once: two messages more in so much time cost nothing.
	longTask = 10 * TickEvery
	// resendAfter is when a copy that was not acknowledged is sent again. Frames
	// keep their order, so a loss shows earlier, by a gap; this is for the last.
	resendAfter = 2 * time.Second
	// copyWindow is how many copies to one follower may be unacknowledged: two on
	// the way, one being made durable and one gathering keep a link busy.
	copyWindow = 4
	// stuckAfter is how long promises wait for a follower that acknowledges nothing of what
	// it was sent, 15 times as long as until it is sent again, and rejoinMost how long for
	// one whose session began anew: it may have much to tell.
	stuckAfter = 30 * time.Second
	rejoinMost = 2 * time.Minute
	// maxBehind is how many changes wait for a follower before its session is
	// begun anew: digests then find what differs, in less memory.
	maxBehind = 1 << 17
	// maxRows bounds the rows whose encoding is kept for followers that are behind: some megabytes.
	// It is kept for those that are not, whose window is full for a moment.
	maxRows = 1 << 12
	// maxDigests bounds the jobs of which a follower's digests are kept, three times as many as
	// a leader may have: of those beyond, it is told all. Others that tell are not told anything,
	// unless they come into the group meanwhile: then they begin anew, beyond tellerDigests.
	maxDigests, tellerDigests = 1 << 16, 1 << 10
	// maxTellers bounds the replicas outside the group that tell at one time, and
	// tellerLife how long one may be silent.
	maxTellers = 64
	tellerLife = time.Minute
)

// A Book is what the leader knows beside its replicas.
type Book interface {
	// Ledger is the leader's own. It is read only.
	Ledger() *ledger.Ledger
	// Live lists the leases of a task that run, or wait to; nil for none.
	Live(id task.TaskID) []message.LiveLease
	// LiveTasks lists the tasks of a job that have leases, in their order.
	LiveTasks(id task.JobID) []uint64
	// Blocks says which blocks a name stands for now; none any more if not ok.
	Blocks(n message.HoldName) (h message.Hold, ok bool)
	// Absorb merges a pair that a replica told, as far as it can be believed, and says
	// which job it is of.
	Absorb(from task.PeerID, p message.Pair) (task.JobID, error)
	// HeldBy notes that a replica may hold the blocks of a job, and Seeks reports whether
	// blocks are sought that it may hold.
	HeldBy(id task.JobID, peer task.PeerID)
	Seeks(peer task.PeerID) bool
	// Outrun takes in an epoch that a peer obeys, by its own word.
	Outrun(from task.PeerID, epoch uint64)
	// TickAt has Tick called then.
	TickAt(at time.Time)
	// Emit has the driver carry out an effect.
	Emit(e message.Effect)
}

// Replicas are the copies of the ledger as the leader sees them. Every peer of the group has
// a follower; others that have one are replicas that tell what they know.
type Replicas struct {
	self   task.PeerID
	timing *message.Timing
	book   Book

	now       time.Time // of the Step under way
	epoch     uint64
	group     []task.PeerID // by rank, without this node
	followers map[task.PeerID]*follower
	listed    []*follower // the same, by peer: what each Step asks of all looks nothing up
	ranked    []*follower // those of group, in its order
	ticking   bool        // a tick is set

	second    task.PeerID // the first in sync when last looked at; it holds blocks
	orders    map[message.HoldName]*order
	promises  []promise           // in the order made
	accepted  []message.Send      // acceptances that this Step promises
	accepting map[task.JobID]bool // jobs whose acceptance is promised and has not left

	rows map[task.TaskID][]byte // as last made durable, of those that followers are to be told; see RowChanged

	leased map[task.TaskID]bool // leases changed since followers were last told
	urgent bool                 // they are told at the end of this Step
	shared map[task.TaskID]bool // followers were told of leases
	owed   map[task.JobID]bool  // delivered to their submitters since the last tick, in part
}

// New returns the replicas of a leader that knows of none yet.
func New(self task.PeerID, timing *message.Timing, book Book) *Replicas {
	return &Replicas{
		self: self, timing: timing, book: book,
		followers: map[task.PeerID]*follower{}, orders: map[message.HoldName]*order{}, accepting: map[task.JobID]bool{},
		rows:   map[task.TaskID][]byte{},
		leased: map[task.TaskID]bool{}, owed: map[task.JobID]bool{}, shared: map[task.TaskID]bool{},
	}
}

// At begins a Step of the leader; now never decreases.
func (r *Replicas) At(now time.Time, epoch uint64) { r.now, r.epoch = now, epoch }

// Begin has all sessions begun anew, with a new epoch.
func (r *Replicas) Begin() {
	for _, f := range r.listed {
		f.reset(r.now)
	}
}

// Group lists the group by rank, without the leader. The list is not to be changed.
func (r *Replicas) Group() []task.PeerID { return r.group }

// First returns the first follower that promises wait for; not ok for none.
func (r *Replicas) First() (peer task.PeerID, ok bool) {
	if f := r.first(); f != nil {
		return f.peer, true
	}
	return "", false
}

// Waiting counts the promises that were not kept yet, and the orders to hold blocks that
// were not carried out.
func (r *Replicas) Waiting() (promises, orders int) { return len(r.promises), len(r.orders) }

func (r *Replicas) emit(e message.Effect) { r.book.Emit(e) }

func (r *Replicas) decided(id task.TaskID, action string, peer task.PeerID, reason string) {
	r.emit(message.Decided{Task: id, Action: action, Peer: peer, Reason: reason})
}

// Changed has every follower told of a change.
func (r *Replicas) Changed(k Key) {
	if k.Kind == Row {
		delete(r.rows, task.TaskID{Job: k.Job, Index: k.Index}) // of before
	}
	for _, f := range r.listed {
		f.push(k)
	}
}

// RowChanged has every follower told of a task's row, of which value is the encoding: it is what
// is durable here, and is encoded once for all. value is not to be changed.
func (r *Replicas) RowChanged(id task.TaskID, value []byte) {
	k := Key{id.Job, id.Index, Row}
	delete(r.rows, id) // of before
	for _, f := range r.listed {
		if f.push(k); f.waiting[k] {
			r.rows[id] = value
		}
	}
}

func (r *Replicas) follower(p task.PeerID) *follower {
	f := r.followers[p]
	if f == nil {
		f = &follower{peer: p, heard: r.now}
		r.followers[p] = f
		at, _ := slices.BinarySearchFunc(r.listed, p, byPeer)
		r.listed = slices.Insert(r.listed, at, f)
		r.tickSoon()
	}
	return f
}

func byPeer(f *follower, p task.PeerID) int { return cmp.Compare(f.peer, p) }

// remove forgets a follower that is not of the group.
func (r *Replicas) remove(p task.PeerID) {
	delete(r.followers, p)
	if at, ok := slices.BinarySearchFunc(r.listed, p, byPeer); ok {
		r.listed = slices.Delete(r.listed, at, at+1)
	}
}

func (r *Replicas) askToBegin(f *follower) {
	r.emit(message.Send{To: f.peer, Message: message.Message{Wanted: &message.Wanted{Epoch: r.epoch}}})
}

// heardOf notes that a follower is there. One that was not waited for is again
// when it has everything.
func (r *Replicas) heardOf(f *follower) {
	f.heard = r.now
	if f.silent {
		f.silent, f.need = false, f.queued
	}
}

func (r *Replicas) tickSoon() {
	if !r.ticking {
		r.ticking = true
		r.book.TickAt(r.now.Add(TickEvery))
	}
}
