package scheduler

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/task"
)

var swarmSeeds = flag.Uint64("swarm.seeds", usualSeeds,
	"how many seeds TestSwarmChaos tries; GODWIT_SEEDS overrides it")

// TestSwarmChaos runs jobs under a group of coordinators while nodes crash and
// come back, the network loses messages, splits and heals, and connections
// break, and disks are lost. Whatever happens, every job ends at its submitter with the right
// result of each task held once, nobody obeys a lower epoch than it has seen,
// and when it is quiet the leader's ledger and its followers' are the same.
// scripts/test tries 10,000 seeds, about a minute of one core.
//
//	GODWIT_SEEDS=10000 go test ./scheduler -run TestSwarmChaos
//	GODWIT_SEED=17 go test ./scheduler -run TestSwarmChaos -v
func TestSwarmChaos(t *testing.T) {
	if text := os.Getenv("GODWIT_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		swarmChaos(t, seed, false)
		return
	}
	seeds := seedsAsked(t, *swarmSeeds)
	for seed := range seeds {
		if ok := t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { swarmChaos(t, seed, false) }); !ok {
			t.Fatalf("to repeat it: GODWIT_SEED=%d go test ./scheduler -run TestSwarmChaos -v", seed)
		}
	}
}

// seedsAsked is how many seeds the environment asks for, else the usual.
func seedsAsked(t *testing.T, usual uint64) uint64 {
	text := os.Getenv("GODWIT_SEEDS")
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func swarmChaos(t *testing.T, seed uint64, restless bool) *groupSim {
	return swarmChaosOf(t, seed, 4+int(seed%2), restless, nil)
}

// swarmChaosOf is swarmChaos with so many nodes, and of a simulation that was changed before it begins.
func swarmChaosOf(t *testing.T, seed uint64, nodes int, restless bool, change func(*groupSim)) *groupSim {
	s := newGroupSim(t, seed, nodes)
	if change != nil {
		change(s)
	}
	s.wire, s.restless = seed%16 == 0, restless
	if c := s.nodes[0].coord; restless && c != nil {
		c.migration.mover = anywhere
	}
	s.loss = []float64{0, 0.01, 0.05}[s.rng.IntN(3)]
	s.work = []time.Duration{time.Millisecond, 300 * time.Millisecond, 3 * time.Second}[s.rng.IntN(3)]
	var ids []task.JobID
	var owners []*simNode
	for range 1 + s.rng.IntN(2) {
		n := s.nodes[s.rng.IntN(len(s.nodes))]
		owners = append(owners, n)
		at := time.Duration(s.rng.Int64N(int64(4 * time.Second)))
		s.heap.Set(s.now.Add(at), func() {
			if !n.up {
				n.boot()
			}
			ids = append(ids, n.submit(uint64(1+s.rng.IntN(6)), func(j *task.Job) {
				if j.Replicas = cmp.Or(s.lies.replicas, 1+s.rng.IntN(2)); seed%3 == 0 {
					schedtest.Seal(j)
				}
			}))
		})
	}
	if restless || change != nil { // longer, so that there is something to move
		s.work = 3 * max(s.work, time.Second)
	}
	for range 1 + s.rng.IntN(4) {
		s.heap.Set(s.now.Add(time.Duration(s.rng.Int64N(int64(8*time.Second)))), s.mishap)
	}
	done := func() bool {
		if len(ids) < len(owners) {
			return false
		}
		for _, id := range ids {
			if !s.finalAtOwner(id) {
				return false
			}
		}
		return true
	}
	if !s.run(4*time.Minute, done) {
		t.Fatalf("after %v a job has not ended: %s", s.now.Sub(schedtest.Start), s.describe())
	}
	s.loss = 0
	if !s.run(time.Minute, func() bool { return s.events%16 == 0 && s.quiet() }) {
		t.Fatalf("it does not become quiet: %s", s.describe())
	}
	s.checkEnd(ids)
	if testing.Verbose() && os.Getenv("GODWIT_SEED") != "" {
		t.Logf("%v, %d events, %d leaders, %d moves\n%s", s.now.Sub(schedtest.Start), s.events, s.takes, s.moved,
			s.describe())
	}
	return s
}

// TestSwarmRepeats: the same seed gives the same story, effect by effect.
func TestSwarmRepeats(t *testing.T) {
	for seed := range uint64(5) {
		a, b := newGroupSim(t, seed, 5), newGroupSim(t, seed, 5)
		for _, s := range []*groupSim{a, b} {
			s.story = sha256.New()
			s.loss = 0.05
			for k := range 3 {
				s.heap.Set(s.now.Add(time.Duration(k)*3*time.Second), s.mishap)
			}
			s.nodes[seed%5].submit(6, func(j *task.Job) { j.Replicas = 2 })
			s.run(30*time.Second, func() bool { return false })
		}
		if a.events != b.events || !bytes.Equal(a.story.Sum(nil), b.story.Sum(nil)) {
			t.Errorf("seed %d tells two stories, of %d and of %d events", seed, a.events, b.events)
		}
	}
}

func (s *groupSim) finalAtOwner(id task.JobID) bool {
	for _, n := range s.nodes {
		if j, ok := n.sub.Job(id); ok {
			return n.up && j.Final
		}
	}
	return false
}

// mishap does something bad, and makes it good later.
func (s *groupSim) mishap() {
	n := s.nodes[s.rng.IntN(len(s.nodes))]
	if l := s.leader(); l != nil && s.rng.IntN(2) == 0 {
		n = l
	}
	back := s.now.Add(time.Duration(s.rng.Int64N(int64(12 * time.Second))))
	switch kind := s.rng.IntN(6); kind {
	case 0, 1, 5: // it dies, and may lose its disk
		if n.up {
			n.crash()
			if kind == 5 {
				n.wipe()
			}
			s.heap.Set(back, n.bootAgain)
		}
	case 2: // all coordinators die
		for _, o := range s.nodes {
			if o.up && s.rng.IntN(4) > 0 {
				o.crash()
				s.heap.Set(back, o.bootAgain)
			}
		}
	case 3: // the network splits
		for _, o := range s.nodes {
			o.side = s.rng.IntN(2)
		}
		s.heap.Set(back, func() {
			for _, o := range s.nodes {
				o.side = 0
			}
		})
	case 4: // its connections break: what is on its way is lost
		for _, o := range s.nodes {
			if o != n && o.up && n.up {
				o.lost(n)
				n.lost(o)
			}
		}
		side := n.side
		n.side = 99
		s.heap.Set(s.now.Add(s.latency), func() {
			if n.side == 99 {
				n.side = side
			}
		})
	}
}

func (n *simNode) bootAgain() {
	if !n.up {
		n.boot()
	}
}

// checkEnd looks at what the submitters hold, and at the ledgers.
func (s *groupSim) checkEnd(ids []task.JobID) {
	for _, id := range ids {
		for _, n := range s.nodes {
			j, ok := n.sub.Job(id)
			if !ok {
				continue
			}
			if held := n.sub.Held(id); held.Count() != j.Tasks.Total || j.Tasks.Failed > 0 {
				s.tb.Errorf("node %d holds %v of %d tasks, %d failed", n.n, held, j.Tasks.Total, j.Tasks.Failed)
			}
			for i := range j.Tasks.Total {
				s.checkResult(n, task.TaskID{Job: id, Index: i})
			}
		}
	}
	l := s.leader()
	want := l.coord.Digest()
	for _, p := range l.coord.replicas.Group() {
		if got := s.byID[p].replica.Digest(); got != want {
			s.tb.Errorf("follower %d and leader %d know different things: %s", s.byID[p].n, l.n, s.describe())
		}
	}
}

func (s *groupSim) checkResult(n *simNode, id task.TaskID) {
	var t message.TaskSummary
	if err := task.Decode(n.disk[durable.TaskKey(submitter.ResultsPrefix, id)], &t); err != nil {
		s.tb.Fatal(err)
	}
	if len(t.Results) == 0 || t.Results[0].Outputs[0].CID != outputOf(id).CID {
		s.tb.Errorf("the result of %v is wrong: %+v", id, t)
	}
	if o := outputOf(id); len(o.Inline) == 0 && !n.blocks[o.CID] {
		s.tb.Errorf("the output of %v is not held", id)
	}
}

func (s *groupSim) describe() string {
	out := fmt.Sprint("at ", s.now.Sub(schedtest.Start))
	for _, n := range s.nodes {
		chief, e := n.lease.Leader()
		out += fmt.Sprintf("\nnode %d %s up=%v side=%d follows %s in %d, group %d, view %d", n.n, n.id[len(n.id)-4:], n.up,
			n.side, chief[max(0, len(chief)-4):], e, len(n.lease.Group()), len(n.view))
		r, q, u := n.worker.Load()
		out += fmt.Sprintf("; runs %d, %d wait, %d unacked", r, q, u)
		for _, j := range n.sub.Jobs() {
			out += fmt.Sprintf("\n  owns %s %s final=%v held=%d %+v", j.ID[len(j.ID)-4:], j.State, j.Final, j.Held, j.Tasks)
		}
		if n.coord != nil {
			promises, orders := n.coord.replicas.Waiting()
			out += fmt.Sprintf("\n  leads: %d promises, %d orders, followers %+v, recovering %v", promises, orders,
				n.coord.Followers(), n.coord.term.recovering)
			for _, j := range n.coord.Jobs() {
				out += fmt.Sprintf("\n    %s %s %+v ready %v sent %v why %+v", j.ID[len(j.ID)-4:], j.State, j.Tasks,
					n.coord.table.jobs[j.ID].ready, n.coord.table.jobs[j.ID].sent, n.coord.Why(j.ID, 0))
			}
		} else {
			out += fmt.Sprintf("\n  replica: state %d, told %d, taken %d, %d jobs", n.replica.session.state,
				n.replica.session.told, n.replica.session.taken, len(n.replica.ledger.Jobs))
		}
	}
	return out
}

// quiet says whether the group has one leader, and its followers all it knows.
func (s *groupSim) quiet() bool {
	l := s.leader()
	if l == nil {
		return false
	}
	if promises, _ := l.coord.replicas.Waiting(); promises > 0 {
		return false
	}
	for _, f := range l.coord.Followers() {
		if !f.InSync || f.Behind > 0 {
			return false
		}
	}
	return len(l.coord.replicas.Group()) == groupSize-1
}
