package node

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
	"godwit/trace"
)

// StorePast signs a history with the key in a data directory, and stores it there as the node's own. A laboratory gives
// a node a past in this way before the node starts. The node must not run, and the history must not reach into the
// future.
func StorePast(ctx context.Context, dir string, h *trace.History) error {
	// The runner does not matter here, and this one needs no sandbox.
	cfg, err := Config{DataDir: dir, Experiment: Experiment{Runner: RunSleep}}.withDefaults()
	if err != nil {
		return err
	}
	key, data, err := openData(cfg)
	if err != nil {
		return err
	}
	pairs, err := pastPairs(h, key)
	if err == nil {
		err = store{data}.commit(ctx, pairs)
	}
	if err = errors.Join(err, data.Close()); err != nil {
		return fmt.Errorf("storing a past in %s: %w", dir, err)
	}
	return nil
}

// pastPairs encodes a history, signed by its owner, for the owner's store.
func pastPairs(h *trace.History, key ed25519.PrivateKey) (pairs []message.Persist, err error) {
	peer := task.PeerIDOf(key.Public().(ed25519.PublicKey))
	segments, err := overlay.Segments(h, time.Time{}, peer, key)
	if err != nil {
		return nil, err
	}
	for _, s := range segments {
		b, err := s.Encode()
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, message.Persist{Key: segmentKey(peer, s.Spells.Since()), Value: b})
	}
	return pairs, nil
}
