package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/scheduler/durable"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// calm returns a simulation of nodes that agree on a leader, with followers in
// sync.
func calm(t *testing.T, seed uint64, nodes int) *groupSim {
	t.Helper()
	s := newGroupSim(t, seed, nodes)
	if !s.run(time.Minute, s.quiet) {
		t.Fatalf("no group comes to be: %s", s.describe())
	}
	return s
}

// TestAcceptedOutlivesTwo: once a job is accepted, its submitter and its leader
// may both go for good: the second coordinator has all it needs.
func TestAcceptedOutlivesTwo(t *testing.T) {
	s := calm(t, 1, 5)
	owner, leader := s.nodes[4], s.leader()
	id := owner.submit(4, func(j *task.Job) { j.Work = time.Second })
	if !s.run(time.Minute, func() bool { return owner.sub.Accepted(id) }) {
		t.Fatal("not accepted")
	}
	owner.crash()
	leader.crash()
	died := s.now
	over := func() bool {
		l := s.leader()
		return l != nil && l.coord.table.jobs[id] != nil && l.coord.table.jobs[id].done == 4
	}
	if !s.run(time.Minute, over) {
		t.Fatalf("the job was not run without them: %s", s.describe())
	}
	t.Logf("all done %v after both died", s.now.Sub(died))
	owner.boot()
	if !s.run(time.Minute, func() bool { return owner.final(id) }) {
		t.Fatalf("its results do not arrive: %s", s.describe())
	}
	s.checkResult(owner, task.TaskID{Job: id, Index: 1})
}

// final says whether the node holds all of a job that it submitted.
func (n *simNode) final(id task.JobID) bool { j, ok := n.sub.Job(id); return ok && j.Final }

// TestTakeOverStartsNothingTwice: leases that followers were told of are taken
// over, and what runs is not started again.
func TestTakeOverStartsNothingTwice(t *testing.T) {
	s := calm(t, 2, 5)
	s.work = 20 * time.Second
	owner, leader := s.nodes[4], s.leader()
	id := owner.submit(4, nil)
	running := func() (n int) {
		for _, o := range s.nodes {
			if o != leader {
				n += len(o.runs)
			}
		}
		return n
	}
	if !s.run(time.Minute, func() bool {
		told, changed := leader.coord.replicas.Leases()
		return running() >= 2 && changed == 0 && told == 4 && s.quiet()
	}) {
		t.Fatalf("nothing runs: %s", s.describe())
	}
	leader.crash()
	died := s.now
	if !s.run(time.Minute, func() bool {
		l := s.leader()
		return l != nil && !l.coord.term.recovering &&
			l.coord.term.begun
	}) {
		t.Fatalf("nobody takes over: %s", s.describe())
	}
	t.Logf("a new leader places %v after the crash", s.now.Sub(died))
	for _, task := range message.SortedTasks(runsOf(s)) {
		if n := runsOf(s)[task]; n > 1 {
			t.Errorf("%v runs %d times", task, n)
		}
	}
	if !s.run(3*time.Minute, func() bool { return owner.final(id) }) {
		t.Fatalf("the job does not end: %s", s.describe())
	}
}

// runsOf counts the runs of each task under way.
func runsOf(s *groupSim) map[task.TaskID]int {
	runs := map[task.TaskID]int{}
	for _, n := range s.nodes {
		for name := range n.runs {
			if n.up {
				runs[name.Task]++
			}
		}
	}
	return runs
}

// TestForgetsOutsideTheGroup: a replica that is in no group tells the leader what
// it knows, and then forgets it.
func TestForgetsOutsideTheGroup(t *testing.T) {
	s := calm(t, 3, 4)
	var out *simNode
	for _, n := range s.nodes {
		if !slices.Contains(s.leader().lease.Group(), n.id) {
			out = n
		}
	}
	// It led alone once, and has a job that nobody else knows.
	key, submitter := schedtest.Identity(99)
	rec := schedtest.Job(t, key, 3, nil)
	job, err := out.replica.ledger.Add(rec)
	if err != nil || job.Submitter != submitter {
		t.Fatal(err)
	}
	for _, cid := range durable.JobBlocks(rec.ID(), job.Spec) {
		out.blocks[cid] = true
	}
	pairs, err := out.replica.ledger.Pairs()
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range pairs {
		out.disk[coordinatorPrefix+k] = v
	}
	s.byID[submitter] = s.nodes[0] // nobody of that name is there; it is answered by none
	out.crash()
	out.boot()
	told := func() bool {
		l := s.leader()
		return l != nil && l.coord.table.jobs[rec.ID()] != nil && len(out.replica.ledger.Jobs) == 0 && s.quiet()
	}
	if !s.run(time.Minute, told) {
		t.Fatalf("the copy is not given up: %s", s.describe())
	}
	for k := range out.disk {
		if k != epochKey {
			t.Errorf("%s is still on its disk", k)
		}
	}
	l := s.leader()
	if !l.blocks[task.CID(rec.ID())] {
		t.Error("the leader did not fetch the job's record")
	}
	for _, p := range l.coord.replicas.Group() {
		if s.byID[p].replica.Digest() != l.coord.Digest() {
			t.Error("a follower was not told of the job")
		}
	}
}

