// Package learning is what a coordinator learns of classes of tasks: how fast they come, and
// how long a member takes for one. It is in memory alone. A new leader begins with what the
// rows that it has tell of members, and learns the rest anew, within some ten tasks of a
// class at a member; to agree on more would cost messages for each result.
package learning

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"godwit/task"
)

// Known are rates that are known before any is measured, as of an experiment. Each counts
// as Weight measurements. Read only.
type Known struct {
	// Of are effective execution rates by class and then by member, in tasks a second
	// that one slot does with what others leave it of a processor; 0 is a member that
	// cannot run the class.
	Of map[string]map[task.PeerID]float64
	// Arrivals are tasks a second that come, by class.
	Arrivals map[string]float64
}

// A Learning is what was learnt of all classes.
type Learning struct {
	known   *Known
	there   func(task.PeerID) bool
	classes map[string]*Class
	order   []*Class // as they came
	made    uint64
	version uint64
}

// New returns what is known beforehand. there reports whether a member is known: of one that
// is gone measures may be forgotten.
func New(known *Known, there func(task.PeerID) bool) *Learning {
	r := &Learning{known: known, there: there, classes: map[string]*Class{}}
	for _, name := range slices.Sorted(maps.Keys(known.Of)) {
		r.Class(name)
	}
	for _, name := range slices.Sorted(maps.Keys(known.Arrivals)) {
		r.Class(name)
	}
	return r
}

// Version changes whenever whoever goes by rates should look at them again.
func (r *Learning) Version() uint64 { return r.version }

// Changed has those look again: what they are told has changed beside what was learnt.
func (r *Learning) Changed() { r.version++ }

// All lists the classes in the order in which they came. The list is not to be changed.
func (r *Learning) All() []*Class { return r.order }

// Get returns the class of a name, nil if there is none.
func (r *Learning) Get(name string) *Class { return r.classes[name] }

// Class returns the class of a name, made if there is none. The one of which no job
// came for longest makes room.
func (r *Learning) Class(name string) *Class {
	if k := r.classes[name]; k != nil {
		return k
	}
	if len(r.order) >= MaxClasses {
		oldest := slices.MinFunc(r.order, olderClass)
		delete(r.classes, oldest.Name)
		r.order = slices.DeleteFunc(r.order, func(k *Class) bool { return k == oldest })
		r.version++
	}
	k := &Class{Name: name, born: r.made, at: map[task.PeerID]*measure{}}
	r.made++
	r.classes[name], r.order = k, append(r.order, k)
	k.arrivals.assume(r.known.Arrivals[name])
	for peer, rate := range r.known.Of[name] { // in no order: each is its own
		m := k.measureAt(peer)
		if m.never = !(rate > 0); !m.never {
			m.mean = mean{1 / rate, assumedWeight}
		}
	}
	return k
}

func olderClass(a, b *Class) int {
	return cmp.Or(a.arrivals.last.Compare(b.arrivals.last), cmp.Compare(a.born, b.born))
}

// Arrived counts a job of a class that came, with so many tasks to do, of which each has so
// much work as the job tells; 0 if it tells none.
func (r *Learning) Arrived(k *Class, now time.Time, tasks uint64, work time.Duration) {
	k.arrivals.add(now, tasks)
	if work > 0 {
		k.declared.add(work.Seconds(), arrivalMemory)
	}
	r.firmer(k.arrivals.n)
}

// Ended takes the time of a task, of so much work, that a member has done from its
// beginning into the means. speed is the member's; 0 where only its name is known.
func (r *Learning) Ended(k *Class, peer task.PeerID, speed float64, wall, work time.Duration) {
	if wall <= 0 {
		return
	}
	seconds := k.usual(wall.Seconds(), work)
	if speed > 0 {
		k.reference.add(seconds*speed, arrivalMemory)
	}
	m := k.measureAt(peer)
	m.never = false
	m.add(seconds, Weight)
	k.ended++
	r.firmer(k.ended)
	if len(k.at) > mostMeasured {
		r.forgetGone(k)
	}
}

// GaveUp takes in that a member took at least so long for a task, of so much work, that it
// was given up there.
func (r *Learning) GaveUp(k *Class, peer task.PeerID, took, work time.Duration) {
	k.measureAt(peer).add(k.usual(took.Seconds(), work), Weight)
	r.version++
}

// firmer has policies look again whenever twice as much is known of a class as when
// they last did: often at first, when it tells most.
func (r *Learning) firmer(n uint64) {
	if n&(n-1) == 0 {
		r.version++
	}
}

// forgetGone forgets a class's measures of members that are gone.
func (r *Learning) forgetGone(k *Class) {
	for peer := range k.at {
		if !r.there(peer) {
			delete(k.at, peer)
		}
	}
}
