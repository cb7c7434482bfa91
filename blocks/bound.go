package blocks

import (
	"errors"
	"fmt"

	"godwit/p2p/wire"
	"godwit/task"
)

// A Bound is what is known of the size of content before it is fetched or read. The
// zero value allows no byte.
type Bound struct {
	most  int64 // bytes
	exact bool  // it must have just these
}

// AtMost bounds content that has any size up to so many bytes.
func AtMost(bytes int64) Bound { return Bound{most: bytes} }

// Exactly bounds content that must have just so many bytes: somebody has said so.
func Exactly(bytes int64) Bound { return Bound{most: bytes, exact: true} }

// A Root is content to be fetched, and what is known of its size.
type Root struct {
	CID   task.CID
	Bound Bound
}

// Most is how many bytes the content may have.
func (b Bound) Most() int64 { return b.most }

// Wrong reports whether an error says that content is not as large as was said of it, or
// as its Bound allows: another holder has no other.
func Wrong(err error) bool { return errors.Is(err, ErrSize) || errors.Is(err, wire.ErrTooLarge) }

// Allow returns an error for content of another size: wire.ErrTooLarge for more, ErrSize
// for less.
func (b Bound) Allow(bytes int64) error {
	switch {
	case bytes > b.most && b.exact:
		return fmt.Errorf("%w: it has %d bytes, %d were said", wire.ErrTooLarge, bytes, b.most)
	case bytes > b.most:
		return fmt.Errorf("%w: it has %d bytes, at most %d are allowed", wire.ErrTooLarge, bytes, b.most)
	case b.exact && bytes != b.most:
		return fmt.Errorf("%w: it has %d bytes, %d were said", ErrSize, bytes, b.most)
	}
	return nil
}
