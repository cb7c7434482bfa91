package exec

import (
	"crypto/sha256"
	"errors"

	"godwit/migrate/handover"
)

// ahead sends a block as it comes from the sandbox, on the goroutine of its run. That
// must not wait for the network: the guest stands still while the state is taken that
// has no room for copies, or for the last of it. What finds the queue full goes with
// the round, from the disk.
func (s *source) ahead(h [32]byte, data []byte) {
	s.fresh.Add(int64(len(data)))
	s.mu.Lock()
	c := s.live
	s.mu.Unlock()
	if c == nil || c.hung.Load() {
		return
	}
	select {
	case c.aheads <- struct{}{}:
	default:
		return
	}
	c.write(func() error {
		<-c.aheads
		if c.sent[h] || c.hung.Load() {
			return nil
		}
		c.sent[h] = true
		c.early.Blocks, c.early.Bytes = c.early.Blocks+1, c.early.Bytes+int64(len(data))
		return c.Send(handover.Pages{Blocks: []handover.Block{{Hash: h, Page: handover.NoPage, Data: data}}})
	})
}

// send sends the newest state: the blocks that the other side lacks, then its
// manifest.
func (s *source) send(number, round int, final bool) {
	c, state := s.conns[number], s.state()
	if c == nil {
		return
	}
	c.write(func() error {
		sent, err := c.sendState(state, round, final)
		if err != nil {
			return err
		}
		s.count(sent.Bytes)
		s.Log.Debug("a round of a task is sent", "task", s.name.Task.String(), "round", round, "final", final,
			"blocks", sent.Blocks, "bytes", sent.Bytes, "manifest", len(state.manifest))
		s.tell(sent)
		return nil
	})
}

func (s *source) count(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rounds, s.bytes = s.rounds+1, s.bytes+bytes
}

var errHung = errors.New("the stream was ended")

// sendState is on the stream's writer.
func (c *conn) sendState(s snapshot, round int, final bool) (handover.Sent, error) {
	sent := handover.Sent{
		Stream: c.number, N: round, Blocks: c.early.Blocks, Bytes: c.early.Bytes + int64(len(s.manifest)),
	}
	c.early = handover.Sent{}
	named, err := s.pages.of(s.manifest)
	if err != nil {
		return sent, err
	}
	var frame handover.Pages
	flush := func() error {
		if c.hung.Load() {
			return errHung
		}
		if len(frame.Blocks) == 0 {
			return nil
		}
		err := c.Send(frame)
		frame = handover.Pages{}
		return err
	}
	for _, h := range named {
		if c.sent[h] {
			continue
		}
		data, err := s.pages.Get(h)
		if err != nil {
			return sent, err
		}
		c.sent[h] = true
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
		return sent, c.Send(handover.Final{
			N: round, Fuel: s.fuel, CPU: s.cpu, Hash: sha256.Sum256(s.manifest), Word: s.word, Manifest: s.manifest,
		})
	}
	return sent, c.Send(handover.Round{N: round, Fuel: s.fuel, CPU: s.cpu, Word: s.word, Manifest: s.manifest})
}
