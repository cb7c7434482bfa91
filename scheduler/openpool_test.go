package scheduler

import (
	"crypto/ed25519"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// An openPool is a coordinator with some members and submitters, as a model: tasks take what
// their jobs say in Work, and members start what they are given in the order in which it comes.
type openPool struct {
	tb      testing.TB
	c       *Coordinator
	now     time.Time
	members []*poolMember
	at      map[task.PeerID]*poolMember
	takes   map[task.JobID]time.Duration // a task
	fixed   map[task.JobID]bool          // of them, whose state cannot be saved
	done    map[task.JobID]int
	placed  map[task.JobID]int  // leases
	got     map[task.PeerID]int // the same by member
	refused map[task.JobID]string
	nonce   uint64
	told    uint64 // messages
	lost    int    // tasks that were stopped with nothing saved
}

// A poolMember is one of its machines.
type poolMember struct {
	key    ed25519.PrivateKey
	id     task.PeerID
	slots  int
	speed  float64 // in truth; 0: it does nothing with what it is given
	says   string  // the stdout of its tasks
	holds  []*poolTask
	report message.Report // what it will say
}

// A poolTask is a lease at a member.
type poolTask struct {
	lease message.Lease
	left  time.Duration
	ran   time.Duration
}

func newOpenPool(tb testing.TB, rules Rules, members, slots int) *openPool {
	_, self := schedtest.Identity(0)
	p := &openPool{tb: tb, now: schedtest.Start, at: map[task.PeerID]*poolMember{}, takes: map[task.JobID]time.Duration{},
		fixed: map[task.JobID]bool{}, done: map[task.JobID]int{}, placed: map[task.JobID]int{},
		got: map[task.PeerID]int{}, refused: map[task.JobID]string{}}
	cfg := Default()
	cfg.Rules = rules
	p.c = NewCoordinator(self, cfg, 1)
	for range members {
		p.join(slots, 1, 1)
	}
	return p
}

// join adds a member of a speed, which says that it has another.
func (p *openPool) join(slots int, speed, says float64) *poolMember {
	m := &poolMember{slots: slots, speed: speed}
	m.key, m.id = schedtest.Identity(1000 + len(p.members))
	p.members, p.at[m.id] = append(p.members, m), m
	p.step(message.MemberSeen{Advert: overlay.Advert{Peer: m.id, Memory: 1 << 40, Speed: says, Slots: slots}})
	p.say(m)
	return m
}

func (p *openPool) step(ev message.Event) {
	var fetches []string
	for _, e := range p.c.Step(p.now, ev) {
		switch e := e.(type) {
		case message.Fetch:
			fetches = append(fetches, e.Key)
		case message.Send:
			p.sent(e.To, &e.Message)
		}
	}
	for _, key := range fetches {
		p.step(message.Fetched{Key: key})
	}
}

// sent has a member or a submitter take in what the leader says.
func (p *openPool) sent(to task.PeerID, msg *message.Message) {
	if a := msg.Accepted; a != nil && a.Error != "" {
		p.refused[a.Job] = a.Error
	}
	m := p.at[to]
	if m == nil {
		return
	}
	if msg.Place != nil {
		for _, l := range msg.Place.Leases {
			p.placed[l.Task.Job]++
			p.got[to]++
			left := p.takes[l.Task.Job]
			if l.From != nil {
				left -= l.From.CPU
			}
			m.holds = append(m.holds, &poolTask{lease: l, left: left})
		}
	}
	if msg.Ack != nil {
		runs := min(m.slots, len(m.holds)) // a slot that falls free is filled after the message
		for _, n := range msg.Ack.Drop {
			p.drop(m, n, &runs)
		}
	}
}

// drop has a member give up what it is told to, as package worker does.
func (p *openPool) drop(m *poolMember, n message.AttemptName, running *int) {
	for k, t := range m.holds {
		if t.lease.Task != n.Task || t.lease.Attempt != n.Attempt {
			continue
		}
		runs := k < *running
		switch {
		case n.Reason == message.DropRecall && runs:
			return
		case !runs && (n.Reason == message.DropRecall || n.Reason == message.DropMoved):
			m.report.Refused = append(m.report.Refused, message.Refusal{Task: n.Task, Attempt: n.Attempt, Reason: n.Reason})
		case n.Reason == message.DropMoved && p.fixed[n.Task.Job]:
			m.report.Held = append(m.report.Held, message.Held{Task: n.Task, Attempt: n.Attempt, Running: true, Fixed: true})
			return
		case n.Reason == message.DropMoved:
			cpu := p.takes[n.Task.Job] - t.left
			m.report.Saved = append(m.report.Saved, message.SavedState{Task: n.Task, Attempt: n.Attempt,
				Checkpoint: message.Checkpoint{CID: task.RawCID([]byte("state")), Fuel: uint64(cpu) + 1, CPU: cpu}})
			m.ends(p.tb, t, task.Interrupted)
		default:
			p.lost++
		}
		if m.holds = append(m.holds[:k:k], m.holds[k+1:]...); runs {
			*running--
		}
		return
	}
}

func (m *poolMember) ends(tb testing.TB, t *poolTask, as task.Outcome) {
	r := task.Result{Task: t.lease.Task, Worker: m.id, Outcome: as, Wall: t.ran, CPU: t.ran}
	if m.says != "" && as == task.Completed {
		r.Outputs = []task.Output{{Name: task.Stdout, CID: task.RawCID([]byte(m.says)), Size: int64(len(m.says)),
			Inline: []byte(m.says)}}
	}
	if err := r.Sign(m.key); err != nil {
		tb.Fatal(err)
	}
	m.report.Ended = append(m.report.Ended, message.Ending{Attempt: t.lease.Attempt, Result: r})
}

// say has a member report.
func (p *openPool) say(m *poolMember) {
	r := m.report
	m.report = message.Report{}
	r.Epoch, r.Slots, r.State, r.Full, r.Born = 1, m.slots, uint8(overlay.Available), true, 1
	fixed := r.Held
	r.Held = nil
	for k, t := range m.holds {
		h := message.Held{Task: t.lease.Task, Attempt: t.lease.Attempt, Running: k < m.slots}
		for i := range fixed {
			h.Fixed = h.Fixed || fixed[i].Task == h.Task && fixed[i].Attempt == h.Attempt
		}
		r.Held = append(r.Held, h)
	}
	p.step(&message.Received{From: m.id, Message: &message.Message{Report: &r}})
}

// run has time pass, second by second.
func (p *openPool) run(d time.Duration) {
	for end := p.now.Add(d); p.now.Before(end); {
		p.now = p.now.Add(time.Second)
		for _, m := range p.members {
			p.work(m)
			p.say(m)
		}
		p.step(message.Wake{})
	}
}

func (p *openPool) work(m *poolMember) {
	var rest []*poolTask
	for k, t := range m.holds {
		if k < m.slots {
			t.left -= time.Duration(m.speed * float64(time.Second))
			t.ran += time.Second
		}
		if t.left > 0 {
			rest = append(rest, t)
			continue
		}
		p.done[t.lease.Task.Job]++
		m.ends(p.tb, t, task.Completed)
	}
	m.holds = rest
}

// record is a new job of a submitter.
func (p *openPool) record(submitter int, tasks uint64, takes time.Duration, change func(*task.Job)) task.Record {
	key, _ := schedtest.Identity(submitter)
	rec := schedtest.Job(p.tb, key, tasks, func(j *task.Job) {
		p.nonce++
		binary.BigEndian.PutUint64(j.Nonce, p.nonce)
		if change != nil {
			change(j)
		}
	})
	p.takes[rec.ID()] = takes
	return rec
}

// submit has a submitter hand a job in.
func (p *openPool) submit(submitter int, tasks uint64, takes time.Duration, change func(*task.Job)) task.JobID {
	rec := p.record(submitter, tasks, takes, change)
	p.offer(submitter, rec)
	return rec.ID()
}

func (p *openPool) offer(submitter int, rec task.Record) {
	_, from := schedtest.Identity(submitter)
	p.step(&message.Received{From: from, Message: &message.Message{Submit: &message.Submit{Record: rec}}})
}

// tell has a member tell of jobs as a coordinator before it would.
func (p *openPool) tell(m *poolMember, recs ...task.Record) {
	p.told++
	k := &message.Known{Epoch: 1, Session: 1, Seq: p.told}
	for _, rec := range recs {
		k.Pairs = append(k.Pairs, message.Pair{Key: ledger.JobKey(rec.ID()), Value: rec.Encode()})
	}
	p.step(&message.Received{From: m.id, Message: &message.Message{Known: k}})
}

// runsOf counts the tasks of some jobs that run now.
func (p *openPool) runsOf(jobs ...task.JobID) int {
	n := 0
	for _, m := range p.members {
		for k, t := range m.holds {
			for _, id := range jobs {
				if k < m.slots && t.lease.Task.Job == id {
					n++
				}
			}
		}
	}
	return n
}

const honestOne, greedyOne = 1, 2

// greedily asks for the highest priority and weight.
func greedily(j *task.Job) { j.Priority, j.Weight = task.MaxPriority, task.MaxWeight }

// TestPriorityInOpenPool: whoever asks for the highest priority has all where admission is
// restricted, or the rules say so, and his share in an open pool, where the job says why.
func TestPriorityInOpenPool(t *testing.T) {
	for name, c := range map[string]struct {
		rules Rules
		most  int // and at least, of the first 160 ends, are of a job that came second
		least int
	}{
		"closed":                {Rules{}, 0, 0},
		"open":                  {Rules{Open: true}, 84, 70},
		"open, with priorities": {Rules{Open: true, Priorities: true}, 0, 0},
	} {
		p := newOpenPool(t, c.rules, 4, 4)
		greedy := p.submit(greedyOne, 1000, 10*time.Second, greedily)
		honest := p.submit(honestOne, 1000, 10*time.Second, nil)
		for p.done[honest]+p.done[greedy] < 160 {
			p.run(time.Second)
		}
		if n := p.done[honest]; n < c.least || n > c.most {
			t.Errorf("%s: %d of the first %d ends are of the honest job, want %d to %d", name, n,
				p.done[honest]+p.done[greedy], c.least, c.most)
		}
		const says = "priority of 1000 does not count"
		st, _ := p.c.Job(greedy, message.Page{})
		said := strings.Contains(st.Note, says) && strings.Contains(whys(p.c, greedy, 999), says)
		if void := c.rules.Open && !c.rules.Priorities; said != void {
			t.Errorf("%s: that its priority is void is said: %v, by %q", name, said, whys(p.c, greedy, 999))
		}
	}
}

func whys(c *Coordinator, id task.JobID, i uint64) string {
	var out []string
	for _, w := range c.Why(id, i) {
		out = append(out, w.Reason)
	}
	return strings.Join(out, "; ")
}

// TestSharesOfSubmitters: a submitter of very many jobs gets no more slots of an open pool
// than one of one job.
func TestSharesOfSubmitters(t *testing.T) {
	for _, rules := range []Rules{{Open: true}, {Open: true, Fairness: "weighted"}} {
		p := newOpenPool(t, rules, 4, 4)
		for range 60 {
			p.submit(greedyOne, 100, 10*time.Second, greedily)
		}
		honest := p.submit(honestOne, 1000, 10*time.Second, nil)
		p.run(30 * time.Second)
		for range 10 {
			p.run(10 * time.Second)
			if n := p.runsOf(honest); n < 7 || n > 9 {
				t.Fatalf("%+v: the honest submitter has %d of 16 slots", rules, n)
			}
		}
	}
}

// TestInventedSubmitters: jobs of submitters that nobody has heard wait while others' do.
func TestInventedSubmitters(t *testing.T) {
	p := newOpenPool(t, Rules{Open: true}, 4, 4)
	for k := range 50 {
		p.tell(p.members[0], p.record(100+k, 1000, 10*time.Second, greedily))
	}
	p.run(20 * time.Second)
	if n := p.c.Hosts().Load; n < 16 {
		t.Fatalf("%d of 16 slots are used by jobs of submitters that are away", n)
	}
	honest := p.submit(honestOne, 1000, 10*time.Second, nil)
	p.run(20 * time.Second)
	if n := p.runsOf(honest); n != 16 {
		t.Errorf("the honest submitter has %d of 16 slots, the others are of submitters that nobody has heard", n)
	}
	late := p.submit(100, 1000, 10*time.Second, nil) // one of them speaks
	p.run(30 * time.Second)
	if n := p.runsOf(honest); n < 7 || n > 9 {
		t.Errorf("the honest submitter has %d of 16 slots beside another, which has %d of its last job", n, p.runsOf(late))
	}
}

// TestRulesOfTurnsChange: a pool that is closed, and opened again, goes by the rules of the day.
func TestRulesOfTurnsChange(t *testing.T) {
	p := newOpenPool(t, Rules{Open: true}, 4, 4)
	greedy := p.submit(greedyOne, 10_000, 10*time.Second, greedily)
	honest := p.submit(honestOne, 10_000, 10*time.Second, nil)
	for _, c := range []struct {
		rules Rules
		want  int
	}{{Rules{Open: true}, 8}, {Rules{}, 0}, {Rules{Open: true}, 8}, {Rules{Open: true, Priorities: true}, 0}} {
		if err := p.c.Govern(c.rules); err != nil {
			t.Fatal(err)
		}
		p.run(time.Minute)
		if n := p.runsOf(honest); n < c.want-1 || n > c.want+1 {
			t.Errorf("%+v: the honest submitter has %d slots and the greedy one %d, want %d for the honest one", c.rules, n,
				p.runsOf(greedy), c.want)
		}
	}
}
