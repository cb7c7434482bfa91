package scheduler

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"godwit/overlay"
	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/task"
)

// Jobs returns every job of the ledger, without tasks, in the order they came.
func (c *Coordinator) Jobs() []message.JobStatus {
	out := make([]message.JobStatus, 0, len(c.table.jobs))
	for _, j := range c.table.inOrder() {
		out = append(out, message.NewJobStatus(j.id, j.spec, j.submitter, j.summary()))
	}
	return out
}

// Job returns a job with a page of the tasks that the ledger has rows of.
func (c *Coordinator) Job(id task.JobID, page message.Page) (message.JobStatus, bool) {
	j := c.table.jobs[id]
	if j == nil || j.state == jobFetching {
		return message.JobStatus{}, false
	}
	st := message.NewJobStatus(j.id, j.spec, j.submitter, j.summary())
	st.Held = j.ledger.Facts.Done.Count() + j.ledger.Facts.Failed.Minus(j.ledger.Facts.Done).Count()
	st.Final = j.told
	if j.state == jobOpen {
		st.Note = c.claims.unheeded(j)
	}
	if page.Limit <= 0 {
		return st, true
	}
	for _, i := range pageOf(j.ledger.Rows, page) {
		row := j.ledger.Rows[i]
		t := message.NewTaskStatus(j.spec, i, j.taskState(i), row.Log, row.Agreed())
		t.Reason = row.Why(j.ledger.Rule())
		if t.State == message.JobRunning {
			t.Completed = c.completed(j, i)
		}
		st.TasksList = append(st.TasksList, t)
	}
	return st, true
}

// pageOf returns the indices of a page of rows, in order. Rows mostly follow each other, so that a page is found by
// asking for one index after the other; where it is not, all are looked at.
func pageOf[Row any](rows map[uint64]Row, page message.Page) (out []uint64) {
	const farther = 16 // times as many indices as are wanted
	most := uint64(min(page.Limit, len(rows)))
	for i, n := page.From, uint64(0); n < farther*most; i, n = i+1, n+1 {
		if _, ok := rows[i]; ok {
			if out = append(out, i); uint64(len(out)) == most {
				return out
			}
		}
		if i == math.MaxUint64 {
			return out
		}
	}
	out = out[:0]
	for i := range rows {
		if i >= page.From {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), page.Limit)]
}

// taskState returns "waiting", "running", "done" or "failed".
func (j *job) taskState(i uint64) string {
	switch {
	case j.ledger.Verdict(i) == ledger.Done:
		return "done"
	case j.state == jobOver || j.ledger.Verdict(i) == ledger.Failed:
		return "failed"
	case j.live[i] != nil && j.live[i].begun > 0:
		return "running"
	}
	return "waiting"
}

// A Hosts count says how many members the coordinator knows.
type Hosts struct {
	Members, Eligible, Idle int
	Slots, Load             int // of the eligible ones
}

// Hosts counts the members.
func (c *Coordinator) Hosts() Hosts {
	var n Hosts
	for _, h := range c.members.hosts {
		if h.member {
			n.Members++
		}
		if h.eligible() {
			n.Eligible++
			n.Slots += h.slots
			n.Load += h.load
		}
	}
	n.Idle = c.members.idle.len()
	return n
}

// A Why is one reason, and the members or tasks it holds for.
type Why struct {
	Reason string        `json:"reason"`
	Peers  []task.PeerID `json:"peers,omitempty"` // sorted
}

// whyDone says who did a task, and what the job names as outputs that it did not write.
func whyDone(j *job, i uint64) []Why {
	out := []Why{{Reason: "done"}}
	row := j.ledger.Rows[i]
	if row == nil {
		return out
	}
	agreed := row.Agreed()
	for _, r := range agreed {
		out[0].Peers = append(out[0].Peers, r.Worker)
	}
	if len(agreed) == 0 {
		return out
	}
	if lacks := message.WhatLacks(task.Unwritten(j.spec, i, agreed[0].Outputs)); lacks != "" {
		out = append(out, Why{Reason: task.ClipMessage("done, and " + lacks)})
	}
	return out
}

