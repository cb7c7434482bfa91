package overlay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"godwit/task"
)

// A leaseSim runs members' leases against each other: a queue of events in
// simulated time, with a network that delays and splits.
type leaseSim struct {
	now     time.Time
	random  *rand.Rand
	delay   time.Duration // the longest of a message
	queue   []simEvent
	nodes   map[task.PeerID]*simNode
	names   []task.PeerID
	log     strings.Builder
	leaders map[uint64]task.PeerID // who led in each epoch
	broken  []string               // what never may be
	terms   int                    // BecomeLeader seen
	numb    bool                   // members of a group notice no broken connection
}

type simEvent struct {
	at time.Time
	do func()
}

type simNode struct {
	lease   *Lease
	up      bool
	gone    bool // said goodbye and may go
	side    int  // of a split
	starved time.Time
	stored  uint64 // the last epoch that it led in, as its disk has it
	highest uint64 // ever known since it started
	inbox   []func(*Lease) []LeaseEffect
}

func newLeaseSim(seed uint64, delay time.Duration, members int) *leaseSim {
	s := &leaseSim{
		now: epoch, random: rand.New(rand.NewPCG(seed, 0)), delay: delay,
		nodes: map[task.PeerID]*simNode{}, leaders: map[uint64]task.PeerID{},
	}
	for i := range members {
		s.names = append(s.names, task.PeerID(rune('a'+i)))
	}
	for _, p := range s.names {
		s.nodes[p] = &simNode{}
		s.start(p)
	}
	s.after(time.Second, s.gossip)
	return s
}

// gossip is what members' views tell their leases: who is lost, and who claims
// to lead.
func (s *leaseSim) gossip() {
	s.after(2*time.Second, s.gossip)
	for _, p := range s.names {
		n := s.nodes[p]
		if !n.up || n.starved.After(s.now) {
			continue
		}
		chief, e := n.lease.Leader()
		inside := slices.Contains(n.lease.Group(), p)
		if c := s.nodes[chief]; c != nil && (!c.up || c.side != n.side) && !(s.numb && inside) {
			n.lease.Lost(chief, s.now)
		}
		if chief != p {
			continue
		}
		for _, to := range s.names {
			s.send(p, to, func(l *Lease) []LeaseEffect { return l.Claimed(p, Renewal{Epoch: e}, s.now) })
		}
	}
}

// start has a member begin, with nothing but what it stored.
func (s *leaseSim) start(p task.PeerID) {
	n := s.nodes[p]
	n.lease, n.up, n.gone, n.inbox, n.highest = NewLease(p, n.stored, s.now), true, false, nil, 0
	s.carry(p, n.lease.GroupChanged(s.names, s.now))
}

func (s *leaseSim) after(d time.Duration, do func()) {
	e := simEvent{s.now.Add(d), do}
	i, _ := slices.BinarySearchFunc(s.queue, e.at, func(q simEvent, at time.Time) int {
		if q.at.After(at) {
			return 1
		}
		return -1 // after those of the same time
	})
	s.queue = slices.Insert(s.queue, i, e)
}

// run lets d pass.
func (s *leaseSim) run(d time.Duration) {
	end := s.now.Add(d)
	for {
		at := end
		if len(s.queue) > 0 && s.queue[0].at.Before(at) {
			at = s.queue[0].at
		}
		var due task.PeerID
		for _, p := range s.names {
			if n := s.nodes[p]; n.up {
				wake := n.lease.Next()
				if n.starved.After(wake) {
					wake = n.starved
				}
				if wake.Before(at) {
					at, due = wake, p
				}
			}
		}
		if at.After(s.now) {
			s.now = at
		}
		switch {
		case due != "":
			s.wake(due)
		case !at.Before(end):
			return
		default:
			e := s.queue[0]
			s.queue = s.queue[1:]
			e.do()
		}
	}
}

// wake is a tick, after which a member that starved reads what came meanwhile.
func (s *leaseSim) wake(p task.PeerID) {
	n := s.nodes[p]
	s.carry(p, n.lease.Tick(s.now))
	inbox := n.inbox
	n.inbox = nil
	for _, m := range inbox {
		s.carry(p, m(n.lease))
	}
}

