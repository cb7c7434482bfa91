package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"

	"godwit/blocks/disk"
	"godwit/scheduler/message"
)

// A store that was set aside is read, and its jobs, results and blocks are added to a new store, with
// its manifests and without.
func TestRecoverSetAside(t *testing.T) {
	if raceEnabled {
		t.Skip("starts nodes one after the other: run without the race detector")
	}
	dir, id, held := damageable(t)
	for _, manifests := range []bool{true, false} {
		t.Run(fmt.Sprintf("manifests=%t", manifests), func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			cfg := realConfig(copied)
			cfg, err := cfg.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			aside, err := disk.MoveAside(cfg.storeDir())
			if err != nil {
				t.Fatal(err)
			}
			if !manifests {
				for _, name := range dataFiles(t, aside) {
					if strings.HasPrefix(filepath.Base(name), "MANIFEST-") {
						write(t, filepath.Join(aside, name), "")
					}
				}
			}
			runBriefly(t, cfg) // with an empty store
			found, err := SetAside(copied)
			if err != nil || len(found) != 1 || found[0].Dir != aside {
				t.Fatalf("%+v, %v", found, err)
			}
			f := found[0]
			if len(f.Jobs) != 1 || f.Jobs[0].ID != id || f.Jobs[0].Results < held || f.Jobs[0].Tasks != 400 || f.Blocks == 0 {
				t.Errorf("%d results were held of %s, and %d blocks, %+v are found", held, id, f.Blocks, f.Jobs)
			}
			n, end := startNode(t, cfg)
			if _, err := RecoverSetAside(t.Context(), cfg); !errors.Is(err, ErrInUse) {
				t.Errorf("while the node runs: %v", err)
			}
			if st, err := n.Job(t.Context(), id, 0, 0); err == nil {
				t.Errorf("the job is there before it is recovered: %+v", st)
			}
			end()
			for range 2 { // the second time changes nothing
				if _, err := RecoverSetAside(t.Context(), cfg); err != nil {
					t.Fatal(err)
				}
				if got, err := startDamaged(t, copied, id); err != nil || got < int(held) {
					t.Errorf("%d of %d results are back: %v", got, held, err)
				}
			}
		})
	}
}

// A final job of which a result was lost with a damaged store goes on until all results are held.
func TestLostResultOfFinalJobRunsAgain(t *testing.T) {
	cfg, err := realConfig(t.TempDir()).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	const tasks = 6
	n, end := startNode(t, cfg)
	id, err := n.Submit(t.Context(), sleepJob(t, n, tasks, time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	heldOf(t, n, id, tasks)
	for final := false; !final; {
		if err := n.do(t.Context(), func() {
			for _, m := range n.ordered() {
				st, _ := m.Submitter().Job(id)
				final = final || st.State == message.JobDone
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	end()
	data, err := disk.Open(cfg.storeDir())
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	res, err := data.Query(t.Context(), query.Query{Prefix: statePrefix, KeysOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for r := range res.Next() {
		if isOwn(r.Key) && strings.Contains(r.Key, "/s/t/") && lost < 2 {
			lost++
			err = errors.Join(err, data.Delete(t.Context(), ds.RawKey(r.Key)))
		}
	}
	if err = errors.Join(err, res.Close(), data.Sync(context.Background(), ds.NewKey("/")), data.Close()); err != nil || lost != 2 {
		t.Fatal(lost, err)
	}
	write(t, cfg.recoverFile(), "")
	n, end = startNode(t, cfg)
	defer end()
	heldOf(t, n, id, tasks)
	page, err := n.Results(t.Context(), id, 0, tasks)
	if err != nil || len(page) != tasks {
		t.Errorf("%d of %d results: %v", len(page), tasks, err)
	}
}
