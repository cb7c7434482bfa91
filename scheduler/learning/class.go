package learning

import (
	"time"

	"godwit/task"
)

const (
	// arrivalMemory is about how many arrivals of a class its rate rests on. Of arrivals
	// at random it is then known to 1/sqrt(2 x 100), 7 percent.
	arrivalMemory = 100
	// MaxClasses bounds the classes that are told apart: names are the submitters'.
	MaxClasses = 256
	// mostMeasured bounds the members of which a class has a measure. Beyond it those
	// that are gone are forgotten.
	mostMeasured = 4096
	// assumedWeight is how many measurements an assumed rate counts for: see
	// Known.
	assumedWeight = Weight
)

// Weight is the weight, as one in so many, of a new measurement in a running mean: about
// the last ten count.
const Weight = 10

// A Class is what was learnt of the tasks of one class. Only its Learning changes it.
type Class struct {
	Name     string
	born     uint64 // classes ever made before it
	arrivals arrivals
	// declared is the mean work of its tasks, in seconds, as their jobs tell it; those
	// that do not are left out. reference is that on the reference core as measured.
	declared, reference mean
	ended               uint64 // attempts measured
	at                  map[task.PeerID]*measure
}

// A measure is how long a member takes for a usual task of a class.
type measure struct {
	mean       // seconds, of one slot with what others leave it
	never bool // it is said not to be able to
}

// A mean is a running one: the plain mean of the first few, and then about the last
// of so many.
type mean struct {
	value float64
	n     int
}

func (m *mean) add(x float64, most int) {
	m.n = min(m.n+1, most)
	m.value += (x - m.value) / float64(m.n)
}

// arrivals is the rate at which tasks come: those of about the last arrivalMemory
// jobs, over the time in which those came.
type arrivals struct {
	tasks, seconds float64   // after the first; older ones count less
	last           time.Time // zero before the first that was seen
	n              uint64
}

// add counts a job of so many tasks.
func (a *arrivals) add(now time.Time, tasks uint64) {
	if !a.last.IsZero() {
		const keep = 1 - 1.0/arrivalMemory
		a.tasks = a.tasks*keep + float64(tasks)
		a.seconds = a.seconds*keep + max(0, now.Sub(a.last).Seconds())
	}
	a.n++
	a.last = now
}

// assume sets a rate that is known beforehand.
func (a *arrivals) assume(rate float64) {
	if rate > 0 {
		a.tasks, a.seconds, a.n = assumedWeight, assumedWeight/rate, assumedWeight
	}
}

// rate is in tasks a second; 0 while it is not known. It falls while none come.
func (a *arrivals) rate(now time.Time) float64 {
	seconds := a.seconds
	if !a.last.IsZero() {
		seconds += max(0, now.Sub(a.last).Seconds())
	}
	if a.n < 2 || seconds <= 0 {
		return 0
	}
	return a.tasks / seconds
}

// Arrivals returns how many of its tasks come a second, 0 while that is not known, and
// how many jobs came.
func (k *Class) Arrivals(now time.Time) (rate float64, jobs uint64) {
	return k.arrivals.rate(now), k.arrivals.n
}

// Work is the mean work of its tasks in seconds, as their jobs tell it; 0 if none did.
func (k *Class) Work() float64 { return k.declared.value }

// Never reports whether a member is said not to be able to do its tasks.
func (k *Class) Never(peer task.PeerID) bool { m := k.at[peer]; return m != nil && m.never }

// Measured is how many measurements there are of a member, Weight at the most.
func (k *Class) Measured(peer task.PeerID) int {
	if m := k.at[peer]; m != nil {
		return m.n
	}
	return 0
}

// Scale is how many times as long as a usual task of its class one takes that has so much
// work to do; 1 where nobody tells work.
func (k *Class) Scale(work time.Duration) float64 {
	if work <= 0 || k.declared.n == 0 {
		return 1
	}
	return work.Seconds() / k.declared.value
}

// measureAt returns the measure of a member, made if there is none.
func (k *Class) measureAt(peer task.PeerID) *measure {
	m := k.at[peer]
	if m == nil {
		m = &measure{}
		k.at[peer] = m
	}
	return m
}

// usual is a task's time as it would have been if its job had told the class's mean
// work: so what a member does is known from few tasks, however unlike they are.
func (k *Class) usual(seconds float64, declared time.Duration) float64 {
	if declared <= 0 || k.declared.n == 0 {
		return seconds
	}
	return seconds * k.declared.value / declared.Seconds()
}

// Expected is how many seconds a slot of a member, of that speed, takes for a usual task
// of the class; nil is one of which nothing was learnt. A speed of 0 is unknown. known is
// false where that is a guess that rests on nothing but the member's speed.
func (k *Class) Expected(peer task.PeerID, speed float64) (seconds float64, known bool) {
	if speed <= 0 {
		speed = 1
	}
	if k == nil {
		return 1 / speed, false
	}
	if m := k.at[peer]; m != nil && m.n > 0 {
		return m.value, true
	}
	if k.reference.n > 0 {
		return k.reference.value / speed, true
	}
	if k.declared.n > 0 {
		return k.declared.value / speed, true
	}
	return 1 / speed, false
}
