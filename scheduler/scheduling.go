package scheduler

import (
	"cmp"
	"slices"
	"time"

	"godwit/migrate"
	"godwit/scheduler/chunk"
	"godwit/scheduler/leasing"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/task"
)

// MaxScheduling bounds the classes, and the members, that a Scheduling lists.
const MaxScheduling = 20

// ByPlacement stands for the policy of fairness where the placement policy chooses whose
// turn it is.
const ByPlacement = "by placement"

// A Scheduling is how a leader schedules at a moment, for people. It is a copy. What
// a list leaves out is counted beside it; rates are in tasks a second.
type Scheduling struct {
	Leader task.PeerID `json:"leader"`
	Epoch  uint64      `json:"epoch"`
	Since  time.Time   `json:"since,omitzero"` // of the leader's first event; what it has learnt is younger
	At     time.Time   `json:"at,omitzero"`    // of the last

	// The policies in force, with their parameters.
	Placement string `json:"placement"`
	Fairness  string `json:"fairness"` // or ByPlacement
	Chunking  string `json:"chunking"`
	Migration string `json:"migration"` // "none" for none
	// Predictor gives them their forecasts; "" where each has what it was published with.
	Predictor string `json:"predictor"`

	Waiting uint64 `json:"waiting"` // tasks
	Running uint64 `json:"running"` // tasks with a member

	Classes     []ClassStatus   `json:"classes"` // as they came; of too many those with tasks first
	MoreClasses int             `json:"more_classes"`
	Members     []MemberStatus  `json:"members"` // those there first, by name
	MoreMembers int             `json:"more_members"`
	Allocation  *AllocationView `json:"allocation,omitempty"` // of a policy that makes one, as lpas
}

// A ClassStatus is a class of tasks at a moment.
type ClassStatus struct {
	Class    string  `json:"class"` // "" of jobs that name none
	Waiting  uint64  `json:"waiting"`
	Running  uint64  `json:"running"`
	Oldest   float64 `json:"oldest_s"` // age of the oldest job with waiting tasks, seconds
	Arrival  float64 `json:"arrival"`  // tasks a second; 0 if not known
	Arrivals uint64  `json:"arrivals"` // jobs that came since this leader leads
	// Work is the mean work of a task as jobs tell it, in seconds; 0 if none did.
	Work float64 `json:"work_s"`
}

// A MemberStatus is a member at a moment.
type MemberStatus struct {
	Peer    task.PeerID `json:"peer"`
	Site    string      `json:"site,omitempty"`
	There   bool        `json:"there"` // it may be given tasks
	Slots   int         `json:"slots"`
	Load    int         `json:"load"`     // tasks that it has been given
	IdleFor float64     `json:"idle_s"`   // seconds since it has a free slot; 0 if it has none
	Speed   float64     `json:"speed"`    // as it tells; 0 unknown
	Share   float64     `json:"share"`    // of its processors that others leave, as it tells
	Behind  float64     `json:"behind_s"` // what it was given takes so long
	// Running counts its tasks by class, and Rates has its rate for each class listed.
	Running map[string]int `json:"running"`
	Rates   []RateStatus   `json:"rates"`
}

// A RateStatus is how fast a slot of a member executes a class, with what others leave
// it.
type RateStatus struct {
	Class string  `json:"class"`
	Rate  float64 `json:"rate"` // tasks a second; 0: it gets none of the class
	// Measured is how many measurements it rests on, ten at the most; 0 is a guess by
	// other members, or by what jobs say.
	Measured int `json:"measured"`
}

// An AllocationView is how a linear program divides members among classes.
type AllocationView struct {
	Solved time.Time     `json:"solved,omitzero"`
	Why    string        `json:"why"`             // it was solved then
	Error  string        `json:"error,omitempty"` // why it has no solution: members get any class
	Lambda float64       `json:"lambda"`          // lambda*: so much more of all arrivals could be carried
	Load   float64       `json:"load"`            // rho* = 1/lambda*
	Class  []string      `json:"classes"`
	Peers  []task.PeerID `json:"peers"`
	// Share is delta*_ij, by class and then by member, in processors; those of Class
	// and Peers.
	Share [][]float64 `json:"share"`
	More  bool        `json:"more"` // classes or members are left out
}

// Scheduling tells how things stand.
func (c *Coordinator) Scheduling() Scheduling {
	s := Scheduling{
		Leader: c.self, Epoch: c.term.epoch, Since: c.term.since, At: c.now,
		Placement: cmp.Or(c.cfg.Rules.Placement, c.cfg.Placement, place.Default),
		Fairness:  cmp.Or(c.cfg.Rules.Fairness, share.Default),
		Chunking:  cmp.Or(c.cfg.Rules.Chunking, chunk.Default),
		Migration: cmp.Or(c.cfg.Rules.Migration, c.cfg.Migration, migrate.Default),
		Predictor: c.cfg.predictor(),
	}
	if c.claims.byClass != nil {
		s.Fairness = ByPlacement
	}
	if c.migration.mover == nil {
		s.Migration = "none"
	}
	s.Classes = c.classStatuses()
	for i := range s.Classes {
		s.Waiting += s.Classes[i].Waiting
		s.Running += s.Classes[i].Running
	}
	s.MoreClasses = max(0, len(s.Classes)-MaxScheduling)
	s.Classes = s.Classes[:len(s.Classes)-s.MoreClasses]
	s.Members, s.MoreMembers = c.memberStatuses(s.Classes)
	if p, ok := c.dispatch.policy.(allocator); ok {
		s.Allocation = allocationOf(p)
	}
	return s
}