func (j *job) whyFailed(i uint64) string {
	row := j.ledger.Rows[i]
	switch {
	case row != nil && row.Why(j.ledger.Rule()) != "":
		return row.Why(j.ledger.Rule())
	case j.flowing != nil && j.flow.Ready(i) == ledger.Never:
		if u, ok := j.flow.Failure(i); ok {
			return fmt.Sprintf("it needs task %d, %s, which failed", u, j.spec.TaskName(u))
		}
	case j.ledger.Facts.Cancelled():
		return message.DropCancelled
	case j.ledger.Facts.Expired:
		return message.DropExpired
	}
	return "it failed; its story is with the submitter"
}

func (q *inquiry) whyRunning(i uint64) []Why {
	j := q.j
	var out []Why
	for _, l := range j.live[i].leases {
		reason := l.reason
		switch {
		case !l.is(leasing.Open):
			reason = "it has run; its outputs are being fetched"
		case !l.is(leasing.Runs):
			reason = "placed: " + reason
		}
		out = append(out, Why{Reason: reason, Peers: []task.PeerID{l.host.peer}})
		if m := l.move; m != nil && m.to != nil {
			out = append(out, Why{Reason: "it is moving there: " + m.why + "; " + m.there, Peers: []task.PeerID{m.to.peer}})
		}
		if p := l.portion; p != nil && p.given > 1 {
			out = append(out, Why{Reason: fmt.Sprintf("the member was given %d tasks at once, the last time: %v", p.given,
				p.why), Peers: []task.PeerID{l.host.peer}})
		}
		if l.doubted {
			out = append(out, Why{Reason: "the member has had it for long and has not ended any task yet: others run it as well",
				Peers: []task.PeerID{l.host.peer}})
		}
		if l.stay.why != "" {
			out = append(out, Why{Reason: l.stay.why, Peers: []task.PeerID{l.host.peer}})
		}
	}
	out = append(out, j.whyParted(i)...)
	if n := j.wants(i); n > 0 {
		out = append(out, Why{Reason: fmt.Sprintf("%d more distinct members must run it, so that %d agree", n,
			j.spec.Replicas)})
		out = append(out, q.whyNot(i)...)
	}
	return out
}

func (q *inquiry) whyWaiting(i uint64) []Why {
	out := q.whyNot(i)
	if row := q.j.ledger.Rows[i]; row != nil && len(row.Log) > 0 {
		last := row.Log[len(row.Log)-1]
		out = append(slices.Clip(out), Why{Reason: strings.TrimSpace(fmt.Sprintf("its last attempt ended as %s: %s",
			last.Outcome,
			last.Reason)), Peers: []task.PeerID{last.Worker}})
	}
	return out
}

// whyNot groups the members by why they do not take the task now.
func (q *inquiry) whyNot(i uint64) []Why {
	c, j := q.c, q.j
	if c.term.recovering {
		return []Why{{Reason: "the leader has just started and waits for what the workers report"}}
	}
	if len(c.members.hosts) == 0 {
		return []Why{{Reason: "the overlay has no member that runs tasks"}}
	}
	if reason := j.whyHeldBack(i); reason != "" {
		return []Why{{Reason: reason}}
	}
	if reason := c.table.heldUp(j); reason != "" {
		return []Why{{Reason: reason, Peers: []task.PeerID{j.submitter}}}
	}
	if reason := j.full(); reason != "" {
		return []Why{{Reason: reason}}
	}
	bars := c.table.bars(j.barred[i].appendOthers(nil, c.members.roster.all()), j, i)
	failed := slices.DeleteFunc(failedOn(j, i, c.now), func(p task.PeerID) bool { return j.worksOn(i, p) })
	out := j.whoseTurn(q.unforeseen(i, bars, q.avoiding(j.spec.MemoryOf(i), bars, failed)))
	for _, reason := range []string{c.claims.unheeded(j), c.claims.whyAged(j)} {
		if reason != "" {
			out = append(slices.Clip(out), Why{Reason: reason})
		}
	}
	if only := j.barred[i].only; len(only) > 0 {
		out = append(slices.Clip(out), Why{Reason: "the task runs once more, and its submitter drew who may have it",
			Peers: slices.Clone(only)})
	}
	return out
}

