package node

import (
	"context"
	"errors"
	"sync/atomic"

	"godwit/migrate/handover"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// An arrival is how a state that comes from another member gets into a sandbox.
type arrival struct {
	stages    chan sandbox.Stage
	onStandby func()
	onStage   func(n int)
	onBegin   func()
}

// errNoState is returned where the state of a task did not come to its end.
var errNoState = errors.New("node: the task's state did not come")

// beginning returns the state that a task begins with, nil for none, by a runner
// that takes states whole: it waits for one that comes from another member. s may
// be nil.
func (s *saving) beginning(ctx context.Context) ([]byte, error) {
	switch {
	case s == nil:
		return nil, nil
	case s.coming == nil:
		return s.from, nil
	}
	s.coming.onStandby()
	for n := 0; ; n++ {
		select {
		case stage, ok := <-s.coming.stages:
			switch {
			case !ok:
				return nil, errNoState
			case stage.Last:
				return stage.Manifest, nil
			}
			s.coming.onStage(n)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begins says that the task runs now.
func (s *saving) begins() {
	if s != nil && s.coming != nil {
		s.coming.onBegin()
	}
}

// stopping is closed when the task is to stop with its state.
func (s *saving) stopping() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.stop
}

// A takingName is what a hand-over is known by at its destination.
type takingName struct {
	of   overlay.ID
	task task.TaskID
	as   message.Attempt
}

// A taking is the destination's side of one hand-over.
type taking struct {
	*passage
	name    takingName
	streams atomic.Int64 // numbers given

	// Of the loop.

	of      *membership
	from    machine
	offered bool          // by the leader; until then no sandbox waits
	attempt attempt       // of it
	instead *waitingStart // begins in its place, when it is over

	// Of the passage's goroutine.

	saving *saving
	placed []int // rounds that the sandbox was given and has not answered

	result   handover.Finish // once done is closed
	settling atomic.Bool
}

const (
	// maxStrange bounds the hand-overs that wait for a leader's offer: a member
	// with more slots than that is offered as many in one step only by a leader
	// whose word is before its streams.
	maxStrange = 64
	// stagesQueued is how many stages may wait for a sandbox that still compiles:
	// more than a machine gives.
	stagesQueued = handover.MaxRounds + 1
)

func (n *Node) newTaking(name takingName) *taking {
	t := &taking{name: name}
	t.passage = n.newPassage(handover.NewTaker(handover.Default()), t.carryOut)
	n.takings[name] = t
	return t
}

// expect answers an Expect, on the loop.
func (n *Node) expect(p pending, e message.Expect) {
	ready := n.prepared[e.Task.Job]
	if ready == nil || !n.saves(ready) {
		p.of.step(p.from, message.NotArrived{Task: e.Task, Attempt: e.Attempt, Reason: "a state of that job cannot be taken here"})
		return
	}
	n.reached("taker: expected")
	name := takingName{p.of.id, e.Task, e.Attempt}
	offer := handover.Offered{Overlay: string(p.of.id), Task: e.Task, As: handover.Attempt(e.Attempt), Worker: e.From, From: handover.Attempt(e.FromAttempt)}
	if t := n.takings[name]; t != nil && !t.offered {
		s := t.begin(n, p, e, ready)
		if t.hear(heard{call: func() {
			t.saving = s
			t.step(offer)
		}}) {
			n.spawn(func() { n.await(t, e, ready, s) })
			return
		}
		t.attempt.end() // it has just given up waiting for this: the source asks again
	}
	t := n.newTaking(name)
	s := t.begin(n, p, e, ready)
	t.saving = s
	n.spawn(func() { t.run(n.tasks, offer) })
	n.spawn(func() { n.await(t, e, ready, s) })
}

// begin prepares the attempt that is to come.
func (t *taking) begin(n *Node, p pending, e message.Expect, ready *preparedJob) *saving {
	ctx, cancel := context.WithCancel(n.tasks)
	stop := make(chan struct{})
	t.of, t.from, t.offered = p.of, p.from, true
	t.attempt = newAttempt(p.of, p.from, ctx, cancel, stop)
	s := &saving{stop: stop, save: t.attempt.place.save, share: t.attempt.place.share, giver: t.attempt.place, every: ready.job.Checkpoint.Every, pages: n.newPages(n.tasks), costs: &ready.saves, left: newWorkLeft(e.Left)}
	s.pages.giver = t.attempt.place
	n.keepStates(waitingStart{p.of, p.from, message.Start{Task: e.Task, Attempt: e.Attempt}}, s)
	s.coming = &arrival{
		stages:    make(chan sandbox.Stage, stagesQueued),
		onStandby: func() { n.reached("taker: compiled") },
		onStage:   func(int) { t.hear(heard{call: t.placedOne}) },
		onBegin:   func() { t.tell(handover.Thawed{}) },
	}
	t.attempt.context = ctx
	n.saveOnTime(ctx, p.of, e.Task, ready, t.attempt.place, s.left)
	return s
}

// await runs the sandbox that waits for the state, and then the guest.
func (n *Node) await(t *taking, e message.Expect, ready *preparedJob, s *saving) {
	res := n.runTask(t.attempt.context, ready, e.Task, s)
	t.attempt.end()
	why := res.Message
	if why == "" {
		why = "the sandbox ended"
	}
	t.tell(handover.Cancel{Reason: why})
	<-t.done
	name := message.AttemptName{Task: e.Task, Attempt: e.Attempt}
	if t.result.Outcome == handover.Arrived {
		n.post(post{call: func() { n.attemptEnded(t.attempt, name, res) }})
		return
	}
	saved, release := t.best()
	n.post(post{call: func() {
		defer release()
		if w := t.instead; w != nil {
			n.waiting = append(n.waiting, *w)
			n.startWaiting()
			return
		}
		t.of.step(t.from, message.NotArrived{Task: e.Task, Attempt: e.Attempt, Reason: t.result.Reason, Saved: saved})
	}})
}

// best stores the newest state that is whole here as a tree, which is safe from
// collection until release.
func (t *taking) best() (*message.Checkpoint, func()) {
	b := t.result.Best
	if b == nil || t.saving == nil {
		return nil, func() {}
	}
	root, err := t.saving.pages.tree(b.Manifest)
	if err == nil {
		err = t.n.blocks.Sync(t.n.tasks)
	}
	if err != nil {
		t.n.log.Warn("what came of a task could not be stored", "task", t.name.task.String(), "err", err)
		return nil, func() {}
	}
	return &message.Checkpoint{CID: root, Fuel: b.Fuel, CPU: b.CPU}, t.n.pins.hold([]task.CID{root})
}

// insteadOf has a Start take the place of a state that is still to come, and says
// whether it is dealt with.
func (n *Node) insteadOf(w waitingStart) bool {
	e := w.start
	t := n.takings[takingName{w.of.id, e.Task, e.Attempt}]
	if _, runs := n.running[message.AttemptName{Task: e.Task, Attempt: e.Attempt}]; runs {
		return true // it has arrived
	}
	if t == nil || !t.offered {
		return false
	}
	t.instead = &w
	t.cancel("it begins here from another state")
	return true
}

// cancel ends a hand-over from the loop.
func (t *taking) cancel(why string) {
	t.n.spawn(func() { t.tell(handover.Cancel{Reason: why}) })
}

// refuseArrivals ends the hand-overs to this node that which says, on the loop.
func (n *Node) refuseArrivals(why string, which func(*taking) bool) {
	for _, t := range n.takings {
		if t.offered && which(t) {
			t.cancel(why)
		}
	}
}

// carryOut does what the machine wants, on the passage's goroutine.
func (t *taking) carryOut(e handover.Effect) {
	switch e := e.(type) {
	case handover.Store:
		t.store(e.Blocks)
	case handover.Inspect:
		missing, err := t.saving.pages.missing(e.Manifest)
		answer := handover.Inspected{N: e.N, Missing: missing}
		if err != nil {
			answer.Problem = err.Error()
		}
		t.answer(answer)
	case handover.Place:
		t.placed = append(t.placed, e.N)
		t.stage(sandbox.Stage{Manifest: e.Manifest})
	case handover.Thaw:
		t.n.reached("taker: final received")
		t.saving.before = e.CPU
		t.stage(sandbox.Stage{Manifest: e.Manifest, Last: true})
	case handover.Finish:
		t.finish(e)
	}
}

// stage gives the sandbox a stage. More than fit are a machine's mistake.
func (t *taking) stage(s sandbox.Stage) {
	select {
	case t.saving.coming.stages <- s:
	default:
		t.answer(handover.Cancel{Reason: "the sandbox does not take the state in"})
	}
}

func (t *taking) placedOne() {
	if len(t.placed) == 0 {
		return
	}
	n := t.placed[0]
	t.placed = t.placed[1:]
	t.step(handover.Placed{N: n})
	t.n.reached("taker: round placed")
}

// store takes blocks in. They are put on the disk beside the transfer; where that
// falls behind, the transfer waits.
func (t *taking) store(blocks []handover.Block) {
	pages := t.saving.pages
	if pages.hold(blocks) <= maxFresh {
		t.settleSoon()
		return
	}
	if err := pages.settle(pages.held()); err != nil {
		if isFull(err) {
			t.n.wantRoom()
		}
		t.answer(handover.Cancel{Reason: err.Error()})
	}
}

// settleSoon puts the blocks that came among the node's, in a goroutine.
func (t *taking) settleSoon() {
	if !t.settling.CompareAndSwap(false, true) {
		return
	}
	t.n.spawn(func() {
		defer t.settling.Store(false)
		for held := t.saving.pages.held(); len(held) > 0; held = t.saving.pages.held() {
			if err := t.saving.pages.settle(held); err != nil {
				t.n.log.Debug("pages of a task that comes are not stored yet", "err", err)
				return
			}
		}
	})
}

// finish settles what came of it.
func (t *taking) finish(f handover.Finish) {
	t.result = f
	n := t.n
	if t.saving == nil { // a stranger's
		n.post(post{call: func() { n.forgetTaking(t) }})
		return
	}
	n.log.Info("a task's way here is over", "task", t.name.task.String(), "outcome", f.Outcome.String(), "reason", f.Reason, "bytes", f.Stats.Bytes, "took", f.Stats.Total)
	if f.Outcome != handover.Arrived {
		t.attempt.end()
		n.post(post{call: func() { n.forgetTaking(t) }})
		return
	}
	t.settleSoon()
	n.reached("taker: thawed")
	n.post(post{call: func() { n.arrived(t) }})
}

func (n *Node) forgetTaking(t *taking) {
	if n.takings[t.name] == t {
		delete(n.takings, t.name)
	}
}

// arrived books an attempt that has come here and runs, on the loop.
func (n *Node) arrived(t *taking) {
	n.forgetTaking(t)
	name := message.AttemptName{Task: t.name.task, Attempt: t.name.as}
	n.running[name] = t.attempt
	n.freeChanged()
	n.hold()
	if t.instead == nil {
		t.of.step(t.from, message.Arrived{Task: name.Task, Attempt: name.Attempt})
	}
}

// onHandOver serves a stream that a member opened, on a goroutine of the
// network's.
func (n *Node) onHandOver(ctx context.Context, from task.PeerID, s *p2p.HandOverStream) {
	f, err := s.Receive()
	if err != nil {
		return
	}
	open, ok := f.(handover.Open)
	if !ok {
		s.Hang("the first frame is not an opening")
		return
	}
	var t *taking
	var fresh bool
	why := "the node stops"
	_ = n.do(ctx, func() { t, fresh, why = n.opened(from, open) })
	if t == nil {
		_ = s.Send(handover.Refuse{Reason: why})
		return
	}
	first := handover.Opened{Stream: int(t.streams.Add(1)), Peer: from, Open: open}
	strands := make(chan *strand, 1)
	if fresh {
		strands <- t.attach(first.Stream, s)
		n.spawn(func() { t.run(n.tasks, first) })
	} else if !t.hear(heard{call: func() {
		strands <- t.attach(first.Stream, s)
		t.step(first)
	}}) {
		_ = s.Send(handover.Refuse{Reason: "it was given up here a moment ago", Later: true})
		return
	}
	select {
	case st := <-strands:
		t.read(st)
		<-st.gone // what it still has to say is written
	case <-t.done:
	}
}

// opened finds the hand-over that a stream is of, on the loop, or says why there
// can be none. One of which the leader has not told yet is fresh.
func (n *Node) opened(from task.PeerID, o handover.Open) (t *taking, fresh bool, why string) {
	m := n.members[overlay.ID(o.Overlay)]
	if m == nil || !m.admits(from) {
		return nil, false, "this node is not with you in that overlay"
	}
	name := takingName{m.id, o.Task, message.Attempt(o.As)}
	if t := n.takings[name]; t != nil {
		return t, false, ""
	}
	strange := 0
	for _, t := range n.takings {
		if !t.offered {
			strange++
		}
	}
	if strange >= maxStrange {
		return nil, false, "too many tasks are on their way here"
	}
	return n.newTaking(name), true, ""
}
