package replication

import (
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// GroupIs takes in who is in the group, by rank.
func (r *Replicas) GroupIs(peers []task.PeerID) {
	r.group = nil
	for _, p := range peers {
		if p != r.self && !slices.Contains(r.group, p) {
			r.group = append(r.group, p)
		}
	}
	for _, f := range r.listed {
		if f.grouped && !slices.Contains(r.group, f.peer) {
			f.grouped = false
			f.reset(r.now)
			r.askToBegin(f) // it tells what it has once more, and forgets it
		}
	}
	r.ranked = nil
	for _, p := range r.group {
		f := r.follower(p)
		r.ranked = append(r.ranked, f)
		if f.grouped {
			continue
		}
		f.grouped = true
		if f.phase != listening || f.partial {
			f.reset(r.now)
			r.askToBegin(f)
		}
	}
	r.tickSoon()
}

// Suspect stops waiting for a follower.
func (r *Replicas) Suspect(peer task.PeerID, why string) {
	if f := r.followers[peer]; f != nil && f.grouped && !f.silent {
		f.silent, f.rejoining = true, false
		r.emit(message.Decided{Action: "not waited for", Peer: peer,
			Reason: task.ClipMessage("the follower is not heard of: " + why)})
	}
}

// takeOut stops waiting for a follower that does not get on. It is sent what it lacks all
// the same, and is waited for again when it has all of it.
func (r *Replicas) takeOut(f *follower) {
	f.silent, f.rejoining = true, false
	r.decided(task.TaskID{}, "not waited for", f.peer,
		"the follower is heard of, and has acknowledged nothing of what it was told since "+f.moved.Format(time.TimeOnly))
}

// Tick looks after followers.
func (r *Replicas) Tick() {
	r.ticking = false
	r.shareLeases()
	r.shareDelivered()
	for _, f := range slices.Clone(r.listed) {
		if f.stuck(r.now) {
			r.takeOut(f)
		}
		switch {
		case !f.grouped && !r.now.Before(f.heard.Add(tellerLife)):
			r.remove(f.peer)
			continue
		case f.phase == unheard:
			r.askToBegin(f)
		case len(f.queue) > maxBehind && !f.inSync():
			f.reset(r.now)
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

// Followers lists the group without the leader, by rank.
func (r *Replicas) Followers() []FollowerStatus {
	var out []FollowerStatus
	for _, f := range r.ranked {
		out = append(out, FollowerStatus{f.peer, f.inSync(), int(f.queued-f.acked) + len(r.owed), f.rejoining})
	}
	return out
}

// A FollowerStatus is a replica as the leader sees it.
type FollowerStatus struct {
	Peer   task.PeerID `json:"peer"`
	InSync bool        `json:"in_sync"` // promises wait for it
	Behind int         `json:"behind"`  // changes not yet acknowledged
	// Rejoining says that promises wait for it although its session is not in sync yet: it
	// was when the one before ended.
	Rejoining bool `json:"-"`
}
