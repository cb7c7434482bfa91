package scheduler

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/scheduler/timer"
	"godwit/scheduler/worker"
	"godwit/task"
)

// A swarm is a network of pure machines: node 0 founds and leads. Messages of
// one pair of nodes keep their order and are delayed at random; while a node
// is down, or by bad luck, they are lost. Nothing is shared by accident:
// messages travel as frames.
type swarm struct {
	tb    testing.TB
	rng   *rand.Rand
	cfg   Config
	now   time.Time
	nodes []*swarmNode
	byID  map[task.PeerID]*swarmNode
	heap  timer.Queue[func()]

	loss    float64       // of messages
	latency time.Duration // the most
	work    func(id task.TaskID) time.Duration
	outcome func(n *swarmNode, id task.TaskID) task.Result
	events  int
}

type swarmNode struct {
	s    *swarm
	n    int
	key  ed25519.PrivateKey
	id   task.PeerID
	up   bool
	life int // counts restarts: what was begun in a former life is void
	disk map[string][]byte

	slots  int
	memory int64
	coord  *Coordinator
	worker *worker.Worker
	sub    *submitter.Submitter
	specs  map[task.JobID]*task.Job // blocks held
	lastTo map[task.PeerID]time.Time
	wakeAt time.Time
	held   map[string]bool // results ever delivered, over restarts

	started map[attemptKey]bool // and not ended
}

type attemptKey struct {
	task    task.TaskID
	attempt message.Attempt
}

func newSwarm(tb testing.TB, seed uint64, nodes int) *swarm {
	cfg := Default()
	s := &swarm{
		tb: tb, rng: rand.New(rand.NewPCG(seed, 1)), cfg: cfg, now: schedtest.Start, byID: map[task.PeerID]*swarmNode{},
		latency: 5 * time.Millisecond, work: func(task.TaskID) time.Duration { return time.Second },
	}
	s.outcome = func(n *swarmNode, id task.TaskID) task.Result {
		out := []byte(fmt.Sprint("result of ", id.Index))
		return task.Result{Outcome: task.Completed, Outputs: []task.Output{
			{Name: "stdout", CID: task.RawCID(out), Size: int64(len(out)), Inline: out},
		}}
	}
	for i := range nodes {
		key, id := schedtest.Identity(i)
		n := &swarmNode{s: s, n: i, key: key, id: id, disk: map[string][]byte{}, slots: 2, memory: 1 << 30,
			held: map[string]bool{}}
		s.nodes = append(s.nodes, n)
		s.byID[id] = n
	}
	for _, n := range s.nodes {
		n.boot()
	}
	return s
}

// boot starts a node from its disk alone.
func (n *swarmNode) boot() {
	n.up, n.wakeAt = true, time.Time{}
	n.life++
	n.specs, n.lastTo, n.started = map[task.JobID]*task.Job{}, map[task.PeerID]time.Time{}, map[attemptKey]bool{}
	cfg := n.s.cfg
	n.worker = worker.New(n.id, cfg.Timing, cfg.Worker)
	n.worker.SignWith(signsTogether(n.key))
	n.sub = submitter.New(n.id, cfg.Timing, cfg.Submitter, n.key)
	if err := errors.Join(n.worker.Restore(n.disk), n.sub.Restore(schedtest.ScanOf(n.disk))); err != nil {
		n.s.tb.Fatal(err)
	}
	n.coord = nil
	if n.n == 0 {
		n.coord = NewCoordinator(n.id, cfg, 1)
		effects, err := n.coord.Restore(n.disk)
		if err != nil {
			n.s.tb.Fatal(err)
		}
		n.carryOut(effects)
	}
	n.step(message.OwnerState{State: overlay.Available, Slots: n.slots})
	n.s.meet(n)
}

// signsTogether is how workers sign what comes to them unsigned: all of a moment together.
func signsTogether(key ed25519.PrivateKey) worker.Signing {
	return worker.Signing{Sign: func(b []byte) []byte { return ed25519.Sign(key, b) },
		Together: func(task.PeerID) bool { return true }}
}

// crash ends a node; what others hear is that the connection broke.
func (n *swarmNode) crash() {
	n.up = false
	n.life++
	for _, o := range n.s.nodes {
		if o.up {
			o.step(message.MemberLost{Peer: n.id, Reason: "connection reset"})
			if n.n == 0 {
				o.step(message.LeaderChanged{})
			}
		}
	}
}

// meet tells a node and all others of each other, after a moment.
func (s *swarm) meet(n *swarmNode) {
	for _, o := range s.nodes {
		if !o.up {
			continue
		}
		s.after(n, s.delay(), func() { o.learn(n) })
		if o != n {
			s.after(o, s.delay(), func() { n.learn(o) })
		}
	}
}

func (n *swarmNode) learn(o *swarmNode) {
	if !n.up || !o.up {
		return
	}
	n.step(message.MemberSeen{Advert: overlay.Advert{Peer: o.id, Overlay: "commons", Slots: o.slots, Memory: o.memory,
		Speed: 1}})
	if o.n == 0 {
		n.step(message.LeaderChanged{Leader: o.id, Epoch: o.coord.Epoch()})
	}
}

