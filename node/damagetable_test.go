package node

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/internal/pause"
	"godwit/task"
)

// damages are what a disk does to a file.
var damages = map[string]func([]byte) []byte{
	"flipped": func(b []byte) []byte {
		for i := len(b) / 2; i < min(len(b)/2+4, len(b)); i++ {
			b[i] ^= 0x55
		}
		return b
	},
	"cut":     func(b []byte) []byte { return b[:len(b)/2] },
	"emptied": func([]byte) []byte { return nil },
}

// mayLose reports whether the damage to a file may cost what is only in this file. All others are
// either replaced without loss, or keep the node from starting.
func mayLose(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob") || strings.HasSuffix(name, ".log")
}

// Each file of a data directory is damaged in three ways. The node then starts with its job and all
// results that are readable, or it refuses to start with an error that names the file.
func TestDamageTable(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a node for each file and damage")
	}
	if raceEnabled {
		t.Skip("starts a node for each file and damage, one after the other: run without the race detector")
	}
	dir, id, held := damageable(t)
	for _, name := range dataFiles(t, dir) {
		for how, damage := range damages {
			t.Run(name+"/"+how, func(t *testing.T) {
				copied := filepath.Join(t.TempDir(), "data")
				if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(copied, name)
				b, err := os.ReadFile(path)
				if err == nil {
					err = os.WriteFile(path, damage(b), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				got, err := startDamaged(t, copied, id)
				switch {
				case errors.Is(err, ErrDamaged) || errors.Is(err, ErrIdentity):
					if !strings.Contains(err.Error(), name) {
						t.Errorf("the error does not name %s: %v", name, err)
					}
					t.Log("refused:", err)
				case err != nil:
					t.Errorf("the node does not start: %v", err)
				case got < 0 && !mayLose(name):
					t.Error("the job is lost")
				case got < int(held) && !mayLose(name):
					t.Errorf("%d of %d results are left", got, held)
				default:
					t.Logf("started: %d of %d results", got, held)
				}
			})
		}
	}
}

// damageable returns a data directory with a job of which some results are held, in all kinds of
// files that a store has.
func damageable(t *testing.T) (dir string, id task.JobID, held uint64) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	const tasks, most = 400, 40
	for start := 1; start <= 3; start++ { // each start writes the log of the one before to tables
		n, end := startNode(t, realConfig(dir))
		if start == 1 {
			var err error
			if id, err = n.Submit(t.Context(), sleepJob(t, n, tasks, 40*time.Millisecond)); err != nil {
				t.Fatal(err)
			}
		}
		held = heldOf(t, n, id, uint64(start*most/3))
		end()
	}
	return dir, id, held
}

// startNode runs a node until end is called.
func startNode(t *testing.T, cfg Config) (n *Node, end func()) {
	t.Helper()
	n, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	return n, func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

// heldOf waits until a node holds some results of a job, and returns their number.
func heldOf(t *testing.T, n *Node, id task.JobID, least uint64) uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		if st, err := n.Job(ctx, id, 0, 0); err == nil && st.Held >= least {
			return st.Held
		}
		if pause.For(ctx, 10*time.Millisecond) != nil {
			t.Fatalf("fewer than %d results are held", least)
		}
	}
}

// startDamaged starts a node, again as long as it finds damage, and returns the number of results
// that it holds of a job when it starts, or -1 if it does not know the job.
func startDamaged(t *testing.T, dir string, id task.JobID) (held int, err error) {
	t.Helper()
	var n *Node
	for range 3 {
		if n, err = New(t.Context(), realConfig(dir)); !errors.Is(err, ErrStoreDamaged) {
			break
		}
	}
	if err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	held = -1
	err = n.do(ctx, func() {
		for _, m := range n.ordered() {
			if _, ok := m.Submitter().Job(id); ok {
				held = int(m.Submitter().Held(id).Count())
			}
		}
	})
	stop()
	return held, errors.Join(err, <-ended)
}

// dataFiles lists the files of a data directory.
func dataFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && e.Name() != "LOCK" {
			names = append(names, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
