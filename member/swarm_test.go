package member

import (
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/task"
	"godwit/trace"
)

// A swarm is some peers that hear each other at once, without a network, and run tasks
// that take a second. Time passes in steps.
type swarm struct {
	tb       testing.TB
	now      time.Time
	manifest overlay.Manifest
	lazy     bool
	cells    overlay.CellRule
	hosts    []*host
	jobs     map[task.JobID]*task.Job
	story    []string        // who led when
	outside  outside         // nil for nobody
	began    uint8           // bits of the cell that every host begins in
	lineage  overlay.Lineage // of that cell
	// takes is the run time of a task; nil means a second for every task.
	takes func(task.TaskID) time.Duration
}

// An outside is who is no host of a swarm and has to do with it: it sees all that is said.
type outside interface {
	there(peer task.PeerID) bool
	// said is told what goes over the wire, and returns it as it arrives.
	said(from, to task.PeerID, m message.Message) message.Message
	offered(from, to task.PeerID, l Lease)
	gossiped(a *overlay.Advert)
	did(h *host, e message.Effect)
	// cells is told what a host asks or says about cells.
	cells(h *host, e Effect)
}

// A host is a peer of a swarm and what its driver has.
type host struct {
	s         *swarm
	id        task.PeerID
	n         int
	up        bool
	peer      *Peer
	m         *Member
	disk      map[string][]byte
	pending   []Effect
	asked     []Effect // that rest on nothing durable, as they came
	running   map[message.AttemptName]time.Time
	receipts  map[message.AttemptName]*task.Receipt
	withheld  int
	leaveTime time.Duration
	stay      float64 // what is foretold of it
}

func newSwarm(tb testing.TB, hosts int) *swarm {
	tb.Helper()
	manifest, err := overlay.Named("commons")
	if err != nil {
		tb.Fatal(err)
	}
	s := &swarm{tb: tb, now: schedtest.Start, manifest: manifest, jobs: map[task.JobID]*task.Job{}}
	for n := range hosts {
		_, id := schedtest.Identity(n)
		s.hosts = append(s.hosts, &host{s: s, id: id, n: n, disk: map[string][]byte{}, stay: .9})
	}
	return s
}

// boot starts a host from its disk alone.
func (h *host) boot() {
	s := h.s
	key, _ := schedtest.Identity(h.n)
	cfg := scheduler.Default()
	h.up, h.running, h.pending = true, map[message.AttemptName]time.Time{}, nil
	h.receipts = map[message.AttemptName]*task.Receipt{}
	h.peer = New(Config{
		Self: h.id, Key: key, Scheduler: cfg, World: h, Pool: &predictor.Pool{}, Draw: func() float64 { return .5 },
		Lazy: s.lazy, Cells: s.cells,
	}, s.now)
	h.m = NewMember(h.peer, s.manifest, nil, cfg)
	if s.began > 0 {
		h.m.Begin(overlay.Cell{Bits: s.began}, s.lineage)
	}
	h.at(func() {
		if _, err := h.m.Restore(h.load, h.scan); err != nil {
			s.tb.Fatal(err)
		}
		h.peer.Enter(h.m)
	})
	h.tell(Lent{State: message.OwnerState{State: overlay.Available, Slots: 2, Memory: 1 << 32}})
	h.tell(Wake{})
	for _, o := range s.hosts {
		if o != h && o.up {
			h.tell(Connected{Peer: o.id})
			a := o.m.Advertised()
			h.tell(Advertised{Advert: &a})
			o.tell(Connected{Peer: h.id})
		}
	}
}

// crash ends a host silently: what it had not made durable is gone.
func (h *host) crash() {
	h.up = false
	for _, o := range h.s.hosts {
		if o.up {
			o.tell(Disconnected{Peer: h.id})
		}
	}
}

func (h *host) load(prefix string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for k, v := range h.disk {
		if strings.HasPrefix(k, prefix) {
			out[k] = v
		}
	}
	return out, nil
}

func (h *host) scan(prefix string) iter.Seq2[string, []byte] { return schedtest.ScanOf(h.disk)(prefix) }

// Wall implements World, as do those that follow.
func (h *host) Wall() time.Time            { return h.s.now }
func (h *host) Describe(a *overlay.Advert) { a.Speed = 1 }
func (h *host) Withheld() int              { return h.withheld }
func (h *host) LeaveTime() time.Duration   { return h.leaveTime }
func (h *host) Weight(*Member) float64     { return 1 }
func (h *host) Guests(each func(*Member)) {
	for range h.running {
		each(h.m)
	}
}

