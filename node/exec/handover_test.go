package exec

import (
	"context"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"godwit/migrate/handover"
	"godwit/owner"
	"godwit/scheduler/message"
	"godwit/task"
)

// A pipe is one end of a stream between two Executors.
type pipe struct {
	out, in chan handover.Frame
	moved   *atomic.Int64
	ctx     context.Context
	cut     context.CancelFunc
}

func newPipe(t *testing.T) (a, b pipe) {
	x, y := make(chan handover.Frame), make(chan handover.Frame)
	ctx, cut := context.WithCancel(t.Context())
	return pipe{x, y, new(atomic.Int64), ctx, cut}, pipe{y, x, new(atomic.Int64), ctx, cut}
}

func (p pipe) Send(f handover.Frame) error {
	select {
	case p.out <- f:
		p.moved.Add(1)
		return nil
	case <-p.ctx.Done():
		return io.EOF
	}
}

func (p pipe) Receive() (handover.Frame, error) {
	select {
	case f := <-p.in:
		p.moved.Add(1)
		return f, nil
	case <-p.ctx.Done():
		return nil, io.EOF
	}
}

func (p pipe) Moved() (out, in int64) { return p.moved.Load(), 0 }
func (p pipe) Hang(string)            { p.cut() }
func (p pipe) Close() error           { p.cut(); return nil }

// ahead is a Sleeper whose states are sent ahead.
type ahead struct{ Sleeper }

func (*ahead) Rounds() bool { return true }

// twoHosts are the two sides of a hand-over of a task of a minute, whose leader is the
// test. The task is attempt 1 at the source and 2 at the destination.
type twoHosts struct {
	source, destination *fakeHost
	from, to            *Executor
	id                  task.TaskID
}

func newTwoHosts(t *testing.T, runner func() Runner) *twoHosts {
	return newTwoHostsWith(t, runner, nil)
}

// newTwoHostsWith has the task begin at the source with a receipt.
func newTwoHostsWith(t *testing.T, runner func() Runner, receipt func(w *twoHosts) *task.Receipt) *twoHosts {
	w := &twoHosts{source: newFakeHost(), destination: newFakeHost()}
	w.destination.seed = 1
	w.from, w.to = w.source.executor(t, runner()), w.destination.executor(t, runner())
	w.id = task.TaskID{Job: w.source.prepared(t, w.from, 1, time.Minute)}
	w.destination.prepared(t, w.to, 1, time.Minute)
	w.source.dial = func(task.PeerID) (Stream, error) {
		here, there := newPipe(t)
		go w.to.Serve(t.Context(), w.from.Self, there)
		return here, nil
	}
	for _, x := range []*Executor{w.from, w.to} {
		w.source.on(func() { x.Lend(owner.Decision{Cores: 1}) })
	}
	begins := message.Start{Task: w.id, Attempt: as(1)}
	if receipt != nil {
		begins.Receipt = receipt(w)
	}
	w.source.do(w.from, begins)
	return w
}

// moves has the leader say that the task is to move.
func (w *twoHosts) moves() {
	w.destination.do(w.to, message.Expect{Task: w.id, Attempt: as(2), From: w.from.Self, FromAttempt: as(1)})
	w.source.do(w.from, message.HandOver{Task: w.id, Attempt: as(1), Named: as(1), To: w.to.Self, As: as(2)})
}

