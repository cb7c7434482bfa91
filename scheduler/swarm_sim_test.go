package scheduler

import (
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/migrate"
	"godwit/overlay"
	"godwit/scheduler/durable"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/scheduler/timer"
	"godwit/scheduler/worker"
	"godwit/task"
)

// An order of coordinators nobody appoints: a groupSim runs whole nodes, each
// with its lease, its coordinator or replica, worker and submitter, on a network
// that delays, loses, splits and breaks, on machines that crash and come back
// with what was durable.
type groupSim struct {
	tb    testing.TB
	rng   *rand.Rand
	cfg   Config
	now   time.Time
	heap  timer.Queue[func()]
	nodes []*simNode
	byID  map[task.PeerID]*simNode

	wire    bool // messages travel as frames
	loss    float64
	latency time.Duration
	work    time.Duration
	events  int
	story   hash.Hash              // of every effect; nil for none
	epochs  map[uint64]task.PeerID // who led in each
	takes   int                    // how often somebody took over

	lies     lying
	fails    func(index uint64) bool // tasks that fail by their own fault; nil for none
	restless bool                    // tasks move at random
	moved    int                     // times that a leader handed one over

	mover    migrate.Policy // of all leaders; nil for none
	exact    bool           // every run takes work and completes
	spent    time.Duration  // that guests ran, all together
	began    map[task.TaskID]bool
	checked  *checkedStages // nil for none
	arrivals int            // guests that ran on where they were handed over to
	// fault, if not nil, is asked before each step of a hand-over and at each node:
	// it may break something, and says whether what is sent is lost.
	fault func(step string, n *simNode, id task.TaskID) bool
}

// groupSize is how many coordinators the simulation's overlay wants.
const groupSize = 3

type simNode struct {
	s    *groupSim
	n    int
	key  ed25519.PrivateKey
	id   task.PeerID
	up   bool
	life int // counts restarts
	side int // of a split

	disk   map[string][]byte
	blocks map[task.CID]bool // durable
	held   map[string]bool   // results ever delivered here

	lease   *overlay.Lease
	coord   *Coordinator // nil while it does not lead
	replica *Replica     // nil while it does
	worker  *worker.Worker
	sub     *submitter.Submitter
	group   []task.PeerID // as the coordinator was told
	view    []task.PeerID // as the lease was told
	runs    map[message.AttemptName]*simRun
	giving  map[message.AttemptName]*simGive // of runs
	taking  map[message.AttemptName]*simTake
	lastTo  map[task.PeerID]time.Time
	wakeAt  time.Time
	sawWork uint64 // highest epoch the worker obeyed
	sawRole uint64 // highest the replica did
	wiped   bool   // it lost its disk: it may lead again where it led
}

// groupKeys and groupIDs are the nodes of every simulation: making them takes
// longer than some of what they do.
var groupKeys, groupIDs = func() (keys []ed25519.PrivateKey, ids []task.PeerID) {
	for i := range 8 {
		key, id := schedtest.Identity(i)
		keys, ids = append(keys, key), append(ids, id)
	}
	return keys, ids
}()

func newGroupSim(tb testing.TB, seed uint64, nodes int) *groupSim {
	s := &groupSim{
		tb: tb, rng: rand.New(rand.NewPCG(seed, 7)), cfg: Default(), now: schedtest.Start, byID: map[task.PeerID]*simNode{},
		latency: 20 * time.Millisecond, work: time.Second, epochs: map[uint64]task.PeerID{},
		began: map[task.TaskID]bool{},
	}
	s.cfg.Worker.HandOver = seed%4 != 3
	s.cfg.Signed, s.cfg.Submitter.Signs = seed%8 < 6, seed%8 < 6 // else all is believed as told
	s.cfg.Rules.Fairness = []string{"", "equal:per=owner,shrink=arrival", "sep:shrink=arrival", "drf:guard=gate,load=90",
		"gep"}[seed%5]
	for i := range nodes {
		key, id := groupKeys[i], groupIDs[i]
		n := &simNode{s: s, n: i, key: key, id: id, disk: map[string][]byte{}, blocks: map[task.CID]bool{},
			held: map[string]bool{}}
		s.nodes = append(s.nodes, n)
		s.byID[id] = n
	}
	for _, n := range s.nodes {
		n.boot()
	}
	s.nodes[0].carryLease(s.nodes[0].lease.Found(s.now))
	s.heap.Set(s.now.Add(time.Second), s.gossip)
	return s
}

