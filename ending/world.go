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
	index  map[task.PeerID]int
	pace   [2]float64
	detect float64
	grace  float64

	policy place.Policy
	traits place.Traits
	queue  queue
	room   []place.Host

	now    float64
	events []event
	runs   []run
	count  int
	asked  float64 // when the policy is asked again; 0 never
	dirty  bool    // something may be placed
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
	w.goOn(k, &w.runs[k])
}

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
	r.job.running--
	r.epoch++
}
