package blocks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"godwit/p2p/wire"
	"godwit/task"

	"github.com/ipfs/boxo/ipld/merkledag"
	"github.com/ipfs/go-cid"
	ipld "github.com/ipfs/go-ipld-format"
	mh "github.com/multiformats/go-multihash"
)

// A Link names content inside a tree.
type Link struct {
	Name string // unique in its tree, at most 255 bytes
	CID  task.CID
	Size int64 // bytes of the content
	// Used is when the content was last stored, or PutTree was given it; zero: not known. PutTree
	// notes its use anew if that is longer ago than UsedFor.
	Used time.Time
}

// UsedFor is for how long what was used needs no look at whether its use is to be noted: a state
// of a gibibyte has 16,000 pages, most of which the one before it had.
const UsedFor = useGrain / 2

// maxLinkName is what file systems allow of a name.
const maxLinkName = 255

// PutTree stores a dag-pb block that links to content by name, so that it and
// all it names are fetched by one CID. Equal links make equal trees. A tree is
// one block: about 16,000 links with names of hashes.
func (b *Store) PutTree(ctx context.Context, links []Link) (task.CID, error) {
	links = slices.Clone(links)
	slices.SortFunc(links, func(a, b Link) int { return strings.Compare(a.Name, b.Name) })
	node := new(merkledag.ProtoNode)
	node.SetCidBuilder(cid.V1Builder{Codec: cid.DagProtobuf, MhType: mh.SHA2_256})
	now := b.now()
	for i, l := range links {
		c, err := parseCID(l.CID)
		switch {
		case err != nil:
			return "", err
		case l.Name == "" || len(l.Name) > maxLinkName || l.Size < 0:
			return "", fmt.Errorf("blocks: link %q of %d bytes cannot be stored", l.Name, l.Size)
		case i > 0 && l.Name == links[i-1].Name:
			return "", fmt.Errorf("blocks: two links are named %q", l.Name)
		}
		if l.Used.IsZero() || now.Sub(l.Used) >= UsedFor {
			if err := b.useDAG(ctx, l.CID); err != nil {
				return "", err
			}
		}
		if err := node.AddRawLink(l.Name, &ipld.Link{Cid: c, Size: uint64(l.Size)}); err != nil {
			return "", fmt.Errorf("blocks: making a tree: %w", err)
		}
	}
	if n := len(node.RawData()); n > wire.MaxBlock {
		return "", fmt.Errorf("%w: tree of %d links takes %d bytes, a block at most %d",
			wire.ErrTooLarge, len(links), n, wire.MaxBlock)
	}
	blk := block{node.Cid(), node.RawData()}
	if err := b.put(ctx, []block{blk}); err != nil {
		return "", err
	}
	return textOf(blk.cid), nil
}

// Tree returns the links of a tree stored here, by name. It fails for a block
// that is no tree.
func (b *Store) Tree(ctx context.Context, root task.CID) ([]Link, error) {
	c, err := parseCID(root)
	if err != nil {
		return nil, err
	}
	if c.Prefix().Codec != cid.DagProtobuf {
		return nil, fmt.Errorf("%w: %s", ErrTree, root)
	}
	data, err := b.get(ctx, c)
	if err != nil {
		return nil, err
	}
	node, err := merkledag.DecodeProtobuf(data)
	if err != nil {
		return nil, fmt.Errorf("%w: reading %s: %w", ErrTree, root, err)
	}
	links := make([]Link, 0, len(node.Links()))
	for i, l := range node.Links() {
		if !acceptable(l.Cid) || l.Name == "" || len(l.Name) > maxLinkName || i > 0 && l.Name <= links[i-1].Name {
			return nil, fmt.Errorf("%w: %s has a bad link %q", ErrTree, root, l.Name)
		}
		links = append(links, Link{Name: l.Name, CID: textOf(l.Cid), Size: int64(min(l.Size, 1<<62))})
	}
	return links, nil
}

// useDAG notes the use of what is here of a DAG.
func (b *Store) useDAG(ctx context.Context, root task.CID) error {
	c, err := parseCID(root)
	if err != nil {
		return err
	}
	ignore := func(cid.Cid) error { return nil }
	return b.walk(ctx, c, func(cid.Cid, int64) error { return nil }, ignore)
}
