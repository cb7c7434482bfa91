package scheduler

import (
	"math"

	"godwit/scheduler/share"
)

// fairness is what slots are divided by, and the memory of rounds. Nothing of it is
// durable: who holds what follows from the leases that a new leader books, and the rest
// decides whose turn a remainder is, which comes right in a round or two.
type fairness struct {
	policy    share.Policy // of slots
	further   share.Policy // the same, of room for tasks ahead: its turns are others
	ideal     share.Policy // see anew; nil before it is needed
	came      []*job       // since makeRoom
	terms     share.Terms
	claimants map[string]*claimant
	clock     uint64 // counts who comes and who gets some
	sites     map[string]*site
	order     []*site // of sites, by name
	all       amounts // of all sites

	// Of a round.
	// fruitless counts the rounds before this one that placed nothing. blocked says that one
	// whose turn it was still waits: nobody after it is given tasks ahead then, which would
	// have the next slots before it.
	fruitless int
	blocked   bool

	ahead   bool // it gives room for tasks ahead, not slots
	idle    opening
	who     []*claimant // that take part, out of the queue, the next first
	arrived []*claimant // the same in the order of arrival
	shown   shown
	parts   []part
	// roaming are those that nothing came of at their sites, to be tried anywhere, and
	// anywhere says that the round is of one of them.
	roaming  []part
	anywhere bool
	filling  bool   // the round is of nobody's grant: see fillIdle
	used     []*job // that have all that they can use of what an owner is given
	dealt    []*job
	// Of a Step: jobs that nothing more is given of. They are queued all the same.
	aside []*job
}

// shown is what the policy is shown in a round.
type shown struct {
	claimants []share.Claimant
	held      []share.Holding // memory of claimants
	sites     []share.Site
}

// A part is how many tasks of a job a round may place, and where.
type part struct {
	job    *job
	site   *site // nil: anywhere
	n      int
	placed int
	why    share.Reason // said of those placed; the zero Reason says nothing
}

// whole, as a part, is all of a job.
const whole = math.MaxInt

// newFairness parses a policy, which must be known.
func newFairness(spec string) fairness {
	policy, err := share.Parse(spec)
	if err != nil {
		panic("scheduler: the configuration was not validated: " + err.Error())
	}
	further, _ := share.Parse(spec) // as that
	return fairness{policy: policy, further: further, terms: policy.Terms(), claimants: map[string]*claimant{},
		sites: map[string]*site{}}
}
