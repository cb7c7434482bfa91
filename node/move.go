package node

import (
	"crypto/sha256"
	"math"
	"time"

	"godwit/owner/sensor"
	"godwit/scheduler/message"
)

const (
	// saveWithin is how long a task may take to be saved, to go on elsewhere,
	// before the leader is told that it stays: less than the leader waits.
	saveWithin = 20 * time.Second
	// saveOnLeaving is how long that may take while this node goes: a guest of the
	// lowest priority on a machine that is busy takes seconds to come to a point where
	// it can be saved. As long is left to fetch what is saved.
	saveOnLeaving = goodbyeMost / 2
)

// A saver is a Runner that saves the state of tasks.
type saver interface {
	Saves() bool
	// Rounds says that states are large enough to be sent ahead, while the task runs.
	Rounds() bool
	// Pages returns the hashes of the pages that a saved state needs beside it.
	Pages(state []byte) ([][sha256.Size]byte, error)
}

// saves says whether tasks of a job can be saved on their way.
func (n *Node) saves(p *preparedJob) bool {
	r, ok := n.runner.(saver)
	return ok && r.Saves() && p != nil && !p.job.Checkpoint.Off && p.job.Replicas <= 1
}

// moves says whether the overlay's rules let running tasks move.
func (m *membership) moves() bool {
	cfg := m.n.sched
	cfg.Rules = rulesOf(&m.manifest)
	return cfg.Moves()
}

// saveAttempt ends an attempt with its state, out of a standstill too. One that
// cannot be saved, or takes too long to, stays, and its worker hears so; one on its
// way elsewhere goes on there.
func (n *Node) saveAttempt(name message.AttemptName, a attempt) {
	stays := message.NotSaved{Task: name.Task, Attempt: name.Attempt, Reason: "its state cannot be saved"}
	switch {
	case a.save == nil && n.decision.Stop:
		a.end()
	case a.save == nil:
		a.of.step(a.from, stays)
	case a.place.now() != nil:
		n.hurry(a, "its state is wanted elsewhere")
	case !a.saved.Load():
		a.save()
		stays.Reason = "its state could not be saved within " + saveWithin.String()
		n.after(a, saveWithin, func() { a.of.step(a.from, stays) })
	}
}

// cannotFreeze notes that an attempt could not be stopped with its state, and never
// can be: it goes on, and its worker hears so. Where it must not, it ends.
func (n *Node) cannotFreeze(name message.AttemptName, why string) {
	a, runs := n.running[name]
	if !runs || a.save == nil { // it has ended, or said so before
		return
	}
	n.log.Warn("a task cannot be saved on its way", "task", name.Task.String(), "reason", why)
	a.save = nil
	a.saved.Store(false)
	n.running[name] = a
	a.of.step(a.from, message.NotSaved{Task: name.Task, Attempt: name.Attempt, Reason: why})
	if n.movedOut && n.othersCanWork() || !n.leaveBy.IsZero() {
		a.end()
	}
}

// after does something on the loop if the attempt has not ended by then.
func (n *Node) after(a attempt, d time.Duration, do func()) {
	n.spawn(func() {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-a.ended:
		case <-t.C:
			n.post(post{call: do})
		}
	})
}

const (
	// loadEvery is how often the use of the CPU by others is looked at for the
	// leader: as often as it is reported.
	loadEvery = 2 * time.Second
	// loadStep is the step of what is told of it, in percent: noise is no news.
	loadStep = 5
)

// withheld returns the percentage of the machine's CPU that tasks do not get:
// what others use, or the owner keeps, whichever is more.
func (n *Node) withheld(now time.Time) int {
	if n.loadAt.IsZero() || now.Sub(n.loadAt) >= loadEvery {
		n.loadAt, n.load = now, 0
		for _, r := range n.monitor.Readings() {
			if r.Kind == sensor.Load && r.Blind == "" {
				n.load = max(n.load, r.Value)
			}
		}
	}
	if n.decision.Stop || n.owner.Slots == 0 {
		return 100
	}
	kept := 1 - float64(n.owner.Slots)/float64(max(1, n.cfg.Cores))
	percent := loadStep * int(math.Round(100/loadStep*max(n.load, kept)))
	return min(100, max(0, percent))
}
