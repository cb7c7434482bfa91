package scheduler

import (
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/task"
)

// A WhyTasks is one reason, and how many tasks of a job have it.
type WhyTasks struct {
	Reason string
	Tasks  uint64
	First  uint64        // index of the first of them
	Peers  []task.PeerID // the members it holds for, of First
}

// An inquiry is one question why tasks of a job are where they are. The members are looked at
// once, however many tasks it is about.
type inquiry struct {
	c      *Coordinator
	j      *job
	looked bool
	memory int64                  // that the tasks may have of which the members were asked
	of     map[task.PeerID]string // why each member takes none of the job's tasks that ran nowhere
	groups []Why                  // the same by reason, the one of most members first
}

// Why says why task i of a job waits, runs where it does, or has ended; most
// telling reason first, members with the same reason grouped. It is empty for
// a job or task that is not known.
func (c *Coordinator) Why(id task.JobID, i uint64) []Why {
	j := c.table.jobs[id]
	if j == nil || i >= j.total {
		return nil
	}
	q := inquiry{c: c, j: j}
	return q.why(i)
}

// WhyAll groups why the first tasks of a job, at most so many, are where they are, in the order of
// the first that has each reason. Those of which others know more are left out. It is empty for a job
// that is not known.
func (c *Coordinator) WhyAll(id task.JobID, most uint64, but ledger.Set) []WhyTasks {
	j := c.table.jobs[id]
	if j == nil {
		return nil
	}
	q := inquiry{c: c, j: j}
	var out []WhyTasks
	at := map[string]int{}
	for i := range min(j.total, most) {
		if but.Contains(i) {
			continue
		}
		for _, w := range q.why(i) {
			k, ok := at[w.Reason]
			if !ok {
				k = len(out)
				at[w.Reason] = k
				out = append(out, WhyTasks{Reason: w.Reason, First: i, Peers: w.Peers})
			}
			out[k].Tasks++
		}
	}
	return out
}

func (q *inquiry) why(i uint64) []Why {
	j := q.j
	switch {
	case j.state == jobFetching:
		return []Why{{Reason: "the leader is fetching the job's files from its submitter", Peers: []task.PeerID{j.submitter}}}
	}
	switch state := j.taskState(i); {
	case state == "done":
		return whyDone(j, i)
	case state == "failed":
		return []Why{{Reason: j.whyFailed(i)}}
	case state == "running":
		return q.whyRunning(i)
	}
	return q.whyWaiting(i)
}

// avoiding groups the members by why they do not take a task, of so much memory, that must not run on some of
// them, since it failed on some of these.
// The list is not to be changed.
func (q *inquiry) avoiding(memory int64, avoid, failed []task.PeerID) []Why {
	q.look(memory)
	moved := map[string][]task.PeerID{} // those for whom the reason is another
	gone := map[task.PeerID]bool{}
	for _, peer := range avoid {
		h := q.c.members.hosts[peer]
		if h == nil || gone[peer] {
			continue
		}
		if reason := q.j.whyNotOn(h, memory, avoid, failed); reason != q.of[peer] {
			moved[reason] = append(moved[reason], peer)
			gone[peer] = true
		}
	}
	if len(gone) == 0 {
		return q.groups
	}
	peers := map[string][]task.PeerID{}
	for _, g := range q.groups {
		stay := slices.DeleteFunc(slices.Clone(g.Peers), func(p task.PeerID) bool { return gone[p] })
		if stay = append(stay, moved[g.Reason]...); len(stay) > 0 {
			peers[g.Reason] = stay
		}
		delete(moved, g.Reason)
	}
	maps.Copy(peers, moved)
	return grouped(peers)
}

// look looks at each member once, of the tasks that may have as much memory.
func (q *inquiry) look(memory int64) {
	if q.looked && q.memory == memory {
		return
	}
	q.memory = memory
	q.looked, q.of = true, make(map[task.PeerID]string, len(q.c.members.hosts))
	peers := map[string][]task.PeerID{}
	for peer, h := range q.c.members.hosts {
		reason := q.j.whyNotOn(h, memory, nil, nil)
		q.of[peer] = reason
		peers[reason] = append(peers[reason], peer)
	}
	q.groups = grouped(peers)
}

// grouped orders reasons: the one of most members first.
func grouped(by map[string][]task.PeerID) []Why {
	out := make([]Why, 0, len(by))
	for _, reason := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[reason])
		out = append(out, Why{Reason: reason, Peers: by[reason]})
	}
	slices.SortStableFunc(out, func(a, b Why) int { return len(b.Peers) - len(a.Peers) })
	return out
}