// Load counts the tasks of open jobs that wait, and those that members run, with the jobs.
func (c *Coordinator) Load() (jobs int, waiting, running uint64) {
	for _, j := range c.table.inOrder() {
		if j.state != jobOpen {
			continue
		}
		sum := j.summary()
		jobs, waiting, running = jobs+1, waiting+sum.AtLeader(), running+sum.AtMembers()
	}
	return jobs, waiting, running
}

// classStatuses describes all classes of which there are tasks or something is known.
func (c *Coordinator) classStatuses() []ClassStatus {
	out := []ClassStatus{}
	index := map[string]int{}
	add := func(name string) *ClassStatus {
		i, ok := index[name]
		if !ok {
			i = len(out)
			index[name] = i
			out = append(out, ClassStatus{Class: name})
		}
		return &out[i]
	}
	for _, k := range c.learnt.All() {
		s := add(k.Name)
		s.Arrival, s.Arrivals = k.Arrivals(c.now)
		s.Work = k.Work()
	}
	for _, j := range c.table.inOrder() {
		if j.state != jobOpen {
			continue
		}
		sum := j.summary()
		s := add(j.spec.Class)
		s.Waiting, s.Running = s.Waiting+sum.AtLeader(), s.Running+sum.AtMembers()
		if sum.AtLeader() > 0 {
			s.Oldest = max(s.Oldest, c.dispatch.age(j).Seconds())
		}
	}
	if len(out) > MaxScheduling {
		slices.SortStableFunc(out, func(a, b ClassStatus) int {
			return -cmp.Compare(min(1, a.Waiting+a.Running), min(1, b.Waiting+b.Running))
		})
	}
	return out
}

// memberStatuses describes the first members, and counts the others.
func (c *Coordinator) memberStatuses(classes []ClassStatus) (out []MemberStatus, more int) {
	hosts := slices.DeleteFunc(slices.Clone(c.members.roster.all()), func(h *host) bool { return !h.member && !h.there })
	slices.SortStableFunc(hosts, func(a, b *host) int {
		switch {
		case a.there == b.there:
			return 0
		case a.there:
			return -1
		}
		return 1
	})
	more = max(0, len(hosts)-MaxScheduling)
	out = make([]MemberStatus, 0, len(hosts)-more)
	c.learnt.rounds++ // what they have to do is counted anew
	for _, h := range hosts[:len(hosts)-more] {
		m := MemberStatus{
			Peer: h.peer, Site: h.site, There: h.there, Slots: h.slots, Load: h.load,
			IdleFor: c.dispatch.idleTime(h).Seconds(), Speed: h.speed,
			Share: float64(100-h.withheld) / 100, Behind: c.learnt.Backlog(h.peer),
			Running: map[string]int{}, Rates: []RateStatus{},
		}
		for _, l := range h.leases {
			if l.is(leasing.Open) {
				m.Running[l.job.spec.Class]++
			}
		}
		for i := range classes {
			m.Rates = append(m.Rates, c.rateStatus(h, classes[i].Class))
		}
		out = append(out, m)
	}
	return out, more
}

func (c *Coordinator) rateStatus(h *host, name string) RateStatus {
	s := RateStatus{Class: name, Rate: c.learnt.Of(name, h.peer)}
	if k := c.learnt.Get(name); k != nil {
		s.Measured = k.Measured(h.peer)
	}
	return s
}

// An allocator is a policy that divides members among classes beforehand; place.LPAS
// is one.
type allocator interface {
	Allocation() (classes []string, peers []task.PeerID, s *place.Solution, err error)
	Solved() (at time.Time, why string)
}

func allocationOf(p allocator) *AllocationView {
	v := &AllocationView{Class: []string{}, Peers: []task.PeerID{}, Share: [][]float64{}}
	classes, peers, answer, err := p.Allocation()
	if v.Solved, v.Why = p.Solved(); err != nil {
		v.Error = err.Error()
	}
	if answer == nil {
		return v
	}
	n, m := min(len(classes), MaxScheduling), min(len(peers), MaxScheduling)
	v.Class, v.Peers, v.More = slices.Clone(classes[:n]), slices.Clone(peers[:m]), n < len(classes) || m < len(peers)
	if v.Lambda = answer.Lambda; v.Lambda > 0 {
		v.Load = 1 / v.Lambda
	}
	for i := range n {
		v.Share = append(v.Share, slices.Clone(answer.Share[i][:m]))
	}
	return v
}