// boot starts a node from its disk alone.
func (n *simNode) boot() {
	n.up, n.wakeAt = true, time.Time{}
	n.life++
	n.runs, n.lastTo = map[message.AttemptName]*simRun{}, map[task.PeerID]time.Time{}
	n.giving, n.taking = map[message.AttemptName]*simGive{}, map[message.AttemptName]*simTake{}
	n.group, n.view, n.sawWork = nil, nil, 0
	cfg := n.s.cfg
	n.worker, n.sub = worker.New(n.id, cfg.Timing, cfg.Worker), submitter.New(n.id, cfg.Timing, cfg.Submitter, n.key)
	n.worker.SignWith(signsTogether(n.key))
	n.coord, n.replica = nil, NewReplica(n.id, cfg)
	effects, err := n.replica.Restore(n.disk)
	if err == nil {
		err = errors.Join(n.worker.Restore(n.disk), n.sub.Restore(schedtest.ScanOf(n.disk)))
	}
	if err != nil {
		n.s.tb.Fatal(err)
	}
	n.carry(n.replica, effects)
	n.lease = overlay.NewLease(n.id, n.replica.Epoch(), n.s.now)
	n.step(message.OwnerState{State: overlay.Available, Slots: 2})
	n.look()
	n.tick()
}

func (n *simNode) crash() {
	for _, run := range n.runs {
		run.settle(n.s)
	}
	n.up = false
	n.life++
	for _, o := range n.s.nodes {
		if o.up && o.side == n.side {
			n.s.after(o, n.s.delay(), func() { o.lost(n) })
		}
	}
}

// wipe takes a dead node's disk away. A submitter is left its own: what it alone
// knows nobody can promise.
func (n *simNode) wipe() {
	if len(n.sub.Jobs()) > 0 {
		return
	}
	n.disk, n.blocks, n.sawRole, n.wiped = map[string][]byte{}, map[task.CID]bool{}, 0, true
}

// lost tells a node that its connection to another broke.
func (n *simNode) lost(o *simNode) {
	n.step(message.MemberLost{Peer: o.id, Reason: "connection reset"})
	n.breakStreams(o)
}

func (s *groupSim) sees(a, b *simNode) bool { return a.up && b.up && a.side == b.side }

// gossip is what members' views tell them, in time.
func (s *groupSim) gossip() {
	s.heap.Set(s.now.Add(time.Second), s.gossip)
	for _, n := range s.nodes {
		if n.up {
			n.look()
			n.collect()
			n.checkBooks()
		}
	}
}

// look takes in who is there, who is not, and who claims to lead.
func (n *simNode) look() {
	var group []task.PeerID
	for _, p := range n.lease.Group() {
		if n.s.sees(n, n.s.byID[p]) {
			group = append(group, p)
		}
	}
	for _, o := range n.s.nodes {
		if !n.s.sees(n, o) {
			n.lease.Lost(o.id, n.s.now)
			continue
		}
		if len(group) < groupSize && !slices.Contains(group, o.id) {
			group = append(group, o.id)
		}
		n.readsOf(o)
		if n.coord != nil {
			n.stepOne(n.coord, message.MemberSeen{Advert: overlay.Advert{Peer: o.id, Slots: 2, Memory: 1 << 30, Speed: 1}})
		}
	}
	if n.lease.Leads() {
		group = append([]task.PeerID{n.id}, slices.DeleteFunc(group, func(p task.PeerID) bool { return p == n.id })...)
		group = group[:min(len(group), groupSize)]
	}
	if !slices.Equal(group, n.view) {
		n.view = group
		n.carryLease(n.lease.GroupChanged(group, n.s.now))
	}
	n.tellGroup()
	n.arrange()
}

