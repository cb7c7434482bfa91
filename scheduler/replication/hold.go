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
	// holdPatience is how long an answer to a Hold is waited for before it is
	// asked again: the first may be lost. A follower that still fetches answers once.
	holdPatience = 15 * time.Second
	// maxHoldTries is how often blocks are asked for in vain.
	maxHoldTries = 5
)

// An order is a Hold given to the first follower and not carried out.
type order struct {
	to    task.PeerID
	gates bool // promises wait for it
	// promised is whose acknowledgement waits for it; empty for nobody's.
	promised task.PeerID
	fails    int
	again    time.Time // when to ask again
}

// first returns the first follower that promises wait for, nil for none.
func (r *Replicas) first() *follower {
	for _, f := range r.ranked {
		if f.gates() {
			return f
		}
	}
	return nil
}

// Hold has the first follower hold blocks as well; gates says that promises wait for that.
func (r *Replicas) Hold(n message.HoldName, gates bool) {
	f := r.first()
	if f == nil {
		return
	}
	r.orders[n] = &order{to: f.peer, gates: gates, again: r.now.Add(holdPatience)}
	f.push(holdCopy(n))
}

func holdCopy(n message.HoldName) Key {
	return Key{n.Task.Job, n.Task.Index, hold + Kind(n.Kind)}
}

// awaited reports whether blocks are on their way to the first follower and a
// promise must wait for them.
func (r *Replicas) awaited(n message.HoldName) bool {
	o := r.orders[n]
	if o == nil || !o.gates {
		return false
	}
	f := r.followers[o.to]
	return f != nil && f.gates()
}

// heldAt takes in a follower's answer to a Hold. One that failed holds nothing
// up any more; it is tried again in the background.
func (r *Replicas) heldAt(f *follower, h *message.HeldBlocks) {
	o := r.orders[h.Name]
	if o == nil || o.to != f.peer {
		return
	}
	if h.Err == "" {
		delete(r.orders, h.Name)
		return
	}
	o.gates = false
	o.fails++
	o.again = r.now.Add(min(r.timing.RetryMin<<o.fails, r.timing.RetryMax))
	r.decided(h.Name.Task, "not copied", f.peer,
		task.ClipMessage("the second coordinator could not fetch the blocks: "+h.Err))
	if o.fails >= maxHoldTries {
		delete(r.orders, h.Name)
	}
}

// askHoldsAgain repeats orders that were not answered, or failed. Those of a job that is
// forgotten are dropped: they stand for nothing, so nobody would ever answer them.
func (r *Replicas) askHoldsAgain() {
	var due []message.HoldName
	for n, o := range r.orders {
		if !r.now.Before(o.again) {
			due = append(due, n)
		}
	}
	slices.SortFunc(due, compareHolds)
	for _, n := range due {
		o := r.orders[n]
		f := r.followers[o.to]
		if f == nil || !f.grouped || !r.hasBlocks(n) {
			delete(r.orders, n)
			continue
		}
		if f.phase != copying {
			continue // it is asked when it takes copies again
		}
		o.again = r.now.Add(holdPatience)
		f.push(holdCopy(n))
	}
}

// holdsAnew has orders asked again that a new session has made void.
func (r *Replicas) holdsAnew(to task.PeerID) {
	for _, o := range r.orders {
		if o.to == to {
			o.again = time.Time{}
		}
	}
}

// FollowFirst has a new first follower hold everything, in the background.
func (r *Replicas) FollowFirst() {
	var now task.PeerID
	if f := r.first(); f != nil {
		now = f.peer
	}
	if now == r.second {
		return
	}
	r.second = now
	clear(r.orders)
	if now == "" {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(r.book.Ledger().Jobs)) {
		j := r.book.Ledger().Jobs[id]
		if j.Over() {
			continue
		}
		r.Hold(message.HoldName{Task: task.TaskID{Job: id}, Kind: message.HoldJob}, false)
		for _, i := range slices.Sorted(maps.Keys(j.Rows)) {
			kind := message.HoldOutputs
			if j.Rows[i].Verdict(j.Rule()) == ledger.Open {
				kind = message.HoldState
			}
			if n := (message.HoldName{Task: task.TaskID{Job: id, Index: i}, Kind: kind}); r.hasBlocks(n) {
				r.Hold(n, false)
			}
		}
	}
}

func compareHolds(a, b message.HoldName) int {
	if c := message.CompareTasks(a.Task, b.Task); c != 0 {
		return c
	}
	return int(a.Kind) - int(b.Kind)
}

func (r *Replicas) hasBlocks(n message.HoldName) bool {
	_, ok := r.book.Blocks(n)
	return ok
}

// ForgetHold takes back an order to hold blocks that nobody needs any more.
func (r *Replicas) ForgetHold(n message.HoldName) { delete(r.orders, n) }
