package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	ds "github.com/ipfs/go-datastore"

	"godwit/blocks"
	"godwit/blocks/disk"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// maxOwn bounds the bytes of a node's own pairs that are read of a store, which are held in memory:
// the results of some million tasks.
const maxOwn = 1 << 30

// A StoreFound describes what is readable of a store that was set aside.
type StoreFound struct {
	Dir    string     `json:"dir"`
	Jobs   []JobFound `json:"jobs"` // this node's own, by ID
	Blocks int        `json:"blocks"`
	Bytes  int64      `json:"bytes"`
	// Lost is the number of damaged files, and of single values that are unreadable.
	Lost int `json:"lost"`

	own map[string][]byte
}

// A JobFound is a job of this node in a store that was set aside.
type JobFound struct {
	ID      task.JobID `json:"id"`
	Name    string     `json:"name"`
	Tasks   uint64     `json:"tasks"`
	Results uint64     `json:"results"` // that are readable
	Final   bool       `json:"final"`   // all of its results were stored
}

// SetAside reads the stores of a data directory that were set aside because they were damaged, the
// newest first. The node may run meanwhile.
func SetAside(dataDir string) ([]StoreFound, error) {
	store := filepath.Join(dataDir, storeName)
	var out []StoreFound
	for _, dir := range disk.Asides(store) {
		f, err := readSetAside(dir, store)
		if err != nil {
			return out, err
		}
		out = append(out, f)
	}
	return out, nil
}

func readSetAside(dir, store string) (StoreFound, error) {
	f := StoreFound{Dir: dir, own: map[string][]byte{}}
	seen, held := map[string]bool{}, 0
	var err error
	f.Lost, err = disk.ReadDamaged(dir, store, func(key string, value []byte) error {
		if isOwn(key) {
			held += len(value) - len(f.own[key])
			if delete(f.own, key); value != nil {
				f.own[key] = slices.Clone(value)
			}
			if held > maxOwn {
				return fmt.Errorf("reading %s: this node's jobs take more than %s", dir, task.FormatSize(maxOwn))
			}
			return nil
		}
		if !seen[key] && blocks.IsValue(key, value) {
			seen[key] = true
			f.Blocks++
			f.Bytes += int64(len(value))
		}
		return nil
	})
	f.Jobs = jobsIn(f.own)
	return f, err
}

// jobsIn returns the jobs among a node's own pairs.
func jobsIn(own map[string][]byte) []JobFound {
	results := map[task.JobID]uint64{}
	for key := range own {
		_, machine, _ := cutSpace(key)
		if rest, ok := strings.CutPrefix(machine, submitter.ResultsPrefix); ok {
			id, _, _ := strings.Cut(rest, "/")
			results[task.JobID(id)]++
		}
	}
	var out []JobFound
	for _, key := range slices.Sorted(maps.Keys(own)) {
		_, machine, _ := cutSpace(key)
		if !strings.HasPrefix(machine, submitter.JobsPrefix) {
			continue
		}
		kept, err := submitter.DecodeKept(machine, own[key])
		if err != nil {
			continue
		}
		j := JobFound{ID: kept.ID, Results: results[kept.ID], Final: kept.Final}
		if spec, err := kept.Record.Open(); err == nil {
			j.Name, j.Tasks = spec.Name, spec.Tasks()
		}
		out = append(out, j)
	}
	return out
}

// RecoverSetAside adds what is readable of the stores that were set aside to the store of a node that
// does not run: of its own jobs what the store lacks, then blocks. What the store has is not changed,
// and jobs that were forgotten since stay so. It returns what was read. The error is ErrInUse if the
// node runs.
func RecoverSetAside(ctx context.Context, cfg Config) ([]StoreFound, error) {
	found, err := SetAside(cfg.DataDir)
	if err != nil || len(found) == 0 {
		return found, err
	}
	data, err := openStore(cfg)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(cfg.recoverFile(), nil, 0o600); err != nil { // results may be missing
		return nil, errors.Join(fmt.Errorf("marking the store as damaged: %w", err), data.Close())
	}
	for _, f := range found {
		err = errors.Join(err, addOwn(ctx, data, f.own))
	}
	for _, f := range found {
		if err == nil {
			err = addBlocks(ctx, data, f.Dir, cfg.storeDir())
		}
	}
	if err == nil {
		_, err = blocks.Mend(ctx, data)
	}
	return found, errors.Join(err, data.Close())
}

// addOwn adds a node's own pairs that a store does not have.
func addOwn(ctx context.Context, data ds.Batching, own map[string][]byte) error {
	batch, err := data.Batch(ctx)
	if err != nil {
		return err
	}
	for key, value := range own {
		k := ds.RawKey(key)
		have, err := data.Has(ctx, k)
		if err == nil && !have {
			have, err = isForgotten(ctx, data, key)
		}
		if err == nil && !have {
			err = batch.Put(ctx, k, value)
		}
		if err != nil {
			return fmt.Errorf("recovering %s: %w", key, err)
		}
	}
	if err := batch.Commit(ctx); err != nil {
		return fmt.Errorf("recovering jobs: %w", err)
	}
	return data.Sync(ctx, ds.NewKey(statePrefix))
}

// isForgotten reports whether a store notes that the job of one of a node's own pairs was forgotten.
func isForgotten(ctx context.Context, data ds.Batching, key string) (bool, error) {
	space, machine, _ := cutSpace(key)
	forgotten := submitter.ForgottenKey(machine)
	if forgotten == "" {
		return false, nil
	}
	return data.Has(ctx, ds.RawKey(space+forgotten))
}

// addBlocks adds the blocks of a store that was set aside.
func addBlocks(ctx context.Context, data ds.Batching, dir, store string) error {
	_, err := disk.ReadDamaged(dir, store, func(key string, value []byte) error {
		if !blocks.IsValue(key, value) {
			return ctx.Err()
		}
		have, err := data.Has(ctx, ds.RawKey(key))
		if err != nil || have {
			return err
		}
		return data.Put(ctx, ds.RawKey(key), slices.Clone(value))
	})
	if err != nil {
		return fmt.Errorf("recovering blocks of %s: %w", dir, err)
	}
	return nil
}