func (s *swarm) delay() time.Duration {
	return time.Duration(s.rng.Int64N(int64(s.latency) + 1))
}

// after does something for a node unless it has died by then.
func (s *swarm) after(n *swarmNode, d time.Duration, do func()) {
	life := n.life
	s.heap.Set(s.now.Add(d), func() {
		if n.life == life {
			do()
		}
	})
}

// run lets time pass until done, or fails after the limit.
func (s *swarm) run(limit time.Duration, done func() bool) {
	s.tb.Helper()
	end := s.now.Add(limit)
	for !done() {
		at, ok := s.heap.Next()
		if !ok || at.After(end) {
			s.tb.Fatalf("after %v the swarm has not got there: %s", limit, s.describe())
		}
		s.now = at
		do, _ := s.heap.Due(at)
		do()
		s.events++
	}
}

func (s *swarm) describe() string {
	var b bytes.Buffer
	for _, n := range s.nodes {
		for _, j := range n.sub.Jobs() {
			fmt.Fprintf(&b, "\nnode %d up=%v: %+v", n.n, n.up, j)
		}
		r, q, u := n.worker.Load()
		fmt.Fprintf(&b, "\nnode %d: running %d queued %d unacked %d", n.n, r, q, u)
	}
	if c := s.nodes[0].coord; c != nil {
		fmt.Fprintf(&b, "\nleader: %+v %+v", c.Jobs(), c.Hosts())
		for _, j := range c.Jobs() {
			fmt.Fprintf(&b, "\n%+v", c.Why(j.ID, 0))
		}
	}
	return b.String()
}

// step gives an event to the machines that may care.
func (n *swarmNode) step(ev message.Event) {
	if n.coord != nil {
		n.carryOut(n.coord.Step(n.s.now, ev))
	}
	n.carryOut(n.worker.Step(n.s.now, ev))
	n.carryOut(n.sub.Step(n.s.now, ev))
	n.arrangeWake()
}

func (n *swarmNode) arrangeWake() {
	at, ok := n.worker.NextWake()
	bt, bok := n.sub.NextWake()
	at, ok = timer.Earlier(at, ok, bt, bok)
	if n.coord != nil {
		ct, cok := n.coord.NextWake()
		at, ok = timer.Earlier(at, ok, ct, cok)
	}
	if !ok || !n.wakeAt.IsZero() && n.wakeAt.After(n.s.now) && !at.Before(n.wakeAt) {
		return
	}
	if at.Before(n.s.now) {
		at = n.s.now
	}
	n.wakeAt = at
	n.s.after(n, at.Sub(n.s.now), func() { n.wakeAt = time.Time{}; n.step(message.Wake{}) })
}

func (n *swarmNode) carryOut(effects []message.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case message.Send:
			n.send(e)
		case message.Persist:
			n.persist(e)
		case message.Fetch:
			n.s.after(n, n.s.delay(), func() { n.step(message.Fetched{Key: e.Key, Err: n.fetchable(e.Holders)}) })
		case message.Prepare:
			n.s.after(n, n.s.delay(), func() { n.prepare(e) })
		case message.Start:
			n.start(e)
		case message.Stop:
			n.s.after(n, n.s.delay(), func() { n.end(e.Task, e.Attempt, task.Result{Outcome: task.Interrupted}) })
		}
	}
}

func (n *swarmNode) fetchable(holders []task.PeerID) string {
	for _, h := range holders {
		if n.s.byID[h].up {
			return ""
		}
	}
	return "no holder could be reached"
}

