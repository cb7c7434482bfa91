package scheduler

import (
	"crypto/ed25519"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/scheduler/worker"
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
	sub     *submitter.Submitter
	workers map[task.PeerID]*worker.Worker
	order   []task.PeerID
	outbox  map[[2]task.PeerID][]message.Message
	later   []func()
	spec    *task.Job
}

func newWired(tb testing.TB, workers int) *wired {
	cfg := Default()
	w := &wired{tb: tb, now: schedtest.Start, keys: map[task.PeerID]ed25519.PrivateKey{},
		workers: map[task.PeerID]*worker.Worker{}, outbox: map[[2]task.PeerID][]message.Message{}}
	key, self := schedtest.Identity(0)
	w.self, w.keys[self] = self, key
	w.coord, w.sub = NewCoordinator(self, cfg, 1), submitter.New(self, cfg.Timing, cfg.Submitter, key)
	w.order = []task.PeerID{self}
	w.toSub(message.LeaderChanged{Leader: self, Epoch: 1})
	for i := range workers {
		key, id := schedtest.Identity(i + 1)
		w.keys[id], w.workers[id] = key, worker.New(id, cfg.Timing, cfg.Worker)
		w.order = append(w.order, id)
		w.toCoord(message.MemberSeen{Advert: overlay.Advert{Peer: id, Memory: 1 << 40, Speed: 1}})
		w.toWorker(id, message.OwnerState{Slots: 4})
		w.toWorker(id, message.LeaderChanged{Leader: self, Epoch: 1})
	}
	return w
}

func (w *wired) offer(rec task.Record) {
	spec, err := rec.Open()
	if err != nil {
		w.tb.Fatal(err)
	}
	w.spec = spec
	w.toSub(message.Offer{Record: rec})
}

func (w *wired) toCoord(ev message.Event) { w.carry(w.self, w.toCoord, w.coord.Step(w.now, ev)) }
func (w *wired) toSub(ev message.Event)   { w.carry(w.self, w.toSub, w.sub.Step(w.now, ev)) }
func (w *wired) toWorker(id task.PeerID, ev message.Event) {
	w.carry(id, func(ev message.Event) { w.toWorker(id, ev) }, w.workers[id].Step(w.now, ev))
}

func (w *wired) carry(from task.PeerID, answer func(message.Event), effects []message.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case message.Send:
			k := [2]task.PeerID{from, e.To}
			w.outbox[k] = append(w.outbox[k], e.Message)
		case message.Fetch:
			w.later = append(w.later, func() { answer(message.Fetched{Key: e.Key}) })
		case message.Prepare:
			w.later = append(w.later, func() { answer(message.Prepared{ID: e.Job, Job: w.spec}) })
		case message.Start:
			w.later = append(w.later, func() {
				r := task.Result{Task: e.Task, Outcome: task.Completed}
				if err := r.Sign(w.keys[from]); err != nil {
					w.tb.Fatal(err)
				}
				answer(message.Ended{Task: e.Task, Attempt: e.Attempt, Result: r})
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
		w.toCoord(message.Wake{})
		w.toSub(message.Wake{})
		for _, id := range w.order[1:] {
			w.toWorker(id, message.Wake{})
		}
	}
}

func (w *wired) deliver(from, to task.PeerID) {
	k := [2]task.PeerID{from, to}
	out := w.outbox[k]
	w.outbox[k] = nil
	frames, err := message.PackFrames(out)
	if err != nil {
		w.tb.Fatal(err)
	}
	for _, f := range frames {
		messages, err := message.DecodeFrame(f)
		if err != nil {
			w.tb.Fatal(err)
		}
		for _, m := range messages {
			ev := &message.Received{From: from, Message: &m}
			if to == w.self {
				w.toCoord(ev)
				w.toSub(ev)
			} else {
				w.toWorker(to, ev)
			}
		}
	}
}
