package replication

import (
	"fmt"
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Known takes in what a replica has, and asks for what is lacking here.
func (r *Replicas) Known(from task.PeerID, k *message.Known) {
	if k.Epoch > r.epoch {
		r.book.Outrun(from, k.Epoch)
		return
	}
	f := r.followers[from]
	if f == nil {
		if r.tellers() >= maxTellers {
			return // it repeats
		}
		f = r.follower(from)
	}
	switch {
	case k.Epoch < r.epoch || k.Session != f.session && k.Seq != 1 || k.Session == f.session && !f.tells(k.Seq):
		r.askToBegin(f)
		return
	case k.Session != f.session:
		f.reset(r.now)
		r.holdsAnew(from)
		f.session, f.phase, f.digests = k.Session, listening, map[task.JobID][message.DigestLen]byte{}
	case k.Seq <= f.known:
		if k.Seq == f.known && f.answer != nil {
			r.emit(message.Send{To: from, Message: message.Message{Wanted: f.answer}})
		}
		return
	}
	r.heardOf(f)
	if k.Last && !f.grouped && !r.mayForget(f) {
		return // it repeats
	}
	f.known, f.runs = k.Seq, k.Runs
	f.answer = &message.Wanted{Epoch: r.epoch, Session: f.session, Seq: k.Seq}
	r.absorb(f, k.Pairs)
	for _, d := range k.Jobs {
		f.keep(d)
		r.book.HeldBy(d.Job, f.peer)
		if j := r.book.Ledger().Jobs[d.Job]; j == nil || message.ShortDigest(j) != d.Digest {
			f.answer.Jobs = append(f.answer.Jobs, d.Job)
		}
	}
	if k.Last {
		r.toldAll(f)
	}
	r.emit(message.Send{To: from, Message: message.Message{Wanted: f.answer}})
}

// mayForget reports whether a replica outside the group may forget what it told:
// the followers have it too, and this node the blocks.
func (r *Replicas) mayForget(f *follower) bool {
	if !f.last {
		f.last, f.marks = true, r.marks()
	}
	return r.reached(f.marks) && !r.book.Seeks(f.peer)
}

func (r *Replicas) tellers() int {
	n := 0
	for _, f := range r.listed {
		if !f.grouped {
			n++
		}
	}
	return n
}

// toldAll ends a replica's telling. To one of the group goes what it lacks or
// has otherwise; it is in sync when it has that.
func (r *Replicas) toldAll(f *follower) {
	f.answer.Done, f.answer.Follow = true, f.grouped || f.refused
	f.phase = told
	if !f.grouped {
		f.digests = nil
		return
	}
	f.phase, f.waiting = copying, map[Key]bool{}
	for _, id := range slices.Sorted(maps.Keys(f.digests)) {
		if r.book.Ledger().Jobs[id] == nil {
			f.push(Key{Job: id, Kind: Gone})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.book.Ledger().Jobs)) {
		j := r.book.Ledger().Jobs[id]
		if d, ok := f.digests[id]; !ok || d != message.ShortDigest(j) {
			pushJob(f, id, j)
		}
		for _, i := range r.book.LiveTasks(id) {
			f.push(Key{id, i, live})
			r.shared[task.TaskID{Job: id, Index: i}] = true
		}
	}
	f.digests, f.need = nil, f.queued
	f.maySync()
}

// pushJob has a follower told all of a job.
func pushJob(f *follower, id task.JobID, j *ledger.Job) {
	f.push(Key{Job: id, Kind: Record})
	f.push(Key{Job: id, Kind: Facts})
	for _, i := range slices.Sorted(maps.Keys(j.Rows)) {
		if !j.Delivered(i) {
			f.push(Key{id, i, Row})
		}
	}
}

// absorb merges what a replica told. It is believed as far as it is signed, and
// where it is not, as one coordinator believes another.
func (r *Replicas) absorb(f *follower, pairs []message.Pair) {
	for _, p := range pairs {
		id, err := r.book.Absorb(f.peer, p)
		if err != nil {
			f.refused = true
			r.decided(task.TaskID{Job: id}, "refused", f.peer, task.ClipMessage(fmt.Sprintf("merging %s: %v", p.Key, err)))
		}
	}
}