// readsOf takes in the advert of a node that is there: it says in what epoch that leads, or that it leads no more.
// Without the latter who is outside the group follows a leader that was deposed while it was away, for ever, if by its
// own draw that one comes before the new.
func (n *simNode) readsOf(o *simNode) {
	switch {
	case o == n || o.lease == nil:
	case o.lease.Leads():
		_, e := o.lease.Leader()
		n.carryLease(n.lease.Claimed(o.id, overlay.Renewal{Epoch: e}, n.s.now))
	default:
		n.lease.StoodDown(o.id, n.s.now)
	}
}

func (n *simNode) tellGroup() {
	if g := n.lease.Group(); n.coord != nil && len(g) > 0 && !slices.Equal(g[1:], n.group) {
		n.group = slices.Clone(g[1:])
		n.stepOne(n.coord, message.GroupIs{Followers: n.group})
	}
	if chief, _ := n.lease.Leader(); n.replica != nil && chief != "" { // as its advert says
		if o := n.s.byID[chief]; n.s.sees(n, o) && o.lease.Leads() {
			n.stepOne(n.replica, message.GroupIs{Followers: o.lease.Group()[1:]})
		}
	}
}

func (s *groupSim) delay() time.Duration {
	return time.Duration(s.rng.Int64N(int64(s.latency) + 1))
}

// after does something at a node unless it has died by then.
func (s *groupSim) after(n *simNode, d time.Duration, do func()) {
	life := n.life
	s.heap.Set(s.now.Add(d), func() {
		if n.life == life && n.up {
			do()
		}
	})
}

// run lets time pass until done is, or fails after the limit.
func (s *groupSim) run(limit time.Duration, done func() bool) bool {
	end := s.now.Add(limit)
	for !done() {
		at, ok := s.heap.Next()
		if !ok || at.After(end) {
			s.now = end
			return false
		}
		s.now = at
		do, _ := s.heap.Due(at)
		do()
		s.events++
	}
	return true
}

func (n *simNode) role() machine {
	if n.coord != nil {
		return n.coord
	}
	return n.replica
}

// A machine is any of the scheduler's.
type machine interface {
	Step(now time.Time, ev message.Event) []message.Effect
	NextWake() (time.Time, bool)
}

func (n *simNode) step(ev message.Event) {
	n.stepOne(n.role(), ev)
	n.stepOne(n.worker, ev)
	n.stepOne(n.sub, ev)
	n.arrange()
}

func (n *simNode) stepOne(m machine, ev message.Event) {
	n.carry(m, m.Step(n.s.now, ev))
	n.check()
}

// check fails where an epoch goes back.
func (n *simNode) check() {
	_, e := n.worker.Leader()
	if e < n.sawWork {
		n.s.tb.Fatalf("worker %d obeyed epoch %d, then %d", n.n, n.sawWork, e)
	}
	n.sawWork = e
	e = 0
	if n.coord != nil {
		e = n.coord.Epoch()
	} else {
		e = n.replica.Epoch()
	}
	if e < n.sawRole {
		n.s.tb.Fatalf("node %d followed epoch %d, then %d", n.n, n.sawRole, e)
	}
	n.sawRole = e
}

// tick is the lease's.
func (n *simNode) tick() {
	n.carryLease(n.lease.Tick(n.s.now))
	n.s.after(n, max(n.lease.Next().Sub(n.s.now), time.Millisecond), n.tick)
}

func (n *simNode) arrange() {
	var at time.Time
	ok := false
	for _, m := range []machine{n.role(), n.worker, n.sub} {
		bt, bok := m.NextWake()
		at, ok = timer.Earlier(at, ok, bt, bok)
	}
	if !ok || !n.wakeAt.IsZero() && n.wakeAt.After(n.s.now) && !at.Before(n.wakeAt) {
		return
	}
	n.wakeAt = at
	n.s.after(n, max(0, at.Sub(n.s.now)), func() { n.wakeAt = time.Time{}; n.step(message.Wake{}) })
}

