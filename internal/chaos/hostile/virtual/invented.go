package virtual

import (
	"crypto/ed25519"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// selfDeclared is T2: strangers send summaries of cells that they say they lead, and then results that nobody
// delegated to them, from invented workers. In undivided pools they split the pool first, as in T1. The attack
// succeeds if a wrong result is delivered.
func selfDeclared(a *attack) {
	node := a.rng.IntN(a.v.Hosts)
	bits := max(a.v.Bits, 1)
	own := overlay.CellOf(overlay.CellNumber(a.id, hostID(a.v.Seed, node)), bits)
	// The first stranger is in the other half; other strangers are where their keys fall.
	a.addKey(inCell(own.Sibling()))
	if a.v.Bits == 0 {
		a.addKey(inCell(own))
	}
	for len(a.keys) < a.v.Keys {
		a.addKey(nil)
	}
	a.v.Work *= 4                         // the honest members must not be faster
	a.v.End = 20*time.Minute + 8*a.v.Work // the submitter runs some tasks again, one after the other
	a.v.Tasks = min(a.v.Tasks, a.v.waves(1))
	summaries := func() (out []overlay.Summary) {
		for i := range a.keys {
			out = append(out, a.s.Summary(i, bits, 1+a.v.Hosts, 4*a.v.Hosts))
		}
		return out
	}
	a.cells = func(int, task.PeerID) []overlay.Summary { return summaries() }
	a.begin = func() {
		a.s.After(max(0, a.v.Job-a.v.First), func() {
			a.submit(node)
			a.watchResults()
			a.s.Every(a.v.Every, func() { a.deliver(false) })
		})
		a.s.Every(a.v.Every, func() {
			for i := range a.keys {
				a.s.Advertise(i, overlay.Advert{Bits: bits, State: overlay.Available})
			}
			a.s.Summarize(summaries())
		})
	}
}

// deliver sends invented results of all tasks from each stranger: from the stranger itself with made, else from
// as many invented workers as the job has replicas.
func (a *attack) deliver(made bool) {
	j := a.jobs[0]
	for i := range a.keys {
		p := &message.Progress{Job: j.id, Made: made, Summary: message.JobSummary{State: message.JobRunning,
			Total: uint64(a.v.Tasks), Running: uint64(a.v.Tasks)}}
		for k := range a.v.Tasks {
			t, err := a.ending(i, j.id, k, made)
			if err != nil {
				a.succeed("an invented result cannot be made: %v", err)
				return
			}
			p.Tasks = append(p.Tasks, t)
		}
		a.s.Send(i, a.s.ID(j.at), message.Message{Progress: p})
	}
}

// ending returns the invented end of a task.
func (a *attack) ending(stranger int, id task.JobID, index int, made bool) (message.TaskSummary, error) {
	t := message.TaskSummary{Index: uint64(index)}
	workers := []ed25519.PrivateKey{a.keys[stranger]}
	for !made && len(workers) < a.v.Replicas {
		_, key, err := ed25519.GenerateKey(randomBytes{a.rng})
		if err != nil {
			return t, err
		}
		workers = append(workers, key)
	}
	for _, w := range workers {
		r, err := a.invented(w, id, index, stranger)
		if err != nil {
			return t, err
		}
		t.Results = append(t.Results, r)
	}
	return t, nil
}

// queried is T3: strangers that are members without slots answer a submitter's query with results that they
// invented, and with receipts that name themselves as leader. The attack succeeds if a wrong result is delivered.
func queried(a *attack) {
	node := a.rng.IntN(a.v.Hosts)
	for range max(a.v.Keys, a.v.Replicas) {
		a.addKey(inCell(a.hostCell(node)))
	}
	// The own cell's members, of which there may be fewer than in others, run all of it at once.
	a.v.Tasks = min(a.v.Tasks, max(1, (a.v.Hosts>>a.v.Bits)/2/a.v.Replicas))
	a.v.Work, a.v.End = 90*time.Minute, 110*time.Minute // a submitter asks all members after 70 minutes
	a.heard = func(_ int, from task.PeerID, m *message.Message) {
		if m.Got != nil && m.Got.Asks && len(a.jobs) > 0 && m.Got.Job == a.jobs[0].id {
			a.deliver(true)
		}
	}
	a.begin = func() {
		a.s.After(max(0, a.v.Job-a.v.First), func() {
			a.submit(node)
			a.watchResults()
		})
		a.s.Every(10*advertEvery, func() {
			for i := range a.keys {
				a.s.Advertise(i, overlay.Advert{Bits: a.v.Bits, State: overlay.Available})
			}
		})
	}
}