func (h *host) Stay(a *overlay.Advert, _ time.Time, _ time.Duration) (float64, bool) {
	if a.State != overlay.Available {
		return 0, false
	}
	for _, o := range h.s.hosts {
		if o.id == a.Peer {
			return o.stay, true
		}
	}
	return 0, false
}

func (h *host) Neighbours() (peers []task.PeerID) {
	for _, o := range h.s.hosts {
		if o != h && o.up {
			peers = append(peers, o.id)
		}
	}
	return peers
}

func (h *host) tell(ev Event) { h.pending = append(h.pending, h.peer.Step(h.s.now, ev)...) }
func (h *host) at(do func())  { h.pending = append(h.pending, h.peer.At(h.s.now, do)...) }
func (h *host) leads() bool   { return h.up && h.m.Coordinator() != nil }

// of returns who goes by an ID; one that is not there for a peer that is no host.
func (s *swarm) of(id task.PeerID) *host {
	if i := slices.IndexFunc(s.hosts, func(h *host) bool { return h.id == id }); i >= 0 {
		return s.hosts[i]
	}
	return &host{}
}

// there reports whether a peer answers.
func (s *swarm) there(id task.PeerID) bool {
	return s.of(id).up || s.outside != nil && s.outside.there(id)
}

// settle carries out what all hosts have gathered, until nothing is left.
func (s *swarm) settle() {
	for again := true; again; {
		again = false
		for _, h := range s.hosts {
			if !h.up {
				continue
			}
			h.pending = append(h.pending, h.peer.Settle(s.now)...)
			effects := h.pending
			h.pending = nil
			for _, e := range effects {
				again = true
				h.carryOut(e)
			}
		}
	}
}

func (h *host) carryOut(e Effect) {
	s := h.s
	switch e := e.(type) {
	case *Do:
		for _, machine := range e.Effects {
			h.do(e.From, machine)
		}
	case Gossip:
		if s.outside != nil {
			s.outside.gossiped(&e.Advert)
		}
		for _, o := range s.hosts {
			if o.up && o != h {
				o.tell(Advertised{Advert: &e.Advert})
			}
		}
	case SayLease:
		for _, to := range e.To {
			o := s.of(to)
			if o.up {
				o.tell(LeaseSaid{Of: o.m, From: h.id, Lease: e.Lease})
			} else if s.outside != nil {
				s.outside.offered(h.id, to, e.Lease)
			}
			there := s.there(to)
			h.tell(LeaseTaken{Of: h.m, By: to, Renewal: there && e.Lease.Kind == Renewal, Silent: !there})
		}
	case Probe:
		h.tell(Probed{Peer: e.Peer, There: s.there(e.Peer)})
	case ProbeVia:
		h.tell(ProbedVia{Peer: e.Peer, Via: e.Via, There: s.there(e.Peer)})
	case Ping:
		h.tell(Pinged{Peer: e.Peer, There: s.there(e.Peer)})
	case LeadershipChanged:
		s.story = append(s.story, s.now.Sub(schedtest.Start).String()+" "+string('0'+rune(h.n)))
	}
	switch e.(type) {
	case AskCells, GossipSummary, JoinCell:
		if s.outside != nil {
			s.outside.cells(h, e)
		}
	}
	if Asks(e) {
		h.asked = append(h.asked, e)
	}
}

// do carries out an effect of a machine: tasks take a second and are prepared at once.
func (h *host) do(from Machine, e message.Effect) {
	answer := func(ev message.Event) { h.tell(Answered{Of: h.m, To: from, Event: ev}) }
	if h.s.outside != nil {
		h.s.outside.did(h, e)
	}
	switch e := e.(type) {
	case message.Persist:
		if h.disk[e.Key] = e.Value; e.Value == nil {
			delete(h.disk, e.Key)
		}
	case message.Send:
		if o := h.s.of(e.To); o.up {
			h.said(o, e.Message)
		} else if h.s.outside != nil {
			h.s.outside.said(h.id, e.To, e.Message)
		}
	case message.Fetch:
		answer(message.Fetched{Key: e.Key})
	case message.Prepare:
		if spec := h.s.jobs[e.Job]; spec == nil {
			answer(message.Prepared{ID: e.Job, Err: "nobody has the job's files"})
		} else {
			answer(message.Prepared{ID: e.Job, Job: spec})
		}
	case message.Start:
		name := message.AttemptName{Task: e.Task, Attempt: e.Attempt}
		runs := time.Second
		if h.s.takes != nil {
			runs = h.s.takes(e.Task)
		}
		h.running[name], h.receipts[name] = h.s.now.Add(runs), e.Receipt
	case message.Stop:
		if e.Save {
			answer(message.NotSaved{Task: e.Task, Attempt: e.Attempt, Reason: "a swarm saves nothing"})
			break
		}
		h.end(message.AttemptName{Task: e.Task, Attempt: e.Attempt}, task.Interrupted)
	case message.HandOver:
		answer(message.NotHanded{Task: e.Task, Attempt: e.Attempt, Reason: "a swarm hands nothing over"})
	case message.Expect:
		answer(message.NotArrived{Task: e.Task, Attempt: e.Attempt, Reason: "a swarm hands nothing over"})
	case message.Outrun:
		h.tell(Outrun{Of: h.m, From: e.From, Epoch: e.Epoch})
	}
}

