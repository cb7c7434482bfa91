package scheduler

import (
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// askFirst is how long after a replica was told to forget it asks others of the group: by
	// then they have been sent what it told. Rounds follow with pauses that double to askEvery.
	askFirst = 2 * time.Second
	askEvery = 10 * time.Minute
	// askTries is how often one question is asked in vain before the round ends.
	askTries = 3
)

// An asking is what a replica asks others of the group about its retired copies: one member a
// round, by digests first and then by the pairs of what that member has otherwise.
type asking struct {
	next   time.Time // of the next round, or repetition; zero for none
	pause  time.Duration
	rounds int

	peer     task.PeerID // who is asked; empty between rounds
	session  uint64
	question *message.Retired
	tries    int
	jobs     []task.JobID // not asked after yet
	keys     []string     // of pairs to be shown
	doubtful map[task.JobID]bool
	shown    map[task.JobID]bool // of which pairs were shown
}

// askSoon arranges for the next round.
func (r *Replica) askSoon() {
	a := &r.retired.asking
	if len(r.retired.jobs) == 0 || a.peer != "" {
		return
	}
	if a.pause == 0 {
		a.pause = askFirst
	}
	if at := r.now.Add(a.pause); a.next.IsZero() || at.Before(a.next) {
		a.next = at
	}
}

// askIfDue begins a round, or repeats what was not answered.
func (r *Replica) askIfDue() {
	a := &r.retired.asking
	switch {
	case a.next.IsZero() || r.now.Before(a.next):
	case a.peer == "":
		r.askRound()
	case a.tries >= askTries:
		r.endRound()
	default:
		r.ask()
	}
}

// askRound looks which copies nobody needs any more, and asks one of the group after the
// others. Who told to forget them is not asked.
func (r *Replica) askRound() {
	a := &r.retired.asking
	for _, id := range slices.Sorted(maps.Keys(r.retired.jobs)) {
		if r.needless(r.ledger.Jobs[id]) != "" {
			r.forget(id)
		}
	}
	var peers []task.PeerID
	for _, p := range r.retired.group {
		if p != r.self && p != r.leader {
			peers = append(peers, p)
		}
	}
	if len(r.retired.jobs) == 0 || len(peers) == 0 {
		r.endRound()
		return
	}
	a.peer = peers[a.rounds%len(peers)]
	a.rounds++
	a.session = max(a.session+1, uint64(max(r.now.UnixNano(), 1)))
	a.question, a.doubtful, a.shown = nil, map[task.JobID]bool{}, map[task.JobID]bool{}
	for _, id := range slices.Sorted(maps.Keys(r.retired.jobs)) {
		if r.retired.jobs[id].By != a.peer {
			a.jobs = append(a.jobs, id)
		}
	}
	r.askNext()
}

// askNext asks the next question of the round: pairs come first.
func (r *Replica) askNext() {
	a := &r.retired.asking
	q := &message.Retired{Session: a.session, Seq: 1}
	if a.question != nil {
		q.Seq = a.question.Seq + 1
	}
	switch {
	case len(a.keys) > 0:
		q.Pairs, a.keys = r.take(a.keys)
	case len(a.jobs) > 0:
		n := min(len(a.jobs), message.MaxKnown)
		for _, id := range a.jobs[:n] {
			if j := r.ledger.Jobs[id]; j != nil {
				q.Jobs = append(q.Jobs, message.JobDigest{Job: id, Digest: message.ShortDigest(j)})
			}
		}
		a.jobs = a.jobs[n:]
	default:
		r.endRound()
		return
	}
	a.question, a.tries = q, 0
	r.ask()
}

func (r *Replica) ask() {
	a := &r.retired.asking
	a.tries++
	a.next = r.now.Add(r.cfg.RetryMin)
	r.emit(message.Send{To: a.peer, Message: message.Message{Retired: a.question}})
}

// kept takes in what the member that is asked has.
func (r *Replica) kept(from task.PeerID, k *message.Kept) {
	a := &r.retired.asking
	if a.peer == "" || from != a.peer || k.Session != a.session || a.question == nil || k.Seq != a.question.Seq {
		return
	}
	lacking := map[task.JobID]bool{}
	for _, id := range k.Lacking {
		lacking[id] = true
	}
	for _, d := range a.question.Jobs {
		if !lacking[d.Job] {
			r.confirmed(d.Job)
		} else if j := r.ledger.Jobs[d.Job]; j != nil && r.retired.has(d.Job) {
			a.keys = append(a.keys, keysOf(d.Job, j)...)
			a.shown[d.Job] = true
		}
	}
	for id := range a.shown {
		a.doubtful[id] = a.doubtful[id] || len(a.question.Pairs) > 0 && lacking[id]
	}
	if len(a.keys) == 0 { // all of those were shown
		for _, id := range slices.Sorted(maps.Keys(a.shown)) {
			if !a.doubtful[id] {
				r.confirmed(id)
			}
		}
		clear(a.shown)
	}
	r.askNext()
}

// confirmed forgets a copy that another of the group has as well.
func (r *Replica) confirmed(id task.JobID) {
	if r.retired.has(id) {
		r.emit(message.Decided{Task: task.TaskID{Job: id}, Action: "forgotten", Peer: r.retired.peer,
			Reason: "the leader and another of the group have what is in the copy"})
		r.forget(id)
	}
}

// endRound arranges for the next one, of another member.
func (r *Replica) endRound() {
	a := &r.retired.asking
	*a = asking{pause: min(max(2*a.pause, askFirst), askEvery), rounds: a.rounds, session: a.session}
	r.askSoon()
}

// asked answers a replica that was told to forget what it has: of a copy that this one is to
// keep, and not itself told to forget.
func (r *Replica) asked(from task.PeerID, q *message.Retired) {
	if r.session.state != following {
		return
	}
	k := &message.Kept{Session: q.Session, Seq: q.Seq}
	lacks := map[task.JobID]bool{}
	for _, d := range q.Jobs {
		r.vetJob(d.Job)
		if j := r.ledger.Jobs[d.Job]; j == nil || r.retired.has(d.Job) || message.ShortDigest(j) != d.Digest {
			lacks[d.Job] = true
		}
	}
	for _, p := range q.Pairs {
		if name, err := ledger.ParseRowKey(p.Key); err == nil {
			r.vetTask(name)
		}
		if id := jobOfKey(p.Key); !lacks[id] && (r.retired.has(id) || !covers(r.ledger.Jobs[id], p)) {
			lacks[id] = true
		}
	}
	k.Lacking = slices.Sorted(maps.Keys(lacks))
	r.emit(message.Send{To: from, Message: message.Message{Kept: k}})
}