// unforeseen replaces what is said of free members if the placement policy gives them no task for their forecasts.
func (q *inquiry) unforeseen(i uint64, avoid []task.PeerID, groups []Why) []Why {
	c := q.c
	free := slices.IndexFunc(groups, func(w Why) bool { return w.Reason == freeMember })
	if c.dispatch.traits.Waits == nil || free < 0 {
		return groups
	}
	d, known := q.j.durationOf(i)
	t := place.Task{ID: task.TaskID{Job: q.j.id, Index: i}, Memory: q.j.spec.MemoryOf(i), Work: d, Avoid: avoid}
	var offers []place.Host
	for _, peer := range groups[free].Peers {
		if h := c.members.hosts[peer]; h != nil {
			offers = append(offers, c.members.offer(h, d, known))
		}
	}
	if why := c.dispatch.traits.Waits(c.now, &t, offers, c.dispatch.forecast); why != "" {
		groups = slices.Clone(groups)
		groups[free].Reason = why
	}
	return groups
}

// whoseTurn adds what was last said of the job's claim beside others': first that they
// were to have the slots, last that it had its part of them.
func (j *job) whoseTurn(out []Why) []Why {
	switch cl := j.claim; {
	case cl == nil || cl.said == (share.Reason{}):
	case cl.got:
		return append(slices.Clip(out), Why{Reason: "its turn was: " + cl.said.String()})
	default:
		return append([]Why{{Reason: "not its turn: " + cl.said.String()}}, out...)
	}
	return out
}

// Unfit says why a member in a state that lends slots and bytes of memory is given no task that
// may need so many; "" if nothing of that is in the way.
func Unfit(s overlay.State, slots int, lent, needs int64) string {
	switch {
	case slots == 0 && s == overlay.Available:
		return "the member lends no slot"
	case slots == 0 || s == overlay.Leaving || s == overlay.Unavailable:
		return "the member is " + s.String()
	case lent < needs:
		return fmt.Sprintf("the member lends %s of memory, the task may need %s", task.FormatSize(lent),
			task.FormatSize(needs))
	}
	return ""
}

// whyNotOn says why a task of the job, of so much memory, is not on a member. avoid are those on which it is not to
// run, failed those of them on which it failed.
func (j *job) whyNotOn(h *host, memory int64, avoid, failed []task.PeerID) string {
	p, paused := h.paused[j]
	_, shunned := h.shunned[j.class]
	switch {
	case !h.member:
		return "no advert of the member was seen"
	case !h.lost.IsZero():
		return "the connection to the member is lost"
	case !h.reported:
		return "the member has not reported to this leader yet"
	case h.proven.is():
		return h.proven.String()
	case h.slots == 0 || !h.eligible() || h.memory < memory:
		return Unfit(h.state, h.slots, h.memory, memory)
	case slices.Contains(avoid, h.peer) && slices.Contains(failed, h.peer):
		return "the task failed on the member, and is to run on another next"
	case slices.Contains(avoid, h.peer):
		return "the member runs or ran the task already, and replicas must be of distinct members"
	case paused:
		return "for a moment the member gets nothing of this job: " + p.why
	case shunned:
		return "for a moment the member gets nothing of this class: one took far longer than expected there"
	case h.load >= h.slots && h.claim.slots > h.slots:
		return fmt.Sprintf("the member uses %d slots; it claims more, and gets them when it has ended tasks rightly", h.slots)
	case h.load >= h.slots:
		return "every slot of the member is in use"
	case h.portions[j] != nil && h.portions[j].parked:
		return "the member gets nothing more of this sweep for now: " + h.portions[j].why.String()
	}
	return freeMember
}

// freeMember is why a task is not on a member that has room for it.
const freeMember = "the member is free: older or more urgent work goes first"
