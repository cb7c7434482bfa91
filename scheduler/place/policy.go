// Package place decides where waiting tasks go. A policy is one file and its
// registration; it sees waiting tasks in order, members with room, and a
// forecast of how long they stay, and answers with placements that carry their
// reasons.
package place

import (
	"math/rand/v2"
	"slices"
	"time"

	"godwit/task"
)

// A Policy chooses where waiting tasks go. It changes nothing of its arguments;
// its choices carry reasons. It neither keeps hosts nor returns more placements
// for a host than the host has Free, nor one that Host.Fits refuses. rng is
// seeded from what is being decided, so that a decision can be repeated. A
// policy may remember whose turn it is or what it learnt: one is for one
// coordinator, and now never decreases. What Place returns holds until its next
// call: the policy keeps the memory for that.
type Policy interface {
	// Traits says what the policy needs beside Place. It is always the same: whoever runs
	// the policy asks once.
	Traits() Traits
	Place(now time.Time, queue Queue, hosts []Host, f Forecast, rng *rand.Rand) []Placement
}

// A Queue gives the waiting tasks in the order in which they should go: it is
// not a list, because a sweep may have a thousand million of them. A task
// taken from it and not placed stays in the queue.
type Queue interface {
	// Next returns the next waiting task, and false at the end.
	Next() (Task, bool)
	// SkipJob leaves out the rest of the job of the last task returned.
	SkipJob()
}

// A Task is a waiting task, as far as a policy needs to know it.
type Task struct {
	ID     task.TaskID
	Memory int64 // bytes it may need
	// Work is the whole task's on a reference core; 0 unknown. A checkpoint to go
	// on from takes nothing off: a coordinator's measure of a job is the mean of
	// its attempts, and some of those went on from one.
	Work time.Duration
	// Left is the work left from the best state that any member can go on from;
	// 0 is all of it, or not known. State is the size of that state, in bytes.
	Left  time.Duration
	State int64
	// Avoid are members that must not run it, because they run or ran it
	// already and replicas must be of distinct workers, or because they
	// refused the job a moment ago. Read only.
	Avoid []task.PeerID
	// Class names tasks that are alike in which hosts suit them; "" is the class of
	// all that name none. Age is how long ago the task was submitted, 0 if that is not
	// known. Policies that go by rates look at both: see Traits.
	Class string
	Age   time.Duration
}

// A Host is a member with room. Its fields are a copy.
type Host struct {
	Peer       task.PeerID
	Slots      int     // tasks it runs at once
	Running    int     // tasks it has been given and not ended
	Free       int     // tasks it may still be given; > 0. Beyond Slots-Running they wait there for a slot
	Memory     int64   // bytes it lends, all slots together
	MemoryFree int64   // bytes not yet spoken for
	Speed      float64 // relative to the reference core; 0 unknown
	Since      time.Time
	IdleFor    time.Duration // of one that is idle, for how long it has been; 0: not known
}

// Idle returns how many tasks would start at once.
func (h *Host) Idle() int { return max(0, h.Slots-h.Running) }

// startable returns the number of tasks that may be given and would start at once.
func (h *Host) startable() int { return min(h.Idle(), max(0, h.Free)) }

// Fits says whether the host may run the task.
func (h *Host) Fits(t *Task) bool {
	return h.Free > 0 && h.holds(t) && (len(t.Avoid) == 0 || !slices.Contains(t.Avoid, h.Peer))
}

// holds says whether the host has memory for the task.
func (h *Host) holds(t *Task) bool { return t.Memory <= min(h.Memory, h.MemoryFree) }

// Take books a task on this copy of the host.
func (h *Host) Take(t *Task) {
	h.Running++
	h.Free--
	h.MemoryFree -= t.Memory
}

// longest bounds lengths that come from a division by a speed.
const longest = 10 * 365 * 24 * time.Hour

// Length returns how long the task runs on this host: its work at the host's
// speed, or as on the reference core where the speed is unknown. 0 if its work
// is unknown.
func (h *Host) Length(t *Task) time.Duration {
	if h.Speed <= 0 {
		return t.Work
	}
	return time.Duration(min(float64(t.Work)/h.Speed, float64(longest)))
}

// A Placement is a policy's choice.
type Placement struct {
	Task   task.TaskID
	Peer   task.PeerID
	Reason Reason // why there
}

// A Forecast says how likely members are to stay.
type Forecast interface {
	// Stay returns the probability, 0 to 1, that a member, available at now,
	// stays available without a break for d. known is false when it rests on
	// nothing seen of that member; p is then what hosts at large let expect, or 1.
	// The published policies place as if it were 1.
	Stay(peer task.PeerID, now time.Time, d time.Duration) (p float64, known bool)
}

// Unknown is the forecast that rests on nothing.
type Unknown struct{}

// Stay returns 1, false.
func (Unknown) Stay(task.PeerID, time.Time, time.Duration) (float64, bool) { return 1, false }

// New returns a policy of that name ("" means Default) with the given
// parameters; nil means its defaults.
func New(name string, params map[string]string) (Policy, error) { return NewWith("", name, params) }

// NewWith is New for a policy that gets the forecasts of a predictor, as predictor.Parse reads it: see ParseWith.
func NewWith(predictor, name string, params map[string]string) (Policy, error) {
	p, _, err := kinds.NewWith(predictor, name, params)
	return p, err
}

// Parse returns the policy of a specification: a name, and after a colon its
// parameters with commas between them, as in "flp:lambda=1,interval=10m".
func Parse(s string) (Policy, error) { return ParseWith("", s) }

// ParseWith is Parse for a policy that gets the forecasts of a predictor, as predictor.Parse reads it; "" is the one that
// the policy was published with. Defaults follow from what the predictor can answer. Parameters without effect are
// ignored.
func ParseWith(predictor, s string) (Policy, error) {
	p, _, err := kinds.ParseWith(predictor, s)
	return p, err
}

// Check returns what is wrong with the specification of a policy that gets the forecasts of a predictor. A parameter
// without effect is wrong, too.
func Check(predictor, s string) error {
	_, ps, err := kinds.ParseWith(predictor, s)
	if err == nil {
		err = ps.Void()
	}
	return err
}

// Faster returns the specification of the same policy for a world whose time runs
// so many times as fast: its lengths of time are so many times shorter, with those
// that have their defaults. The error names one that becomes too short.
func Faster(s string, by float64) (string, error) { return kinds.Faster(s, by) }

// Names returns the names of all policies, sorted.
func Names() []string { return kinds.Names() }

// Describe says what each policy does and which parameters it has, a line each.
func Describe() string { return kinds.Describe() }

// DescribeWith is Describe for policies that get the forecasts of a predictor: see ParseWith.
func DescribeWith(predictor string) string { return kinds.DescribeWith(predictor) }
