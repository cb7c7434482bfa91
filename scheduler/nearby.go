package scheduler

import (
	"container/list"
	"slices"

	"godwit/scheduler/place"
	"godwit/task"
)

const (
	// leastNear is the least size of an input, in bytes, that has a task go where it is: a smaller
	// one comes in less than a message takes.
	leastNear = 256 << 10
	// nearWindow is how many tasks of a job that wait are looked at beside those that a policy
	// placed, and mostNear how many of these: a round of a large overlay is not to take longer.
	nearWindow, mostNear = 64, 256
	// mostInputs and mostHolders bound what is remembered: inputs, the one placed by last first, and the
	// members that had each last.
	mostInputs, mostHolders = 4096, 16
)

// nearby remembers who was given tasks that read which inputs, and has members that a policy chose for
// tasks of a job get those of its tasks whose inputs they hold. The policy decides who gets a task of the job, as ever.
// It is this leader's memory alone: after a change of leaders it begins anew, and costs nothing but bytes.
type nearby struct {
	c     *Coordinator
	held  map[task.CID]*list.Element // of order
	order list.List                  // of *heldInput, the one placed by last in front

	out []place.Placement // memory of settle
}

// A heldInput is an input and who has it, the newest last.
type heldInput struct {
	cid   task.CID
	peers []task.PeerID
}

// Holds implements place.Holdings.
func (n *nearby) Holds(peer task.PeerID, input task.CID) bool {
	e := n.held[input]
	return e != nil && slices.Contains(e.Value.(*heldInput).peers, peer)
}

// Held implements place.Holdings.
func (n *nearby) Held(input task.CID) bool { return n.held[input] != nil }

// Note implements place.Holdings.
func (n *nearby) Note(peer task.PeerID, input task.CID) {
	e := n.held[input]
	if e == nil {
		if n.held == nil {
			n.held = map[task.CID]*list.Element{}
		}
		e = n.order.PushFront(&heldInput{cid: input})
		n.held[input] = e
		if last := n.order.Back(); n.order.Len() > mostInputs {
			n.order.Remove(last)
			delete(n.held, last.Value.(*heldInput).cid)
		}
	}
	n.order.MoveToFront(e)
	in := e.Value.(*heldInput)
	in.peers = slices.DeleteFunc(in.peers, func(p task.PeerID) bool { return p == peer })
	if len(in.peers) == mostHolders {
		in.peers = slices.Delete(in.peers, 0, 1)
	}
	in.peers = append(in.peers, peer)
}

// mostSwept bounds the templates of a job that are looked at: a stranger's may have a thousand.
const mostSwept = 16

// A nearness says whether it matters where tasks of a job go, for what they read.
type nearness struct {
	known  bool
	by     []string // templates by which tasks read large inputs of their own; empty: it does not matter
	differ bool     // tasks read inputs that others do not; once known
}

// matters reports whether tasks of the job read large inputs that not all of them read.
func (n *nearby) matters(j *job) bool {
	if !j.near.known {
		j.near.known = true
		j.near.differ = len(j.spec.SweptFiles()) > 0
		large := func(in task.FileRef) bool { return in.Size >= leastNear }
		if slices.ContainsFunc(j.spec.Inputs, large) && !j.replicated() {
			j.near.by = j.spec.SweptFiles()
			j.near.by = j.near.by[:min(len(j.near.by), mostSwept)]
		}
	}
	return len(j.near.by) > 0
}

// differ reports whether tasks of the job read inputs, of whatever size, that others of it do not.
func (n *nearby) differ(j *job) bool {
	n.matters(j)
	return j.near.differ
}

// settle returns the placements of a round with tasks exchanged for others of their jobs. It
// holds until settle is called again.
func (n *nearby) settle(view *queueView, placements []place.Placement) []place.Placement {
	if !slices.ContainsFunc(view.parts, func(p part) bool { return n.matters(p.job) }) {
		return placements
	}
	n.out = append(n.out[:0], placements...)
	for k := range view.parts {
		if j := view.parts[k].job; n.matters(j) {
			n.exchange(view, j, k)
		}
	}
	return n.out
}

// exchange settles the placements of one job, which is a part of the view.
func (n *nearby) exchange(view *queueView, j *job, part int) {
	var at []int // in out
	var peers []task.PeerID
	var tasks []uint64
	for k := range n.out {
		p := &n.out[k]
		if p.Task.Job == j.id && j.isFresh(p.Task.Index) && !n.hasAll(j, p.Peer) && len(at) < mostNear {
			at, peers, tasks = append(at, k), append(peers, p.Peer), append(tasks, p.Task.Index)
		}
	}
	if len(at) == 0 {
		return
	}
	tasks = append(tasks, view.ahead(j, part, nearWindow)...)
	slices.Sort(tasks)
	reads := make([][]task.FileRef, len(tasks))
	for i, index := range tasks {
		reads[i] = n.readsOf(j, index)
	}
	for k, i := range place.Nearest(peers, reads, n) {
		p := &n.out[at[k]]
		if p.Task.Index != tasks[i] {
			p.Task.Index = tasks[i]
			p.Reason = place.Because(p.Reason.String() + "; of the job's tasks this one, for the inputs that it holds")
		}
	}
}

// hasAll reports whether a member has all inputs of a job in any case: its submitter, and this leader.
func (n *nearby) hasAll(j *job, peer task.PeerID) bool {
	return peer == n.c.self || peer == j.submitter
}

// readsOf lists large inputs that a task reads and that not all tasks of its job do.
func (n *nearby) readsOf(j *job, i uint64) []task.FileRef {
	return slices.DeleteFunc(j.spec.ReadsBy(j.near.by, i), func(r task.FileRef) bool { return r.Size < leastNear })
}

// isFresh reports whether a task was never given to anybody: then it is like any other of its job.
func (j *job) isFresh(i uint64) bool {
	return !j.isTouched(i) && j.live[i] == nil && len(j.barred[i].not) == 0
}

// ahead takes out more fresh tasks of a job, which was shown as a part of the view, and lists them. As many
// as that are looked at.
func (q *queueView) ahead(j *job, part, window int) (fresh []uint64) {
	for range window {
		var i uint64
		switch {
		case len(j.wait.back) > 0:
			i = j.takeBack()
		case j.wait.cursor < j.total:
			i = j.takeNext()
		default:
			return fresh
		}
		if j.wants(i) == 0 {
			continue // taken up from a report since it came back
		}
		q.shown = append(q.shown, liveRef{job: j, index: i, part: part})
		if j.isFresh(i) {
			fresh = append(fresh, i)
		}
	}
	return fresh
}
