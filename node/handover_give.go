package node

import (
	"crypto/sha256"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"godwit/migrate/handover"
	"godwit/owner"
	"godwit/scheduler/message"
	"godwit/task"
)

// A snapshot is a checkpoint with what it took to come there.
type snapshot struct {
	manifest []byte
	fuel     uint64
	cpu      time.Duration // of all attempts together
	pages    *pageStore
}

// givers is where an attempt's sandbox and its hand-over find each other. A nil
// one is of an attempt that cannot be saved.
type givers struct {
	save  chan struct{} // asks the sandbox for a checkpoint
	share chan float64  // tells it which share of the time the guest runs; holds the newest

	mu     sync.Mutex
	g      *giving         // nil while it is not on its way
	handed *message.Handed // once the other side runs it
	state  int64           // bytes of its state when it was last saved; 0 not known
	failed string          // why the last hand-over came to nothing; "" for none
}

func newGivers() *givers {
	return &givers{save: make(chan struct{}, 1), share: make(chan float64, 1)}
}

// slow has the guest run that share of the time. The sandbox may not have taken what
// was said before.
func (s *givers) slow(share float64) {
	select {
	case <-s.share:
	default:
	}
	s.share <- share // one hand-over at a time says so: there is room
}

// saveSoon asks for a checkpoint, unless one is asked for already.
func (s *givers) saveSoon() {
	select {
	case s.save <- struct{}{}:
	default:
	}
}

// saveUnlessGiven asks for one if the attempt is not on its way elsewhere.
func (s *givers) saveUnlessGiven() (asked bool) {
	if s.now() != nil {
		return false
	}
	s.saveSoon()
	return true
}

func (s *givers) now() *giving {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.g
}

func (s *givers) set(g *giving) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.g = g
}

