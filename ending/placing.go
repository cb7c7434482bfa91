package ending

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"time"

	"godwit/scheduler/place"
	"godwit/task"
)

// place asks the policy, if there is anything to place and room for it.
func (w *world) place() {
	if !w.dirty || !w.queue.any() {
		return
	}
	w.dirty = false
	if w.room = w.offer(w.room[:0]); len(w.room) == 0 {
		return
	}
	if w.traits.Situate != nil {
		w.traits.Situate(place.Situation{Waiting: w.waiting(), Detect: seconds(w.detect), Saves: w.jobs[0].save > 0})
	}
	w.queue.begin()
	got := w.policy.Place(w.time(), &w.queue, w.room, w, rand.New(rand.NewPCG(w.rng.Uint64(), 0)))
	for _, p := range got {
		o := &w.queue.offers[p.Task.Index]
		i, known := w.index[p.Peer]
		if !known || o.placed {
			continue
		}
		o.placed = true
		o.job.running++
		if o.tasks == 0 {
			w.start(run{job: o.job, host: i, tasks: 1, total: o.piece.total, did: o.piece.did, base: o.piece.did})
			continue
		}
		w.start(run{job: o.job, host: i, tasks: o.tasks, total: o.job.work.group(o.tasks, w.rng)})
	}
	w.queue.restore()
	if w.traits.Again > 0 && w.asked == 0 && w.queue.any() && len(got) < len(w.room) {
		w.asked = w.now + w.traits.Again.Seconds()
		w.at(w.asked, asks, 0, 0)
	}
}

func (w *world) waiting() int {
	sum := 0.0
	for _, j := range w.jobs {
		sum += float64(j.waiting) + float64(len(j.pieces))
	}
	return int(min(sum, math.MaxInt32))
}

// offer lists the hosts with room.
func (w *world) offer(out []place.Host) []place.Host {
	for k, word := range w.open {
		for ; word != 0; word &= word - 1 {
			out = append(out, w.offered(&w.hosts[k*wordBits+bits.TrailingZeros64(word)]))
		}
	}
	return out
}

// offered is a host as the policy sees it.
func (w *world) offered(h *host) place.Host {
	m := &h.habit.Member
	p := place.Host{Peer: h.peer, Slots: m.Slots, Running: len(h.running), Free: m.Slots - len(h.running),
		Memory: m.Memory, MemoryFree: m.Memory - h.memory, Speed: m.Speed, Since: m.Since}
	if !h.session {
		p.Since = w.c.now.Add(seconds(h.since))
	}
	if len(h.running) == 0 {
		p.IdleFor = seconds(w.now - h.idle)
	}
	return p
}

// Stay implements place.Forecast: what is drawn from is what is foretold.
func (w *world) Stay(peer task.PeerID, _ time.Time, d time.Duration) (float64, bool) {
	i, ok := w.index[peer]
	if !ok {
		return 1, false
	}
	h := &w.hosts[i]
	if h.session {
		return h.habit.session().within(w.now/w.pace[0], d.Seconds()/w.pace[0]), true
	}
	return h.habit.fresh(h.since).within((w.now-h.since)/w.pace[0], d.Seconds()/w.pace[0]), true
}