func (n *swarmNode) persist(p message.Persist) {
	if p.Value == nil {
		delete(n.disk, p.Key)
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

func (n *swarmNode) send(e message.Send) {
	to := n.s.byID[e.To]
	frame, err := message.EncodeFrame([]message.Message{e.Message})
	if err != nil {
		n.s.tb.Fatal(err)
	}
	lost := to != n && n.s.rng.Float64() < n.s.loss
	at := n.s.now.Add(n.s.delay())
	if at.Before(n.lastTo[e.To]) {
		at = n.lastTo[e.To]
	}
	n.lastTo[e.To] = at
	from, life := n, n.life
	n.s.after(to, at.Sub(n.s.now), func() {
		if lost || !to.up || from.life != life && n.s.rng.IntN(2) == 0 {
			return
		}
		messages, err := message.DecodeFrame(frame)
		if err != nil {
			n.s.tb.Fatal(err)
		}
		to.step(&message.Received{From: from.id, Message: &messages[0]})
	})
}

func (n *swarmNode) prepare(e message.Prepare) {
	for _, h := range e.Holders {
		for _, src := range n.s.nodes {
			if src.id != h || !src.up {
				continue
			}
			for _, o := range n.s.nodes {
				if rec, ok := o.sub.Record(e.Job); ok {
					spec, err := rec.Open()
					if err != nil {
						n.s.tb.Fatal(err)
					}
					n.specs[e.Job] = spec
					n.step(message.Prepared{ID: e.Job, Job: spec})
					return
				}
			}
		}
	}
	n.step(message.Prepared{ID: e.Job, Err: "no holder could be reached"})
}

func (n *swarmNode) start(e message.Start) {
	n.started[attemptKey{e.Task, e.Attempt}] = true
	n.s.after(n, n.s.work(e.Task), func() { n.end(e.Task, e.Attempt, n.s.outcome(n, e.Task)) })
}

func (n *swarmNode) end(id task.TaskID, a message.Attempt, r task.Result) {
	if !n.started[attemptKey{id, a}] {
		return // ended before it was stopped, or the other way round
	}
	delete(n.started, attemptKey{id, a})
	r.Task = id
	r.CPU, r.Wall = n.s.work(id), n.s.work(id)
	r.Worker = n.id
	if n.n%2 > 0 { // as a node of before
		if err := r.Sign(n.key); err != nil {
			n.s.tb.Fatal(err)
		}
	}
	n.step(message.Ended{Task: id, Attempt: a, Result: r})
}

// submit offers a job at a node and returns its ID.
func (n *swarmNode) submit(tasks uint64, change func(*task.Job)) task.JobID {
	rec := schedtest.Job(n.s.tb, n.key, tasks, func(j *task.Job) {
		j.Submitted = task.At(n.s.now)
		binary.BigEndian.PutUint64(j.Nonce, n.s.rng.Uint64())
		if change != nil {
			change(j)
		}
	})
	n.step(message.Offer{Record: rec})
	return rec.ID()
}

// results counts the results of a job that are on the node's disk and readable.
func (n *swarmNode) results(id task.JobID) (count uint64) {
	n.s.tb.Helper()
	for _, r := range n.sub.Held(id) {
		for i := r.From; i < r.To; i++ {
			t, err := submitter.DecodeSummary(n.disk[submitter.ResultKey(id, i)])
			if err != nil || t.Index != i {
				n.s.tb.Fatalf("result %d: %v, %+v", i, err, t)
			}
			count++
		}
	}
	return count
}

func (n *swarmNode) final(ids ...task.JobID) bool {
	return !slices.ContainsFunc(ids, func(id task.JobID) bool {
		j, ok := n.sub.Job(id)
		return !ok || !j.Final
	})
}

func TestSwarmRunsAJob(t *testing.T) {
	s := newSwarm(t, 1, 4)
	id := s.nodes[1].submit(50, nil)
	s.run(time.Minute, func() bool { return s.nodes[1].final(id) })
	st, _ := s.nodes[1].sub.Job(id)
	if st.State != message.JobDone || st.Tasks.Done != 50 || s.nodes[1].results(id) != 50 {
		t.Errorf("got %+v", st)
	}
	t.Logf("%v, %d events", s.now.Sub(schedtest.Start), s.events)
}

// TestTailIsShort: the stated goal of a thousand one-second tasks on 17
// workers of 4 slots within 1 % of 15 rounds.
func TestTailIsShort(t *testing.T) {
	s := newSwarm(t, 1, 17)
	for _, n := range s.nodes {
		n.slots = 4
		n.step(message.OwnerState{State: overlay.Available, Slots: 4})
	}
	s.run(time.Second, func() bool { return s.nodes[0].coord.Hosts().Slots == 68 })
	from := s.now
	id := s.nodes[3].submit(1000, func(j *task.Job) { j.Work = time.Second })
	s.run(time.Minute, func() bool { return s.nodes[3].final(id) })
	took, most := s.now.Sub(from), 15*time.Second*101/100
	if took > most {
		t.Errorf("took %v, want at most %v", took, most)
	}
	t.Logf("%v", took)
}

// TestJobsShare: a job that comes later gets the slots that fall free until it has as
// many as the one before, which has tasks for all of them; one of higher priority
// gets them all.
func TestJobsShare(t *testing.T) {
	for _, tt := range []struct {
		name     string
		priority int
		least    uint64 // of the first job, done when the second is over
		most     uint64
	}{
		{"equals", 0, 20, 50}, // when the second came the first had a task ahead for each slot
		{"one that comes first", 1, 8, 30},
		{"one that comes last", -1, 200, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSwarm(t, 1, 5)
			first := s.nodes[1].submit(200, nil)
			held := func() uint64 { st, _ := s.nodes[1].sub.Job(first); return st.Held }
			s.run(time.Minute, func() bool { return held() >= 10 })
			second := s.nodes[2].submit(20, func(j *task.Job) { j.Priority = tt.priority })
			s.run(5*time.Minute, func() bool { return s.nodes[2].final(second) })
			if got := held(); got < tt.least || got > tt.most {
				t.Errorf("%d of the first job's are done, want %d to %d", got, tt.least, tt.most)
			}
		})
	}
}
