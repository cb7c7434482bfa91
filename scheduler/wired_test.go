package scheduler

import (
	"crypto/ed25519"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// wired is a leader, a submitter on its node and some workers, wired without a
// network: what is sent in one round is packed in frames and arrives in the
// next, a millisecond later.
type wired struct {
	tb      testing.TB
	now     time.Time
	self    task.PeerID
	keys    map[task.PeerID]ed25519.PrivateKey
	coord   *Coordinator
	sub     *Submitter
	workers map[task.PeerID]*Worker
	order   []task.PeerID
	outbox  map[[2]task.PeerID][]Message
	later   []func()
	spec    *task.Job
}

func newWired(tb testing.TB, workers int) *wired {
	cfg := Default()
	w := &wired{tb: tb, now: start, keys: map[task.PeerID]ed25519.PrivateKey{}, workers: map[task.PeerID]*Worker{}, outbox: map[[2]task.PeerID][]Message{}}
	key, self := identity(0)
	w.self, w.keys[self] = self, key
	w.coord, w.sub = NewCoordinator(self, cfg, 1), NewSubmitter(self, cfg.Timing, cfg.Submitter, key)
	w.order = []task.PeerID{self}
	w.toSub(LeaderChanged{Leader: self, Epoch: 1})
	for i := range workers {
		key, id := identity(i + 1)
		w.keys[id], w.workers[id] = key, NewWorker(id, cfg.Timing, cfg.Worker)
		w.order = append(w.order, id)
		w.toCoord(MemberSeen{Advert: overlay.Advert{Peer: id, Memory: 1 << 40, Speed: 1}})
		w.toWorker(id, OwnerState{Slots: 4})
		w.toWorker(id, LeaderChanged{Leader: self, Epoch: 1})
	}
	return w
}

func (w *wired) offer(rec task.Record) {
	spec, err := rec.Open()
	if err != nil {
		w.tb.Fatal(err)
	}
	w.spec = spec
	w.toSub(Offer{Record: rec})
}

func (w *wired) toCoord(ev Event) { w.carry(w.self, w.toCoord, w.coord.Step(w.now, ev)) }
func (w *wired) toSub(ev Event)   { w.carry(w.self, w.toSub, w.sub.Step(w.now, ev)) }
func (w *wired) toWorker(id task.PeerID, ev Event) {
	w.carry(id, func(ev Event) { w.toWorker(id, ev) }, w.workers[id].Step(w.now, ev))
}

func (w *wired) carry(from task.PeerID, answer func(Event), effects []Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case Send:
			k := [2]task.PeerID{from, e.To}
			w.outbox[k] = append(w.outbox[k], e.Message)
		case Fetch:
			w.later = append(w.later, func() { answer(Fetched{Key: e.Key}) })
		case Prepare:
			w.later = append(w.later, func() { answer(Prepared{ID: e.Job, Job: w.spec}) })
		case Start:
			w.later = append(w.later, func() {
				r := task.Result{Task: e.Task, Outcome: task.Completed}
				if err := r.Sign(w.keys[from]); err != nil {
					w.tb.Fatal(err)
				}
				answer(Ended{Task: e.Task, Attempt: e.Attempt, Result: r})
			})
		}
	}
}

// pump lets rounds pass until done.
func (w *wired) pump(done func() bool) {
	for rounds := 0; !done(); rounds++ {
		if rounds > 10_000_000 {
			w.tb.Fatal("it never ends")
		}
		w.now = w.now.Add(time.Millisecond)
		later := w.later
		w.later = nil
		for _, do := range later {
			do()
		}
		for _, from := range w.order {
			for _, to := range w.order {
				w.deliver(from, to)
			}
		}
		w.toCoord(Wake{})
		w.toSub(Wake{})
		for _, id := range w.order[1:] {
			w.toWorker(id, Wake{})
		}
	}
}

func (w *wired) deliver(from, to task.PeerID) {
	k := [2]task.PeerID{from, to}
	out := w.outbox[k]
	w.outbox[k] = nil
	frames, err := PackFrames(out)
	if err != nil {
		w.tb.Fatal(err)
	}
	for _, f := range frames {
		messages, err := DecodeFrame(f)
		if err != nil {
			w.tb.Fatal(err)
		}
		for _, m := range messages {
			ev := Received{From: from, Message: m}
			if to == w.self {
				w.toCoord(ev)
				w.toSub(ev)
			} else {
				w.toWorker(to, ev)
			}
		}
	}
}