// carryLease does what the lease asks for.
func (n *simNode) carryLease(effects []overlay.LeaseEffect) {
	for _, e := range effects {
		switch e := e.(type) {
		case overlay.SendRenewal:
			for _, to := range e.To {
				n.tell(to, func(o *simNode) {
					o.carryLease(o.lease.Heard(n.id, e.Renewal, n.s.now))
					o.tell(n.id, func(n *simNode) { n.lease.Acked(o.id, n.s.now) })
				})
			}
		case overlay.SendHandOver:
			n.tell(e.To, func(o *simNode) { o.carryLease(o.lease.Handed(n.id, e.Renewal, n.s.now)) })
		case overlay.Refuse:
			n.tell(e.To, func(o *simNode) { o.carryLease(o.lease.Refused(n.id, e.Leader, e.Epoch, n.s.now)) })
		case overlay.BecomeLeader:
			n.lead(e.Epoch)
		case overlay.StepDown:
			n.group, n.replica, n.coord = nil, n.coord.Retire(), nil
			n.step(message.LeaderChanged{Leader: e.To, Epoch: e.Epoch})
		case overlay.Follow:
			n.step(message.LeaderChanged{Leader: e.Leader, Epoch: e.Epoch})
		case overlay.Suspect:
			if n.coord != nil {
				n.stepOne(n.coord, message.Suspected{Peer: e.Peer})
			}
		}
	}
	if n.up && n.coord != nil {
		n.tellGroup()
	}
}

func (n *simNode) lead(epoch uint64) {
	if other, ok := n.s.epochs[epoch]; ok && !(n.wiped && other == n.id) {
		n.s.tb.Fatalf("%d leads in epoch %d, as %s did", n.n, epoch, other)
	}
	n.s.epochs[epoch] = n.id
	n.s.takes++
	if n.coord != nil {
		n.carry(n.coord, n.coord.Begin(epoch))
	} else {
		var effects []message.Effect
		n.coord, effects = n.replica.Lead(n.s.now, epoch)
		n.replica, n.group = nil, nil
		n.carry(n.coord, effects)
	}
	if n.s.restless {
		n.coord.migration.mover = anywhere
	} else if n.s.mover != nil {
		n.coord.migration.mover = n.s.mover
	}
	n.step(message.LeaderChanged{Leader: n.id, Epoch: epoch})
}

// tell brings something to another node, if the network lets it.
func (n *simNode) tell(to task.PeerID, do func(o *simNode)) {
	o := n.s.byID[to]
	lost := o != n && n.s.rng.Float64() < n.s.loss
	at := n.s.now.Add(n.s.delay())
	if at.Before(n.lastTo[to]) {
		at = n.lastTo[to]
	}
	n.lastTo[to] = at
	side := n.side
	n.s.after(o, at.Sub(n.s.now), func() {
		if !lost && o.side == side {
			do(o)
		}
	})
}

func (n *simNode) carry(m machine, effects []message.Effect) {
	for _, e := range effects {
		if n.s.story != nil {
			text, _ := json.Marshal(e)
			fmt.Fprintf(n.s.story, "%d %T %s\n", n.n, e, text)
		}
		switch e := e.(type) {
		case message.Send:
			n.send(e)
		case message.Persist:
			n.persist(e)
		case message.Fetch:
			n.s.after(n, 2*n.s.delay(), func() { n.fetch(m, e) })
		case message.Prepare:
			n.s.after(n, n.s.delay(), func() { n.prepare(e) })
		case message.Start:
			n.begin(e)
		case message.Stop:
			if e.Save {
				n.s.after(n, n.s.delay(), func() { n.save(e.Task, e.Attempt) })
				continue
			}
			n.s.after(n, n.s.delay(), func() {
				n.stopTaking(message.AttemptName{Task: e.Task, Attempt: e.Attempt}, "stopped")
				n.end(e.Task, e.Attempt, task.Result{Outcome: task.Interrupted})
			})
		case message.HandOver:
			n.s.after(n, 0, func() { n.handOver(e) })
		case message.Expect:
			n.expect(e)
		case message.Audit:
			n.s.after(n, n.s.work, func() { n.audit(e) })
		case message.Compare:
			n.s.after(n, n.s.delay(), func() { n.compare(e) })
		case message.Recall:
			n.s.after(n, n.s.delay(), func() { n.recall(e) })
		case message.Decided:
			if e.Action == "moved" {
				n.s.moved++
			}
		case message.Outrun:
			n.s.after(n, 0, func() { n.carryLease(n.lease.Refused(e.From, "", e.Epoch, n.s.now)) })
		}
	}
}

