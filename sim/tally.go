package sim

import (
	"math/bits"
	"time"
)

const dayLength = int64(24 * time.Hour)

// A tally counts what comes of a run. Host time is in nanoseconds; the sums of
// the whole run begin when the warm-up is over.
type tally struct {
	used, available float64 // of hosts, since the last flush
	usedAll         float64
	availableAll    float64
	useful, wasted  float64

	days     []Day
	today    int   // place in days of what begins now
	midnight int64 // when it began: what ends then belongs to the day before
	boundary int64 // of the warm-up

	arrived, allocated, succeeded, failed, returned, impossible uint64
	migrations, made, events                                    uint64
	carried

	earlyTasks uint64 // of those that arrived

	response, makespan spread

	census
}

// carried is what went from host to host.
type carried struct {
	moved, fetched int64  // bytes: of checkpoints and moves, and of checkpoints that tasks went on from
	copies         uint64 // second runs of tasks
}

// A census is for Little's law: the number in the system, and its integral over time;
// beside it, the sum of the times that tasks were there.
type census struct {
	inside   uint64
	changed  int64
	integral wide
	sojourns wide
}

// A wide is a sum of products that may not fit 64 bits.
type wide struct{ high, low uint64 }

func (w *wide) add(a, b uint64) {
	high, low := bits.Mul64(a, b)
	var carry uint64
	w.low, carry = bits.Add64(w.low, low, 0)
	w.high, _ = bits.Add64(w.high, high, carry)
}

// count brings the integral to now.
func (y *census) count(now int64) {
	y.integral.add(y.inside, uint64(now-y.changed))
	y.changed = now
}

func (y *census) enters(now int64) {
	y.count(now)
	y.inside++
}

func (y *census) leaves(now int64, t *simTask) {
	y.count(now)
	y.inside--
	y.sojourns.add(1, uint64(now-t.arrived))
}

// ending is the day to which belongs what ends now.
func (y *tally) ending(now int64) *Day {
	if now == y.midnight && y.today > 0 {
		return &y.days[y.today-1]
	}
	return &y.days[y.today]
}

// dawn begins a day.
func (y *tally) dawn(now int64) {
	if y.today+1 < len(y.days) {
		y.today, y.midnight = y.today+1, now
	}
}

func (y *tally) place(now int64, t *simTask) {
	y.events++
	if t.placed < 0 {
		t.placed = now
		if t.early = now < y.boundary; t.early {
			y.earlyTasks++
		}
	}
	y.days[y.today].Allocated++
	if !t.early {
		y.allocated++
	}
}

func (y *tally) succeed(now int64, t *simTask) {
	y.events++
	y.ending(now).Succeeded++
	if t.early {
		return
	}
	y.succeeded++
	response := float64(now-t.arrived) / 1e9
	makespan := response
	if t.placed != t.arrived {
		makespan = float64(now-t.placed) / 1e9
	}
	y.response.add(response)
	y.makespan.add(makespan)
}

func (y *tally) fail(now int64, early bool) {
	y.ending(now).Failed++
	if !early {
		y.failed++
	}
}

func (y *tally) giveBack(early bool) {
	if !early {
		y.returned++
	}
}

func (y *tally) checkpoint(n int64, t *simTask, away bool) {
	if t.early {
		return
	}
	y.made += uint64(n)
	if away {
		y.moved += n * t.state
	}
}

// fetch counts the checkpoint that a task goes on from elsewhere.
func (y *tally) fetch(t *simTask) {
	if t.onSaved && t.savedHost == none && !t.early {
		y.fetched += t.state
	}
}

// flush books host time up to now, to which all hosts' clocks were brought, and
// which does not reach beyond the day that ends now.
func (y *tally) flush(now int64) {
	d := y.ending(now)
	d.UsedS += y.used / 1e9
	d.AvailableS += y.available / 1e9
	y.usedAll += y.used
	y.availableAll += y.available
	y.used, y.available = 0, 0
}
