package scheduler

import (
	"testing"
	"time"

	"godwit/internal/roundtrip"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/scheduler/worker"
	"godwit/task"
)

// FuzzDecodeFrame checks that no bytes make DecodeFrame panic, that what it accepts
// encodes and is read as the same, and that the machines take it.
func FuzzDecodeFrame(f *testing.F) {
	for _, m := range schedtest.EveryMessage(f) {
		b, err := message.EncodeFrame([]message.Message{m})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		messages, err := message.DecodeFrame(b)
		if err != nil {
			return
		}
		if len(b) < 100<<10 { // what is absent is null when it is encoded, and may take a frame
			roundtrip.Check(t, messages, message.EncodeFrame, message.DecodeFrame)
		}
		key, self := schedtest.Identity(0)
		_, from := schedtest.Identity(1)
		cfg := Default()
		cfg.Migration = "reactive"
		c, w, s := NewCoordinator(self, cfg, 3), worker.New(self, cfg.Timing, cfg.Worker),
			submitter.New(self, cfg.Timing, cfg.Submitter, key)
		s.Step(schedtest.Start, message.Offer{Record: schedtest.Job(t, key, 3, nil)})
		s.Step(schedtest.Start, message.LeaderChanged{Leader: from, Epoch: 1})
		w.Step(schedtest.Start, message.LeaderChanged{Leader: from, Epoch: 1})
		w.Step(schedtest.Start, message.OwnerState{Slots: 1})
		c.Step(schedtest.Start, message.GroupIs{Followers: []task.PeerID{from}})
		r := NewReplica(self, cfg)
		r.Step(schedtest.Start, message.LeaderChanged{Leader: from, Epoch: 3})
		r.session.id, r.session.state = 9, following // as a leader that guesses well would find it
		for _, m := range messages {
			for _, e := range c.Step(schedtest.Start, &message.Received{From: from, Message: &m}) {
				if e, ok := e.(message.Fetch); ok {
					c.Step(schedtest.Start, message.Fetched{Key: e.Key})
				}
			}
			for _, e := range r.Step(schedtest.Start, &message.Received{From: from, Message: &m}) {
				if e, ok := e.(message.Fetch); ok {
					r.Step(schedtest.Start, message.Fetched{Key: e.Key})
				}
			}
			w.Step(schedtest.Start, &message.Received{From: from, Message: &m})
			s.Step(schedtest.Start, &message.Received{From: from, Message: &m})
		}
		c.Step(schedtest.Start.Add(time.Hour), message.Wake{})
		r.Step(schedtest.Start.Add(time.Hour), message.Wake{})
		c, _ = r.Lead(schedtest.Start.Add(time.Hour), 4)
		c.Step(schedtest.Start.Add(2*time.Hour), message.Wake{})
	})
}
