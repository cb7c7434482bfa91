package node

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync/atomic"
	"time"

	"godwit/overlay"
	"godwit/p2p"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/scheduler/worker"
	"godwit/task"
)

// overlayPrefix is where what belongs to one overlay is kept, by its ID.
const overlayPrefix = "o/"

// A membership is this node's part in one overlay. The loop owns it.
type membership struct {
	n        *Node
	id       overlay.ID
	prefix   string           // of its durable keys, the machines' own after it
	first    overlay.Manifest // version 0, for those who know none yet
	manifest overlay.Manifest // the version followed
	pass     []byte           // what admits this node; nil where none is needed
	// admission is manifest, for the network's goroutines.
	admission atomic.Pointer[overlay.Manifest]
	share     float64 // of the slots, beside the other overlays', where the owner's rules say nothing; more than 0
	log       *slog.Logger

	view   *overlay.View
	away   map[task.PeerID]overlay.Advert // newest adverts of lost members, until they expire
	leader message.LeaderChanged          // as the machines last heard
	gone   map[task.PeerID]time.Time      // members that a leader lost, and when

	part // in coordinating

	worker    *worker.Worker
	submitter *submitter.Submitter
	told      message.OwnerState // what the worker last heard
	busy      time.Time          // until when its share counts as used
	served    float64            // seconds of a core, over the share that they were had by: see countTurns

	leaving bool // said goodbye
	out     bool // is no member any more
	asking  bool // for newer rules

	nextAdvert time.Time
	advertised overlay.Advert // the newest of this node; its Seq is 0 before the first
	advertSeq  uint64         // of the newest advert
}

// newMembership brings the machines back to what was durable, before the network
// hears of it.
func (n *Node) newMembership(ctx context.Context, j joined) (*membership, error) {
	id := j.Manifest.ID()
	cfg := n.sched
	unknown, err := govern(&cfg, &j.Manifest)
	if err != nil {
		return nil, fmt.Errorf("overlay %s: %w", j.Manifest.Name, err)
	}
	if unknown != nil {
		n.log.Error("this node cannot follow the overlay's policy of migration: while it leads, no task moves", "overlay", j.Manifest.Name, "err", unknown)
	}
	m := &membership{
		n: n, id: id, prefix: overlayPrefix + string(id) + "/", first: j.First, manifest: j.Manifest, pass: j.Pass, share: j.Share,
		log:  n.log.With("overlay", j.Manifest.Name),
		view: overlay.NewView(id), away: map[task.PeerID]overlay.Advert{}, gone: map[task.PeerID]time.Time{},
		worker:    worker.New(n.self, cfg.Timing, cfg.Worker),
		submitter: submitter.New(n.self, cfg.Timing, cfg.Submitter, n.key),
	}
	m.view.SetManifest(j.Manifest)
	if err := m.restoreEnds(ctx); err != nil {
		return nil, err
	}
	if err := m.restorePart(ctx, cfg); err != nil {
		return nil, err
	}
	return m, nil
}

// restoreEnds brings back the submitter's jobs and the worker's results. What is
// damaged is left out and told: the rest is good.
func (m *membership) restoreEnds(ctx context.Context) error {
	n := m.n
	var failed error
	err := m.submitter.Restore(func(prefix string) iter.Seq2[string, []byte] { return n.store.scan(ctx, m.prefix, prefix, &failed) })
	if failed != nil {
		return failed
	}
	if err != nil {
		m.log.Error("part of the submitted jobs cannot be read", "err", err)
	}
	kept, err := n.store.load(ctx, m.prefix, "w/")
	if err != nil {
		return err
	}
	if err := m.worker.Restore(kept); err != nil {
		m.log.Error("part of the finished results cannot be read; their tasks run again", "err", err)
	}
	return nil
}

// machines returns the machines in a fixed order.
func (m *membership) machines() []machine {
	if m.coordinator != nil {
		return []machine{m.coordinator, m.worker, m.submitter}
	}
	return []machine{m.replica, m.worker, m.submitter}
}

// has says whether a machine is still one of the membership's: an answer may
// come for one that has given its place to another.
func (m *membership) has(to machine) bool {
	switch to := to.(type) {
	case *scheduler.Coordinator:
		return to == m.coordinator
	case *scheduler.Replica:
		return to == m.replica
	}
	return true
}

// tell gives an event to every machine; each takes what is its business.
func (m *membership) tell(ev message.Event) {
	for _, to := range m.machines() {
		m.step(to, ev)
	}
}

func (m *membership) step(to machine, ev message.Event) {
	if !m.has(to) {
		return
	}
	m.do(to, to.Step(m.n.now(), ev))
}

// do has effects carried out with the next flush.
func (m *membership) do(from machine, effects []message.Effect) {
	for _, e := range effects {
		m.n.pending = append(m.n.pending, pending{effect: e, of: m, from: from})
	}
}

// keep makes a pair of this membership's own durable with the next flush.
func (m *membership) keep(key string, value []byte) {
	m.n.pending = append(m.n.pending, pending{effect: message.Persist{Key: key, Value: value}, of: m})
}

// network describes the overlay to the network, which asks for admission on
// goroutines of its own.
func (m *membership) network() p2p.Overlay {
	rules := m.manifest
	m.admission.Store(&rules)
	return p2p.Overlay{ID: m.id, Closed: m.manifest.Admission != overlay.Open, Admit: func(a *overlay.Advert) error {
		return m.admission.Load().Admits(a.Peer, a.Pass, a.Issued)
	}}
}
