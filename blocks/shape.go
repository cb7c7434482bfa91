package blocks

import (
	"fmt"
	"math"

	"godwit/p2p/wire"

	"github.com/ipfs/boxo/ipld/merkledag"
	"github.com/ipfs/boxo/ipld/unixfs"
	"github.com/ipfs/go-cid"
)

// A shape is what a block says of the content below it.
type shape struct {
	size  int64     // bytes of the content: its own and all that it links to, as often as it does
	tree  bool      // it names its links: see PutTree
	links []cid.Cid // its children, in order
	sizes []int64   // bytes of each child's content, as this block says
}

// shapeOf reads the shape of a block. It fails for one that is neither a file's, a tree
// nor a record, and for one whose sizes contradict each other.
func shapeOf(c cid.Cid, data []byte) (shape, error) {
	if c.Prefix().Codec != cid.DagProtobuf {
		return shape{size: int64(len(data))}, nil
	}
	node, err := merkledag.DecodeProtobuf(data)
	if err != nil {
		return shape{}, fmt.Errorf("blocks: reading the links of %s: %w", c, err)
	}
	s := shape{tree: len(node.Data()) == 0}
	for _, l := range node.Links() {
		if !acceptable(l.Cid) {
			return shape{}, fmt.Errorf("%w: %s links to %s", ErrBadCID, c, l.Cid)
		}
		s.links = append(s.links, l.Cid)
		if s.tree {
			if err := s.add(c, l.Size); err != nil {
				return shape{}, err
			}
		}
	}
	if s.tree {
		return s, nil
	}
	return s, s.file(c, node.Data())
}

// file reads the sizes of a file's node. One has either bytes or links: nothing here
// makes or reads others.
func (s *shape) file(c cid.Cid, data []byte) error {
	fs, err := unixfs.FSNodeFromBytes(data)
	if err != nil {
		return fmt.Errorf("blocks: reading %s: %w", c, err)
	}
	switch own := fs.Data(); {
	case fs.Type() != unixfs.TFile && fs.Type() != unixfs.TRaw:
		return fmt.Errorf("%w: %s is no file", ErrSize, c)
	case fs.NumChildren() != len(s.links) || len(own) > 0 && len(s.links) > 0:
		return fmt.Errorf("%w: %s has %d links, %d sizes and %d bytes of its own",
			ErrSize, c, len(s.links), fs.NumChildren(), len(own))
	default:
		s.size = int64(len(own))
	}
	for i := range fs.NumChildren() {
		if err := s.add(c, fs.BlockSize(i)); err != nil {
			return err
		}
	}
	if fs.FileSize() != uint64(s.size) {
		return fmt.Errorf("%w: %s says %d bytes, its parts have %d", ErrSize, c, fs.FileSize(), s.size)
	}
	return nil
}

// add counts a child's content.
func (s *shape) add(c cid.Cid, bytes uint64) error {
	if bytes > uint64(math.MaxInt64-s.size) {
		return fmt.Errorf("%w: %s says more bytes than can be counted", wire.ErrTooLarge, c)
	}
	s.sizes, s.size = append(s.sizes, int64(bytes)), s.size+int64(bytes)
	return nil
}
