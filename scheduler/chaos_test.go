package scheduler

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

var chaosSeeds = flag.Uint64("chaos.seeds", 100, "how many seeds TestChaos tries")

// TestChaos runs jobs while nodes crash and come back with nothing but their
// disks, owners come home, messages are lost and tasks fail. Whatever happens,
// every accepted job ends, with every result held once.
func TestChaos(t *testing.T) {
	for seed := range *chaosSeeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { chaos(t, seed) })
	}
}

func chaos(t *testing.T, seed uint64) {
	s := newSwarm(t, seed, 5)
	s.loss = []float64{0, 0.01, 0.1}[s.rng.IntN(3)]
	longest := []time.Duration{0, 100 * time.Millisecond, 4 * time.Second}[s.rng.IntN(3)]
	s.work = func(id task.TaskID) time.Duration {
		return longest * time.Duration(1+id.Index%4) / 4
	}
	s.outcome = chaoticOutcome(s)
	var ids []task.JobID
	var owners []*swarmNode
	for range 1 + s.rng.IntN(3) {
		n := s.nodes[s.rng.IntN(len(s.nodes))]
		owners = append(owners, n)
		ids = append(ids, n.submit(uint64(1+s.rng.IntN(60)), func(j *task.Job) {
			j.Replicas = 1 + s.rng.IntN(2)
			j.Retries = s.rng.IntN(3)
			if j.Priority = s.rng.IntN(3); seed%3 == 0 {
				schedtest.Seal(j)
			}
		}))
	}
	for range s.rng.IntN(8) {
		s.heap.Set(s.now.Add(time.Duration(s.rng.Int64N(int64(20*time.Second)))), func() { mishap(s) })
	}
	cancelled := map[task.JobID]bool{}
	if s.rng.IntN(4) == 0 { // an owner that thinks better of it
		n, id := owners[0], ids[0]
		cancelled[id] = true
		s.after(n, time.Duration(s.rng.Int64N(int64(10*time.Second))), func() {
			n.step(message.CancelJob{Job: id, Soon: seed%2 == 0})
		})
	}
	over := func() bool {
		s.checkInvariants()
		for i, n := range owners {
			if !n.up || !n.final(ids[i]) {
				return false
			}
		}
		return true
	}
	s.run(10*time.Minute, over)
	for i, n := range owners {
		st, _ := n.sub.Job(ids[i])
		if st.State == message.JobCancelled && cancelled[ids[i]] {
			continue
		}
		if st.Error != "" || st.Held != st.Tasks.Total || n.results(ids[i]) != st.Tasks.Total {
			t.Errorf("job ended as %+v", st)
		}
	}
}

// chaoticOutcome makes about one run in eight fail, by its own fault or its
// host's, and one in three leave an output that must be fetched. What the
// program writes depends on the task alone, as it does in a sandbox.
func chaoticOutcome(s *swarm) func(*swarmNode, task.TaskID) task.Result {
	fine := s.outcome
	return func(n *swarmNode, id task.TaskID) task.Result {
		switch s.rng.IntN(24) {
		case 0:
			return task.Result{Outcome: task.ExitFailure, ExitCode: 3, Message: "no luck"}
		case 1:
			return task.Result{Outcome: task.HostError, Message: "disk full"}
		case 2:
			return task.Result{Outcome: task.Interrupted}
		}
		r := fine(n, id)
		if id.Index%3 == 0 {
			big := fmt.Sprint("block of ", id.Index)
			r.Outputs[0] = task.Output{Name: "stdout", CID: task.RawCID([]byte(big)), Size: 1 << 20}
		}
		return r
	}
}

// mishap does something bad to a node, and makes it good later.
func mishap(s *swarm) {
	n := s.nodes[s.rng.IntN(len(s.nodes))]
	if !n.up {
		return
	}
	back := time.Duration(s.rng.Int64N(int64(15 * time.Second)))
	switch s.rng.IntN(3) {
	case 0: // its owner comes home
		n.step(message.OwnerState{State: overlay.UserPresent, Reason: "the owner is there"})
		s.after(n, back, func() { n.step(message.OwnerState{State: overlay.Available, Slots: n.slots}) })
	case 1: // it dies
		n.crash()
		s.heap.Set(s.now.Add(back), n.boot)
	case 2: // its connections break and come back
		for _, o := range s.nodes {
			if o != n && o.up {
				o.step(message.MemberLost{Peer: n.id, Reason: "timeout"})
				n.step(message.MemberLost{Peer: o.id, Reason: "timeout"})
			}
		}
		s.after(n, back, func() { s.meet(n) })
	}
}

// checkInvariants looks at the leader's books.
func (s *swarm) checkInvariants() {
	s.tb.Helper()
	leader := s.nodes[0]
	for _, n := range s.nodes {
		if _, epoch := n.worker.Leader(); n.up && leader.up && epoch > leader.coord.term.epoch {
			s.tb.Fatalf("worker %d obeyed epoch %d, the leader has %d", n.n, epoch, leader.coord.term.epoch)
		}
		running, queued, _ := n.worker.Load()
		if leases := n.worker.Leases(); n.up && (running < 0 || running+queued != leases) {
			s.tb.Fatalf("worker %d: %d run and %d wait of %d held", n.n, running, queued, leases)
		}
	}
	if !leader.up {
		return
	}
	c := leader.coord
	load, ahead := map[*host]int{}, map[*host]int{}
	for _, j := range c.table.jobs {
		waits := uint64(0)
		sum := j.summary()
		if sum.Total != sum.Waiting+sum.Running+sum.Done+sum.Failed || j.done+j.failed > j.total {
			s.tb.Fatalf("counters do not add up: %+v", sum)
		}
		if err := checkGrid(c, j); err != nil {
			s.tb.Fatal(err)
		}
		for i, t := range j.live {
			if len(t.leases) == 0 || len(t.leases) > j.spec.Replicas+1 {
				s.tb.Fatalf("task %d has %d leases, replicas %d", i, len(t.leases), j.spec.Replicas)
			}
			if j.ledger.Verdict(i) != ledger.Open {
				s.tb.Fatalf("task %d has ended and still has a lease: %+v %+v %+v", i, j.ledger.Rows[i].Log, j.ledger.Facts,
					t.leases[0])
			}
			begun := 0
			for _, l := range t.leases {
				if l.is(leasing.Open) {
					load[l.host]++
				}
				if l.begun {
					begun++
				} else {
					ahead[l.host]++
				}
			}
			if begun == 0 {
				waits++
			}
			if begun != t.begun {
				s.tb.Fatalf("task %d: %d of its leases have begun, counted are %d", i, begun, t.begun)
			}
		}
		if waits != j.ahead {
			s.tb.Fatalf("%d tasks wait at their members, counted are %d", waits, j.ahead)
		}
	}
	for _, h := range c.members.hosts {
		if h.ahead != ahead[h] || h.ahead > 0 && load[h]-h.ahead < h.slots {
			s.tb.Fatalf("host %s: %d of %d wait for one of its %d slots, counted are %d", h.peer, ahead[h], load[h], h.slots,
				h.ahead)
		}
		load[h] += len(h.coming)
		if h.load != load[h] || h.memoryUsed < 0 || h.recalls < 0 {
			s.tb.Fatalf("host %s: load %d, its leases say %d; memory %d, recalls %d", h.peer, h.load, load[h], h.memoryUsed,
				h.recalls)
		}
	}
}
