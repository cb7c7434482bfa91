// Package place decides where waiting tasks go. A policy is one file and its
// registration; it sees waiting tasks in order, members with room, and a
// forecast of how long they stay, and answers with placements that carry their
// reasons.
package place

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"godwit/task"
)

// A Policy chooses where waiting tasks go. It changes nothing; its choices
// carry reasons. It neither keeps hosts nor returns more placements for a host
// than the host has Free, nor one that Host.Fits refuses. rng is seeded from
// what is being decided, so that a decision can be repeated.
type Policy interface {
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
	Memory int64         // bytes it may need
	Work   time.Duration // on a reference core; 0 unknown
	// Avoid are members that must not run it, because they run or ran it
	// already and replicas must be of distinct workers, or because they
	// refused the job a moment ago. Read only.
	Avoid []task.PeerID
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
}

// Idle returns how many tasks would start at once.
func (h *Host) Idle() int { return max(0, h.Slots-h.Running) }

// Fits says whether the host may run the task.
func (h *Host) Fits(t *Task) bool {
	return h.Free > 0 && t.Memory <= min(h.Memory, h.MemoryFree) && !slices.Contains(t.Avoid, h.Peer)
}

// Take books a task on this copy of the host.
func (h *Host) Take(t *Task) {
	h.Running++
	h.Free--
	h.MemoryFree -= t.Memory
}

// A Placement is a policy's choice.
type Placement struct {
	Task   task.TaskID
	Peer   task.PeerID
	Reason string // for people: why there
}

// A Forecast says how likely members are to stay.
type Forecast interface {
	// Stay returns the probability that a member, available at now, stays
	// available without a break for d.
	Stay(peer task.PeerID, now time.Time, d time.Duration) float64
}

// Unknown is the forecast that rests on nothing: everybody stays.
type Unknown struct{}

// Stay returns 1.
func (Unknown) Stay(task.PeerID, time.Time, time.Duration) float64 { return 1 }

// registry has a constructor for each policy. It is written by init functions
// only.
var registry = map[string]func(params map[string]string) (Policy, error){}

// Default is the name of the policy used where none is named.
const Default = "fcfs"

// Register makes a policy known by name, from an init function. It panics if
// the name is taken.
func Register(name string, make func(params map[string]string) (Policy, error)) {
	if _, taken := registry[name]; taken {
		panic("place: policy " + name + " is registered twice")
	}
	registry[name] = make
}

// New returns the policy of that name ("" means Default) with the given
// parameters; nil means its defaults.
func New(name string, params map[string]string) (Policy, error) {
	if name == "" {
		name = Default
	}
	make, ok := registry[name]
	if !ok {
		return nil, fmt.Errorf("place: there is no policy %q: use one of %s", name, strings.Join(Names(), ", "))
	}
	p, err := make(params)
	if err != nil {
		return nil, fmt.Errorf("place: policy %s: %w", name, err)
	}
	return p, nil
}

// Names returns the names of all policies, sorted.
func Names() []string { return slices.Sorted(maps.Keys(registry)) }

// refuseParams is for policies that have none.
func refuseParams(params map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		return fmt.Errorf("unknown parameter %q: it has none", name)
	}
	return nil
}
