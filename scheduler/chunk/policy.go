package chunk

import (
	"errors"
	"fmt"
	"math"
	"time"

	"godwit/internal/spec"
)

// A Node is a member, as a policy calls it: a small number that Join chose, and
// chooses again for another when the member has left.
type Node int32

// A Job is what a policy is made for.
type Job struct {
	Runs   int64 // in all; at least 1
	Trials int   // Monte Carlo trials of each run, which its slots share; at least 1, and 0 is 1
}

// A Member is what is known of one that joins.
type Member struct {
	Slots int     // trials it runs at once; at least 1, and less is 1
	Cores int     // what the first ratios go by, as published; 0 is Slots
	Speed float64 // of a core, relative to the others; 0 unknown, which counts as 1
	// Available is the part of the processor that is available to runs when the member joins, at
	// most 1. 0 means unknown and counts as 1.
	Available float64
	Latency   time.Duration // round-trip time of a message; 0 unknown
}

// An Ask is what Size is asked with.
type Ask struct {
	Remaining int64 // runs of the job that nobody has; those that came back included
	Most      int   // runs the member has room for; 0 no bound
}

// MaxChunk is the most runs that a chunk may have.
const MaxChunk = math.MaxInt32

// A Policy decides on the chunks of one job. Nothing about it depends on a clock, on
// chance or on the order of a map: the same calls give the same answers. now never
// decreases. A Node that has left, or never joined, is not to be named: the policy
// panics.
type Policy interface {
	// Join takes a member in and names it. The least number that is free comes next
	// where none has left; else the one that left last.
	Join(m Member) Node
	// Leave forgets the member. What it had comes back with that.
	Leave(n Node)
	// Size returns how many runs the member gets now, at most ask.Remaining and
	// ask.Most, and why. They count as given. It is 0 if nothing remains, or while
	// it is better or published to wait; then runs are out, and the member is asked
	// again after the next event.
	Size(now time.Time, n Node, ask Ask) (int, Reason)
	// Done says that the member has done so many of its runs, 1 or more, in elapsed:
	// the time from its last report, or from when it began the chunk, all slots
	// together. What a message takes on its way is no part of it.
	Done(now time.Time, n Node, runs int, elapsed time.Duration)
	// Back says that so many runs of the member come back undone: refused, recalled,
	// or cancelled because somebody else has done them.
	Back(now time.Time, n Node, runs int)
}

// A Ranker is a Policy that says who of several idle members is asked first: the one
// of the highest rank; of equal ones the least Node. Others are asked in order.
type Ranker interface {
	Policy
	// Rank returns the speed of the member, in runs a second; 0 unknown.
	Rank(n Node) float64
}

// A Copier is a Policy that has the runs of slow members done again by idle ones when
// nothing remains.
type Copier interface {
	Policy
	// Copy returns whose runs, all that it still has, the idle member does again, and
	// how many they are. From then on they are that member's too, until Done or Back;
	// of runs that one of both has done the other's come Back at once. ok is false if
	// none are worth it: the member stays idle.
	Copy(now time.Time, n Node) (of Node, runs int, why Reason, ok bool)
}

// New returns a policy of that name ("" means Default) with the given parameters, for
// the job; nil means its defaults.
func New(name string, params map[string]string, j Job) (Policy, error) {
	if j.Runs < 1 || j.Trials < 0 {
		return nil, errors.New("chunk: a job has at least 1 run, and trials are not negative")
	}
	j.Trials = max(j.Trials, 1)
	of, ps, err := kinds.New(name, params)
	if err != nil {
		return nil, err
	}
	p := of(j)
	if err := ps.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// Parse returns the policy of a specification: a name, and after a colon its
// parameters with commas between them, as in "issse:peak=2,k=15,m=10.5".
func Parse(s string, j Job) (Policy, error) {
	name, params, err := spec.Split(s)
	if err != nil {
		return nil, fmt.Errorf("chunk: policy %w", err)
	}
	return New(name, params, j)
}

// Check returns what is wrong with a specification, or nil.
func Check(s string) error {
	_, err := Parse(s, Job{Runs: 1})
	return err
}

// Names returns the names of all policies, sorted.
func Names() []string { return kinds.Names() }

// Describe says what each policy does and which parameters it has, a line each.
func Describe() string { return kinds.Describe() }