// note takes in how large the state is now.
func (s *givers) note(state int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

// size is what note was told last.
func (s *givers) size() int64 {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// ranOn says where the attempt went, if the other side runs it.
func (s *givers) ranOn() *message.Handed {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handed
}

// A giving is the source's side of one hand-over.
type giving struct {
	*passage
	name   message.AttemptName
	a      attempt
	place  *givers
	to     task.PeerID
	begun  time.Time
	result handover.Finish // once done is closed
	fresh  atomic.Int64    // bytes of blocks that are new since the newest checkpoint

	mu     sync.Mutex
	newest snapshot
	live   *strand // the other side has said welcome on; nil before
	frozen bool
	rounds int   // sent
	bytes  int64 // of them
}

// handOver answers a HandOver, on the loop.
func (n *Node) handOver(p pending, e message.HandOver) {
	name := message.AttemptName{Task: e.Task, Attempt: e.Attempt}
	a, runs := n.running[name]
	refuse := func(why string) {
		p.of.step(p.from, message.NotHanded{Task: e.Task, Attempt: e.Attempt, Reason: why})
	}
	switch {
	case !runs && n.isWaiting(name):
		refuse("it waits for a core here, and has not begun")
		return
	case !runs: // its end is on the way
		return
	case a.save == nil || a.place == nil:
		refuse("its state cannot be saved")
		return
	case a.saved.Load() || a.place.now() != nil: // its end is on the way, or the answer
		return
	}
	order := handover.Order{
		Overlay: string(p.of.id), Task: e.Task, From: handover.Attempt(e.Named), As: handover.Attempt(e.As),
		Urgent: n.inHaste() || !n.runner.(saver).Rounds(),
	}
	g := &giving{name: name, a: a, place: a.place, to: e.To, begun: n.now()}
	g.passage = n.newPassage(handover.NewGiver(handover.Default(), order), g.carryOut)
	a.place.set(g)
	if n.decision.Rule == owner.RuleGoing && !order.Urgent {
		n.after(a, n.lastMoment().Sub(n.now()), func() { n.hurry(a, "the machine goes in a moment") })
	}
	n.log.Info("a task leaves", "task", e.Task.String(), "to", e.To, "urgent", order.Urgent)
	n.spawn(func() {
		n.reached("giver: asked")
		g.run(n.tasks, handover.Begin{})
	})
}

func (n *Node) isWaiting(name message.AttemptName) bool {
	for _, w := range n.waiting {
		if w.start.Task == name.Task && w.start.Attempt == name.Attempt {
			return true
		}
	}
	return false
}

// hurry is the word that there is no time for more rounds.
func hurry(why string) handover.Event { return handover.Hurry{Reason: why} }

// keep notes the newest state, on the goroutine of the sandbox's run.
func (g *giving) keep(s snapshot, frozen bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.newest, g.frozen = s, frozen
}

func (g *giving) state() snapshot {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.newest
}

// checkpoint takes one of the guest that runs on.
func (g *giving) checkpoint(s snapshot) {
	g.keep(s, false)
	g.tell(handover.Saved{Bytes: g.fresh.Swap(0)})
}

// final takes the state that the guest was frozen with and says, when that is
// settled, whether it runs on at the other side.
func (g *giving) final(s snapshot) bool {
	g.keep(s, true)
	g.n.reached("giver: frozen")
	if !g.tell(handover.Frozen{Hash: sha256.Sum256(s.manifest)}) {
		return false
	}
	<-g.done
	return g.result.Outcome == handover.Handed
}

// carryOut does what the machine wants, on the passage's goroutine.
func (g *giving) carryOut(e handover.Effect) {
	switch e := e.(type) {
	case handover.Dial:
		g.n.spawn(func() { g.dial(e.Stream) })
	case handover.Checkpoint:
		g.welcomed()
		g.place.saveSoon()
	case handover.SendRound:
		g.send(e.Stream, e.N, false)
	case handover.Slow:
		why := "it changes its memory faster than the network carries it"
		if e.Share == 1 {
			why = "it stays"
		}
		g.n.log.Info("a task's share of the time on its way elsewhere", "task", g.name.Task.String(), "share", e.Share, "reason", why)
		g.place.slow(e.Share)
	case handover.Freeze:
		g.welcomed()
		g.a.save()
	case handover.SendFinal:
		g.send(e.Stream, e.N, true)
	case handover.Finish:
		g.finish(e)
	}
}

func (g *giving) dial(number int) {
	s, err := g.n.net.HandOver(g.n.tasks, g.to)
	if err != nil {
		g.tell(handover.Broken{Stream: number, Reason: err.Error()})
		return
	}
	if !g.hear(heard{call: func() {
		st := g.attach(number, s)
		g.n.spawn(func() { g.read(st) })
		g.step(handover.Dialled{Stream: number})
	}}) {
		_ = s.Close()
	}
	g.n.reached("giver: opened")
}

// welcomed notes the stream that blocks may be sent on: there is one at a time.
func (g *giving) welcomed() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.strands {
		g.live = s
	}
}

// isWelcome says whether the other side has said so.
func (g *giving) isWelcome() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.live != nil
}

// ahead sends a block as it comes from the sandbox, on the goroutine of its run. That
// must not wait for the network: the guest stands still while the state is taken that
// has no room for copies, or for the last of it. What finds the queue full goes with
// the round, from the disk.
func (g *giving) ahead(h [32]byte, data []byte) {
	g.fresh.Add(int64(len(data)))
	g.mu.Lock()
	st := g.live
	g.mu.Unlock()
	if st == nil || st.hung.Load() {
		return
	}
	select {
	case st.aheads <- struct{}{}:
	default:
		return
	}
	st.write(func() error {
		<-st.aheads
		if st.sent[h] || st.hung.Load() {
			return nil
		}
		st.sent[h] = true
		st.early.Blocks, st.early.Bytes = st.early.Blocks+1, st.early.Bytes+int64(len(data))
		return st.Send(handover.Pages{Blocks: []handover.Block{{Hash: h, Page: handover.NoPage, Data: data}}})
	})
}

