package node

import (
	"context"
	"time"

	"godwit/migrate/handover"
	"godwit/node/exec"
	"godwit/p2p"
	"godwit/task"
)

// The steps of a hand-over are seen from outside package exec: in what its runner is
// asked and told, and in the frames of its streams.

// sentStep is the step that a frame of this side ends; "" for none.
func sentStep(f handover.Frame) string {
	switch f.(type) {
	case handover.Open:
		return "source: opened"
	case handover.Round:
		return "source: round sent"
	case handover.Final:
		return "source: final sent"
	case handover.Welcome:
		return "destination: welcomed"
	case handover.Got:
		return "destination: round taken"
	case handover.Resumed:
		return "destination: resumed sent"
	}
	return ""
}

// A watchedStream tells what steps its frames are.
type watchedStream struct {
	exec.Stream
	fault func(step string)
}

func (s watchedStream) Send(f handover.Frame) error {
	err := s.Stream.Send(f)
	if step := sentStep(f); step != "" {
		s.fault(step)
	}
	return err
}

func (s watchedStream) Receive() (handover.Frame, error) {
	f, err := s.Stream.Receive()
	if _, final := f.(handover.Final); final {
		s.fault("destination: final received")
	}
	return f, err
}

// serveWatched serves streams whose frames the peer's fault hears of.
func (p *peer) serveWatched(serve serveFunc) func(context.Context, task.PeerID, *p2p.HandOverStream) {
	return func(ctx context.Context, from task.PeerID, s *p2p.HandOverStream) {
		if p.serves != nil {
			p.serves()
		}
		if fault := p.runner.fault; fault != nil {
			serve(ctx, from, watchedStream{s, fault})
			return
		}
		serve(ctx, from, s)
	}
}

// watched returns a state that tells of the steps that the runner comes to.
func watched(s *exec.State, fault func(step string)) *exec.State {
	w := *s
	w.OnFrozen = func(manifest []byte, fuel uint64, cpu time.Duration) {
		fault("source: frozen")
		s.OnFrozen(manifest, fuel, cpu)
		fault("source: settled")
	}
	if s.Stages == nil {
		return &w
	}
	fault("destination: expected")
	w.OnStandby = func() { fault("destination: compiled") }
	w.OnStage = func(n int) {
		s.OnStage(n)
		fault("destination: round placed")
	}
	w.OnBegin = func() {
		fault("destination: thawed")
		s.OnBegin()
	}
	return &w
}
