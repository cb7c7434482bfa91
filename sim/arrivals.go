package sim

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"godwit/internal/heap"
)

// logClass is the class of tasks from Workload.Log: they have none of their own.
// Of what comes at one time they are last.
const logClass = -1

// An arrival is a task that comes. A job of several tasks is as many arrivals.
type arrival struct {
	at            time.Duration // after Start
	class         int32         // of Workload.Classes; logClass
	work          time.Duration // on the reference core; > 0
	memory, state int64
}

// A source gives a workload's tasks in order of time, and at one time in the
// order of the classes. It keeps the next job of each stream and no list of what
// comes later.
type source struct {
	timed     []*stream // a heap by their next job; each has one
	saturated []*stream
	turn      int // of saturated, whose job is being given
}

// A stream is one class, or the log. Each class has its own random numbers, so
// that what it gives depends on the seed, its name (its place, where it has
// none) and itself alone, and not on other classes.
type stream struct {
	class int32
	is    *Class // nil of the log
	log   *logReader
	span  time.Duration
	times *rand.Rand // between jobs; apart from works, so that a change of the law of work moves no job
	works *rand.Rand
	law   Draw // of a task's work; nil is its mean
	gap   Draw // of Renewal; nil is its mean

	at     time.Duration // of the next job, or of the rest of it
	tasks  int           // of it that are still to come
	jobs   int           // begun
	memory int64         // of the tasks of the log's job; classes have their own
	work   time.Duration
}

// newSource starts a workload that goes on for span from Start. Nothing comes at
// span or later.
func newSource(w *Workload, span time.Duration, seed uint64) *source {
	s := &source{}
	for i := range w.Classes {
		c := &w.Classes[i]
		st := &stream{class: int32(i), is: c, span: span, times: streamRand(seed, i, c.Name, "times"),
			works: streamRand(seed, i, c.Name, "works"),
			law:   c.WorkLaw.mustDraw(), gap: c.Gaps.mustDraw()}
		if c.Arrival == Saturated {
			s.saturated = append(s.saturated, st)
		} else {
			s.start(st)
		}
	}
	if w.Log != nil {
		s.start(&stream{class: logClass, log: newLogReader(w.Log, w.LogFrom), span: span})
	}
	return s
}

func (s *source) start(st *stream) {
	if st.next() {
		byNext.Push(&s.timed, st)
	}
}

// streamRand is one random stream of a class. The whole state of the generator
// is hashed, as runs with seeds one after the other should have nothing in common.
func streamRand(seed uint64, place int, name, of string) *rand.Rand {
	if name == "" {
		name = "#" + strconv.Itoa(place)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "godwit arrivals %d %s %s", seed, of, name))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])))
}

// next returns the next arrival at a time that is known beforehand, and false
// when there are no more.
func (s *source) next() (arrival, bool) {
	if len(s.timed) == 0 {
		return arrival{}, false
	}
	st := s.timed[0]
	a := st.take()
	switch {
	case st.tasks > 0:
	case st.next():
		byNext.Fix(s.timed, 0)
	default:
		byNext.Pop(&s.timed)
	}
	return a, true
}

// refill returns a task of a saturated class that is open at a time, and false
// where none is. The classes take turns by jobs; the rest of a job whose class
// has closed does not come.
func (s *source) refill(at time.Duration) (arrival, bool) {
	for range s.saturated {
		st := s.saturated[s.turn]
		if st.open(at) {
			if st.tasks == 0 {
				st.tasks = max(1, st.is.Tasks)
			}
			st.at = at
			a := st.take()
			if st.tasks == 0 {
				s.pass()
			}
			return a, true
		}
		st.tasks = 0
		s.pass()
	}
	return arrival{}, false
}

// pass gives the turn to the next saturated class.
func (s *source) pass() {
	if s.turn++; s.turn == len(s.saturated) {
		s.turn = 0
	}
}

// refillOf returns a task of one saturated class if it is open at a time, false if
// not. It takes no turn.
func (s *source) refillOf(class int32, at time.Duration) (arrival, bool) {
	for _, st := range s.saturated {
		if st.class == class && st.open(at) {
			if st.tasks == 0 {
				st.tasks = max(1, st.is.Tasks)
			}
			st.at = at
			return st.take(), true
		}
	}
	return arrival{}, false
}

// opens returns when, after at, the next saturated class opens, and false when
// none does.
func (s *source) opens(at time.Duration) (time.Duration, bool) {
	var first time.Duration
	found := false
	for _, st := range s.saturated {
		if from := st.is.From; from > at && from < st.until() && (!found || from < first) {
			first, found = from, true
		}
	}
	return first, found
}

// open says whether a saturated class gives tasks at a time.
func (st *stream) open(at time.Duration) bool { return at >= st.is.From && at < st.until() }

// until is when the stream ends.
func (st *stream) until() time.Duration {
	if st.is == nil || st.is.To == 0 || st.is.Arrival == AtTimes {
		return st.span
	}
	return min(st.is.To, st.span)
}

// take gives one task of the next job.
func (st *stream) take() arrival {
	st.tasks--
	if st.is == nil {
		return arrival{at: st.at, class: logClass, work: st.work, memory: st.memory, state: st.memory}
	}
	state := st.is.State
	if state == 0 {
		state = st.is.Memory
	}
	work := draw(st.is.Work, st.law, st.works)
	return arrival{at: st.at, class: st.class, work: work, memory: st.is.Memory, state: state}
}

// draw draws a length of a mean; the mean itself where the law is nil. It is never
// 0: that would be work of which nobody knows how long it is, and jobs without end
// at one time.
func draw(mean time.Duration, by Draw, r *rand.Rand) time.Duration {
	if by == nil {
		return mean
	}
	w := float64(mean) * by(r)
	if !(w < float64(longest)) {
		return longest
	}
	return time.Duration(max(1, w))
}

// next moves on to the next job, and says whether there is one.
func (st *stream) next() bool {
	if st.is == nil {
		return st.nextOfLog()
	}
	c := st.is
	switch c.Arrival {
	case AtTimes:
		if st.jobs >= len(c.Times) {
			return false
		}
		st.at = c.Times[st.jobs]
	case Every:
		if st.jobs == 0 {
			st.at = c.From
		} else {
			st.at = later(st.at, float64(c.Interval))
		}
	case Poisson:
		if st.jobs == 0 {
			st.at = c.From
		}
		st.at = later(st.at, float64(c.Interval)*st.times.ExpFloat64())
	case Renewal:
		if st.jobs == 0 {
			st.at = c.From
		}
		st.at = later(st.at, float64(draw(c.Interval, st.gap, st.times)))
	}
	st.jobs++
	st.tasks = max(1, c.Tasks)
	return st.at < st.until()
}

// later is at and so many nanoseconds more, longest where that is too long to
// count.
func later(at time.Duration, ns float64) time.Duration {
	if ns >= float64(longest-at) {
		return longest
	}
	return at + time.Duration(ns)
}

// byNext is the order of streams: by their next job's time, then by class.
var byNext = heap.Order[*stream]{Before: func(a, b **stream) bool {
	// As unsigned, logClass is after all classes.
	return cmp.Or(cmp.Compare((*a).at, (*b).at), cmp.Compare(uint32((*a).class), uint32((*b).class))) < 0
}}