// recall reads results that a submitter holds.
func (n *simNode) recall(e message.Recall) {
	done := message.Recalled{Job: e.Job}
	for _, i := range e.Tasks {
		if t, err := submitter.DecodeSummary(n.disk[submitter.ResultKey(e.Job, i)]); err == nil {
			done.Tasks = append(done.Tasks, t)
		}
	}
	n.step(done)
}

func (n *simNode) send(e message.Send) {
	m := e.Message
	if n.s.fault != nil && n.s.faultyMessage(n, &m) {
		return
	}
	if n.s.wire {
		frame, err := message.EncodeFrame([]message.Message{m})
		if err != nil {
			n.s.tb.Fatal(err)
		}
		messages, err := message.DecodeFrame(frame)
		if err != nil {
			n.s.tb.Fatal(err)
		}
		m = messages[0]
	}
	n.tell(e.To, func(o *simNode) { o.step(&message.Received{From: n.id, Message: &m}) })
}

func (n *simNode) persist(p message.Persist) {
	if p.Value == nil {
		delete(n.disk, p.Key)
		if n.s.checked != nil {
			delete(n.held, p.Key)
		}
		return
	}
	if n.s.checked != nil {
		n.disk[p.Key] = p.Value // also another in place of one that was wrong
		return
	}
	if strings.HasPrefix(p.Key, submitter.ResultsPrefix) {
		if n.held[p.Key] {
			n.s.tb.Fatalf("%s was delivered twice", p.Key)
		}
		n.held[p.Key] = true
	}
	n.disk[p.Key] = p.Value
}

func (n *simNode) prepare(e message.Prepare) {
	for _, o := range n.s.nodes {
		if spec := o.sub.Spec(e.Job); spec != nil {
			if !slices.ContainsFunc(e.Holders, func(p task.PeerID) bool {
				h := n.s.byID[p]
				return n.s.sees(n, h) && h.blocks[task.CID(e.Job)]
			}) {
				break
			}
			n.step(message.Prepared{ID: e.Job, Job: spec})
			return
		}
	}
	n.step(message.Prepared{ID: e.Job, Err: "nobody has the job's files"})
}

func (n *simNode) begin(e message.Start) {
	if _, epoch := n.worker.Leader(); e.Attempt.Epoch > epoch {
		n.s.tb.Fatalf("worker %d starts attempt %v in epoch %d", n.n, e.Attempt, epoch)
	}
	name := message.AttemptName{Task: e.Task, Attempt: e.Attempt}
	if n.runs[name] != nil {
		return // it has arrived
	}
	delete(n.taking, name)
	n.checkReads(e)
	n.s.began[e.Task] = true
	run := &simRun{at: n.s.now, reads: e.Reads}
	if e.From != nil && n.fetchable(e.From.CID, e.Holders) {
		n.blocks[e.From.CID], run.fuel = true, e.From.Fuel
		n.began(run, e.From)
	}
	n.goOn(name, run)
}

// goOn lets a run go on to its end.
func (n *simNode) goOn(name message.AttemptName, run *simRun) {
	n.runs[name] = run
	n.saveOften(name, run)
	e := name
	r := task.Result{Outcome: task.Completed, Outputs: []task.Output{outputOf(e.Task)}}
	if n.s.checked != nil {
		n.s.checked.run(n, e.Task, run.reads, &r)
	}
	luck := n.s.rng.IntN(30)
	if n.s.exact {
		luck = 29
	}
	switch luck {
	case 0:
		r = task.Result{Outcome: task.HostError, Message: "disk full"}
	case 1:
		r = task.Result{Outcome: task.Interrupted}
	}
	if n.s.fails != nil && n.s.fails(e.Task.Index) && luck > 1 {
		r = task.Result{Outcome: task.ExitFailure, ExitCode: 1}
	}
	length := n.s.work/2 + time.Duration(n.s.rng.Int64N(int64(n.s.work)+1))
	if n.s.exact {
		length = n.s.work
	}
	n.s.after(n, max(0, length-time.Duration(run.fuel)*time.Millisecond), func() {
		if n.runs[name] == run && !run.frozen {
			n.end(e.Task, e.Attempt, r)
		}
	})
}

