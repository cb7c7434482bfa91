package blocks

import (
	"context"

	"godwit/task"

	"github.com/ipfs/go-cid"
)

// Links returns the children of a stored block.
func (b *Store) Links(ctx context.Context, root task.CID) (list []task.CID, err error) {
	c, err := parseCID(root)
	if err != nil {
		return nil, err
	}
	links, err := b.links(ctx, c)
	for _, l := range links {
		list = append(list, textOf(l))
	}
	return list, err
}

// PutNode stores the bytes of a node with children.
func (b *Store) PutNode(ctx context.Context, data []byte) error {
	return b.put(ctx, []block{{cidOf(cid.DagProtobuf, data), data}})
}
