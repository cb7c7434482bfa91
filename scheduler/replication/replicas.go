// Package replication is what a leader does with the other copies of its ledger: it hears what
// they know, tells them what changes, and keeps back what it promises others until those in
// sync have what that rests on.
package replication

import (
	"maps"
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
	// maxBehind is how many changes wait for a follower before its session is
	// begun anew: digests then find what differs, in less memory.
	maxBehind = 1 << 17
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
	// Outrun takes in an epoch that somebody obeys.
	Outrun(epoch uint64)
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
	ticking   bool // a tick is set

	second    task.PeerID // the first in sync when last looked at; it holds blocks
	orders    map[message.HoldName]*order
	promises  []promise           // in the order made
	accepted  []message.Send      // acceptances that this Step promises
	accepting map[task.JobID]bool // jobs whose acceptance is promised and has not left

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
		leased: map[task.TaskID]bool{}, owed: map[task.JobID]bool{}, shared: map[task.TaskID]bool{},
	}
}

// At begins a Step of the leader; now never decreases.
func (r *Replicas) At(now time.Time, epoch uint64) { r.now, r.epoch = now, epoch }

// Begin has all sessions begun anew, with a new epoch.
func (r *Replicas) Begin() {
	for _, f := range r.followers {
		f.reset()
	}
}

// Group lists the group by rank, without the leader. The list is not to be changed.
func (r *Replicas) Group() []task.PeerID { return r.group }

// Some reports whether anybody is told of changes.
func (r *Replicas) Some() bool { return len(r.followers) > 0 }

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

// A FollowerStatus is a replica as the leader sees it.
type FollowerStatus struct {
	Peer   task.PeerID `json:"peer"`
	InSync bool        `json:"in_sync"` // promises wait for it
	Behind int         `json:"behind"`  // changes not yet acknowledged
	// Rejoining says that promises wait for it although its session is not in sync yet: it
	// was when the one before ended.
	Rejoining bool `json:"-"`
}

// Followers lists the group without the leader, by rank.
func (r *Replicas) Followers() []FollowerStatus {
	var out []FollowerStatus
	for _, p := range r.group {
		f := r.followers[p]
		out = append(out, FollowerStatus{p, f.inSync(), int(f.queued-f.acked) + len(r.owed), f.rejoining})
	}
	return out
}

func (r *Replicas) emit(e message.Effect) { r.book.Emit(e) }

func (r *Replicas) decided(id task.TaskID, action string, peer task.PeerID, reason string) {
	r.emit(message.Decided{Task: id, Action: action, Peer: peer, Reason: reason})
}

// Changed has every follower told of a change.
func (r *Replicas) Changed(k Key) {
	for _, f := range r.followers {
		f.push(k)
	}
}

// GroupIs takes in who is in the group, by rank.
func (r *Replicas) GroupIs(peers []task.PeerID) {
	r.group = nil
	for _, p := range peers {
		if p != r.self && !slices.Contains(r.group, p) {
			r.group = append(r.group, p)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(r.followers)) {
		if f := r.followers[p]; f.grouped && !slices.Contains(r.group, p) {
			f.grouped = false
			f.reset()
			r.askToBegin(f) // it tells what it has once more, and forgets it
		}
	}
	for _, p := range r.group {
		f := r.follower(p)
		if f.grouped {
			continue
		}
		f.grouped = true
		if f.phase != listening {
			f.reset()
			r.askToBegin(f)
		}
	}
	r.tickSoon()
}

func (r *Replicas) follower(p task.PeerID) *follower {
	f := r.followers[p]
	if f == nil {
		f = &follower{peer: p, heard: r.now}
		r.followers[p] = f
		r.tickSoon()
	}
	return f
}

func (r *Replicas) askToBegin(f *follower) {
	r.emit(message.Send{To: f.peer, Message: message.Message{Wanted: &message.Wanted{Epoch: r.epoch}}})
}

// Suspect stops waiting for a follower.
func (r *Replicas) Suspect(peer task.PeerID, why string) {
	if f := r.followers[peer]; f != nil && f.grouped && !f.silent {
		f.silent, f.rejoining = true, false
		r.emit(message.Decided{Action: "not waited for", Peer: peer, Reason: task.ClipMessage("the follower is not heard of: " + why)})
	}
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

// Tick looks after followers.
func (r *Replicas) Tick() {
	r.ticking = false
	r.shareLeases()
	r.shareDelivered()
	for _, p := range slices.Sorted(maps.Keys(r.followers)) {
		f := r.followers[p]
		switch {
		case !f.grouped && !r.now.Before(f.heard.Add(tellerLife)):
			delete(r.followers, p)
			continue
		case f.phase == unheard:
			r.askToBegin(f)
		case len(f.queue) > maxBehind && !f.inSync():
			f.reset()
			r.askToBegin(f)
		case len(f.sent) > 0 && !r.now.Before(f.sent[0].at.Add(resendAfter)):
			r.resend(f)
		case f.silent && f.phase == copying && len(f.sent) == 0:
			r.sendAs(f, &message.Copy{}, f.queued-uint64(len(f.queue))) // of nothing: its answer says that it is there
		}
	}
	r.askHoldsAgain()
	if len(r.followers) > 0 {
		r.tickSoon()
	}
}
