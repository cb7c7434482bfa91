package scheduler

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/place"
	"godwit/task"
)

// A learning is all of them.
type learning struct {
	c       *Coordinator
	classes map[string]*class
	order   []*class // as they came
	made    uint64
	version uint64
	rounds  uint64 // rounds begun, in which members are told of: see backlog

	stale bool          // peers are to be found anew
	peers []task.PeerID // who is there, by name
	told  []place.Class
}

func newLearning(c *Coordinator) *learning {
	r := &learning{c: c, classes: map[string]*class{}, stale: true}
	for _, name := range slices.Sorted(maps.Keys(c.cfg.Rates.Of)) {
		r.class(name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.cfg.Rates.Arrivals)) {
		r.class(name)
	}
	return r
}

// class returns the class of a name, made if there is none. The one of which no job
// came for longest makes room.
func (r *learning) class(name string) *class {
	if k := r.classes[name]; k != nil {
		return k
	}
	if len(r.order) >= mostClasses {
		oldest := slices.MinFunc(r.order, olderClass)
		delete(r.classes, oldest.name)
		r.order = slices.DeleteFunc(r.order, func(k *class) bool { return k == oldest })
		r.version++
	}
	k := &class{name: name, born: r.made, at: map[task.PeerID]*measure{}}
	r.made++
	r.classes[name], r.order = k, append(r.order, k)
	k.arrivals.assume(r.c.cfg.Rates.Arrivals[name])
	for peer, rate := range r.c.cfg.Rates.Of[name] { // in no order: each is its own
		m := k.measureAt(peer)
		if m.never = !(rate > 0); !m.never {
			m.mean = mean{1 / rate, assumedWeight}
		}
	}
	return k
}

func olderClass(a, b *class) int {
	return cmp.Or(a.arrivals.last.Compare(b.arrivals.last), cmp.Compare(a.born, b.born))
}

// arrived counts a job that came, with so many tasks to do.
func (r *learning) arrived(j *job, tasks uint64) {
	k := j.class
	k.arrivals.add(r.c.now, tasks)
	if j.spec.Work > 0 {
		k.declared.add(j.spec.Work.Seconds(), arrivalMemory)
	}
	r.firmer(k.arrivals.n)
}

// ended takes the time of a task that a member has done from its beginning into the
// means. h is nil where only the member's name is known.
func (r *learning) ended(j *job, peer task.PeerID, h *host, wall time.Duration) {
	k := j.class
	if wall <= 0 {
		return
	}
	seconds := k.usual(wall.Seconds(), j.spec.Work)
	if h != nil {
		k.reference.add(seconds*h.usual(), arrivalMemory)
	}
	m := k.measureAt(peer)
	m.never = false
	m.add(seconds, meanWeight)
	k.ended++
	r.firmer(k.ended)
	if len(k.at) > mostMeasured {
		r.forgetGone(k)
	}
}

// firmer has policies look again whenever twice as much is known of a class as when
// they last did: often at first, when it tells most.
func (r *learning) firmer(n uint64) {
	if n&(n-1) == 0 {
		r.version++
	}
}

// forgetGone forgets a class's measures of members that are gone.
func (r *learning) forgetGone(k *class) {
	for peer := range k.at {
		if r.c.hosts[peer] == nil {
			delete(k.at, peer)
		}
	}
}
