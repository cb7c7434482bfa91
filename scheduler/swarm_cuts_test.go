package scheduler

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/migrate"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// leaveOnce is a policy by which one member is to be left, from when it is told
// on, until nothing runs there.
type leaveOnce struct {
	from  task.PeerID
	every time.Duration
}

func (p *leaveOnce) Scan(_ time.Time, hosts []migrate.Host, _ migrate.Forecast, _ *rand.Rand) []migrate.Prediction {
	var out []migrate.Prediction
	for i := range hosts {
		if hosts[i].Peer == p.from && len(hosts[i].Tasks) > 0 {
			out = append(out, migrate.Prediction{Peer: p.from, Exit: true, Reason: "it is to be left"})
		}
	}
	return out
}

func (*leaveOnce) Left(task.PeerID, time.Time) {}
func (*leaveOnce) Period() time.Duration       { return time.Second }

// cutSteps are the steps of a hand-over at which something breaks: before the
// step's message leaves, or its side does what it says.
var cutSteps = []string{"offer", "order", "arrived", "ended", "open", "welcome", "round", "got", "freeze", "final",
	"thaw", "resumed", "retire"}

// cutSides are what breaks: a node, for good or until a while later, or the
// message alone.
var cutSides = []string{"source", "destination", "leader", "message"}

// cutCost is what a cut may cost: the work that ran in vain.
func cutCost(step, side string) time.Duration {
	const (
		all    = 8 * time.Second // from the beginning: what has run when it moves, and a little
		round  = simRound + time.Second
		little = 100 * time.Millisecond
	)
	switch side {
	case "source":
		switch step {
		case "offer", "order", "open", "welcome", "round":
			return all // nothing was saved anywhere
		case "got", "freeze":
			return round // the destination has the last complete round
		case "final":
			return round
		case "thaw", "resumed", "arrived", "retire", "ended":
			return little // the destination runs
		}
	case "destination":
		if step == "retire" || step == "ended" {
			return all // it ran there, and died with it
		}
	}
	return little
}

// Whatever breaks at whichever step of a hand-over, at no time do both attempts
// count, the job is done, every slot that was kept is free again, and no more work
// is lost than the step explains.
func TestHandOverIsCut(t *testing.T) {
	for _, step := range cutSteps {
		for _, side := range cutSides {
			t.Run(step+" "+side, func(t *testing.T) { cutHandOver(t, step, side) })
		}
	}
}

// A cut breaks one side of a hand-over the first time that it comes to a step.
type cut struct {
	step, side string
	done       bool
}

func cutHandOver(t *testing.T, step, side string) {
	cuts := []*cut{{step: step, side: side}}
	s := runCut(t, 4, 20*time.Millisecond, cuts)
	if !cuts[0].done {
		t.Fatal("nothing was cut: the hand-over has no such step here")
	}
	if lost, most := s.spent-s.work, cutCost(step, side); lost > most {
		t.Errorf("%v of work is lost, %v explains itself", lost, most)
	}
}

// runCut runs a job of one task, which is to leave its member some seconds after
// it began, under a leader that runs nothing, until it is done.
func runCut(t testing.TB, seed uint64, latency time.Duration, cuts []*cut) *groupSim {
	s := newGroupSim(t, seed, 5)
	s.exact, s.work, s.latency = true, 20*time.Second, latency
	s.run(15*time.Second, func() bool { return false }) // all know each other, and the group is in sync
	leader := s.leader()
	if leader == nil {
		t.Fatal("nobody leads")
	}
	owner := s.nodes[(leader.n+1)%5]
	for _, n := range []*simNode{leader, owner} { // they run nothing
		n.step(message.OwnerState{State: overlay.UserPresent, Reason: "somebody is there"})
	}
	policy := &leaveOnce{}
	s.mover, leader.coord.migration.mover = policy, policy
	id := owner.submit(1, nil)
	var source *simNode
	if !s.run(10*time.Second, func() bool { source = s.runner(); return source != nil }) {
		t.Fatal("nothing runs")
	}
	s.run(4*time.Second, func() bool { return false })
	policy.from = source.id
	s.cutAt(cuts)
	if !s.run(4*time.Minute, func() bool { s.oneHolder(id); return s.finalAtOwner(id) }) {
		t.Fatalf("the job has not ended: %s", s.describe())
	}
	if !s.run(time.Minute, func() bool { return s.leader() != nil && s.slotsFree() }) {
		t.Error("a slot that was kept is not free")
	}
	return s
}

