package virtual

import (
	"hash/fnv"
	"math"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// divide makes the pool one that is divided.
func (a *attack) divide() {
	if a.v.Bits == 0 {
		a.v.Hosts, a.v.Bits = max(a.v.Hosts, 4*perCell), 1+uint8(a.rng.IntN(2))
	}
}

// mostVisitors is how many adverts of members of other cells a node keeps: package member.
const mostVisitors = 1024

// visitors is T6: adverts of unknown keys fill the table of visitors of a cell's members. The attack succeeds if
// that cell then runs no task of an honest submitter in another cell.
func visitors(a *attack) {
	a.divide()
	a.v.Replicas, a.v.Work, a.v.End = 1, time.Minute, 30*time.Minute
	a.v.Tasks = a.v.waves(3)
	a.v.Keys = mostVisitors + a.rng.IntN(100)
	target := a.hostCell(a.rng.IntN(a.v.Hosts))
	for len(a.keys) < a.v.Keys {
		a.addKey(func(number uint64) bool { return !target.Holds(number) })
	}
	a.begin = func() {
		a.s.Every(8*time.Minute, func() { // an advert holds for longer
			to := a.coordinators(target)
			for _, i := range a.rng.Perm(len(a.keys)) {
				a.s.Advertise(i, overlay.Advert{Bits: a.v.Bits, State: overlay.Available}, to...)
			}
		})
		a.s.After(30*time.Second+max(0, a.v.Job-a.v.First), func() { a.submit(a.memberNotIn(target)) })
	}
	a.judge = func() {
		if a.out.Succeeded != "" || len(a.jobs) == 0 {
			return
		}
		j := a.jobs[0]
		held, err := a.s.Results(j.at, j.id)
		if err != nil {
			return
		}
		for _, t := range held {
			for i := range t.Results {
				if target.Holds(overlay.CellNumber(a.id, t.Results[i].Worker)) {
					return
				}
			}
		}
		a.succeed("cell %q ran no task of a job of %d tasks from another cell", target, a.v.Tasks)
	}
}

// coordinators returns the nodes that coordinate a cell: other members' tables matter to no submitter.
func (a *attack) coordinators(c overlay.Cell) (out []int) {
	for i := range a.s.Nodes() {
		if m := a.s.Member(i); m != nil && m.Cell() == c && slices.Contains(m.Group(), a.s.ID(i)) {
			out = append(out, i)
		}
	}
	return out
}

// borrowers is T18: strangers say that they lead cells with many idle slots, so that a submitter delegates tasks
// to all of them, and bring no result. The attack succeeds if they have more than an eighth of a job at one time.
func borrowers(a *attack) {
	a.divide()
	a.v.Replicas, a.v.End = 1, 50*time.Minute
	a.v.Tasks = a.v.waves(2 + a.rng.IntN(4))
	a.v.Work += 30 * time.Second
	a.v.Keys = 8 + a.rng.IntN(message.MaxCells-7)
	node := a.rng.IntN(a.v.Hosts)
	self, own := hostID(a.v.Seed, node), a.hostCell(node)
	for len(a.keys) < a.v.Keys {
		a.addKey(func(number uint64) bool { return !own.Holds(number) })
		if i := len(a.keys) - 1; drawn(self, a.peer(i)) > math.MaxUint64/4 {
			a.keys = a.keys[:i] // it would come late where a submitter chooses
		}
	}
	silent := a.rng.IntN(2) == 0
	a.heard = func(i int, from task.PeerID, m *message.Message) {
		if silent || len(a.jobs) == 0 {
			return
		}
		switch {
		case m.Submit != nil:
			a.s.Send(i, from, message.Message{Accepted: &message.Accepted{Job: m.Submit.Record.ID()}})
		case m.Got != nil:
			a.s.Send(i, from, message.Message{Progress: &message.Progress{Job: m.Got.Job, Summary: message.JobSummary{
				State: message.JobRunning, Total: uint64(a.v.Tasks), Running: uint64(a.v.Tasks)}}})
		}
	}
	summaries := func() (out []overlay.Summary) {
		for i := range a.keys {
			out = append(out, a.s.Summary(i, a.v.Bits, 400, 4096))
		}
		return out
	}
	a.cells = func(int, task.PeerID) []overlay.Summary { return summaries() }
	a.begin = func() {
		a.s.Every(max(a.v.Every, 10*time.Second), func() {
			for i := range a.keys {
				a.s.Advertise(i, overlay.Advert{Bits: a.v.Bits, State: overlay.Available})
			}
			a.s.Summarize(summaries())
		})
		a.s.After(time.Minute, func() {
			j := a.submit(node)
			a.s.Every(2*time.Second, func() { a.judgeLent(j) })
		})
	}
}

// judgeLent has the attack succeed if strangers have more than an eighth of a job, and more than a task each.
func (a *attack) judgeLent(j honest) {
	m := a.s.Member(j.at)
	if m == nil {
		return
	}
	st, ok := m.Submitter().Job(j.id)
	if !ok {
		return
	}
	lent := uint64(0)
	for _, l := range st.Loans {
		if a.isStranger(l.Leader) {
			lent += l.Tasks
		}
	}
	if lent > uint64(a.v.Tasks)/8+1 {
		a.succeed("%d strangers had %d of %d tasks at one time", len(a.keys), lent, a.v.Tasks)
	}
}

// drawn is the number by which a submitter chooses among leaders of other cells: package submitter.
func drawn(self, leader task.PeerID) uint64 {
	h := fnv.New64a()
	h.Write([]byte(self + leader))
	return h.Sum64()
}
