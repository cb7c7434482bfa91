package hostile

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// A witness is a member of the open pool that behaves: it stands by, takes copies of the
// ledger, and notes when the leader renews its lease. So the lateness of renewals is seen
// where it matters.
type witness struct {
	s *stranger

	mu      sync.Mutex
	session uint64
	seq     uint64 // of copies
}

// newWitness brings one to the nodes.
func (f *field) newWitness(ctx context.Context) (*stranger, error) {
	s, err := f.prepare(fellow)
	if err != nil {
		return nil, err
	}
	s.offer.Slots, s.offer.Memory = 0, 0 // it runs nothing
	w := &witness{s: s}
	s.onLease = w.lease
	s.onMessage = func(from task.PeerID, of overlay.ID, m *message.Message) { w.follow(ctx, from, of, m) }
	return s, s.begin(ctx)
}

// lease notes a renewal of the open pool's leader.
func (w *witness) lease(_ task.PeerID, body []byte) {
	var said struct {
		Overlay overlay.ID    `json:"overlay"`
		Kind    string        `json:"kind"`
		Group   []task.PeerID `json:"group"`
	}
	if json.Unmarshal(body, &said) == nil && said.Kind == "renewal" && said.Overlay == w.s.f.open &&
		slices.Contains(said.Group, w.s.host.ID()) {
		w.s.f.gauge.renewed(time.Now())
	}
}

// follow is the least that a follower says, so that nothing waits for it.
func (w *witness) follow(ctx context.Context, from task.PeerID, of overlay.ID, m *message.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	answer := message.Message{}
	switch {
	case m.Wanted != nil && (m.Wanted.Session == 0 || m.Wanted.Session != w.session):
		w.session, w.seq = rand.Uint64()|1, 0
		answer.Known = &message.Known{Epoch: m.Wanted.Epoch, Session: w.session, Seq: 1, Last: true}
	case m.Copy != nil && m.Copy.Session == w.session:
		w.seq = m.Copy.Seq
		c := &message.Copied{Epoch: m.Copy.Epoch, Session: w.session, Seq: w.seq}
		for _, h := range m.Copy.Hold {
			c.Held = append(c.Held, message.HeldBlocks{Name: h.Name})
		}
		answer.Copied = c
	default:
		return
	}
	_ = w.s.sayIn(context.WithoutCancel(ctx), from, of, answer) // it is asked again
}