// TestReplicaIgnores: what is not of its leader, epoch or session moves nothing.
func TestReplicaIgnores(t *testing.T) {
	key, self := schedtest.Identity(0)
	_, leader := schedtest.Identity(1)
	_, other := schedtest.Identity(2)
	rec := schedtest.Job(t, key, 3, nil)
	pairs := []message.Pair{{Key: ledger.JobKey(rec.ID()), Value: rec.Encode()}}
	r := NewReplica(self, Default())
	r.Step(schedtest.Start, message.LeaderChanged{Leader: leader, Epoch: 5})
	id := r.session.id
	r.Step(schedtest.Start, &message.Received{From: leader,
		Message: &message.Message{Wanted: &message.Wanted{Epoch: 5, Session: id, Seq: 1}}})
	r.Step(schedtest.Start, &message.Received{From: leader,
		Message: &message.Message{Wanted: &message.Wanted{Epoch: 5, Session: id, Seq: r.session.told, Done: true,
			Follow: true}}})
	if !r.Synced() {
		t.Fatal("no session came to be")
	}
	for name, c := range map[string]struct {
		from task.PeerID
		copy message.Copy
	}{
		"a stranger":      {other, message.Copy{Epoch: 5, Session: id, Seq: 1, Pairs: pairs}},
		"a lower epoch":   {leader, message.Copy{Epoch: 4, Session: id, Seq: 1, Pairs: pairs}},
		"a higher epoch":  {leader, message.Copy{Epoch: 6, Session: id, Seq: 1, Pairs: pairs}},
		"another session": {leader, message.Copy{Epoch: 5, Session: id + 1, Seq: 1, Pairs: pairs}},
		"a gap":           {leader, message.Copy{Epoch: 5, Session: id, Seq: 2, Pairs: pairs}},
	} {
		effects := r.Step(schedtest.Start, &message.Received{From: c.from, Message: &message.Message{Copy: &c.copy}})
		if len(r.ledger.Jobs) > 0 {
			t.Fatalf("took a copy from %s", name)
		}
		if gap := name == "a gap"; (len(effects) == 1) != gap || gap && !effects[0].(message.Send).Message.Copied.Gap {
			t.Errorf("%s is answered with %+v", name, effects)
		}
	}
	good := &message.Received{From: leader, Message: &message.Message{Copy: &message.Copy{Epoch: 5, Session: id, Seq: 1,
		Pairs: pairs}}}
	effects := r.Step(schedtest.Start, good)
	if _, first := effects[0].(message.Persist); !first || len(r.ledger.Jobs) != 1 {
		t.Errorf("a good copy is answered with %+v", effects)
	}
	if effects = r.Step(schedtest.Start, good); len(effects) != 1 || effects[0].(message.Send).Message.Copied.Seq != 1 {
		t.Errorf("the same once more is answered with %+v", effects)
	}
	if r.Step(schedtest.Start, message.LeaderChanged{Leader: other, Epoch: 4}); r.leader != leader {
		t.Error("follows a lower epoch")
	}
}

// TestVoided: outputs that nobody has any more are made anew.
func TestVoided(t *testing.T) {
	s := calm(t, 4, 5)
	owner := s.nodes[4]
	id := owner.submit(4, nil)
	done := func() bool {
		l := s.leader()
		return l != nil && l.coord.table.jobs[id] != nil && l.coord.table.jobs[id].done > 0 &&
			l.coord.table.jobs[id].ledger.Verdict(1) == ledger.Done
	}
	if !s.run(time.Minute, done) {
		t.Fatalf("nothing is done: %s", s.describe())
	}
	gone := outputOf(task.TaskID{Job: id, Index: 1}).CID
	for _, n := range s.nodes {
		delete(n.blocks, gone)
	}
	if !s.run(5*time.Minute, func() bool { return owner.final(id) }) {
		t.Fatalf("the job does not end: %s", s.describe())
	}
	s.checkResult(owner, task.TaskID{Job: id, Index: 1})
}

// TestHeldUp: a job whose submitter fetches nothing gets no more placements, and
// why says so.
func TestHeldUp(t *testing.T) {
	s := newGroupSim(t, 5, 3)
	s.cfg.MaxUndelivered = 1000
	for _, n := range s.nodes {
		n.crash()
	}
	for _, n := range s.nodes {
		n.boot()
	}
	s.nodes[0].carryLease(s.nodes[0].lease.Found(s.now))
	s.run(time.Minute, s.quiet)
	owner := s.nodes[2]
	if s.leader() == owner {
		owner = s.nodes[1]
	}
	id := owner.submit(40, nil)
	s.run(time.Minute, func() bool { return owner.sub.Accepted(id) })
	owner.crash()
	s.run(30*time.Second, func() bool { return false })
	j := s.leader().coord.table.jobs[id]
	if j.done == 0 || j.done > 20 || len(j.live) > 0 {
		t.Errorf("%d of 40 are done, %d run", j.done, len(j.live))
	}
	why := fmt.Sprint(s.leader().coord.Why(id, 39))
	if want := "its submitter has not fetched"; !strings.Contains(why, want) {
		t.Errorf("why says %s", why)
	}
	owner.boot()
	if !s.run(2*time.Minute, func() bool { return owner.final(id) }) {
		t.Errorf("it does not go on: %s", s.describe())
	}
}

