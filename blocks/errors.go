package blocks

import "errors"

// Errors of the block store.
var (
	// ErrNotFound is returned when a block is not stored here, or by no holder.
	ErrNotFound = errors.New("blocks: block not found")
	// ErrBadCID is returned for a CID that is not version 1 with SHA-256 and one
	// of the codecs raw, dag-pb and dag-cbor.
	ErrBadCID = errors.New("blocks: not a CID of ours (version 1, sha2-256, raw, dag-pb or dag-cbor)")
	// ErrSize is returned for content that makes another number of bytes than was said,
	// by its own blocks or by whoever named it, and for content that is no file.
	ErrSize = errors.New("blocks: content is not what was said of it")
	// ErrTree is returned for a block that is no tree of links by name.
	ErrTree = errors.New("blocks: not a tree")
	// ErrQuota is returned when storing would pass the quota.
	ErrQuota = errors.New("blocks: block store is full")
)
