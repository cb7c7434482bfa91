package blocks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"godwit/blocks/disk"
	"godwit/task"

	"github.com/ipfs/go-datastore/query"
)

// crashDir names the variable that makes TestStoreCrash the process to be killed.
const crashDir = "GODWIT_CRASH_DIR"

// writeUntilKilled stores files without end, some through the log and some in
// bulk. It says the CIDs of those that are synced, and collects the others.
func writeUntilKilled(dir string) error {
	ctx := context.Background()
	_, blocks, err := openBlocks(dir)
	if err != nil {
		return err
	}
	rng := rand.NewChaCha8([32]byte{7})
	var kept []task.CID
	for i := 0; ; i++ {
		data := make([]byte, []int{20 << 10, 3 << 20, 9 << 20}[i%3])
		rng.Read(data)
		root, _, err := blocks.Import(ctx, bytes.NewReader(data))
		if err != nil {
			return err
		}
		if i%2 == 0 {
			continue // synced with the next
		}
		if err := blocks.Sync(ctx); err != nil {
			return err
		}
		fmt.Println("synced", root)
		kept = append(kept, root)
		if i%4 == 3 {
			if _, err := blocks.Collect(ctx, RootsOf(kept...), -time.Hour); err != nil {
				return err
			}
		}
	}
}

func openBlocks(dir string) (io.Closer, *Store, error) {
	store, err := disk.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	blocks, err := New(context.Background(), store)
	return store.(io.Closer), blocks, err
}

// A process that is killed while it writes leaves a store that opens, with all
// that was synced and nothing that is broken.
func TestStoreCrash(t *testing.T) {
	if dir := os.Getenv(crashDir); dir != "" {
		t.Fatal(writeUntilKilled(dir))
	}
	dir := t.TempDir()
	for round := range 2 { // the second on what the first left
		synced := killAfter(t, dir, 4)
		closer, blocks, err := openBlocks(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, root := range synced {
			if all, err := blocks.HasAll(t.Context(), root); !all || err != nil {
				t.Errorf("round %d: synced %s: all here %v, %v", round, root, all, err)
			}
		}
		checkBlocks(t, blocks)
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killAfter runs writeUntilKilled in a process of its own until it has synced so
// many files, and returns those.
func killAfter(t *testing.T, dir string, files int) []task.CID {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run", "^TestStoreCrash$")
	child.Env = append(os.Environ(), crashDir+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var synced []task.CID
	lines := bufio.NewScanner(out)
	for len(synced) < files && lines.Scan() {
		if root, ok := strings.CutPrefix(lines.Text(), "synced "); ok {
			synced = append(synced, task.CID(root))
		}
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	if len(synced) < files {
		t.Fatalf("the process ended by itself after %d files", len(synced))
	}
	return synced
}

// checkBlocks reads every block and compares it with its key and its size.
func checkBlocks(t *testing.T, b *Store) {
	t.Helper()
	results, err := b.store.Query(t.Context(), query.Query{Prefix: dataPrefix})
	if err != nil {
		t.Fatal(err)
	}
	defer results.Close()
	var total int64
	for r := range results.Next() {
		if r.Error != nil {
			t.Fatal(r.Error)
		}
		d := digest(sha256.Sum256(r.Value))
		if dataKey(d).String() != r.Key {
			t.Errorf("%s holds other bytes", r.Key)
		}
		if n, have, err := b.has(t.Context(), d); n != int64(len(r.Value)) || !have || err != nil {
			t.Errorf("%s: %d bytes, its size is %d, %v, %v", r.Key, len(r.Value), n, have, err)
		}
		total += int64(len(r.Value))
	}
	if total == 0 || total != b.Size() {
		t.Errorf("%d bytes in blocks, %d by their sizes", total, b.Size())
	}
}
