package ending

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/internal/heap"
	"godwit/scheduler/place"
	"godwit/task"
)

// A world is one draw: the members' coming and going, and the jobs' way through them.
// Times are seconds from when the forecast is made.
type world struct {
	c      *crowd
	rng    *rand.Rand
	jobs   []*job
	parts  int // of jobs, those of the first job: one, or its stages
	hosts  []host
	open   []uint64 // a bit for each host that has room
	index  map[task.PeerID]int
	pace   [2]float64
	detect float64
	grace  float64

	policy place.Policy
	traits place.Traits
	queue  queue

	now float64
	storage
	count int
	asked float64 // when the policy is asked again; 0 never
	dirty bool    // something may be placed
}

// A storage is what draws have one after the other, so that each does not ask for memory anew.
type storage struct {
	events []event
	runs   []run
	room   []place.Host
}

// An event is what happens at a time: to a host, or to a run of that epoch.
type event struct {
	at    float64
	kind  kind
	of    int
	epoch int
}

type kind uint8

const (
	changes kind = iota // a host comes or leaves
	ends                // a run has ended
	returns             // the tasks of a run go on elsewhere
	asks                // the policy is asked again
)

var agenda = heap.Order[event]{Before: func(a, b *event) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	if a.kind != b.kind {
		return a.kind < b.kind
	}
	return a.of < b.of
}}

func (w *world) at(at float64, k kind, of, epoch int) {
	if at < math.MaxFloat64 {
		agenda.Push(&w.events, event{at, k, of, epoch})
	}
}

func (w *world) time() time.Time {
	return w.c.now.Add(time.Duration(w.now * float64(time.Second)))
}

// start begins a run on its host.
func (w *world) start(r run) {
	h := &w.hosts[r.host]
	r.speed = h.speed
	k := len(w.runs)
	w.runs = append(w.runs, r)
	h.running = append(h.running, k)
	h.memory += r.job.job.Memory
	w.settleRoom(r.host)
	w.goOn(k, &w.runs[k])
}

// settleRoom notes whether a host has room.
func (w *world) settleRoom(i int) {
	h := &w.hosts[i]
	if bit := uint64(1) << (i % wordBits); h.there && len(h.running) < h.habit.Slots {
		w.open[i/wordBits] |= bit
	} else {
		w.open[i/wordBits] &^= bit
	}
}

const wordBits = 64

// goOn has a run go on where it is.
func (w *world) goOn(k int, r *run) {
	r.from, r.still = w.now, false
	w.at(w.now+(r.total-r.did)/r.speed, ends, k, r.epoch)
}

// remove takes a run off its host.
func (w *world) remove(k int, r *run) {
	h := &w.hosts[r.host]
	h.running = slices.DeleteFunc(h.running, func(i int) bool { return i == k })
	h.memory -= r.job.job.Memory
	if len(h.running) == 0 {
		h.idle = w.now
	}
	w.settleRoom(r.host)
	r.job.running--
	r.epoch++
}
