package testbed

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"godwit/api"
	"godwit/node"
	"godwit/p2p"
	"godwit/task"
)

// OverlayName is the name of an overlay of a test-bed with rules of its own.
const OverlayName = "swarm"

// Associate has the first node found an overlay and the others join it; all leave the
// one that they began with.
func (sw *Swarm) Associate(ctx context.Context, rules node.OverlayRules) (node.OverlayDetail, error) {
	first := api.Dial(sw.Nodes[0].Dir)
	defer first.Close()
	d, err := first.CreateOverlay(ctx, rules)
	if err != nil {
		return d, fmt.Errorf("founding an overlay: %w", err)
	}
	errs := make([]error, len(sw.Nodes))
	var wg sync.WaitGroup
	for i, n := range sw.Nodes {
		wg.Go(func() {
			client := api.Dial(n.Dir)
			defer client.Close()
			if i > 0 {
				_, errs[i] = client.JoinOverlay(ctx, string(d.ID), 1)
			}
			if errs[i] == nil {
				_, errs[i] = client.LeaveOverlay(ctx, node.DefaultOverlay)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return d, fmt.Errorf("joining the overlay: %w", err)
	}
	return d, nil
}

// StoreKey makes a node's directory, where there must be none with a key, and
// gives it its key.
func StoreKey(dir string, key ed25519.PrivateKey) (task.PeerID, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making a node's directory: %w", err)
	}
	if err := p2p.StoreKey(filepath.Join(dir, "identity.key"), key); err != nil {
		return "", fmt.Errorf("giving a node its key (does --dir hold an earlier swarm?): %w", err)
	}
	return task.PeerIDOf(key.Public().(ed25519.PublicKey)), nil
}