// A task moves while it runs: the source ends its attempt with the word that it was
// handed over, and the destination does what is left.
func TestHandOver(t *testing.T) {
	for name, runner := range map[string]func() Runner{
		"whole":  func() Runner { return &Sleeper{} },
		"rounds": func() Runner { return &ahead{} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTwoHosts(t, runner)
				<-time.After(20 * time.Second)
				w.moves()
				<-time.After(15 * time.Second)
				if e := w.source.ended(); len(e) != 1 || e[0].Handed == nil || e[0].Result.Outcome != task.Interrupted {
					t.Fatalf("the source's attempt ended as %+v", e)
				}
				arrived := slices.ContainsFunc(w.destination.heard(), func(ev message.Event) bool {
					a, ok := ev.(message.Arrived)
					return ok && a.Task == w.id && a.Attempt == as(2)
				})
				if !arrived {
					t.Fatalf("the destination's worker heard %+v", w.destination.heard())
				}
				<-time.After(30 * time.Second)
				e := w.destination.ended()
				if len(e) != 1 || e[0].Result.Outcome != task.Completed || e[0].Attempt != as(2) {
					t.Fatalf("the destination's attempt ended as %+v", e)
				}
				if cpu := e[0].Result.CPU; cpu > 40*time.Second || cpu < 30*time.Second {
					t.Errorf("the destination waited %v of a minute", cpu)
				}
			})
		})
	}
}

// A destination that the leader has not told of the task, or that cannot be reached,
// leaves it where it is; one of which the source does not come says so.
func TestHandOverComesToNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTwoHosts(t, func() Runner { return &Sleeper{} })
		w.source.do(w.from, message.HandOver{Task: w.id, Attempt: as(1), Named: as(1), To: w.to.Self, As: as(2)})
		w.destination.do(w.to, message.Expect{Task: w.id, Attempt: as(7), From: w.from.Self, FromAttempt: as(1)})
		<-time.After(61 * time.Second)
		if e := w.source.ended(); len(e) != 1 || e[0].Handed != nil || e[0].Result.Outcome != task.Completed {
			t.Errorf("the task ended as %+v", e)
		}
		stayed := slices.ContainsFunc(w.source.heard(), func(ev message.Event) bool {
			_, ok := ev.(message.NotHanded)
			return ok
		})
		missed := slices.ContainsFunc(w.destination.heard(), func(ev message.Event) bool {
			_, ok := ev.(message.NotArrived)
			return ok
		})
		if !stayed || !missed {
			t.Errorf("not handed: %v, not arrived: %v", stayed, missed)
		}
		w.destination.on(func() {
			if len(w.to.arriving) != 0 {
				t.Errorf("%d hand-overs are left", len(w.to.arriving))
			}
		})
	})
}

// A Start from another state takes the place of one that is still to come.
func TestStartInsteadOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTwoHosts(t, func() Runner { return &Sleeper{} })
		w.destination.do(w.to, message.Expect{Task: w.id, Attempt: as(2), From: w.from.Self, FromAttempt: as(1)})
		w.destination.do(w.to, message.Start{Task: w.id, Attempt: as(2)})
		<-time.After(61 * time.Second)
		e := w.destination.ended()
		if len(e) != 1 || e[0].Result.Outcome != task.Completed || e[0].Result.CPU != time.Minute {
			t.Errorf("it ended as %+v; heard %+v", e, w.destination.heard())
		}
	})
}

// Members that open streams of which no leader has said a word cost little: no more than
// maxStrange wait, and each is sent away in the end.
func TestStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHost()
		x := h.executor(t, &Sleeper{})
		var refused atomic.Int64
		for i := range uint64(maxStrange + 9) {
			here, there := newPipe(t)
			go x.Serve(t.Context(), x.Self, there)
			go func() {
				_ = here.Send(handover.Open{Overlay: "lab", Task: task.TaskID{Index: i}})
				if f, err := here.Receive(); err == nil {
					if _, ok := f.(handover.Refuse); ok {
						refused.Add(1)
					}
				}
				here.cut()
			}()
		}
		synctest.Wait()
		h.on(func() {
			if len(x.arriving) != maxStrange || refused.Load() != 9 {
				t.Errorf("%d wait, and %d were refused", len(x.arriving), refused.Load())
			}
		})
		<-time.After(time.Minute)
		h.on(func() {
			if len(x.arriving) != 0 {
				t.Errorf("%d wait yet", len(x.arriving))
			}
		})
		here, there := newPipe(t)
		go func() { _ = here.Send(handover.Got{N: 1}) }()
		x.Serve(t.Context(), x.Self, there) // no opening: it is hung up
		if there.ctx.Err() == nil {
			t.Error("a stream without an opening is served")
		}
	})
}
