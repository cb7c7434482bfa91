package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/leasing"
	"godwit/scheduler/message"
	"godwit/task"
)

// A worker that was proven wrong to this node gets no lease of anybody's job. It counts what this node
// ran itself alone, interpreted and compiled: its member tells it so, no peer can. So a leader that is
// told lies bars nobody, and a leader that does not know better gives leases as ever: each submitter
// checks for himself.

// maxProvenWrong bounds the workers that are remembered: those whose time is over first go.
const maxProvenWrong = 4096

// A provenWrong is until when a worker gets nothing, and why. The zero value is of one that may.
type provenWrong struct {
	until time.Time
	why   string
}

func (p *provenWrong) is() bool { return !p.until.IsZero() }

// proven takes in that a worker was proven wrong.
func (m *membership) proven(ev *message.Proven) {
	if ev.Worker == m.c.self || !m.c.now.Before(ev.Until) {
		return
	}
	known := m.wrong[ev.Worker]
	if !known.until.Before(ev.Until) {
		return
	}
	if m.wrong == nil {
		m.wrong = map[task.PeerID]provenWrong{}
	}
	m.wrong[ev.Worker] = provenWrong{ev.Until, ev.Why}
	m.thinWrong()
	if !known.is() {
		m.c.decided(ev.Task, "kept away", ev.Worker, task.ClipMessage(message.DropProven+": "+ev.Why))
	}
	if h := m.hosts[ev.Worker]; h != nil {
		m.refuse(h)
		m.touchHost(h)
	}
}

// thinWrong forgets whose time is over, and beyond the bound whose is over next.
func (m *membership) thinWrong() {
	if len(m.wrong) <= maxProvenWrong {
		return
	}
	order := slices.SortedFunc(maps.Keys(m.wrong), func(a, b task.PeerID) int {
		if c := m.wrong[a].until.Compare(m.wrong[b].until); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	for _, peer := range order[:len(order)-maxProvenWrong] {
		delete(m.wrong, peer)
	}
}

// refuse takes the leases back that a host may not have, as long as it may not.
func (m *membership) refuse(h *host) {
	if h.proven = m.wrong[h.peer]; !h.proven.is() {
		return
	}
	if !m.c.now.Before(h.proven.until) {
		h.proven = provenWrong{}
		delete(m.wrong, h.peer)
		m.c.decided(task.TaskID{}, "admitted", h.peer, "the proof against it is too old")
		m.touchHost(h)
		return
	}
	m.alarm(h, h.proven.until)
	m.c.transfers.freeComing(h)
	for _, l := range slices.Clone(h.leases) {
		if l.is(leasing.Open) {
			m.c.outbox.drop(h.peer, l.taskID(), l.attempt, message.DropProven)
			m.c.reports.giveUp(l, "superseded", message.DropProven)
		}
	}
}

// String tells people why a host gets nothing.
func (p *provenWrong) String() string {
	return fmt.Sprintf("the member was proven wrong to this leader's node, and gets no lease of any job until %s: %s",
		p.until.UTC().Format(time.DateOnly), p.why)
}
