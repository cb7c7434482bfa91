package node

import (
	"context"
	"fmt"

	"godwit/overlay"
	"godwit/scheduler"
	"godwit/task"
)

// manifestPrefix is where the manifests followed are kept, by overlay name.
const manifestPrefix = "n/manifest/"

// lead makes this node the overlay's coordinator, with whatever it held when
// it last led.
func (n *Node) lead() {
	held, err := n.store.load(context.Background(), "c/")
	if err != nil {
		n.log.Error("cannot lead: the ledger cannot be read", "err", err)
		return
	}
	const firstEpoch = 1
	c := scheduler.NewCoordinator(n.self, n.sched, firstEpoch)
	effects, err := c.Restore(held)
	if err != nil {
		n.log.Error("part of the ledger could not be read; its submitters still hold those jobs", "err", err)
	}
	n.coordinator, n.epoch = c, c.Epoch()
	for _, e := range effects {
		n.pending = append(n.pending, pending{effect: e, from: c})
	}
	for _, a := range n.view.Members() {
		n.step(c, scheduler.MemberSeen{Advert: a})
	}
	n.log.Info("leading the overlay", "overlay", n.cfg.Overlay, "epoch", n.epoch)
}

// stepDown ends this node's leadership because an overlay of the same name
// was founded earlier. Jobs accepted here are not lost: whoever submitted them
// offers them to the new leader, which takes them from nobody else.
func (n *Node) stepDown(founder task.PeerID) {
	n.log.Info("an overlay of this name was founded earlier: following it", "founder", founder)
	n.coordinator, n.epoch = nil, 0
}

func (n *Node) saveManifest(m overlay.Manifest) {
	b, err := m.Encode()
	if err != nil {
		n.log.Error("encoding the manifest", "err", err)
		return
	}
	n.pending = append(n.pending, pending{effect: scheduler.Persist{Key: manifestPrefix + n.cfg.Overlay, Value: b}})
}

func (n *Node) loadManifest(ctx context.Context) (overlay.Manifest, error) {
	var m overlay.Manifest
	pairs, err := n.store.load(ctx, manifestPrefix)
	value, ok := pairs[manifestPrefix+n.cfg.Overlay]
	if err != nil || !ok {
		return m, err
	}
	if m, err = overlay.OpenManifest(value); err != nil {
		return overlay.Manifest{}, fmt.Errorf("reading the overlay's manifest: %w", err)
	}
	return m, nil
}