// cutAt has hand-overs break.
func (s *groupSim) cutAt(cuts []*cut) {
	s.fault = func(step string, _ *simNode, _ task.TaskID) bool {
		for _, c := range cuts {
			if c.done || c.step != step {
				continue
			}
			source, destination := s.movers()
			if source == nil || destination == nil {
				continue
			}
			c.done = true
			s.breaks(c.side, source, destination)
			return c.side == "message"
		}
		return false
	}
}

// runner returns a node where a guest runs.
func (s *groupSim) runner() *simNode {
	for _, n := range s.nodes {
		if n.up && len(n.runs) > 0 {
			return n
		}
	}
	return nil
}

// movers returns who hands a task over, or has to, and to whom.
func (s *groupSim) movers() (source, destination *simNode) {
	for _, n := range s.nodes {
		if !n.up {
			continue
		}
		for _, to := range n.worker.HandsTo() {
			source, destination = n, s.byID[to]
		}
		if n.coord == nil {
			continue
		}
		for _, h := range n.coord.members.hosts {
			for _, l := range h.coming {
				return s.byID[l.host.peer], s.byID[h.peer]
			}
		}
	}
	return source, destination
}

// A rapidTB fails as rapid wants it, so that it finds a smaller failure.
type rapidTB struct {
	testing.TB
	rt *rapid.T
}

func (t rapidTB) Fatal(args ...any)                 { t.rt.Fatal(args...) }
func (t rapidTB) Fatalf(format string, args ...any) { t.rt.Fatalf(format, args...) }
func (t rapidTB) Error(args ...any)                 { t.rt.Error(args...) }
func (t rapidTB) Errorf(format string, args ...any) { t.rt.Errorf(format, args...) }

// Whatever breaks, and however often, in whichever order.
func TestHandOversBreakAnywhere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var cuts []*cut
		for range rapid.IntRange(1, 4).Draw(rt, "cuts") {
			cuts = append(cuts, &cut{step: rapid.SampledFrom(cutSteps).Draw(rt, "step"),
				side: rapid.SampledFrom(cutSides).Draw(rt, "side")})
		}
		latency := time.Duration(rapid.IntRange(1, 300).Draw(rt, "latency")) * time.Millisecond
		runCut(rapidTB{t, rt}, uint64(rapid.IntRange(0, 7).Draw(rt, "seed"))*4, latency, cuts)
	})
}

// faultyMessage asks whether a scheduler's message of a hand-over is to break.
func (s *groupSim) faultyMessage(n *simNode, m *message.Message) bool {
	step := ""
	switch {
	case m.Ack != nil && len(m.Ack.Moves) > 0:
		step = "order"
	case m.Place != nil && m.Place.Leases[0].Await != nil:
		step = "offer"
	case m.Report != nil && slices.ContainsFunc(m.Report.Held,
		func(h message.Held) bool { return h.Running && h.After != (message.Attempt{}) }):
		step = "arrived"
	case m.Report != nil && len(m.Report.Ended) > 0 && m.Report.Ended[0].Handed != nil:
		step = "ended"
	}
	return step != "" && s.fault(step, n, task.TaskID{})
}

// breaks ends a side, which comes back after a while.
func (s *groupSim) breaks(side string, source, destination *simNode) {
	var n *simNode
	switch side {
	case "source":
		n = source
	case "destination":
		n = destination
	case "leader":
		n = s.leader()
	}
	if n == nil || !n.up {
		return
	}
	n.crash()
	s.heap.Set(s.now.Add(15*time.Second), n.bootAgain)
}

// oneHolder fails where two attempts of a task of one replica count at a leader,
// beside one that was lost, came back and runs before another has begun.
func (s *groupSim) oneHolder(id task.JobID) {
	for _, n := range s.nodes {
		if !n.up || n.coord == nil || n.coord.table.jobs[id] == nil {
			continue
		}
		n.checkBooks()
		for i, t := range n.coord.table.jobs[id].live {
			if len(t.leases) > 1 {
				s.tb.Fatalf("%d leases of task %d count at node %d at %v: %s", len(t.leases), i, n.n, s.now.Sub(schedtest.Start),
					s.describe())
			}
		}
	}
}

// slotsFree says whether no leader has anything booked.
func (s *groupSim) slotsFree() bool {
	for _, n := range s.nodes {
		if !n.up || n.coord == nil {
			continue
		}
		for _, h := range n.coord.members.hosts {
			if h.load != 0 || h.memoryUsed != 0 || len(h.coming) != 0 || len(h.leases) != 0 {
				return false
			}
		}
	}
	return true
}