// send delivers a call to another member's lease, if the network lets it.
func (s *leaseSim) send(from, to task.PeerID, call func(*Lease) []LeaseEffect) {
	s.after(time.Duration(s.random.Int64N(int64(s.delay)+1)), func() {
		a, b := s.nodes[from], s.nodes[to]
		if b == nil || !b.up || a.side != b.side {
			return
		}
		if b.starved.After(s.now) {
			b.inbox = append(b.inbox, call)
			return
		}
		s.carry(to, call(b.lease))
	})
}

// carry does what a member's lease asks for, and checks what always holds.
func (s *leaseSim) carry(p task.PeerID, effects []LeaseEffect) {
	n := s.nodes[p]
	if _, e := n.lease.Leader(); e < n.highest {
		s.broken = append(s.broken, fmt.Sprintf("%s goes back from epoch %d to %d", p, n.highest, e))
	} else {
		n.highest = e
	}
	for _, e := range effects {
		s.write(p, e)
		switch e := e.(type) {
		case SendRenewal:
			for _, to := range e.To {
				s.send(p, to, func(l *Lease) []LeaseEffect {
					out := l.Heard(p, e.Renewal, s.now)
					s.send(to, p, func(l *Lease) []LeaseEffect { l.Acked(to, s.now); return nil })
					return out
				})
			}
		case SendHandOver:
			s.send(p, e.To, func(l *Lease) []LeaseEffect { return l.Handed(p, e.Renewal, s.now) })
		case Refuse:
			s.send(p, e.To, func(l *Lease) []LeaseEffect { return l.Refused(p, e.Leader, e.Epoch, s.now) })
		case BecomeLeader:
			s.took(p, e.Epoch)
		case StepDown:
			n.gone = n.gone || e.Reason != Outranked && n.lease.gone
		}
	}
}

func (s *leaseSim) took(p task.PeerID, epoch uint64) {
	n := s.nodes[p]
	s.terms++
	if other, ok := s.leaders[epoch]; ok {
		s.broken = append(s.broken, fmt.Sprintf("%s and %s led in epoch %d", p, other, epoch))
	}
	if epoch <= n.stored {
		s.broken = append(s.broken, fmt.Sprintf("%s led in epoch %d, then in %d", p, n.stored, epoch))
	}
	s.leaders[epoch], n.stored = p, epoch
}

func (s *leaseSim) write(p task.PeerID, e LeaseEffect) {
	var what string
	switch e := e.(type) {
	case SendRenewal:
		return
	case SendHandOver:
		what = fmt.Sprintf("offers %s term %d", e.To, Term(e.Epoch))
	case Refuse:
		what = fmt.Sprintf("refuses %s: %q leads in term %d", e.To, e.Leader, Term(e.Epoch))
	case BecomeLeader:
		what = fmt.Sprintf("leads %v in term %d", e.Group[1:], Term(e.Epoch))
	case StepDown:
		what = fmt.Sprintf("steps down for %q in term %d: %v", e.To, Term(e.Epoch), e.Reason)
	case Follow:
		what = fmt.Sprintf("follows %s in term %d", e.Leader, Term(e.Epoch))
	case Suspect:
		what = fmt.Sprintf("suspects %s", e.Peer)
	}
	fmt.Fprintf(&s.log, "%7.3f %s %s\n", s.now.Sub(epoch).Seconds(), p, what)
}

// leads returns who leads, of those that run.
func (s *leaseSim) leads() []task.PeerID {
	var out []task.PeerID
	for _, p := range s.names {
		if n := s.nodes[p]; n.up && n.lease.Leads() {
			out = append(out, p)
		}
	}
	return out
}

// agreed says whether all that run and stay follow one of them.
func (s *leaseSim) agreed() bool {
	leads := s.leads()
	if len(leads) != 1 {
		return false
	}
	_, epoch := s.nodes[leads[0]].lease.Leader()
	for _, p := range s.names {
		if n := s.nodes[p]; n.up {
			if chief, e := n.lease.Leader(); chief != leads[0] || e != epoch {
				return false
			}
		}
	}
	return true
}

// until runs until ok holds and returns how long that took, or most.
func (s *leaseSim) until(most time.Duration, ok func() bool) time.Duration {
	start := s.now
	for s.now.Sub(start) < most && !ok() {
		s.run(10 * time.Millisecond)
	}
	return s.now.Sub(start)
}