// send sends the newest state: the blocks that the other side lacks, then its
// manifest.
func (g *giving) send(number, round int, final bool) {
	st, s := g.strands[number], g.state()
	if st == nil {
		return
	}
	st.write(func() error {
		sent, err := g.sendState(st, s, round, final)
		if err != nil {
			return err
		}
		g.count(sent.Bytes)
		g.n.log.Debug("a round of a task is sent", "task", g.name.Task.String(), "round", round, "final", final, "blocks", sent.Blocks, "bytes", sent.Bytes, "manifest", len(s.manifest))
		g.tell(sent)
		if final {
			g.n.reached("giver: final sent")
		} else {
			g.n.reached("giver: round sent")
		}
		return nil
	})
}

func (g *giving) count(bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rounds, g.bytes = g.rounds+1, g.bytes+bytes
}

var errHung = errors.New("the stream was ended")

// sendState is on the strand's writer.
func (g *giving) sendState(st *strand, s snapshot, round int, final bool) (handover.Sent, error) {
	sent := handover.Sent{Stream: st.number, N: round, Blocks: st.early.Blocks, Bytes: st.early.Bytes + int64(len(s.manifest))}
	st.early = handover.Sent{}
	named, err := s.pages.of(s.manifest)
	if err != nil {
		return sent, err
	}
	var frame handover.Pages
	flush := func() error {
		if st.hung.Load() {
			return errHung
		}
		if len(frame.Blocks) == 0 {
			return nil
		}
		err := st.Send(frame)
		frame = handover.Pages{}
		return err
	}
	for _, h := range named {
		if st.sent[h] {
			continue
		}
		data, err := s.pages.Get(h)
		if err != nil {
			return sent, err
		}
		st.sent[h] = true
		sent.Blocks++
		sent.Bytes += int64(len(data))
		if frame.Add(handover.Block{Hash: h, Page: handover.NoPage, Data: data}) {
			if err := flush(); err != nil {
				return sent, err
			}
		}
	}
	if err := flush(); err != nil {
		return sent, err
	}
	if final {
		return sent, st.Send(handover.Final{N: round, Fuel: s.fuel, CPU: s.cpu, Hash: sha256.Sum256(s.manifest), Manifest: s.manifest})
	}
	return sent, st.Send(handover.Round{N: round, Fuel: s.fuel, CPU: s.cpu, Manifest: s.manifest})
}

// finish settles what came of it.
func (g *giving) finish(f handover.Finish) {
	g.result = f
	name, a, last := g.name, g.a, g.state()
	g.place.mu.Lock()
	g.place.g = nil
	if f.Outcome == handover.Stays {
		g.place.failed = f.Reason
	}
	if f.Outcome == handover.Handed {
		g.place.handed = &message.Handed{Bytes: f.Stats.Bytes, State: last.pages.size(last.manifest), Rounds: max(0, len(f.Stats.Rounds)-1), Took: f.Stats.Total, Down: f.Stats.Downtime}
	}
	g.place.mu.Unlock()
	g.n.log.Info("a task's way elsewhere is over", "task", name.Task.String(), "to", g.to, "outcome", f.Outcome.String(), "reason", f.Reason,
		"rounds", len(f.Stats.Rounds), "bytes", f.Stats.Bytes, "stood_still", f.Stats.Downtime, "slowed", f.Stats.Slowed, "took", f.Stats.Total)
	switch f.Outcome {
	case handover.Handed:
		g.n.reached("giver: handed")
		g.n.post(post{call: func() { g.n.pace.note(f.Stats.Bytes, f.Stats.Total) }})
	case handover.Stays:
		g.n.post(post{of: a.of, to: a.from, event: message.NotHanded{Task: name.Task, Attempt: name.Attempt, Reason: f.Reason}})
	case handover.Stopped:
		g.mu.Lock()
		frozen := g.frozen
		g.mu.Unlock()
		if !frozen { // else its run ends by itself, with that state
			a.end()
		}
	}
}
