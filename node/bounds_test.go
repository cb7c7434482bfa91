package node

import (
	"errors"
	"testing"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"

	"godwit/blocks"
	"godwit/p2p/wire"
	"godwit/scheduler/message"
	"godwit/task"
)

// What a machine has fetched is as large as was signed, and a result's outputs are
// together no larger than a task may write.
func TestFetchBounds(t *testing.T) {
	store, err := blocks.New(t.Context(), dssync.MutexWrap(ds.NewMapDatastore()))
	if err != nil {
		t.Fatal(err)
	}
	c := content{blocks: store, room: &room{}, cramped: make(chan struct{}, 1)}
	const size = 1 << 20
	var cids []task.CID
	for i := range 3 {
		data := make([]byte, size)
		data[0] = byte(i)
		cid, err := store.ImportBytes(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		cids = append(cids, cid)
	}
	all := func(n int64) map[task.CID]int64 { return map[task.CID]int64{cids[0]: n, cids[1]: n, cids[2]: n} }
	tests := []struct {
		name  string
		sizes map[task.CID]int64
		most  int64
		want  error
	}{
		{"as said", all(size), 3 * size, nil},
		{"nobody said", nil, 0, nil},
		{"nobody said, within the bound", nil, 3 * size, nil},
		{"nobody said, beyond the bound", nil, 3*size - 1, wire.ErrTooLarge},
		{"said to be together too large", all(size), 3*size - 1, wire.ErrTooLarge},
		{"larger than said", all(size - 1), 3 * size, wire.ErrTooLarge},
		{"smaller than said", all(size + 1), 0, blocks.ErrSize},
	}
	for _, tt := range tests {
		err := c.fetchFor(t.Context(), message.Fetch{CIDs: cids, Sizes: tt.sizes, Most: tt.most})
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
