package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"

	"godwit/blocks"
	"godwit/node/budget"
	"godwit/scheduler/message"
	"godwit/task"
)

const mebi = 1 << 20

// cramped returns a room of 100 MiB with compiled modules of 10 MiB and content of 60,
// of which unneeded can go when it is asked for.
func cramped(t *testing.T, unneeded int64) (*content, *int64) {
	t.Helper()
	cfg := Config{DataDir: t.TempDir()}
	if err := os.Mkdir(cfg.cacheDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(cfg.cacheDir(), name), make([]byte, 5*mebi), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store, err := blocks.New(t.Context(), dssync.MutexWrap(ds.NewMapDatastore()))
	if err != nil {
		t.Fatal(err)
	}
	c := &content{blocks: store, cramped: make(chan struct{}, 1), room: newRoom(&cfg, store)}
	c.room.budget.SetMost(100 * mebi)
	if err := c.room.budget.Reserve(budget.Blocks, 60*mebi); err != nil {
		t.Fatal(err)
	}
	asked := new(int64)
	c.room.evict = func(_ context.Context, bytes int64) error {
		*asked = bytes
		c.room.budget.Release(budget.Blocks, min(bytes, unneeded))
		return nil
	}
	return c, asked
}

// Compiled modules make way first, then content that nothing needs, as much as is needed;
// new work leaves a tenth for what is owed.
func TestMakeRoom(t *testing.T) {
	tests := []struct {
		name    string
		bytes   int64
		owed    bool
		fits    bool
		modules int64 // left
		evict   int64 // asked for
	}{
		{"there is room", 20 * mebi, false, true, 10 * mebi, 0},
		{"there is room for what is owed", 30 * mebi, true, true, 10 * mebi, 0},
		{"a module goes", 24 * mebi, false, true, 5 * mebi, 0},
		{"modules and content go", 45 * mebi, false, true, 0, 15 * mebi},
		{"too much is needed", 55 * mebi, false, false, 0, 25 * mebi},
		{"it is owed", 55 * mebi, true, true, 0, 15 * mebi},
		{"it can never fit", 91 * mebi, false, false, 10 * mebi, 0},
	}
	for _, tt := range tests {
		c, asked := cramped(t, 20*mebi)
		err := c.MakeRoom(t.Context(), tt.bytes, tt.owed)
		if (err == nil) != tt.fits || err != nil && !errors.Is(err, budget.ErrFull) {
			t.Errorf("%s: %v", tt.name, err)
		}
		c.room.measure()
		if got := c.room.budget.Used(budget.Modules); got != tt.modules || *asked != tt.evict {
			t.Errorf("%s: modules of %d bytes are left, content of %d was to go; want %d and %d",
				tt.name, got, *asked, tt.modules, tt.evict)
		}
		if said := c.room.notice(); (said == "") != tt.fits || !tt.fits && !strings.Contains(said, "max_disk") {
			t.Errorf("%s: the owner is told %q", tt.name, said)
		}
	}
}

// What is stored counts as it is written, whoever writes it, and what does not fit is
// refused with the reason.
func TestStoringWithinTheRoom(t *testing.T) {
	c, _ := cramped(t, 0)
	ctx := t.Context()
	data := make([]byte, 10*mebi)
	before := c.room.budget.Used(budget.Blocks)
	var err error
	written := int64(0)
	for i := byte(1); err == nil && i < 100; i++ {
		for at := 0; at < len(data); at += 1 << 10 { // no two blocks are equal
			data[at], data[at+1], data[at+2] = i, byte(at>>10), byte(at>>18)
		}
		if _, err = c.blocks.ImportBytes(ctx, data); err == nil {
			written += int64(len(data))
		}
	}
	if !errors.Is(err, blocks.ErrQuota) || !isFull(err) || !strings.Contains(err.Error(), "max_disk") {
		t.Errorf("the last import: %v", err)
	}
	if written < 30*mebi || written > 40*mebi {
		t.Errorf("%d bytes were taken; there are 30 MiB, and 10 more when the modules have gone", written)
	}
	if got := c.room.budget.Used(budget.Blocks) - before; got != c.blocks.Size() {
		t.Errorf("%d bytes are counted, %d are stored", got, c.blocks.Size())
	}
	big := map[task.CID]int64{"bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku": 50 * mebi}
	err = c.fetchFor(ctx, message.Fetch{Sizes: big})
	if !errors.Is(err, budget.ErrFull) {
		t.Errorf("a job's files that do not fit: %v", err)
	}
}

// Compiled modules take no more than their part of the budget.
func TestModulesHaveACap(t *testing.T) {
	c, _ := cramped(t, 0)
	c.room.budget.SetMost(28 * mebi)
	c.room.measure()
	if got := c.room.budget.Used(budget.Modules); got != 5*mebi {
		t.Errorf("modules of %d bytes are left in a budget of 28 MiB", got)
	}
}