// TestLeadsWhereItLed: a leader that lost its disk and heard of nobody leads in
// the same epoch again; the first attempt that it never gave tells it.
func TestLeadsWhereItLed(t *testing.T) {
	_, self := schedtest.Identity(0)
	key, worker := schedtest.Identity(3)
	rec := schedtest.Job(t, key, 3, nil)
	name := task.TaskID{Job: rec.ID()}
	a := message.Attempt{Epoch: 7, Seq: 4}
	r := task.Result{Task: name, Outcome: task.Completed}
	if err := r.Sign(key); err != nil {
		t.Fatal(err)
	}
	row := &ledger.Row{Log: []message.AttemptLog{{Attempt: a, Worker: worker, Start: task.At(schedtest.Start)}}}
	for what, m := range map[string]message.Message{
		"held":  {Report: &message.Report{Epoch: 7, Held: []message.Held{{Task: name, Attempt: a}}}},
		"ended": {Report: &message.Report{Epoch: 7, Ended: []message.Ending{{Attempt: a, Result: r}}}},
		"noted": {Known: &message.Known{Epoch: 7, Session: 1, Seq: 1, Pairs: []message.Pair{
			{Key: ledger.JobKey(rec.ID()), Value: rec.Encode()}, {Key: ledger.RowKey(name), Value: schedtest.Encoded(t, row)},
		}}},
	} {
		for _, epoch := range []uint64{7, 8} {
			c := NewCoordinator(self, Default(), epoch)
			m := m
			if k := m.Known; k != nil {
				known := *k
				known.Epoch = epoch
				m.Known = &known
			}
			told := uint64(0)
			for _, e := range c.Step(schedtest.Start, &message.Received{From: worker, Message: &m}) {
				if e, ok := e.(message.Outrun); ok {
					told = e.Epoch
				}
			}
			if again := epoch == a.Epoch; again != (told > epoch) {
				t.Errorf("%s in epoch %d: told to outrun %d", what, epoch, told)
			}
		}
	}
}

// TestHoldsTheNewest: what a name stands for changes while the former blocks are
// being fetched. The new ones are fetched as well, and only they are told of.
func TestHoldsTheNewest(t *testing.T) {
	key, self := schedtest.Identity(0)
	_, leader := schedtest.Identity(1)
	rec := schedtest.Job(t, key, 3, nil)
	r := NewReplica(self, Default())
	r.Step(schedtest.Start, message.LeaderChanged{Leader: leader, Epoch: 5})
	id := r.session.id
	r.Step(schedtest.Start, &message.Received{From: leader,
		Message: &message.Message{Wanted: &message.Wanted{Epoch: 5, Session: id, Seq: 1}}})
	r.Step(schedtest.Start, &message.Received{From: leader,
		Message: &message.Message{Wanted: &message.Wanted{Epoch: 5, Session: id, Seq: r.session.told, Done: true,
			Follow: true}}})
	name := message.HoldName{Task: task.TaskID{Job: rec.ID(), Index: 1}, Kind: message.HoldState}
	var fetches []message.Fetch
	var held []message.HeldBlocks
	step := func(ev message.Event) {
		for _, e := range r.Step(schedtest.Start, ev) {
			switch e := e.(type) {
			case message.Fetch:
				fetches = append(fetches, e)
			case message.Send:
				held = append(held, e.Message.Copied.Held...)
			}
		}
	}
	for seq, what := range []string{"old", "newer", "newest"} {
		c := &message.Copy{Epoch: 5, Session: id, Seq: uint64(seq + 1),
			Hold: []message.Hold{{Name: name, CIDs: []task.CID{task.RawCID([]byte(what))}, Holders: []task.PeerID{leader}}}}
		if seq == 0 {
			c.Pairs = []message.Pair{{Key: ledger.JobKey(rec.ID()), Value: rec.Encode()}}
		}
		step(&message.Received{From: leader, Message: &message.Message{Copy: c}})
	}
	if len(fetches) != 1 || len(held) != 0 {
		t.Fatalf("at first %d fetches and %d answers", len(fetches), len(held))
	}
	step(message.Fetched{Key: fetches[0].Key, Err: "its holder is gone"})
	if len(fetches) != 2 || fetches[1].CIDs[0] != task.RawCID([]byte("newest")) || len(held) != 0 {
		t.Fatalf("then fetches are %+v, answers %+v", fetches, held)
	}
	step(message.Fetched{Key: fetches[1].Key})
	if len(fetches) != 2 || len(held) != 1 || held[0].Name != name || held[0].Err != "" {
		t.Errorf("in the end fetches are %+v, answers %+v", fetches, held)
	}
}