func (n *simNode) end(id task.TaskID, a message.Attempt, r task.Result) {
	n.endHanded(id, a, r, nil)
}

func (n *simNode) endHanded(id task.TaskID, a message.Attempt, r task.Result, handed *message.Handed) {
	name := message.AttemptName{Task: id, Attempt: a}
	run := n.runs[name]
	if run == nil {
		return
	}
	run.settle(n.s)
	delete(n.runs, name)
	n.stopGiving(name)
	r.Task = id
	n.lie(run, &r)
	r.Task, r.CPU, r.Wall = id, n.s.work+time.Duration(n.s.rng.IntN(1000)), n.s.work
	r.Worker = n.id
	if r.Task.Index%4 == 0 { // as a node of before
		if err := r.Sign(n.key); err != nil {
			n.s.tb.Fatal(err)
		}
	}
	if r.Outcome == task.Completed {
		n.blocks[r.Outputs[0].CID] = true
	}
	n.step(message.Ended{Task: id, Attempt: a, Result: r, Handed: handed})
}

// submit offers a job at a node and returns its ID.
func (n *simNode) submit(tasks uint64, change func(*task.Job)) task.JobID {
	rec := schedtest.Job(n.s.tb, n.key, tasks, func(j *task.Job) {
		j.Submitted = task.At(n.s.now)
		binary.BigEndian.PutUint64(j.Nonce, n.s.rng.Uint64())
		if change != nil {
			change(j)
		}
	})
	n.step(message.Offer{Record: rec})
	id := rec.ID()
	for _, cid := range durable.JobBlocks(id, n.sub.Spec(id)) {
		n.blocks[cid] = true
	}
	return id
}

// leader returns the only node that leads, nil if there is not one.
func (s *groupSim) leader() *simNode {
	var found *simNode
	for _, n := range s.nodes {
		if n.up && n.coord != nil {
			if found != nil {
				return nil
			}
			found = n
		}
	}
	return found
}

// checkReads holds what a task that starts reads against what it needs: all but what failed.
func (n *simNode) checkReads(e message.Start) {
	rec := n.s.recordOf(e.Task.Job)
	if rec == nil || len(rec.Stages) == 0 || n.s.checked != nil { // of what was told there is anything
		return
	}
	want := map[string]bool{}
	for need, members := range rec.Needed(e.Task.Index) {
		for u := range members.All() {
			for _, f := range rec.FilesOf(need, u, []task.Output{outputOf(task.TaskID{Job: e.Task.Job, Index: u})}) {
				want[f.Name] = true
			}
		}
	}
	got := 0
	if e.Reads != nil {
		got = len(e.Reads.Files)
	}
	if failed := n.s.failedFor(rec, e.Task.Index); got != len(want)-failed {
		n.s.tb.Fatalf("task %v starts with %d files of others, of %d of which %d failed", e.Task, got, len(want), failed)
	}
}

// recordOf returns a job that somebody here submitted.
func (s *groupSim) recordOf(id task.JobID) *task.Job {
	for _, n := range s.nodes {
		if spec := n.sub.Spec(id); spec != nil {
			return spec
		}
	}
	return nil
}

// failedFor counts the tasks that a task reads which fail, or need one that does.
func (s *groupSim) failedFor(spec *task.Job, i uint64) (n int) {
	flow := ledger.NewFlow(spec)
	for u := range i {
		if s.fails != nil && s.fails(u) || flow.Ready(u) == ledger.Never {
			flow.Set(u, ledger.Failed)
		}
	}
	for _, members := range spec.Needed(i) {
		for u := range members.All() {
			if s.fails != nil && s.fails(u) || flow.Ready(u) == ledger.Never {
				n++
			}
		}
	}
	return n
}
