package scheduler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/overlay"
	"godwit/scheduler/leasing"
	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/share"
	"godwit/task"
)

// A granting is a policy of fairness that notes what it granted last.
type granting struct {
	share.Policy
	granted map[string]int // by claimant
}

func (g *granting) Grow(now time.Time, claimants []share.Claimant, sites []share.Site) []share.Grant {
	clear(g.granted)
	grants := g.Policy.Grow(now, claimants, sites)
	for _, x := range grants {
		g.granted[claimants[x.Claimant].ID] += x.Slots
	}
	return grants
}

// A placing is a placement policy that looks whether it is shown what was granted, and
// no more.
type placing struct {
	place.Policy
	t     *rapid.T
	c     *Coordinator
	grown *granting
}

func (p *placing) Traits() place.Traits { return place.Traits{} }

func (p *placing) Place(now time.Time, q place.Queue, hosts []place.Host, f place.Forecast,
	rng *rand.Rand) []place.Placement {
	given := map[string]int{}
	for _, part := range p.c.claims.fair.parts {
		if part.n == whole {
			if len(p.c.claims.fair.parts) > 1 || p.c.claims.fair.terms.Guarded {
				p.t.Fatalf("a job has all though it is not alone")
			}
			for _, cl := range p.c.claims.queue.items {
				if cl.priority() >= part.job.priority {
					p.t.Fatalf("a job has all though another of its priority waits")
				}
			}
		}
		given[part.job.claim.id] += part.n
	}
	for id, n := range given {
		granted := p.grown.granted[id]
		if n != whole && !p.c.claims.fair.filling && (n > granted || n < granted && !p.c.claims.fair.anywhere) {
			p.t.Fatalf("%s may place %d tasks, granted were %d", id, n, granted)
		}
	}
	out := p.Policy.Place(now, q, hosts, f, rng)
	placed := map[task.JobID]int{}
	for _, x := range out {
		placed[x.Task.Job]++
	}
	for _, part := range p.c.claims.fair.parts {
		placed[part.job.id] -= min(part.n, 1<<30)
	}
	for id, over := range placed {
		if over > 0 {
			p.t.Fatalf("%d more tasks of %v are placed than it was given", over, id)
		}
	}
	return out
}

// A sharing is a coordinator whose jobs and members come and go.
type sharing struct {
	t     *rapid.T
	tb    testing.TB
	c     *Coordinator
	now   time.Time
	jobs  []task.JobID
	peers []task.PeerID
	held  []heldTask
	nonce byte
	grown *granting
	given map[task.JobID]bool // jobs of which tasks were placed in the last step
}

type heldTask struct {
	worker int
	lease  message.Lease
}

func newSharing(tb testing.TB, t *rapid.T) *sharing {
	_, self := schedtest.Identity(0)
	s := &sharing{t: t, tb: tb, now: schedtest.Start, c: NewCoordinator(self, scripted(), 1)}
	s.grown = &granting{granted: map[string]int{}}
	s.govern(t)
	s.c.dispatch.goBy(&placing{s.c.dispatch.policy, t, s.c, s.grown})
	for k := range 5 {
		_, id := schedtest.Identity(100 + k)
		s.peers = append(s.peers, id)
	}
	return s
}

// govern has any policy of fairness from now on.
func (s *sharing) govern(t *rapid.T) {
	spec := rapid.SampledFrom(append(share.Names(), "sep:of=holdings")).Draw(t, "policy")
	params := rapid.SampledFrom([]string{"", "per=owner", "shrink=arrival", "aging=1s", "guard=cap,load=60",
		"aging=2s,guard=gate,load=60,per=owner,shrink=arrival"}).Draw(t, "parameters")
	if params != "" {
		spec += map[bool]string{true: ",", false: ":"}[spec == "sep:of=holdings"] + params
	}
	each := rapid.SampledFrom([]int{0, 0, 1, 5}).Draw(t, "slots each")
	if err := s.c.Govern(Rules{Fairness: spec, SlotsEach: each, Open: rapid.Bool().Draw(t, "open")}); err != nil {
		t.Fatal(err)
	}
	if s.c.claims.fair.policy != s.grown { // else it is the one that it was
		s.grown.Policy, s.c.claims.fair.policy, s.c.claims.fair.further = s.c.claims.fair.policy, s.grown, s.grown
	}
	s.step(message.Wake{})
}

