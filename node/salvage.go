package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	ds "github.com/ipfs/go-datastore"

	"godwit/blocks"
	"godwit/blocks/disk"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
)

// storeName is the directory of a node's store in its data directory.
const storeName = "store"

func (c *Config) storeDir() string { return filepath.Join(c.DataDir, storeName) }

// salvage says how a damaged store is read: the node's own jobs come first.
func salvage() disk.Salvage { return disk.Salvage{First: isOwn} }

// isOwn reports whether a key of the store belongs to this node's own jobs, which exist on no other
// node.
func isOwn(key string) bool {
	_, machine, ok := cutSpace(key)
	return ok && strings.HasPrefix(machine, submitter.OwnPrefix)
}

// cutSpace splits a key of the store that belongs to an overlay into what precedes the machines' own
// key, and that.
func cutSpace(key string) (space, machine string, ok bool) {
	rest, ok := strings.CutPrefix(key, statePrefix+"/"+overlayPrefix)
	id, machine, ok2 := strings.Cut(rest, "/")
	return statePrefix + "/" + overlayPrefix + id + "/", machine, ok && ok2
}

// recoverStore makes a store of what is readable of a damaged one, and opens it. If nothing of the
// store can be read, it is moved aside whole, and the node begins with an empty one. Either way, other
// nodes are asked for this node's jobs later.
func recoverStore(cfg Config, dir string, damage error) (ds.Batching, error) {
	if err := os.WriteFile(cfg.recoverFile(), nil, 0o600); err != nil {
		return nil, fmt.Errorf("marking the store as damaged: %w", err)
	}
	cfg.Log.Error("the node's store is damaged: recovering what is readable", "err", damage)
	got, err := disk.Recover(dir, salvage())
	if err != nil && !errors.Is(err, disk.ErrCorrupt) {
		return nil, err
	}
	var data ds.Batching
	if err == nil {
		data, err = disk.Open(dir)
	}
	if err == nil {
		if _, err = blocks.Mend(context.Background(), data); err != nil {
			return nil, errors.Join(err, data.Close())
		}
		cfg.Log.Warn("the node's store is recovered", "own", got.First, "state", got.State, "blocks", got.Bulk,
			"lost", got.Lost, "partly", got.Partly, "aside", got.Aside, "see", "godwit doctor --store")
		return data, nil
	}
	if !errors.Is(err, disk.ErrCorrupt) {
		return nil, err
	}
	aside, e := disk.MoveAside(dir)
	if e != nil {
		return nil, errors.Join(err, e)
	}
	cfg.Log.Error("nothing of the node's store can be read: it was put aside, and the node begins with an empty one; "+
		"what other nodes have of it comes back from them", "err", err, "aside", aside, "see", "godwit doctor --store")
	return disk.Open(dir)
}

// reopenJobs looks at this node's own jobs after the store was recovered. A final job of which results
// are missing goes on, so that they are fetched, or the tasks run, again. If its program is not here
// any more, the job stays final with the results that are left.
func (o *overlays) reopenJobs(ctx context.Context) error {
	if _, err := os.Stat(o.cfg.recoverFile()); err != nil {
		return nil //nolint:nilerr // the store is whole
	}
	spaces, err := o.store.spaces(ctx)
	if err != nil {
		return err
	}
	for _, space := range spaces {
		jobs, err := o.store.load(ctx, space, submitter.JobsPrefix)
		if err != nil {
			return err
		}
		for key, value := range jobs {
			if err := o.reopenJob(ctx, space, key, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *overlays) reopenJob(ctx context.Context, space, key string, value []byte) error {
	kept, err := submitter.DecodeKept(key, value)
	if err != nil || !kept.Final || kept.Held == 0 {
		return nil //nolint:nilerr // whoever restores the job says so
	}
	left := uint64(0)
	err = o.store.eachKey(ctx, space+submitter.ResultsPrefix+string(kept.ID)+"/", func(string) { left++ })
	if err != nil || left >= kept.Held {
		return err
	}
	again := o.runnable(ctx, kept)
	value, err = kept.Lost(again)
	if err != nil {
		return err
	}
	o.log.Warn("results of a job were lost with the damaged store", "job", kept.ID, "lost", kept.Held-left, "again", again)
	return o.store.commit(ctx, []message.Persist{{Key: space + key, Value: value}})
}

// runnable reports whether the blocks are here without which a job cannot go on.
func (o *overlays) runnable(ctx context.Context, kept *submitter.Kept) bool {
	needs, err := kept.Blocks()
	if err != nil {
		return false
	}
	for _, cid := range needs {
		if have, err := o.content.blocks.HasAll(ctx, cid); err != nil || !have {
			return false
		}
	}
	return true
}
