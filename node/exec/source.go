package exec

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	"godwit/migrate/handover"
	"godwit/scheduler/message"
	"godwit/task"
)

// A snapshot is a checkpoint with what it took to come there.
type snapshot struct {
	manifest []byte
	fuel     uint64
	cpu      time.Duration // of all attempts together
	pages    *pageStore
	word     []byte // this node's about it, for who it is handed to
}

// A source is this side of a hand-over of an attempt that runs here.
type source struct {
	*session
	name     message.AttemptName
	controls *controls
	freeze   func()                  // stops the attempt with its state
	end      func()                  // at once
	settled  func(f handover.Finish) // called with what came of it, on the session's goroutine
	to       task.PeerID
	begun    time.Time
	result   handover.Finish // once done is closed
	fresh    atomic.Int64    // bytes of blocks that are new since the newest checkpoint

	mu     sync.Mutex
	newest snapshot
	live   *conn // the other side has said welcome on; nil before
	frozen bool
	rounds int   // sent
	bytes  int64 // of them
}

// keep notes the newest state, on the goroutine of the sandbox's run.
func (s *source) keep(state snapshot, frozen bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest, s.frozen = state, frozen
}

func (s *source) state() snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newest
}

// checkpoint takes one of the guest that runs on.
func (s *source) checkpoint(state snapshot) {
	s.keep(state, false)
	s.tell(handover.Saved{Bytes: s.fresh.Swap(0)})
}

// final takes the state that the guest was frozen with and reports, when that is
// settled, whether it runs on at the other side.
func (s *source) final(state snapshot) bool {
	s.keep(state, true)
	if !s.tell(handover.Frozen{Hash: sha256.Sum256(state.manifest)}) {
		return false
	}
	<-s.done
	return s.result.Outcome == handover.Handed
}

// carryOut does what the machine wants, on the session's goroutine.
func (s *source) carryOut(e handover.Effect) {
	switch e := e.(type) {
	case handover.Dial:
		s.spawn(func() { s.dial(e.Stream) })
	case handover.Checkpoint:
		s.welcomed()
		s.controls.saveSoon()
	case handover.SendRound:
		s.send(e.Stream, e.N, false)
	case handover.Slow:
		why := "it changes its memory faster than the network carries it"
		if e.Share == 1 {
			why = "it stays"
		}
		s.Log.Info("a task's share of the time on its way elsewhere", "task", s.name.Task.String(),
			"share", e.Share, "reason", why)
		s.controls.slow(e.Share)
	case handover.Freeze:
		s.welcomed()
		s.freeze()
	case handover.SendFinal:
		s.send(e.Stream, e.N, true)
	case handover.Finish:
		s.finish(e)
	}
}

func (s *source) dial(number int) {
	stream, err := s.Host.HandOver(s.ctx, s.to)
	if err != nil {
		s.tell(handover.Broken{Stream: number, Reason: err.Error()})
		return
	}
	if !s.call(func() {
		c := s.attach(number, stream)
		s.spawn(func() { s.read(c) })
		s.step(handover.Dialled{Stream: number})
	}) {
		_ = stream.Close()
	}
}

// welcomed notes the stream that blocks may be sent on: there is one at a time.
func (s *source) welcomed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		s.live = c
	}
}

// isWelcome reports whether the other side has said so.
func (s *source) isWelcome() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live != nil
}

// finish settles what came of it.
func (s *source) finish(f handover.Finish) {
	s.result = f
	s.controls.left(f, s.state())
	s.Log.Info("a task's way elsewhere is over", "task", s.name.Task.String(), "to", s.to,
		"outcome", f.Outcome.String(), "reason", f.Reason, "rounds", len(f.Stats.Rounds), "bytes", f.Stats.Bytes,
		"stood_still", f.Stats.Downtime, "slowed", f.Stats.Slowed, "took", f.Stats.Total)
	s.settled(f)
	if f.Outcome == handover.Stopped {
		s.mu.Lock()
		frozen := s.frozen
		s.mu.Unlock()
		if !frozen { // else its run ends by itself, with that state
			s.end()
		}
	}
}