func (s *sharing) step(ev message.Event) {
	var fetches []string
	s.given = map[task.JobID]bool{}
	for _, e := range s.c.Step(s.now, ev) {
		switch e := e.(type) {
		case message.Fetch:
			fetches = append(fetches, e.Key)
		case message.Send:
			if p := e.Message.Place; p != nil {
				for _, l := range p.Leases {
					s.given[l.Task.Job] = true
					s.held = append(s.held, heldTask{slices.Index(s.peers, e.To), l})
				}
			}
		}
	}
	for _, key := range fetches {
		s.step(message.Fetched{Key: key})
	}
	s.check()
}

// actions are what may happen.
func (s *sharing) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"govern": func(t *rapid.T) {
			if rapid.IntRange(0, 3).Draw(t, "seldom") == 0 {
				s.govern(t)
			}
		},
		"member": func(t *rapid.T) {
			k := rapid.IntRange(0, len(s.peers)-1).Draw(t, "member")
			site := rapid.SampledFrom([]string{"", "delft", "leiden"}).Draw(t, "site")
			memory := rapid.SampledFrom([]int64{8 << 20, 64 << 20}).Draw(t, "memory")
			s.step(message.MemberSeen{Advert: overlay.Advert{Peer: s.peers[k], Memory: memory, Speed: 1, Site: site}})
			slots := rapid.IntRange(0, 4).Draw(t, "slots")
			s.step(&message.Received{From: s.peers[k], Message: &message.Message{Report: s.report(k, slots)}})
		},
		"gone": func(t *rapid.T) {
			s.step(message.MemberLost{Peer: s.peers[rapid.IntRange(0, len(s.peers)-1).Draw(t, "member")], Reason: "gone"})
		},
		"submit": func(t *rapid.T) {
			if len(s.jobs) > 12 {
				return
			}
			key, owner := schedtest.Identity(200 + rapid.IntRange(0, 1).Draw(t, "owner"))
			rec := schedtest.Job(s.tb, key, rapid.Uint64Range(1, 9).Draw(t, "tasks"), func(j *task.Job) {
				s.nonce++
				j.Nonce[0], j.Work = s.nonce, time.Duration(rapid.SampledFrom([]int{0, 50, 60_000}).Draw(t,
					"work"))*time.Millisecond
				j.Weight, j.Priority = rapid.IntRange(0, 3).Draw(t, "weight"), rapid.IntRange(0, 1).Draw(t, "priority")
				j.Memory = rapid.SampledFrom([]int64{1 << 20, 16 << 20}).Draw(t, "memory")
				j.Slots = rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "slots of the job")
			})
			s.jobs = append(s.jobs, rec.ID())
			s.step(&message.Received{From: owner, Message: &message.Message{Submit: &message.Submit{Record: rec}}})
		},
		"end": func(t *rapid.T) {
			if len(s.held) == 0 {
				return
			}
			k := rapid.IntRange(0, len(s.held)-1).Draw(t, "which")
			h := s.held[k]
			s.held = slices.Delete(s.held, k, k+1)
			key, id := schedtest.Identity(100 + h.worker)
			r := task.Result{Task: h.lease.Task, Worker: id, Outcome: task.Completed, Wall: time.Second, CPU: time.Second}
			if err := r.Sign(key); err != nil {
				t.Fatal(err)
			}
			slots := 1
			if h := s.c.members.hosts[id]; h != nil {
				slots = h.slots
			}
			s.step(&message.Received{From: id, Message: &message.Message{Report: &message.Report{Slots: slots,
				Ended: []message.Ending{{Attempt: h.lease.Attempt, Result: r}}}}})
		},
		"time": func(t *rapid.T) {
			s.now = s.now.Add(time.Duration(rapid.IntRange(1, 8000).Draw(t, "ms")) * time.Millisecond)
			s.step(message.Wake{})
		},
	}
}

// report names what a worker was given and has not ended.
func (s *sharing) report(k, slots int) *message.Report {
	r := &message.Report{Slots: slots, Full: true, Born: 1}
	for _, h := range s.held {
		if h.worker == k {
			r.Held = append(r.Held, message.Held{Task: h.lease.Task, Attempt: h.lease.Attempt, Running: true})
		}
	}
	return r
}

