package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/scheduler/place"
	"godwit/trace"
)

// Oracle is the name of the placement policy that knows the trace. Only
// simulations have it.
const Oracle = "oracle"

// OracleSoonest is one that knows the trace too, for bags of tasks: of what waits it
// places the longest first, each where it is completed first.
const OracleSoonest = "oracle-soonest"

// knowing says whether a placement policy knows the trace.
func knowing(placement string) bool { return placement == Oracle || placement == OracleSoonest }

// oracleMisses is how many tasks in a row may find no host before a round gives
// up: the queue may be endless.
const oracleMisses = 64

// bytesPerPause is the state that Checkpoints.Pause is for; the least is a 64th.
const bytesPerPause = 64 << 20

// An oracle gives each task in order to an idle host that will complete it. Of
// those that stay available without a break for long enough it takes the one
// with the least time to spare, so that long stays are left for long tasks. If
// there is none, and owners suspend tasks, it takes the one where the task is
// completed first, however often it is suspended on the way. If there is none
// and lost tasks go on elsewhere, from checkpoints, it takes the host that stays
// longest, if one checkpoint can be made there. Otherwise the task waits, and
// those behind it are looked at.
//
// It is a bound in practice, not the optimum: it looks at one task at a time, in
// the order of the queue, knows nothing of tasks to come, and does not keep a
// slot free for a better host that is about to come. It takes a stay to end with
// the notice of leaving, and ignores what transfers take beyond one delay; with
// several tasks in a host's slots, or sharing, it takes each for alone.
type oracle struct {
	hosts   []trace.Host
	cursor  []int // spell of each host that holds, or held when last looked at
	speeds  Speeds
	delay   time.Duration // of a placement
	saves   Checkpoints
	state   int64 // largest checkpoint of a class
	suspend bool
	grace   time.Duration
	resumes bool    // lost tasks go on from their last checkpoint elsewhere
	least   float64 // work in a stay of which a checkpoint is worth it, in nanoseconds
	end     time.Time

	// Memory of a round.
	idle []place.Host
	open []stayer
	out  []place.Placement
}

// A stayer is an idle host of one round.
type stayer struct {
	host    *place.Host
	number  int
	lasting float64 // nanoseconds of reference work until it next stops being available; see forever
}

// newOracle makes the oracle of a valid scenario.
func newOracle(s *Scenario) *oracle {
	o := &oracle{hosts: s.Trace.Hosts, cursor: make([]int, len(s.Trace.Hosts)), speeds: s.Hosts.Speeds, end: s.end()}
	for i := range s.Workload.Classes {
		c := &s.Workload.Classes[i]
		o.state = max(o.state, cmp.Or(c.State, c.Memory))
	}
	if s.Paper {
		return o
	}
	o.delay, o.saves, o.grace = s.Network.Delay, s.Checkpoints, s.Hosts.Grace
	o.suspend = s.Hosts.Owner == Suspend
	o.resumes = (s.Checkpoints.Every > 0 || s.Checkpoints.Auto) && s.Checkpoints.Away && s.Workload.Requeue
	o.least = float64(s.Checkpoints.Every)
	if s.Checkpoints.Auto {
		o.least = 2 * o.atLast(s)
	}
	return o
}

// Traits implements place.Policy.
func (o *oracle) Traits() place.Traits { return place.Traits{} }

// Place implements place.Policy.
func (o *oracle) Place(now time.Time, queue place.Queue, hosts []place.Host, _ place.Forecast,
	_ *rand.Rand) []place.Placement {
	from := now.Add(o.delay)
	o.idle, o.open, o.out = append(o.idle[:0], hosts...), o.open[:0], o.out[:0]
	for i := range o.idle {
		h := &o.idle[i]
		if n, ok := hostOf(h.Peer); ok && n < len(o.hosts) && h.Idle() > 0 {
			o.open = append(o.open, stayer{h, n, o.lasts(n, now, from)})
		}
	}
	slices.SortFunc(o.open, func(a, b stayer) int {
		return cmp.Or(cmp.Compare(a.lasting, b.lasting), -cmp.Compare(a.host.Speed, b.host.Speed),
			cmp.Compare(a.number, b.number))
	})
	var missed *place.Task // hosts only become fewer: what asks for more has no place either
	for misses := 0; len(o.open) > 0 && misses < oracleMisses; {
		t, ok := queue.Next()
		if !ok {
			break
		}
		if missed != nil && t.Work >= missed.Work && t.Memory >= missed.Memory {
			misses++
			continue
		}
		i, reason := o.choose(from, &t)
		if i < 0 {
			misses++
			if len(t.Avoid) == 0 {
				missed = &place.Task{Work: t.Work, Memory: t.Memory}
			}
			continue
		}
		misses = 0
		h := o.open[i].host
		o.out = append(o.out, place.Placement{Task: t.ID, Peer: h.Peer, Reason: place.Because(reason)})
		h.Take(&t)
		if h.Idle() == 0 || h.Free <= 0 {
			o.open = slices.Delete(o.open, i, i+1)
		}
	}
	return o.out
}

// choose returns the place in open of the host that gets a task, or -1.
func (o *oracle) choose(from time.Time, t *place.Task) (int, string) {
	need := float64(o.needs(t))
	first, _ := slices.BinarySearchFunc(o.open, need,
		func(s stayer, need float64) int { return cmp.Compare(s.lasting, need) })
	for i := first; i < len(o.open); i++ {
		if s := &o.open[i]; s.host.Fits(t) {
			if s.lasting == forever {
				return i, "next in order; it stays to the end of the run"
			}
			return i, "next in order; it stays long enough, with the least to spare"
		}
	}
	if o.suspend {
		if i := o.soonest(from, t, need); i >= 0 {
			return i, "next in order; with its owner's breaks it completes the task first"
		}
	}
	if o.resumes {
		for i := min(first, len(o.open)) - 1; i >= 0; i-- {
			if s := &o.open[i]; s.lasting >= o.least && s.host.Fits(t) {
				return i, "next in order; nobody stays long enough; it stays longest, and the task goes on from a checkpoint"
			}
		}
	}
	return -1, ""
}

// soonest returns the host in open that completes a task first though its owner
// comes and goes, or -1.
func (o *oracle) soonest(from time.Time, t *place.Task, need float64) int {
	best, at := -1, time.Time{}
	for i := range o.open {
		if s := &o.open[i]; s.lasting > 0 && s.host.Fits(t) {
			if done, ok := o.completes(s.number, from, need); ok && (best < 0 || done.Before(at)) {
				best, at = i, done
			}
		}
	}
	return best
}

// atLast is how long before a host's end a checkpoint of the largest class has to
// begin, in nanoseconds.
func (o *oracle) atLast(s *Scenario) float64 {
	c := costs(&s.Network, &s.Checkpoints)
	return float64(c.PauseFor(o.state) + c.Transfer(o.state))
}

// needs is a task's work with the pauses of its checkpoints, those of the largest
// class; at its end it makes none.
func (o *oracle) needs(t *place.Task) time.Duration {
	if o.saves.Every <= 0 || t.Work <= 0 {
		return t.Work
	}
	per := float64(o.saves.Pause) * float64(max(o.state, t.Memory, bytesPerPause/64)) / bytesPerPause
	return min(longest, t.Work+time.Duration(min(float64(longest), per*float64((t.Work-1)/o.saves.Every))))
}