// said brings a message to another host.
func (h *host) said(o *host, m message.Message) {
	if h.s.outside != nil {
		m = h.s.outside.said(h.id, o.id, m)
	}
	o.tell(&Said{Of: o.m, From: h.id, Message: &m})
}

// answer is the right result of a task.
func answer(id task.TaskID) string { return "result of " + id.String() }

func (h *host) end(name message.AttemptName, o task.Outcome) {
	if _, ok := h.running[name]; !ok {
		return
	}
	delete(h.running, name)
	r := task.Result{Task: name.Task, Outcome: o, Wall: time.Second, Receipt: h.receipts[name]}
	if o == task.Completed {
		b := []byte(answer(name.Task))
		r.Outputs = []task.Output{{Name: "stdout", CID: task.RawCID(b), Size: int64(len(b)), Inline: b}}
	}
	key, _ := schedtest.Identity(h.n)
	if err := r.Sign(key); err != nil {
		h.s.tb.Fatal(err)
	}
	h.tell(Answered{Of: h.m, To: h.m.Worker(), Event: message.Ended{Task: name.Task, Attempt: name.Attempt, Result: r}})
}

// pass lets time pass, in tenths of a second, until done or for d. It reports whether
// done came true.
func (s *swarm) pass(d time.Duration, done func() bool) bool {
	for end := s.now.Add(d); s.now.Before(end); {
		s.settle()
		if done() {
			return true
		}
		s.now = s.now.Add(100 * time.Millisecond)
		for _, h := range s.hosts {
			if !h.up {
				continue
			}
			for _, name := range h.over() {
				h.end(name, task.Completed)
			}
			if at, ok := h.peer.NextWake(false); ok && !at.After(s.now) {
				h.tell(Wake{})
			}
		}
	}
	s.settle()
	return done()
}

// over lists what has run for long enough, in order.
func (h *host) over() (names []message.AttemptName) {
	for name, at := range h.running {
		if !at.After(h.s.now) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b message.AttemptName) int { return a.Attempt.Compare(b.Attempt) })
	return names
}

// start boots all hosts; the first founds the overlay.
func (s *swarm) start() {
	for i, h := range s.hosts {
		h.boot()
		if i == 0 {
			h.at(h.m.Found)
		}
		s.settle()
	}
}

// leader returns the only host that leads, nil if there is not one.
func (s *swarm) leader() *host {
	var found *host
	for _, h := range s.hosts {
		if h.leads() {
			if found != nil {
				return nil
			}
			found = h
		}
	}
	return found
}

// submit offers a job of n tasks at a host.
func (h *host) submit(n uint64) task.JobID { return h.submitAs(n, 0) }

// submitAs offers one that a number tells from others.
func (h *host) submitAs(n uint64, nonce byte) task.JobID {
	key, _ := schedtest.Identity(h.n)
	rec := schedtest.Job(h.s.tb, key, n, func(j *task.Job) {
		j.Overlay = string(h.m.ID())
		j.Nonce[0] = nonce
	})
	spec, err := rec.Open()
	if err != nil {
		h.s.tb.Fatal(err)
	}
	h.s.jobs[rec.ID()] = spec
	h.tell(Answered{Of: h.m, To: h.m.Submitter(), Event: message.Offer{Record: rec}})
	return rec.ID()
}

// held is how many results of a job a host's submitter has.
func (h *host) held(id task.JobID) uint64 {
	held := h.m.Submitter().Held(id)
	return held.Count()
}

// results is how many are on its disk.
func (h *host) results(id task.JobID) (n int) {
	for k := range h.disk {
		if strings.HasPrefix(k, submitter.ResultKey(id, 0)[:len(submitter.ResultsPrefix)]) &&
			strings.Contains(k, string(id)) {
			n++
		}
	}
	return n
}

func (h *host) History() *trace.History { return nil }
