package blocks

import (
	"context"
	"fmt"

	"godwit/task"

	"github.com/ipfs/boxo/ipld/merkledag"
	"github.com/ipfs/go-cid"
)

// linksOf returns the children of a block. Only dag-pb blocks have any: a
// record of dag-cbor names other content as text, and whoever reads it fetches
// what it needs.
func linksOf(c cid.Cid, data []byte) ([]cid.Cid, error) {
	if c.Prefix().Codec != cid.DagProtobuf {
		return nil, nil
	}
	node, err := merkledag.DecodeProtobuf(data)
	if err != nil {
		return nil, fmt.Errorf("blocks: reading the links of %s: %w", c, err)
	}
	var links []cid.Cid
	for _, l := range node.Links() {
		if !acceptable(l.Cid) {
			return nil, fmt.Errorf("%w: %s links to %s", ErrBadCID, c, l.Cid)
		}
		links = append(links, l.Cid)
	}
	return links, nil
}

// walk visits every stored block of a DAG once, parents first, and notes its use.
// missing is called for those that are not here; an error of either ends the walk.
func (b *Store) walk(ctx context.Context, root cid.Cid,
	visit func(cid.Cid, int64) error, missing func(cid.Cid) error) error {
	seen := map[cid.Cid]bool{root: true} // by CID: its codec decides whether it has children
	for stack := []cid.Cid{root}; len(stack) > 0; {
		c := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		size, have, err := b.use(ctx, digestOf(c))
		if err != nil {
			return err
		}
		if !have {
			if err := missing(c); err != nil {
				return err
			}
			continue
		}
		links, err := b.links(ctx, c)
		if err != nil {
			return err
		}
		if err := visit(c, size); err != nil {
			return err
		}
		for _, l := range links {
			if !seen[l] {
				seen[l] = true
				stack = append(stack, l)
			}
		}
	}
	return ctx.Err()
}

// links returns the children of a stored block.
func (b *Store) links(ctx context.Context, c cid.Cid) ([]cid.Cid, error) {
	if c.Prefix().Codec != cid.DagProtobuf {
		return nil, nil
	}
	data, err := b.get(ctx, c)
	if err != nil {
		return nil, err
	}
	return linksOf(c, data)
}

// HasAll reports whether a block and everything below it is stored here. It
// counts as a use: see Collect.
func (b *Store) HasAll(ctx context.Context, root task.CID) (bool, error) {
	c, err := parseCID(root)
	if err != nil {
		return false, err
	}
	errMissing := fmt.Errorf("%w", ErrNotFound)
	err = b.walk(ctx, c, func(cid.Cid, int64) error { return nil }, func(cid.Cid) error { return errMissing })
	if err == errMissing {
		return false, nil
	}
	return err == nil, err
}

// DeleteDAG removes a block and what is stored below it. Blocks that another
// DAG shares go too: whoever calls keeps count of what is needed.
func (b *Store) DeleteDAG(ctx context.Context, root task.CID) error {
	c, err := parseCID(root)
	if err != nil {
		return err
	}
	var all []cid.Cid
	keep := func(c cid.Cid, _ int64) error { all = append(all, c); return nil }
	if err := b.walk(ctx, c, keep, func(cid.Cid) error { return nil }); err != nil {
		return err
	}
	for _, c := range all {
		if err := b.Delete(ctx, textOf(c)); err != nil {
			return err
		}
	}
	return nil
}