// check looks at what must hold between two Steps.
func (s *sharing) check() {
	c := s.c
	held := map[*job]int{}
	at := map[string]int{}
	var all amounts
	for _, h := range c.members.roster.all() {
		for _, l := range h.leases {
			if l.is(leasing.Open) {
				held[l.job]++
				at[fmt.Sprint(l.job.claim.id, h.counted.site.name)]++
			}
		}
		if h.eligible() {
			all.slots, all.used, all.memory = all.slots+h.slots, all.used+min(h.load, h.slots), all.memory+h.memory
		}
	}
	if all != c.claims.fair.all {
		s.t.Fatalf("sums are %+v, want %+v", c.claims.fair.all, all)
	}
	var sites amounts
	for _, x := range c.claims.fair.sites {
		sites.change(amounts{}, x.sums)
	}
	if sites != all || len(c.claims.fair.order) != len(c.claims.fair.sites) {
		s.t.Fatalf("sums of sites are %+v, want %+v", sites, all)
	}
	for _, j := range c.table.jobs {
		if j.held != held[j] || (j.claim == nil) != (j.held == 0 && !j.queued) || j.queued != (j.place >= 0) ||
			j.given != 0 || j.now != 0 {
			s.t.Fatalf("a job holds %d, is thought to hold %d; queued: %v; its claimant: %v", held[j], j.held, j.queued, j.claim)
		}
	}
	has := map[task.PeerID]int{}
	for j, n := range held {
		has[j.submitter] += n
	}
	for j := range held { // a worker may go on with a lease that its submitter has no slot for any more
		if each := c.cfg.Rules.SlotsEach; each > 0 && s.given[j.id] && has[j.submitter] > each {
			s.t.Fatalf("a submitter was given a slot and has %d; the rules give it %d", has[j.submitter], each)
		}
	}
	for _, j := range c.table.jobs {
		if j.spec.Slots > 0 && j.held > j.spec.Slots {
			s.t.Fatalf("a job holds %d slots and takes at most %d", j.held, j.spec.Slots)
		}
	}
	for _, cl := range c.claims.fair.claimants {
		sum := 0
		for x, n := range cl.at {
			sum += n
			if n != at[fmt.Sprint(cl.id, x.name)] {
				s.t.Fatalf("%s is thought to hold %d at %q, and holds %d", cl.id, n, x.name, at[fmt.Sprint(cl.id, x.name)])
			}
		}
		if sum != cl.held || (cl.place >= 0) != (cl.jobs.len() > 0) {
			s.t.Fatalf("%s is thought to hold %d, by sites %d", cl.id, cl.held, sum)
		}
	}
	for k, cl := range c.claims.queue.items {
		if cl.place != k || k > 0 && c.claims.comesBefore(cl, c.claims.queue.items[(k-1)/2]) < 0 {
			s.t.Fatal("the queue is out of order")
		}
	}
	if !c.term.recovering && !c.claims.fair.terms.Guarded {
		s.noneIdle()
	}
}

// noneIdle looks for a slot that is idle though a task waits that fits it.
func (s *sharing) noneIdle() {
	for _, h := range s.c.members.idle.all() {
		for _, j := range s.c.table.jobs {
			o := s.c.members.offer(h, 0, false)
			_, paused := h.paused[j]
			if j.queued && j.room() > 0 && s.c.table.heldUp(j) == "" && !paused && o.Fits(&place.Task{Memory: j.spec.Memory}) {
				s.t.Fatalf("a slot is idle, and a task that fits it waits")
			}
		}
	}
}

// TestSharesHold: nobody has more placed than it was granted, no job holds more slots than it takes, no submitter more
// than the rules give it, no slot is idle that a waiting task fits, and what the coordinator counts is what there is.
func TestSharesHold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newSharing(t, rt)
		rt.Repeat(s.actions())
	})
}

// TestTurnsReachAll: each job has its turn at the one slot within four rounds, and none more than twice its part,
// also of
// many more than are shown to a policy at once, and where none is given tasks ahead.
func TestTurnsReachAll(t *testing.T) {
	for _, fairness := range share.Names() {
		for _, placement := range []string{"fcfs", "expected"} {
			for _, jobs := range []int{3, 5 * fewClaimants} {
				if slices.Contains([]string{"fcfs", "edf", "lttr", "sjf"}, fairness) {
					continue // by it they have not
				}
				c, h := crowdedCoordinator(t, jobs, 1)
				if err := c.Govern(Rules{Fairness: fairness, Placement: placement}); err != nil {
					t.Fatal(err)
				}
				served := map[*job]int{}
				for range 4 * jobs {
					served[h.leases[0].job]++
					c.Step(schedtest.Start, endOfFirst(t, h))
				}
				for _, j := range c.table.jobs {
					if n := served[j]; n < 1 || n > 8 {
						t.Errorf("%s, %s: of %d jobs one had its turn %d times in four rounds of all", fairness, placement, jobs, n)
					}
				}
			}
		}
	}
}
