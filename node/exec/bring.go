package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// MaxState bounds a checkpoint, in bytes: the most memory that a task may have, its files
// and what it has printed, and the manifest.
const MaxState = sandbox.MaxMemory + task.MaxOutputBytes + maxManifest

// maxManifest bounds the manifest of a checkpoint, in bytes.
const maxManifest = 64 << 20

const (
	// bringLeast and bringMost bound how long a checkpoint is sought that nobody has
	// at the moment, who may be starting anew: in between for as long as the work
	// takes that it stands for, which is then lost. bringAgain is how often.
	bringLeast, bringMost = 5 * time.Second, time.Minute
	bringAgain            = time.Second
	// sureHolders is how many of those that a leader names, first of all, it knows
	// to be there: itself, the job's submitter, the first that follows it.
	sureHolders = 3
)

// errBad is wrapped by errors about checkpoints that nobody can go on from.
var errBad = errors.New("the checkpoint is none of the task")

// asBad marks an error about blocks that are as they always will be.
func asBad(err error) error {
	if blocks.Wrong(err) || errors.Is(err, blocks.ErrTree) || errors.Is(err, seal.ErrSealed) {
		return fmt.Errorf("%w: %w", errBad, err)
	}
	return err
}

// sure returns the holders that should be there; it shares their memory.
func sure(holders []task.PeerID) []task.PeerID { return holders[:min(len(holders), sureHolders)] }

// bringPatiently fetches the checkpoint that an attempt goes on from: first from
// those who should have it, then from all who may, again and again while nobody has
// it. One of the latter may be gone, and to find that out takes its time.
func (c *core) bringPatiently(
	ctx context.Context, e message.Start, pages *pageStore, stop <-chan struct{},
) (manifest []byte, err error) {
	all := e.Holders
	e.Holders = sure(all)
	for until := time.Now().Add(min(max(bringLeast, e.From.CPU), bringMost)); ; {
		manifest, err := c.bringCheckpoint(ctx, e, pages)
		if len(e.Holders) < len(all) && errors.Is(err, blocks.ErrNotFound) {
			e.Holders = all
			continue
		}
		if err == nil || !errors.Is(err, blocks.ErrNotFound) || !time.Now().Add(bringAgain).Before(until) {
			return manifest, err
		}
		again := time.NewTimer(bringAgain)
		select {
		case <-again.C:
		case <-stop:
			again.Stop()
			return nil, err
		case <-ctx.Done():
			again.Stop()
			return nil, err
		}
	}
}

// bringCheckpoint fetches a checkpoint's tree and returns its manifest.
func (c *core) bringCheckpoint(ctx context.Context, e message.Start, pages *pageStore) ([]byte, error) {
	return c.bringState(ctx, blocks.Root{CID: e.From.CID, Bound: blocks.AtMost(MaxState)}, e.Holders, pages)
}

// bringState fetches the tree of a state and returns its manifest.
func (c *core) bringState(
	ctx context.Context, root blocks.Root, holders []task.PeerID, pages *pageStore,
) ([]byte, error) {
	if err := c.Content.Fetch(ctx, []blocks.Root{root}, holders); err != nil {
		return nil, asBad(err)
	}
	links, err := c.Content.Blocks().Tree(ctx, root.CID)
	if err != nil {
		return nil, asBad(err)
	}
	var manifest []byte
	named := map[string]blocks.Link{}
	for _, l := range links {
		if l.Name != manifestName {
			named[l.Name] = l
			continue
		}
		if manifest, err = pages.readManifest(ctx, l.CID); err != nil {
			return nil, fmt.Errorf("reading the checkpoint's manifest: %w", asBad(err))
		}
	}
	if manifest == nil {
		return nil, fmt.Errorf("%w: %s has no manifest", errBad, root.CID)
	}
	pages.find(manifest, named)
	switch n, err := pages.missing(manifest); {
	case err == nil && n == 0:
		return manifest, nil
	case sandbox.Foreign(manifest):
		return nil, fmt.Errorf("checkpoint %s is of another version", root.CID)
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %w", errBad, root.CID, err)
	default:
		return nil, fmt.Errorf("%w: %s lacks %d of its pages", errBad, root.CID, n)
	}
}

// readManifest reads the manifest of a checkpoint.
func (s *pageStore) readManifest(ctx context.Context, c task.CID) ([]byte, error) {
	kept, err := readAll(ctx, s.blocks, c, blocks.AtMost(s.sealer.Size(maxManifest)))
	if err != nil {
		return nil, err
	}
	return s.sealer.OpenFile(kept)
}

func readAll(ctx context.Context, from *blocks.Store, c task.CID, bound blocks.Bound) ([]byte, error) {
	f, size, err := from.Open(ctx, c, bound)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, size)
	_, err = io.ReadFull(f, b)
	return b, err
}
